//! Settings of this machine beside the advice.

use crate::terminal::columns;
use crate::terminal::document::document;
use mpps_lab::tune::{Seen, Standing, State, Survey};
use mpps_method::tune::{Kind, Profile, Scope};
use mpps_report::number::plural;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Characters of a value that are shown.
const VALUE_MAX: usize = 72;
/// A risk that is not worth a mark.
pub(super) const LOW: &str = "Low.";

/// What differs first, then what only a person can judge, then what cannot be read.
pub fn survey(survey: &Survey) -> String {
    let (profile, all) = (survey.profile, survey.standings.as_slice());
    let is_boot = |one: &Standing| one.row.scope == Scope::Boot;
    let of = |wanted: &dyn Fn(&Standing) -> bool| {
        let some = all.iter().filter(|one| wanted(one));
        some.collect::<Vec<_>>()
    };
    let (whom, machine) = (whom(profile), machine(survey));
    let mut text = format!(
        "Settings for {whom}: {machine}\nInterfaces: {}\n\n",
        interfaces(survey)
    );
    let differs = of(&|one| !is_boot(one) && one.state == State::Differs);
    text += &table("Other than advised", &differs, profile);
    let is_fixed = |one: &Standing| matches!(one.state, State::Fixed(_));
    let fixed = of(&|one| !is_boot(one) && is_fixed(one));
    let title = "Other than advised, and cannot be changed here";
    text += &table(title, &fixed, profile);
    text += &at_boot(all);
    if survey.hides_profiles {
        text +=
            "Profiles of NetworkManager may set interfaces otherwise: reading them needs root\n\n";
    }
    let words = of(&|one| !is_boot(one) && one.state == State::InWords);
    text += &advised("Advice in words", &words, profile);
    let is_open = |one: &Standing| matches!(one.state, State::Differs | State::InWords);
    let boot = of(&|one| is_boot(one) && (is_open(one) || is_fixed(one)));
    text += &advised("Needs another boot or kernel", &boot, profile);
    let met = of(&|one| one.state == State::AsAdvised);
    if !met.is_empty() {
        let _ = write!(text, "As advised ({})\n  {}\n\n", met.len(), ids(&met));
    }
    let row = |one: &&Standing| {
        let command = one.seen.first().map(|seen| seen.place.name());
        let why = one.row.unread.to_owned();
        [
            format!("  {}", one.row.id),
            command.unwrap_or_default(),
            why,
        ]
    };
    let unread = of(&|one| one.state == State::Unread);
    text += &part(
        "Not read by mpps; the command shows it",
        unread.iter().map(row),
    );
    text += &missing(all);
    let without = of(&|one| one.state == State::NoAdvice).len();
    let _ = writeln!(
        text,
        "No advice for this profile: {without} settings. `mpps tune list ID` shows all of one. Nothing was changed."
    );
    text
}

/// Rows under a title with their number; nothing without rows.
fn part<const N: usize>(title: &str, rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<_> = rows.collect();
    match rows.len() {
        0 => String::new(),
        count => format!(
            "{title} ({count})\n{}\n",
            columns(&rows, &std::array::from_fn::<_, N, _>(|at| at))
        ),
    }
}

/// The machine in a line.
pub(super) fn machine(survey: &Survey) -> String {
    let facts = &survey.facts;
    let model = facts.cpu_model.known();
    let mut text = model.map_or("unknown CPU", String::as_str).to_owned();
    if let Some(&cpus) = facts.cpus_online.known() {
        let _ = write!(text, ", {}", plural(cpus, "CPU"));
    }
    let _ = write!(text, ", Linux {}", facts.kernel_release.text());
    if facts.hypervisor.known() == Some(&true) {
        text += ", a virtual machine";
    }
    text
}

pub(super) fn interfaces(survey: &Survey) -> String {
    match survey.interfaces.as_slice() {
        [] => "none with a device (name one: --interface)".to_owned(),
        some => some.join(", "),
    }
}

