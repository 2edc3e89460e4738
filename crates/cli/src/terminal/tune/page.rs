//! The advice for this machine as a page in Markdown.

use super::standing::{interfaces, machine, now, whom};
use crate::terminal::wrap::wrap;
use mpps_lab::tune::{Standing, State, Survey};
use mpps_method::tune::{Kind, Profile, Scope};
use std::fmt::Write;

/// Columns of the page.
const WIDTH: usize = 80;

/// Firmware, kernel configuration, boot line, then settings of the running kernel in their order.
#[must_use]
pub fn cookbook(survey: &Survey) -> String {
    let (profile, all) = (survey.profile, &survey.standings);
    let mut text = format!("# Settings for {}\n\n", whom(profile));
    let _ = write!(
        text,
        "- Machine: {}\n- Interfaces: {}\n",
        machine(survey),
        interfaces(survey)
    );
    text += "- Marks: [x] this machine is as advised; [ ] it is not, or a person has to judge.\n\
             - Measured effect of each setting: not measured yet.\n\n\
             Written by `mpps tune cookbook`, which changed nothing.\n";
    let advised = |one: &&Standing| one.row.advice(profile).words.is_some();
    let rows: Vec<&Standing> = all.iter().filter(advised).collect();
    let of_kind = |kind: Kind| {
        let is_kind = move |one: &&&Standing| one.row.places.iter().any(|place| place.kind == kind);
        rows.iter().filter(is_kind).copied().collect::<Vec<_>>()
    };

    text += "\n## Firmware\n\nmpps cannot read the firmware. \"Now\" is what the running kernel shows.\n\n";
    for one in rows.iter().filter(|one| !one.row.firmware.is_empty()) {
        let words = one.row.advice(profile).words.unwrap_or_default();
        let _ = writeln!(
            text,
            "- {}: {} Now: {}. ({})",
            one.row.firmware,
            sentence(words),
            here(one),
            one.row.id
        );
    }

    let config = of_kind(Kind::Config);
    let _ = write!(text, "\n## Kernel configuration\n\n{}\n\n", source(&config));
    items(&mut text, &config, profile);
    text += "\n## Boot line\n\n";
    items(&mut text, &of_kind(Kind::Boot), profile);

    text += "\n## Settings of the running kernel\n\nApply them in this order, and undo them from the last to the first.\n\n";
    let is_here = |one: &&&Standing| !matches!(one.state, State::NotHere(_));
    let running: Vec<&Standing> = rows
        .iter()
        .filter(|one| one.row.scope != Scope::Boot)
        .filter(is_here)
        .copied()
        .collect();
    items(&mut text, &running, profile);

    text += "\n## Not on this machine\n\n";
    for one in &rows {
        if let (State::NotHere(why), false) = (&one.state, one.row.scope == Scope::Boot) {
            let _ = writeln!(text, "- {}: {why}", one.row.id);
        }
    }
    wrap(&text, WIDTH)
}

/// Why the configuration is not known, if so.
fn source(config: &[&Standing]) -> String {
    let all = config.iter().flat_map(|one| &one.seen);
    let why = all.filter_map(|seen| seen.now.why()).next();
    why.map_or_else(
        || "As the running kernel was built.".to_owned(),
        |why| format!("The running kernel's configuration is not known: {why}."),
    )
}

fn items(text: &mut String, some: &[&Standing], profile: Profile) {
    for one in some {
        let row = one.row;
        let mark = if one.state == State::AsAdvised {
            'x'
        } else {
            ' '
        };
        let words = sentence(row.advice(profile).words.unwrap_or_default());
        let _ = writeln!(
            text,
            "- [{mark}] **{}**: {words} Now: {}.",
            row.id,
            here(one)
        );
        let places: Vec<&str> = row.places.iter().map(|place| place.text).collect();
        let _ = writeln!(
            text,
            "  - {} ({}). {}",
            row.name,
            places.join("; "),
            row.what
        );
        if row.effects != "None." {
            let _ = writeln!(text, "  - Side effects: {}", row.effects);
        }
        if !row.wrong.is_empty() {
            let _ = writeln!(text, "  - Published advice that looks wrong: {}", row.wrong);
        }
        let _ = writeln!(text, "  - Source: {}.", row.source);
    }
}

/// How it is here, in a few words.
fn here(standing: &Standing) -> String {
    match &standing.state {
        State::NotHere(why) => why.clone(),
        State::Unread => {
            let command = standing.seen.first().map(|seen| seen.place.name());
            format!("`{}` shows it", command.unwrap_or_default())
        }
        State::Fixed(why) => format!("{} ({why})", now(standing, false)),
        _ => now(standing, false),
    }
}

fn sentence(words: &str) -> String {
    let end = if words.ends_with(['.', ')']) { "" } else { "." };
    format!("{words}{end}")
}
