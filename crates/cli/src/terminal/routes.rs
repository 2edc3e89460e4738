//! A table that was read: what it held, what was left out, how long its prefixes are.

mod json;

pub use json::routes_json;

use super::grouped;
use mpps_tables::{Counts, Families, Histogram, Routes, Table};
use std::fmt::Write;

/// The prefixes, one a line.
#[must_use]
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
#[must_use]
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
    let _ = writeln!(text);
    row(&mut text, "", "IPv4", "IPv6");
    families(&mut text, "distinct prefixes", read.distinct);
    for (class, count) in read.chosen.left_out.iter() {
        families(&mut text, &format!("- {}", class.name()), count);
    }
    families(
        &mut text,
        "left to use",
        Families::from_table(&read.chosen.table),
    );
    let _ = writeln!(text);
    lengths(&mut text, &Histogram::from_table(&read.chosen.table));
    text
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

fn lengths(text: &mut String, histogram: &Histogram) {
    row(text, "length", "IPv4", "IPv6");
    for (length, &v6) in histogram.v6.iter().enumerate() {
        let v4 = histogram.v4.get(length).copied().unwrap_or_default();
        if v4 + v6 > 0 {
            let or_blank = |count| {
                if count > 0 {
                    grouped(count)
                } else {
                    String::new()
                }
            };
            row(text, &format!("/{length}"), &or_blank(v4), &or_blank(v6));
        }
    }
}

fn families(text: &mut String, name: &str, count: Families) {
    row(text, name, &grouped(count.v4), &grouped(count.v6));
}

fn row(text: &mut String, name: &str, v4: &str, v6: &str) {
    let line = format!("{name:<45}{v4:>12}{v6:>12}");
    let _ = writeln!(text, "{}", line.trim_end());
}

#[cfg(test)]
mod tests;
