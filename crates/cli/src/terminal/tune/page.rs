//! The advice for this machine as a page in Markdown.

use super::standing::{LOW, interfaces, machine, now, shown, whom};
use super::{in_firmware, shown_by};
use crate::terminal::wrap::wrap;
use mpps_lab::tune::{Seen, Standing, State, Survey};
use mpps_method::tune::{Kind, Profile, Scope};
use mpps_record::facts::{Facts, Reading};
use mpps_record::{EffectsLine, Run, SettingEffect};
use mpps_report::number;
use std::fmt::Write;

/// Columns of the page.
const WIDTH: usize = 80;
/// So many places are named one by one.
const PLACES_MAX: usize = 4;

/// Firmware, kernel configuration, boot line, then settings of the running kernel in their order.
/// Effects are those of a run of `mpps tune measure`.
pub fn cookbook(survey: &Survey, measured: Option<&Run>) -> String {
    let (profile, all) = (survey.profile, &survey.standings);
    let mut text = format!("# Settings for {}\n\n", whom(profile));
    let _ = write!(
        text,
        "- Machine: {}\n- Interfaces: {}\n",
        machine(survey),
        interfaces(survey)
    );
    text += "- Marks: [x] as advised; [!] differs; [?] decide or look yourself.\n\
             - Measured effects: ";
    text += &measured.map_or_else(
        || "none (`mpps tune measure` measures them; then give --measured RECORD)".to_owned(),
        |run| {
            let begun = run.begin.as_ref();
            let on = begun.map(|begin| format!(" ({})", crate::outcome::machine(begin)));
            format!("those of run {}{}", run.name, on.unwrap_or_default())
        },
    );
    for other in measured.into_iter().flat_map(|run| others(run, survey)) {
        let _ = write!(
            text,
            ".\n- Measured with another {other} than this machine's: effects here may differ"
        );
    }
    text += ".\n\nWritten by `mpps tune cookbook`, which changed nothing.\n";
    let lines = measured.map_or(&[][..], |run| &run.effects);
    let advised = |one: &&Standing| one.row.advice(profile).words.is_some();
    let rows: Vec<&Standing> = all.iter().filter(advised).collect();
    let of_kind = |kind: Kind| {
        let is_kind = move |one: &&&Standing| one.row.places.iter().any(|place| place.kind == kind);
        rows.iter().filter(is_kind).copied().collect::<Vec<_>>()
    };

    text += "\n## Firmware\n\nmpps cannot read the firmware: look yourself.\n\n";
    for one in rows.iter().filter(|one| !one.row.firmware.is_empty()) {
        let _ = writeln!(text, "- {}. ({})", in_firmware(one.row), one.row.id);
    }

    let config = of_kind(Kind::Config);
    let _ = write!(text, "\n## Kernel configuration\n\n{}\n\n", source(&config));
    items(&mut text, &config, profile, lines);
    text += "\n## Boot line\n\n";
    items(&mut text, &of_kind(Kind::Boot), profile, lines);

    text += "\n## Settings of the running kernel\n\nApply them in this order, and undo them from the last to the first.\n\n";
    let is_here = |one: &&&Standing| !matches!(one.state, State::NotHere(_));
    let running: Vec<&Standing> = rows
        .iter()
        .filter(|one| one.row.scope != Scope::Boot)
        .filter(is_here)
        .copied()
        .collect();
    items(&mut text, &running, profile, lines);

    text += "\n## Could not be read here\n\n";
    for one in &rows {
        if let (State::NotHere(why), false) = (&one.state, one.row.scope == Scope::Boot) {
            let words = sentence(one.row.advice(profile).words.unwrap_or_default());
            let _ = writeln!(text, "- {}: {why}. Advice: {words}", one.row.id);
        }
    }
    wrap(&text, WIDTH)
}

/// What of this machine was another one in that run.
fn others(run: &Run, survey: &Survey) -> impl Iterator<Item = &'static str> {
    let differs = |of: fn(&Facts) -> &Reading<String>| {
        let begun = run.begin.as_ref();
        begun.is_some_and(|begin| of(&begin.facts) != of(&survey.facts))
    };
    let both = [
        ("CPU", differs(|facts| &facts.cpu_model)),
        ("kernel", differs(|facts| &facts.kernel_release)),
    ];
    both.into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
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

