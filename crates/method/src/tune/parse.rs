//! The catalogue's file to rows, each checked.

use super::{Advice, GROUPS, Kind, Row, Scope, Template, Word};
use std::collections::{BTreeMap, BTreeSet};

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

/// Keys that every block has.
const NEEDED: [&str; 15] = [
    "group", "name", "what", "kind", "where", "scope", "default", "router", "endpoint", "source",
    "effects", "risk", "order", "acts", "bed",
];
/// Keys that a block may have.
const OPTIONAL: [&str; 14] = [
    "router_set",
    "endpoint_set",
    "disrupts",
    "levels",
    "needs",
    "driver",
    "firmware",
    "firmware_set",
    "interacts",
    "cookbook",
    "wrong",
    "bed_on",
    "bed_off",
    "bed_with",
];
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

/// A block of the file as it stands.
struct Block {
    line: usize,
    id: &'static str,
    lines: Vec<(&'static str, &'static str)>,
}

/// All rows.
///
/// # Errors
/// The first block that cannot be right.
pub(super) fn rows(text: &'static str) -> Result<Vec<Row>, WrongRow> {
    let blocks = blocks(text)?;
    let ids: BTreeSet<&str> = blocks.iter().map(|block| block.id).collect();
    if ids.is_empty() {
        return Err(wrong(1, "no setting"));
    }
    let mut seen = BTreeSet::new();
    blocks
        .into_iter()
        .map(|block| {
            let line = block.line;
            if !seen.insert(block.id) {
                return Err(wrong(line, format!("[{}] stands twice", block.id)));
            }
            let id = block.id;
            row(block, &ids).map_err(|why| wrong(line, format!("[{id}] {why}")))
        })
        .collect()
}

fn wrong(line: usize, why: impl Into<String>) -> WrongRow {
    WrongRow {
        line,
        why: why.into(),
    }
}

fn blocks(text: &'static str) -> Result<Vec<Block>, WrongRow> {
    let mut blocks: Vec<Block> = Vec::new();
    for (index, text) in text.lines().enumerate() {
        let (line, text) = (index + 1, text.trim());
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if let Some(id) = text.strip_prefix('[').and_then(|id| id.strip_suffix(']')) {
            let lines = Vec::new();
            blocks.push(Block { line, id, lines });
            continue;
        }
        let pair = text.split_once(" = ").and_then(|(key, quoted)| {
            let text = quoted.strip_prefix('"')?.strip_suffix('"')?;
            let is_plain = !text.is_empty() && !text.contains(['"', '\\']);
            is_plain.then_some((key, text))
        });
        let Some((key, text)) = pair else {
            return Err(wrong(line, "neither [id] nor key = \"text\""));
        };
        let Some(block) = blocks.last_mut() else {
            return Err(wrong(line, "no [id] before it"));
        };
        if !NEEDED.contains(&key) && !OPTIONAL.contains(&key) {
            return Err(wrong(line, format!("unknown key {key}")));
        }
        if block.lines.iter().any(|(known, _)| *known == key) {
            return Err(wrong(line, format!("{key} stands twice")));
        }
        block.lines.push((key, text));
    }
    Ok(blocks)
}

fn row(block: Block, ids: &BTreeSet<&str>) -> Result<Row, String> {
    let Block { id, lines, .. } = block;
    let map: BTreeMap<&str, &'static str> = lines.iter().copied().collect();
    if let Some(missing) = NEEDED.iter().find(|key| !map.contains_key(*key)) {
        return Err(format!("has no {missing}"));
    }
    let text = |key: &str| map.get(key).copied().unwrap_or_default();
    let is_id = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if id.is_empty() || id.len() > ID_MAX || !id.chars().all(is_id) {
        return Err(format!("is no id: a-z, 0-9 and _, at most {ID_MAX}"));
    }
    if text("name").chars().count() > NAME_MAX {
        return Err(format!("has a name of more than {NAME_MAX} characters"));
    }
    if !GROUPS.iter().any(|(group, _)| *group == text("group")) {
        return Err(format!("has the unknown group {}", text("group")));
    }
    known(&listed(text("acts")), &ACTS, "acts")?;
    let fronts = match text("bed") {
        "none" => Vec::new(),
        some => listed(some),
    };
    known(&fronts, &FRONTS, "bed")?;
    if let Some(other) = listed(text("interacts"))
        .iter()
        .find(|other| !ids.contains(*other))
    {
        return Err(format!("interacts with {other}, which no block describes"));
    }
    check_bed(&map, ids)?;
    let places = templates(word(&Kind::ALL, "kind", text("kind"))?, text("where"))?;
    let advice = |key: &str| advice(text(key), text(&format!("{key}_set")), places.len());
    let router = advice("router")?;
    let endpoint = match text("endpoint") {
        AS_A_ROUTER => router.clone(),
        _ => advice("endpoint")?,
    };
    if router.words.is_none() && endpoint.words.is_none() {
        return Err("has no advice for anybody".to_owned());
    }
    if map.contains_key("firmware") != map.contains_key("firmware_set") {
        return Err("has one of firmware and firmware_set".to_owned());
    }
    let order: Option<u8> = text("order").parse().ok().filter(|&order| order < 100);
    Ok(Row {
        id,
        group: text("group"),
        name: text("name"),
        what: text("what"),
        scope: word(&Scope::ALL, "scope", text("scope"))?,
        default: text("default"),
        source: text("source"),
        effects: text("effects"),
        order: order.ok_or("has an order that is no number from 0 to 99")?,
        needs: text("needs"),
        drivers: listed(text("driver")),
        firmware: text("firmware"),
        firmware_set: text("firmware_set"),
        cookbook: parts(text("cookbook")),
        wrong: text("wrong"),
        places,
        router,
        endpoint,
        fronts,
        lines,
    })
}

/// The commands that make the second level on a bed, and take it back.
fn check_bed(map: &BTreeMap<&str, &'static str>, ids: &BTreeSet<&str>) -> Result<(), String> {
    if map.contains_key("bed_on") != map.contains_key("bed_off") {
        return Err("has bed_on or bed_off, and not both".to_owned());
    }
    let levels = map.get("levels").map_or(0, |levels| parts(levels).len());
    if map.contains_key("bed_on") && levels != 2 {
        return Err("has bed_on and not 2 levels".to_owned());
    }
    match map.get("bed_with").filter(|with| !ids.contains(*with)) {
        Some(with) => Err(format!("acts with {with}, which no block describes")),
        None => Ok(()),
    }
}

/// Words set apart by commas.
fn listed(text: &'static str) -> Vec<&'static str> {
    let words = text.split(',').map(str::trim);
    words.filter(|word| !word.is_empty()).collect()
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

fn word<T: Copy>(all: &[Word<T>], key: &str, text: &str) -> Result<T, String> {
    let found = all.iter().find(|(name, _)| *name == text);
    let found = found.map(|(_, value)| *value);
    found.ok_or_else(|| format!("has the unknown {key} {text}"))
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