/// A profile in words.
pub(super) fn whom(profile: Profile) -> &'static str {
    match profile {
        Profile::Router => "a router",
        Profile::Endpoint => "an end host",
    }
}

fn table(title: &str, some: &[&Standing], profile: Profile) -> String {
    if some.is_empty() {
        return String::new();
    }
    let is_risky = |one: &Standing| one.state == State::Differs && one.row.risk != LOW;
    let has_reasons = some.iter().any(|one| why(one).is_some());
    let row = |one: &&Standing| {
        let mark = if is_risky(one) { '!' } else { ' ' };
        let is_before = |seen: &&Seen| {
            seen.is_met == Some(false) && seen.place.template >= one.row.places.len()
        };
        let before = one.seen.iter().find(is_before);
        let before = before.and_then(|seen| seen.advised.as_deref()).into_iter();
        let values = match one.row.advice(profile).values.as_slice() {
            [] => "mpps tune layout".to_owned(),
            some => before
                .chain(some.iter().copied())
                .collect::<Vec<_>>()
                .join("; "),
        };
        let reason = why(one).unwrap_or_default().to_owned();
        [
            format!("{mark} {}", one.row.id),
            values,
            now(one, true),
            reason,
        ]
    };
    let reason = if has_reasons { "because" } else { "" };
    let head = ["  setting", "advised", "now", reason].map(str::to_owned);
    let rows = std::iter::once(head).chain(some.iter().map(row));
    let table = columns(rows, &[0, 1, 2, 3]);
    let mut text = format!("{title} ({})\n{table}", some.len());
    if some.iter().any(|one| is_risky(one)) {
        text += "! a change has a risk: `mpps tune list ID` says which\n";
    }
    text + "\n"
}

/// Why a setting cannot be read or changed here.
fn why(standing: &Standing) -> Option<&str> {
    match &standing.state {
        State::NotHere(why) => Some(why),
        State::Fixed(why) => Some(why),
        _ => None,
    }
}

fn advised(title: &str, some: &[&Standing], profile: Profile) -> String {
    if some.is_empty() {
        return String::new();
    }
    let mut text = format!("{title} ({})\n", some.len());
    for one in some {
        let words = one.row.advice(profile).words.unwrap_or_default();
        let _ = write!(
            text,
            "  {}: {}\n    advice: {words}\n",
            one.row.id,
            now(one, false)
        );
    }
    text.push('\n');
    text
}

/// Files that set something else than advised at boot.
fn at_boot(all: &[Standing]) -> String {
    let places = all
        .iter()
        .flat_map(|one| one.seen.iter().map(move |seen| (one, seen)));
    let row = |(one, seen): (&Standing, &Seen)| {
        let (file, value) = seen.at_boot.as_ref()?;
        let place = seen.place.name();
        Some([
            format!("  {}", one.row.id),
            format!("{file} sets {place} = {value}"),
        ])
    };
    part("Set to something else at boot", places.filter_map(row))
}

/// What is not here, by the reason.
fn missing(all: &[Standing]) -> String {
    let mut by_reason: BTreeMap<&str, Vec<&Standing>> = BTreeMap::new();
    for one in all {
        if let State::NotHere(why) = &one.state {
            by_reason.entry(why).or_default().push(one);
        }
    }
    if by_reason.is_empty() {
        return String::new();
    }
    let count: usize = by_reason.values().map(Vec::len).sum();
    let mut text = format!("Cannot be read or changed here ({count})\n");
    for (why, some) in by_reason {
        let _ = writeln!(text, "  {why}: {}", ids(&some));
    }
    text.push('\n');
    text
}

fn ids(some: &[&Standing]) -> String {
    let ids: Vec<&str> = some.iter().map(|one| one.row.id).collect();
    ids.join(", ")
}

