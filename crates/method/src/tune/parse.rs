//! The catalogue's file to rows, each checked.

use super::{Advice, DUT_CPUS, GROUPS, Kind, Row, Template};
use serde::de::value::{self, BorrowedStrDeserializer, MapDeserializer};
use serde::de::{Deserialize, Deserializer, Error};
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;

/// A block that cannot be right.
#[derive(Debug, PartialEq, Eq)]
pub struct WrongRow {
    /// Its line in the file, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

impl std::fmt::Display for WrongRow {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "tune/settings.toml, line {}: {}", self.line, self.why)
    }
}

/// Parts of a frame's way, and what else a setting may act on.
const ACTS: [&str; 8] = [
    "receive",
    "forward",
    "filter",
    "transmit",
    "socket",
    "cpu",
    "memory",
    "measurement",
];
/// Fronts of a bed.
const FRONTS: [&str; 3] = ["cpumap", "napi", "softirq"];
/// What a template may leave open.
const PLACEHOLDERS: [&str; 6] = ["if", "rxq", "txq", "cpu", "idle", "irq"];
/// Advice for an end host that is not said twice.
const AS_A_ROUTER: &str = "As for a router.";
/// Characters of an id and of a name, so that a list fits 80 columns.
const ID_MAX: usize = 26;
const NAME_MAX: usize = 38;

/// Words that the kernel takes, by the end of the place. Other places take numbers alone.
const WORDS: [(&str, &[&str]); 14] = [
    ("rss/table", &["equal", "equal 1"]),
    ("rss/symxor", &["on", "off"]),
    ("rss/udp4", &["sd", "sdfn"]),
    ("rss/udp6", &["sd", "sdfn"]),
    ("/rps_cpus", &[DUT_CPUS]),
    (".rps_default_mask", &[DUT_CPUS]),
    (".flow_limit_cpu_bitmap", &[DUT_CPUS]),
    ("/smt/control", &["on", "off"]),
    ("/scaling_governor", &["powersave", "performance"]),
    ("/sched/preempt", &["none", "voluntary", "full", "lazy"]),
    ("/current_clocksource", &["tsc", "hpet"]),
    ("/napi_tx", &["N", "Y"]),
    (".default_qdisc", &["pfifo_fast", "fq_codel", "fq"]),
    (".tcp_congestion_control", &["cubic", "bbr"]),
];

/// Groups of ethtool's parameters that are on or off.
const SWITCHES: [&str; 2] = ["features/", "private-flags/"];

type Lines = BTreeMap<&'static str, &'static str>;

/// All rows, in the order of the file.
///
/// # Errors
/// The first block that cannot be right.
pub(super) fn rows(text: &'static str) -> Result<Vec<Row>, WrongRow> {
    let wrong = |at: usize, why: String| WrongRow {
        line: text[..at].matches('\n').count() + 1,
        why,
    };
    let blocks: BTreeMap<&'static str, Spanned<Lines>> =
        toml::from_str(text).map_err(|error: toml::de::Error| {
            wrong(
                error.span().unwrap_or_default().start,
                error.message().to_owned(),
            )
        })?;
    let ids: BTreeSet<&str> = blocks.keys().copied().collect();
    if ids.is_empty() {
        return Err(wrong(0, "no setting".to_owned()));
    }
    let mut blocks: Vec<_> = blocks.into_iter().collect();
    blocks.sort_by_key(|(_, lines)| lines.span().start);
    let rows = blocks.into_iter().map(|(id, lines)| {
        let at = lines.span().start;
        row(id, lines.into_inner(), &ids).map_err(|why| wrong(at, format!("[{id}] {why}")))
    });
    rows.collect()
}

