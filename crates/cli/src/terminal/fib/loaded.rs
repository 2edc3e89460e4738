//! What became of a load.

use super::{columns, headed, seconds, table_name};
use crate::terminal::grouped;
use ipnet::IpNet;
use mpps_lab::fib::{FamilyLoad, LoadPlan, Loaded};
use mpps_tables::{Families, LeftOut};
use std::fmt::Write;

/// Refused or missing prefixes named for each cause; `--json` names all.
const NAMED: usize = 10;

/// A load with its circumstances.
pub struct RoutesLoaded {
    /// The file as typed.
    pub source: String,
    /// Where, in words.
    pub place: String,
    /// The command that clears it.
    pub clearing: String,
    /// Distinct prefixes in the file.
    pub distinct: Families,
    /// What of them was left out.
    pub left_out: LeftOut,
    /// How.
    pub plan: LoadPlan,
    /// What came of it.
    pub loaded: Loaded,
}

/// Classes and counts; `None` if nothing was left out.
pub fn left_out(left_out: &LeftOut) -> Option<String> {
    let words: Vec<String> = left_out
        .iter()
        .map(|(class, count)| format!("{} {}", grouped(count.v4 + count.v6), class.name()))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// As a person reads it.
pub fn loaded(told: &RoutesLoaded) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {} IPv4 and {} IPv6 prefixes, {}",
        told.source,
        grouped(told.distinct.v4),
        grouped(told.distinct.v6),
        left_out(&told.left_out).map_or_else(
            || "none left out".to_owned(),
            |words| format!("left out: {words}")
        )
    );
    let pointing = if told.loaded.objects {
        "by nexthop objects"
    } else {
        "each with a gateway of its own"
    };
    let table = table_name(told.plan.table);
    let _ = writeln!(text, "{}, table {table}, {pointing}\n", told.place);
    text += &families(&told.loaded);
    text += &gateways(told);
    for (_, load) in told.loaded.families() {
        refused(&mut text, load);
    }
    text += &verdict(told);
    text
}

fn families(loaded: &Loaded) -> String {
    let head = "family;asked;counted;refused;missing;seconds;routes/s";
    let rows = loaded.families().map(|(family, load)| {
        let rate = load.asked as f64 / (load.loading_ns.max(1) as f64 / 1e9);
        [
            family.to_string(),
            grouped(load.asked),
            grouped(load.counted),
            grouped(load.refused.len() as u64),
            grouped(load.missing.len() as u64),
            seconds(load.loading_ns),
            grouped(rate as u64),
        ]
    });
    headed(head, rows, &[0])
}

fn gateways(told: &RoutesLoaded) -> String {
    let mut rows = vec![["next hop", "asked"].map(str::to_owned)];
    for (_, load) in told.loaded.families() {
        for (gateway, routes) in &load.by_gateway {
            rows.push([gateway.to_string(), grouped(*routes)]);
        }
    }
    let spread = if rows.len() > 1 + told.loaded.families().count() {
        format!("spread: {}\n", told.plan.spread.name())
    } else {
        String::new()
    };
    format!("\n{}{spread}", columns(&rows, &[0]))
}

/// Each cause with the first prefixes it struck.
fn refused(text: &mut String, load: &FamilyLoad) {
    for (place, cause) in load.causes.iter().enumerate() {
        let struck = load.refused.iter().filter(|(_, at)| *at == place);
        let prefixes: Vec<IpNet> = struck.map(|(prefix, _)| *prefix).collect();
        let meaning = meaning(cause.errno);
        let _ = writeln!(text, "\nrefused: {cause}{meaning}\n{}", named(&prefixes));
    }
    if !load.missing.is_empty() {
        let _ = writeln!(
            text,
            "\nmissing: the kernel accepted these routes, but they were not in the FIB when it was counted\n{}",
            named(&load.missing)
        );
    }
}

/// What an error number means for a route, where that is not in its name.
fn meaning(errno: i32) -> &'static str {
    // Numbers of Linux on every architecture we know.
    match errno {
        17 => {
            ", the table already has a route with this prefix and metric (loaded by mpps: mpps table clear; by another program: --metric, or --route-table)"
        }
        12 => ", the kernel has no memory left for it",
        22 => ", the kernel does not accept this prefix",
        _ => "",
    }
}

fn named(prefixes: &[IpNet]) -> String {
    let first: Vec<String> = prefixes
        .iter()
        .take(NAMED)
        .map(|prefix| format!("  {prefix}"))
        .collect();
    let more = prefixes.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!("\n  and {} more (--json names all)", grouped(more as u64))
    } else {
        String::new()
    };
    first.join("\n") + &more
}

fn verdict(told: &RoutesLoaded) -> String {
    let loaded = &told.loaded;
    let asked: u64 = loaded.families().map(|(_, load)| load.asked).sum();
    let memory = loaded.memory_octets.map_or(String::new(), |octets| {
        format!("; kernel memory grew by {} MiB", octets >> 20)
    });
    let word = if loaded.is_whole() {
        "all of them"
    } else {
        "NOT ALL"
    };
    format!(
        "\n{} of {} routes are in the FIB, {word}. They were loaded in {} s and counted by a dump in {} \
         s{memory}\nclear them: {}\n",
        grouped(loaded.counted()),
        grouped(asked),
        seconds(loaded.loading_ns),
        seconds(loaded.counting_ns),
        told.clearing
    )
}