fn items(text: &mut String, some: &[&Standing], profile: Profile, measured: &[EffectsLine]) {
    for one in some {
        let row = one.row;
        let mark = match one.state {
            State::AsAdvised => 'x',
            State::Differs | State::Fixed(_) => '!',
            _ => '?',
        };
        let words = sentence(row.advice(profile).words.unwrap_or_default());
        let _ = writeln!(
            text,
            "- [{mark}] **{}**: {words} Now: {}.",
            row.id,
            here(one)
        );
        let _ = writeln!(text, "  - {} ({}). {}", row.name, places(one), row.what);
        let commands = shown_by(row);
        if !commands.is_empty() {
            let _ = writeln!(text, "  - Shown by: `{commands}`");
        }
        for change in changes(one) {
            let _ = writeln!(text, "  - Change: {change}");
        }
        for (line, effect) in effects_of(measured, row.id) {
            let told = sentence(&format!("{}: {}", effect.title(), line.finding(effect)));
            let _ = writeln!(
                text,
                "  - Measured at {}: {told}",
                number::frame(&line.frame)
            );
        }
        for (label, said) in [
            ("Risk", row.risk),
            ("Stops meanwhile, or needs", row.disrupts),
        ] {
            if !matches!(said, "" | LOW) {
                let _ = writeln!(text, "  - {label}: {}", sentence(said));
            }
        }
        if row.effects != "None." {
            let _ = writeln!(text, "  - Side effects: {}", row.effects);
        }
        if !row.wrong.is_empty() {
            let _ = writeln!(text, "  - Published advice that looks wrong: {}", row.wrong);
        }
        let _ = writeln!(text, "  - Source: {}.", row.source);
    }
}

/// What was measured of a setting.
fn effects_of<'a>(
    measured: &'a [EffectsLine],
    id: &str,
) -> impl Iterator<Item = (&'a EffectsLine, &'a SettingEffect)> {
    let all = measured
        .iter()
        .flat_map(|line| line.effects.iter().map(move |effect| (line, effect)));
    all.filter(move |(_, effect)| effect.setting == id && effect.difference.is_some())
}

/// Names of its places here; as templates where there are many or none.
fn places(standing: &Standing) -> String {
    let here = standing.seen.iter().map(|one| one.place.name());
    if (1..=PLACES_MAX).contains(&here.len()) {
        return here.collect::<Vec<_>>().join("; ");
    }
    let templates = standing.row.places.iter().map(|place| place.text);
    templates.collect::<Vec<_>>().join("; ")
}

/// What to change: each place that differs, or a template where many places of it differ in the same way.
fn changes(standing: &Standing) -> Vec<String> {
    let mut alike: Vec<(&str, &str, Vec<&Seen>)> = Vec::new();
    for seen in standing.seen.iter().filter(|one| one.is_met == Some(false)) {
        let (Some(now), Some(advised)) = (seen.now.known(), seen.advised.as_deref()) else {
            continue;
        };
        let template = |some: &[&Seen]| some.first().map(|one| one.place.template);
        let known = alike.iter_mut().find(|(known, to, some)| {
            (*known, *to, template(some)) == (now, advised, Some(seen.place.template))
        });
        match known {
            Some((_, _, some)) => some.push(seen),
            None => alike.push((now, advised, vec![seen])),
        }
    }
    let line = |place: &str, seen: &Seen, now: &str, advised: &str| {
        let (now, advised) = (shown(standing, now), shown(standing, advised));
        let fixed = seen
            .fixed
            .map(|why| format!(" ({why})"))
            .unwrap_or_default();
        format!(
            "{place}: {now} -> {}{fixed}",
            advised.replace(">=", "at least ")
        )
    };
    let lines = |(now, advised, some): &(&str, &str, Vec<&Seen>)| match some.as_slice() {
        [first, ..] if some.len() > PLACES_MAX => {
            let text = standing
                .row
                .places
                .get(first.place.template)
                .map_or("", |one| one.text);
            let place = format!("{text} ({} of them)", some.len());
            vec![line(&place, first, now, advised)]
        }
        some => some
            .iter()
            .map(|seen| line(&name(seen), seen, now, advised))
            .collect(),
    };
    alike.iter().flat_map(lines).collect()
}

/// A place in full; ethtool's names do not tell the interface.
fn name(seen: &Seen) -> String {
    match (&seen.place.interface, seen.place.kind) {
        (Some(interface), Kind::Ethtool) => format!("{interface} {}", seen.place.name()),
        _ => seen.place.name(),
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
    let end = if words.ends_with('.') || words.ends_with(".)") {
        ""
    } else {
        "."
    };
    format!("{words}{end}")
}
