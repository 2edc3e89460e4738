//! What holds of each block of the catalogue.

use crate::tune::parse::{self, Block};
use crate::tune::{Advice, DUT_CPUS, GROUPS, Kind, Row, Template};
use std::collections::BTreeSet;

/// A block that cannot be right.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WrongRow {
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

/// Objects that are counted or named, apart from those of nftables.
const OBJECTS: &str = "cpu/latency-limit link/{if}/gro-max link/{if}/gso-max link/{if}/master link/{if}/xdp links/vlan \
    links/vrf napi/{if}/cpus napi/{if}/suspend-timeout napi/{if}/threaded neighbours/learned \
    routes/ipv4 routes/ipv6 routes/nexthops rules/ipv4 rules/ipv6 sockets/packet tc/police \
    tc/{if}/bpf tc/{if}/classes tc/{if}/filters tc/{if}/ingress tc/{if}/root xfrm/policies";
/// What is counted of the rules of nftables: their places, expressions, and those of iptables-nft by its own names.
const RULES: &str = "CONNMARK CT DNAT DSCP FLOWOFFLOAD LOG MARK MASQUERADE NETMAP NFLOG NOTRACK REDIRECT SNAT TOS \
    TRACE chains chains-egress chains-empty chains-ingress connlimit counter dynset fib flow_offload \
    flowtables-hw hashlimit jump limit log lookup masq nat notrack redir rpfilter rules-forward \
    rules-input rules-prerouting set set-ct-mark set-ct-zone set-mark set-nftrace set-payload socket";

/// Groups of ethtool's parameters that are on or off.
const SWITCHES: [&str; 2] = ["features/", "private-flags/"];

/// All rows, in the order of the file.
///
/// # Errors
/// The first block that cannot be right.
pub(super) fn rows(text: &'static str) -> Result<Vec<Row>, WrongRow> {
    let wrong = |at: usize, why: String| WrongRow {
        line: text[..at].matches('\n').count() + 1,
        why,
    };
    let blocks = parse::blocks(text).map_err(|error| {
        let at = error.span().unwrap_or_default().start;
        wrong(at, error.message().to_owned())
    })?;
    if blocks.is_empty() {
        return Err(wrong(0, "no setting".to_owned()));
    }
    let ids: BTreeSet<&str> = blocks.iter().map(|(_, id, _)| *id).collect();
    let row = |(at, id, lines): Block| {
        let row = parse::row(id, lines).map_err(|error| error.to_string());
        let row = row.and_then(|row| check(&row, &ids).map(|()| row));
        row.map_err(|why| wrong(at, format!("[{id}] {why}")))
    };
    blocks.into_iter().map(row).collect()
}

fn check(row: &Row, ids: &BTreeSet<&str>) -> Result<(), String> {
    if let Some((key, _)) = row.lines.iter().find(|(_, text)| text.is_empty()) {
        return Err(format!("has nothing as {key}"));
    }
    let is_id = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if row.id.is_empty() || row.id.len() > ID_MAX || !row.id.chars().all(is_id) {
        return Err(format!("is no id: a-z, 0-9 and _, at most {ID_MAX}"));
    }
    if row.name.chars().count() > NAME_MAX {
        return Err(format!("has a name of more than {NAME_MAX} characters"));
    }
    if !GROUPS.iter().any(|(group, _)| *group == row.group) {
        return Err(format!("has the unknown group {}", row.group));
    }
    known(&listed(row, "acts"), &ACTS, "acts")?;
    known(&row.fronts, &FRONTS, "bed")?;
    let interacts = listed(row, "interacts");
    if let Some(other) = interacts.iter().find(|other| !ids.contains(*other)) {
        return Err(format!("interacts with {other}, which no block describes"));
    }
    check_bed(row, ids)?;
    if row.places.is_empty() {
        return Err("has no place".to_owned());
    }
    row.places.iter().try_for_each(check_place)?;
    check_levels(row)?;
    for advice in [&row.router, &row.endpoint] {
        check_advice(advice, row.places.len())?;
    }
    if row.router.words.is_none() && row.endpoint.words.is_none() {
        return Err("has no advice for any profile".to_owned());
    }
    match (row.kind, row.unread) {
        (Kind::Command, "") => {
            let why = "is a command without `unread`: say why mpps does not read it";
            return Err(why.to_owned());
        }
        (Kind::Command, _) | (_, "") => {}
        _ => return Err("has `unread`, but is no command".to_owned()),
    }
    if row.firmware.is_empty() != row.firmware_set.is_empty() {
        return Err("has one of firmware and firmware_set".to_owned());
    }
    Ok(())
}

/// Words of a line, set apart by commas.
fn listed(row: &Row, key: &str) -> Vec<&'static str> {
    let line = row.lines.get(key).copied().unwrap_or_default();
    let words = line.split(',').map(str::trim);
    words.filter(|word| !word.is_empty()).collect()
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
        _ => true,
    }
}

fn known(words: &[&str], all: &[&str], key: &str) -> Result<(), String> {
    match words.iter().find(|word| !all.contains(word)) {
        Some(word) => Err(format!("has the unknown {key} {word}")),
        None => Ok(()),
    }
}

fn check_advice(advice: &Advice, places: usize) -> Result<(), String> {
    let values = advice.accepted.len();
    if ![0, 1, places].contains(&values) {
        return Err(format!("sets {values} values in {places} places"));
    }
    if advice.words.is_none() && values > 0 {
        return Err("sets a value without advice in words".to_owned());
    }
    Ok(())
}

fn check_place(&Template { kind, text }: &Template) -> Result<(), String> {
    let fits = match kind {
        Kind::Sysctl => !text.contains(['/', ' ']) && text.contains('.'),
        Kind::Sysfs => text.starts_with("/sys/"),
        Kind::Procfs => text.starts_with("/proc/") && !text.starts_with("/proc/sys/"),
        Kind::Ethtool => text.split('/').count() == 2,
        Kind::Irq => text == "{irq}",
        Kind::Config => text.starts_with("CONFIG_"),
        Kind::Boot | Kind::Service => !text.contains(['/', ' ', '=']),
        Kind::Object => is_object(text),
        Kind::Command => true,
    };
    if !fits {
        let known = match kind {
            Kind::Object => " (known names: OBJECTS and RULES in tests/check.rs)",
            _ => "",
        };
        return Err(format!(
            "has a place that is none of its kind: {text}{known}"
        ));
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
    Ok(())
}

/// Whether an object's name is of those that are counted or named. Of nftables it may be any of several words.
fn is_object(text: &str) -> bool {
    let is_of = |all: &str, one: &str| all.split(' ').any(|known| known == one);
    match text.strip_prefix("nft/").map(|words| words.split('|')) {
        Some(mut words) => words.all(|word| is_of(RULES, word)),
        None => is_of(OBJECTS, text),
    }
}