fn row(id: &'static str, lines: Lines, ids: &BTreeSet<&str>) -> Result<Row, String> {
    let pairs = lines.iter();
    let pairs = pairs.map(|(key, text)| (*key, BorrowedStrDeserializer::new(text)));
    let row = Row::deserialize(MapDeserializer::new(pairs));
    let mut row = row.map_err(|error: value::Error| error.to_string())?;
    if let Some((key, _)) = lines.iter().find(|(_, text)| text.is_empty()) {
        return Err(format!("has nothing as {key}"));
    }
    let is_id = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if id.is_empty() || id.len() > ID_MAX || !id.chars().all(is_id) {
        return Err(format!("is no id: a-z, 0-9 and _, at most {ID_MAX}"));
    }
    if row.name.chars().count() > NAME_MAX {
        return Err(format!("has a name of more than {NAME_MAX} characters"));
    }
    if !GROUPS.iter().any(|(group, _)| *group == row.group) {
        return Err(format!("has the unknown group {}", row.group));
    }
    known(&row.acts, &ACTS, "acts")?;
    if row.fronts == ["none"] {
        row.fronts.clear();
    }
    known(&row.fronts, &FRONTS, "bed")?;
    if let Some(other) = row.interacts.iter().find(|other| !ids.contains(*other)) {
        return Err(format!("interacts with {other}, which no block describes"));
    }
    check_bed(&row, ids)?;
    row.places = templates(row.kind, row.place)?;
    check_levels(&row)?;
    let advice = |words, values| advice(words, values, row.places.len());
    row.router = advice(row.router_words, row.router_set)?;
    row.endpoint = match row.endpoint_words {
        AS_A_ROUTER => row.router.clone(),
        words => advice(words, row.endpoint_set)?,
    };
    if row.router.words.is_none() && row.endpoint.words.is_none() {
        return Err("has no advice for any profile".to_owned());
    }
    if row.firmware.is_empty() != row.firmware_set.is_empty() {
        return Err("has one of firmware and firmware_set".to_owned());
    }
    (row.id, row.lines) = (id, lines);
    Ok(row)
}

pub(super) fn order<'de: 'static, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    let order = <&str>::deserialize(from)?.parse().ok();
    let order = order.filter(|&order| order < 100);
    order.ok_or_else(|| D::Error::custom("has an order that is no number from 0 to 99"))
}

/// The commands that make the second level on a bed, and take it back.
fn check_bed(row: &Row, ids: &BTreeSet<&str>) -> Result<(), String> {
    if row.bed_on.is_empty() != row.bed_off.is_empty() {
        return Err("has bed_on or bed_off, and not both".to_owned());
    }
    if !row.bed_on.is_empty() && row.levels().len() != 2 {
        return Err("has bed_on and not 2 levels".to_owned());
    }
    if !row.bed_flags.is_empty() {
        check_beds(row)?;
    }
    let with = row.bed_with;
    if !with.is_empty() && !ids.contains(with) {
        return Err(format!("acts with {with}, which no block describes"));
    }
    if let Some(other) = row.bed_not_with.iter().find(|other| !ids.contains(*other)) {
        return Err(format!("stands not with {other}, which no block describes"));
    }
    Ok(())
}

/// The flags of two beds that are the levels.
fn check_beds(row: &Row) -> Result<(), String> {
    if !row.bed_on.is_empty() || !row.bed_with.is_empty() {
        return Err("has bed_flags, and is switched on one bed as well".to_owned());
    }
    let Some(beds) = row.beds().filter(|_| row.levels().len() == 2) else {
        return Err("has bed_flags and not 2 levels with flags for each".to_owned());
    };
    let is_wrong = |flags: &&&str| **flags != "none" && !flags.starts_with("--");
    if let Some(flags) = beds.iter().find(is_wrong) {
        return Err(format!("has bed_flags that are no flags: {flags}"));
    }
    if beds[0] == beds[1] {
        return Err("has the same bed_flags for both levels".to_owned());
    }
    Ok(())
}

/// Whether each level can be written to each place, where nothing else makes the levels.
fn check_levels(row: &Row) -> Result<(), String> {
    if !(row.bed_on.is_empty() && row.bed_flags.is_empty()) {
        return Ok(());
    }
    for place in &row.places {
        let mut levels = row.levels().into_iter();
        if let Some(level) = levels.find(|level| !takes(place, level)) {
            return Err(format!(
                "has the level {level}, which nobody can write to {}",
                place.text
            ));
        }
    }
    Ok(())
}

