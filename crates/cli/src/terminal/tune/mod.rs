//! Settings in words: the catalogue, this machine beside it, the advice as a page.

#[cfg(feature = "measure")]
mod applied;
#[cfg(feature = "measure")]
mod layout;
#[cfg(feature = "measure")]
mod page;
#[cfg(feature = "measure")]
mod shell;
#[cfg(feature = "measure")]
mod standing;

#[cfg(feature = "measure")]
pub use {
    applied::{
        files_planned, reverted_json, settings_applied, settings_planned, settings_reverted,
    },
    layout::{layout, layout_json},
    page::cookbook,
    shell::{command as setting_command, persisted, script},
    standing::{survey, survey_json},
};

use super::columns;
use super::document::document;
use mpps_method::tune::{GROUPS, Kind, Row, is_set_by_bed};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Each line of a block with the word it is shown by, in this order. Advice, places and beds are put into words. `object`
/// is no line.
const SHOWN: [(&str, &str); 19] = [
    ("what", "what"),
    ("where", "where"),
    ("object", "shown by"),
    ("unread", "not read"),
    ("scope", "scope"),
    ("default", "default"),
    ("router", "router"),
    ("endpoint", "end host"),
    ("firmware", "firmware"),
    ("effects", "side effects"),
    ("disrupts", "disrupts"),
    ("risk", "risk"),
    ("acts", "acts on"),
    ("bed", "on a bed"),
    ("order", "order"),
    ("levels", "levels"),
    ("interacts", "interacts"),
    ("wrong", "looks wrong"),
    ("source", "source"),
];

/// tc(8) does not show the programs of tcx.
const TC_FILTERS: &str = "tc filter show dev {if} ingress; bpftool net show dev {if}";
/// Beginnings of objects' names, and the command that shows such objects; the first that fits.
const COMMANDS: [(&str, &str); 20] = [
    ("cpu/", "od -An -td4 /dev/cpu_dma_latency"),
    ("link/", "ip -details link show {if}"),
    ("links/vlan", "ip -details link show type vlan"),
    ("links/vrf", "ip vrf show"),
    ("napi/{if}/cpus", "ps -eLo pid,psr,comm"),
    ("napi/", "ynl --family netdev --dump napi-get"),
    ("neighbours/", "ip neighbour show"),
    ("nft/", "nft list ruleset"),
    ("routes/ipv4", "ip route show table all"),
    ("routes/ipv6", "ip -6 route show table all"),
    ("routes/nexthops", "ip nexthop show"),
    ("rules/ipv4", "ip rule show"),
    ("rules/ipv6", "ip -6 rule show"),
    ("sockets/", "cat /proc/net/packet"),
    ("tc/police", "tc actions list action police"),
    ("tc/{if}/bpf", TC_FILTERS),
    ("tc/{if}/classes", "tc class show dev {if}"),
    ("tc/{if}/filters", TC_FILTERS),
    ("tc/{if}/", "tc qdisc show dev {if}"),
    ("xfrm/", "ip xfrm policy"),
];

/// A line a setting, by groups.
pub fn settings(rows: &[&Row]) -> String {
    let cells = |row: &&Row| {
        let id = format!("  {}", row.id);
        [id, row.scope_name().to_owned(), row.name.to_owned()]
    };
    let table = columns(rows.iter().map(cells), &[0, 1, 2]);
    let mut text = String::new();
    for (group, about) in GROUPS {
        let lines = rows.iter().zip(table.lines());
        let mut lines = lines.filter(|(row, _)| row.group == group).peekable();
        if lines.peek().is_some() {
            let _ = writeln!(text, "{group}: {about}");
        }
        for (_, line) in lines {
            text += line;
            text.push('\n');
        }
    }
    let count = rows.len();
    let noun = if count == 1 { "setting" } else { "settings" };
    text + &format!("\n{count} {noun}; `mpps tune list ID` shows all of one\n")
}

/// All of one setting.
pub fn setting(row: &Row) -> String {
    let line = |key: &str| row.lines.get(key).copied().unwrap_or_default();
    let mut cells = Vec::new();
    for (key, label) in SHOWN {
        let text = match key {
            "where" => format!("{} {}", line("kind"), line(key)),
            "router" | "endpoint" => with_value(line(key), line(&format!("{key}_set"))),
            "object" => shown_by(row),
            "firmware" if !row.firmware.is_empty() => in_firmware(row),
            "bed" => on_a_bed(row),
            _ => line(key).to_owned(),
        };
        if !text.is_empty() {
            cells.push([format!("  {label}"), text]);
        }
    }
    format!("{}: {}\n{}", row.id, row.name, columns(&cells, &[0, 1]))
}

/// The commands that show the objects of a setting; empty for settings of other kinds.
fn shown_by(row: &Row) -> String {
    let mut commands = Vec::new();
    let objects = row.places.iter().filter(|one| one.kind == Kind::Object);
    for place in objects {
        let found = COMMANDS
            .iter()
            .find(|(begin, _)| place.text.starts_with(begin));
        let command = found.map_or("", |(_, command)| command);
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands.join("; ")
}

fn with_value(words: &str, value: &str) -> String {
    match (words, value) {
        ("-", _) => "no advice".to_owned(),
        (words, "") => words.to_owned(),
        (words, value) if words == value => words.to_owned(),
        (words, value) => format!("{words} (value: {value})"),
    }
}

/// Whether this machine lacks a need of a setting.
#[cfg(feature = "measure")]
fn is_lacking(need: &str) -> bool {
    mpps_lab::tune::measurable::machine_meets(need) == Some(false)
}

/// A program that cannot measure does not look.
#[cfg(not(feature = "measure"))]
const fn is_lacking(_need: &str) -> bool {
    false
}

/// Whether it can act on a bed of this program at all.
fn on_a_bed(row: &Row) -> String {
    match (row.fronts.as_slice(), row.needs) {
        ([], "") => "inert".to_owned(),
        (_, needs) if is_set_by_bed(needs) => format!("inert: {needs}"),
        ([], needs) => format!("inert: needs {needs}"),
        (fronts, "") => format!("with --nic {}", any_of(fronts)),
        (fronts, needs) => {
            let lacking = needs.split("; ").find(|need| is_lacking(need));
            let here = lacking.map_or(
                "",
                |_| "; inert here, because this machine does not meet that",
            );
            format!("with --nic {}; needs {needs}{here}", any_of(fronts))
        }
    }
}

fn any_of(words: &[&str]) -> String {
    match words {
        [some @ .., last] if !some.is_empty() => format!("{} or {last}", some.join(", ")),
        some => some.concat(),
    }
}

/// What it is called in the firmware, and what it should be there.
fn in_firmware(row: &Row) -> String {
    format!("{}: {}", row.firmware, row.firmware_set)
}

/// The same rows as JSON: every line of each block.
pub fn settings_json(rows: &[&Row]) -> String {
    let settings = rows.iter().map(|row| row_json(row)).collect::<Value>();
    document(json!({ "settings": settings }))
}

fn row_json(row: &Row) -> Value {
    let texts = row.lines.iter();
    let texts = texts.map(|(key, text)| ((*key).to_owned(), Value::from(*text)));
    let id = ("id".to_owned(), Value::from(row.id));
    Value::Object(std::iter::once(id).chain(texts).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests;