/// What the places of a setting hold: one value where all hold it, else each with its name; with `unmet` only those
/// that hold something else than advised.
pub(super) fn now(standing: &Standing, unmet: bool) -> String {
    let seen = standing.seen.iter();
    let seen = seen.filter(|one| !unmet || one.is_met == Some(false));
    let known: Vec<(&Seen, &String)> = seen
        .filter_map(|one| Some((one, one.now.known()?)))
        .collect();
    let is_service = |one: &Seen| one.place.kind == Kind::Service;
    if known.iter().any(|(one, _)| is_service(one)) {
        let runs = known.iter().filter(|(_, now)| *now == "running");
        let names: Vec<String> = runs.map(|(one, _)| one.place.name()).collect();
        return match names.as_slice() {
            [] => "stopped".to_owned(),
            some => format!("running: {}", some.join(", ")),
        };
    }
    let mut by_value: Vec<(&String, Vec<String>)> = Vec::new();
    for (one, now) in known {
        let name = label(one);
        match by_value.iter_mut().find(|(value, _)| *value == now) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => by_value.push((now, vec![name])),
        }
    }
    let whole = standing.seen.iter().map(label);
    let is_one = whole.clone().all(|name| Some(name) == whole.clone().next());
    match by_value.as_slice() {
        [] => "not known".to_owned(),
        [(value, names)] if !unmet || is_one || names.len() == whole.count() => {
            shown(standing, value)
        }
        some => {
            let each = some
                .iter()
                .map(|(value, names)| format!("{} {}", names.join(", "), shown(standing, value)));
            each.collect::<Vec<_>>().join("; ")
        }
    }
}

/// A value as people say it. Keys and tables of RSS are cut short; their commands and the JSON have all of them.
pub(super) fn shown(standing: &Standing, value: &str) -> String {
    let is_boot = standing.seen.iter().any(|one| one.place.kind == Kind::Boot);
    match value {
        "" => "empty",
        "absent" if is_boot => "not given",
        value => match value.char_indices().nth(VALUE_MAX) {
            Some((end, _)) => return format!("{}...", &value[..end]),
            None => value,
        },
    }
    .to_owned()
}

/// What tells a place from the others of its setting.
fn label(seen: &Seen) -> String {
    let name = seen.place.name();
    let parts: Vec<&str> = name
        .split(['/', '.'])
        .filter(|part| !part.is_empty())
        .collect();
    let last = parts.last().copied().unwrap_or_default();
    let named = |part: &&&str| {
        let digits = part.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '-');
        let of_machine = ["cpu", "rx-", "tx-", "state"]
            .iter()
            .any(|start| part.starts_with(start));
        of_machine && !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit())
    };
    let interface = seen.place.interface.clone();
    let numbered: Vec<&str> = parts.iter().filter(named).copied().collect();
    match (numbered.as_slice(), seen.place.kind) {
        ([], Kind::Sysctl) if name.contains(".conf.") => {
            let conf = parts.iter().position(|part| *part == "conf");
            let of = conf
                .and_then(|at| parts.get(at + 1))
                .copied()
                .unwrap_or(last);
            interface.unwrap_or_else(|| of.to_owned())
        }
        ([], _) => interface.map_or(last.to_owned(), |name| format!("{name} {last}")),
        (some, _) => interface
            .into_iter()
            .chain([some.join(" ")])
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// The same as JSON, with every place.
pub fn survey_json(survey: &Survey) -> String {
    let profile = survey.profile;
    let place = |one: &Seen| {
        json!({
            "place": one.place.name(),
            "interface": one.place.interface,
            "now": one.now,
            "advised": one.advised,
            "is_met": one.is_met,
            "cannot_be_changed": one.fixed,
            "at_boot": one.at_boot.as_ref().map(|(file, value)| json!({ "file": file, "value": value })),
        })
    };
    let setting = |one: &Standing| {
        json!({
            "id": one.row.id,
            "state": one.state.name(),
            "why": why(one),
            "advice": one.row.advice(profile).words,
            "places": one.seen.iter().map(place).collect::<Value>(),
        })
    };
    document(json!({
        "profile": profile.name(),
        "interfaces": survey.interfaces,
        "settings": survey.standings.iter().map(setting).collect::<Value>(),
    }))
}