fn takes(place: &Template, level: &str) -> bool {
    let is_word =
        |(end, words): &(&str, &[&str])| place.text.ends_with(end) && words.contains(&level);
    match place.kind {
        Kind::Ethtool if SWITCHES.iter().any(|group| place.text.starts_with(group)) => {
            ["on", "off"].contains(&level)
        }
        Kind::Sysctl | Kind::Sysfs | Kind::Procfs | Kind::Ethtool => {
            let mut numbers = level.split(' ');
            numbers.all(|number| number.parse::<i64>().is_ok()) || WORDS.iter().any(is_word)
        }
        Kind::Irq | Kind::Boot | Kind::Config | Kind::Service | Kind::Command => true,
    }
}

/// Words set apart by commas.
pub(super) fn listed<'de: 'static, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<&'static str>, D::Error> {
    let words = <&str>::deserialize(from)?.split(',').map(str::trim);
    Ok(words.filter(|word| !word.is_empty()).collect())
}

pub(super) fn cookbook<'de: 'static, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<&'static str>, D::Error> {
    Ok(parts(<&str>::deserialize(from)?))
}

/// Texts set apart by semicolons.
pub(super) fn parts(text: &'static str) -> Vec<&'static str> {
    let parts = text.split(';').map(str::trim);
    parts.filter(|part| !part.is_empty()).collect()
}

fn known(words: &[&str], all: &[&str], key: &str) -> Result<(), String> {
    match words.iter().find(|word| !all.contains(word)) {
        Some(word) => Err(format!("has the unknown {key} {word}")),
        None => Ok(()),
    }
}

fn advice(words: &'static str, values: &'static str, places: usize) -> Result<Advice, String> {
    let accepted = parts(values);
    if !accepted.is_empty() && accepted.len() != 1 && accepted.len() != places {
        return Err(format!("sets {} values in {places} places", accepted.len()));
    }
    let words = (words != "-").then_some(words);
    if words.is_none() && !accepted.is_empty() {
        return Err("sets a value without advice in words".to_owned());
    }
    let is_plain = accepted
        .iter()
        .all(|one| !one.contains('|') && !one.contains(".."));
    let values = if is_plain {
        accepted.clone()
    } else {
        Vec::new()
    };
    Ok(Advice {
        words,
        values,
        accepted,
    })
}

fn templates(kind: Kind, text: &'static str) -> Result<Vec<Template>, String> {
    let place = |text: &'static str| {
        // A setting may have a sysctl and files of each queue.
        let kind = match kind {
            Kind::Sysctl if text.starts_with("/sys/") => Kind::Sysfs,
            kind => kind,
        };
        let fits = match kind {
            Kind::Sysctl => !text.contains(['/', ' ']) && text.contains('.'),
            Kind::Sysfs => text.starts_with("/sys/"),
            Kind::Procfs => text.starts_with("/proc/") && !text.starts_with("/proc/sys/"),
            Kind::Ethtool => text.split('/').count() == 2,
            Kind::Irq => text == "{irq}",
            Kind::Config => text.starts_with("CONFIG_"),
            Kind::Boot | Kind::Service => !text.contains(['/', ' ', '=']),
            Kind::Command => true,
        };
        if !fits {
            return Err(format!("has a place that is none of its kind: {text}"));
        }
        let open = text.split('{').skip(1).map(|rest| rest.split('}').next());
        for name in open {
            let name = name.unwrap_or_default();
            if !PLACEHOLDERS.contains(&name) {
                return Err(format!("has the unknown placeholder {{{name}}}"));
            }
        }
        let of_interface = ["{rxq}", "{txq}"].iter().any(|queue| text.contains(queue));
        if of_interface && !text.contains("{if}") {
            return Err(format!("has a queue of no interface: {text}"));
        }
        Ok(Template { kind, text })
    };
    let places: Vec<Template> = parts(text)
        .into_iter()
        .map(place)
        .collect::<Result<_, _>>()?;
    if places.is_empty() {
        return Err("has no place".to_owned());
    }
    Ok(places)
}
