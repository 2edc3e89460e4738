//! A table that was read: what it held, what was left out, how long its prefixes are.

mod json;

pub use json::routes_json;

use super::{columns, grouped};
use mpps_tables::{Counts, Families, Histogram, Routes, Table};
use std::fmt::Write;

/// The prefixes, one a line.
pub fn prefixes(table: &Table) -> String {
    // "255.255.255.0/24" and the like: one allocation instead of twenty.
    let mut text = String::with_capacity(table.v4.len() * 16 + table.v6.len() * 20);
    for prefix in &table.v4 {
        let _ = writeln!(text, "{prefix}");
    }
    for prefix in &table.v6 {
        let _ = writeln!(text, "{prefix}");
    }
    text
}

/// As a person reads it.
pub fn routes(read: &Routes) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}: {}", read.from, file(&read.counts));
    let _ = writeln!(text, "{}", found(&read.counts));
    if let Some(first) = &read.counts.first_damage {
        let damaged = grouped(read.counts.damaged);
        let _ = writeln!(
            text,
            "DAMAGED in {damaged} place{}, left out; the first: {first}",
            if read.counts.damaged == 1 { "" } else { "s" }
        );
    }
    let counted =
        |name: &str, count: Families| [name.to_owned(), grouped(count.v4), grouped(count.v6)];
    let mut rows = vec![["", "IPv4", "IPv6"].map(str::to_owned)];
    rows.push(counted("distinct prefixes", read.distinct));
    let left_out = read.chosen.left_out.iter();
    rows.extend(left_out.map(|(class, count)| counted(&format!("- {}", class.name()), count)));
    rows.push(counted(
        "left to use",
        Families::from_table(&read.chosen.table),
    ));
    rows.push(Default::default());
    let histogram = Histogram::from_table(&read.chosen.table);
    rows.extend(length_rows(&histogram.v4, &histogram.v6));
    format!("{text}\n{}", columns(&rows, &[0]))
}

/// What the file is.
fn file(counts: &Counts) -> String {
    let octets = megaoctets(counts.octets);
    match counts.packed {
        Some(packed) => format!(
            "{} packed by {packed}, {octets}, unpacked {}",
            counts.format,
            megaoctets(counts.octets_unpacked)
        ),
        None => format!("{}, {octets}", counts.format),
    }
}

/// What was found in it.
fn found(counts: &Counts) -> String {
    let mut parts = vec![
        format!("{} records", grouped(counts.records)),
        format!("{} prefixes", grouped(counts.prefixes)),
        format!("{} repeated", grouped(counts.duplicates)),
        format!("{} paths", grouped(counts.paths)),
    ];
    if counts.format != "MRT" {
        parts[0] = format!("{} lines", grouped(counts.records));
        parts.pop();
    }
    if counts.host_bits > 0 {
        parts.push(format!(
            "{} with host bits, which were cut",
            grouped(counts.host_bits)
        ));
    }
    for (what, count) in &counts.skipped {
        parts.push(format!("{} {what} skipped", grouped(*count)));
    }
    parts.join(", ")
}

fn megaoctets(octets: u64) -> String {
    format!("{:.2} MB", octets as f64 / 1e6)
}

/// A head, then the prefix lengths there are with their counts of both families.
pub(super) fn length_rows(v4: &[u64], v6: &[u64]) -> Vec<[String; 3]> {
    let mut rows = vec![["length", "IPv4", "IPv6"].map(str::to_owned)];
    for length in 0..v4.len().max(v6.len()) {
        let counts = [v4, v6].map(|counts| counts.get(length).copied().unwrap_or(0));
        if counts != [0, 0] {
            let [v4, v6] = counts.map(|count| match count {
                0 => String::new(),
                count => grouped(count),
            });
            rows.push([format!("/{length}"), v4, v6]);
        }
    }
    rows
}

#[cfg(test)]
mod tests;
