//! Tables in the kernel's FIB: loaded, there, described, cleared.

mod contents;
mod json;
mod loaded;
mod stats;

pub use contents::contents;
pub use json::{cleared_json, contents_json, fib_stats_json, loaded_json};
pub use loaded::{RoutesLoaded, left_out, loaded};
pub use stats::fib_stats;

use super::grouped;
use mpps_lab::fib::{Cleared, MAIN_TABLE, PROTOCOL};

/// A routing table as iproute2 calls it.
fn table_name(table: u32) -> String {
    match table {
        MAIN_TABLE => "main".to_owned(),
        255 => "local".to_owned(),
        253 => "default".to_owned(),
        number => number.to_string(),
    }
}

/// Nanoseconds in seconds, to the millisecond.
fn seconds(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e9)
}

/// Columns as wide as their widest cell, numbers to the right; the first row is the head.
pub(super) fn columns(rows: &[Vec<String>], to_the_left: usize) -> String {
    let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len))
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let line: Vec<String> = cells
            .map(|(column, (cell, &width))| {
                if column < to_the_left {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            })
            .collect();
        text += line.join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// What was cleared.
#[must_use]
pub fn cleared(place: &str, cleared: &Cleared) -> String {
    if cleared.v4 + cleared.v6 + cleared.nexthops == 0 {
        return format!("{place}: mpps had loaded no routes (protocol {PROTOCOL})\n");
    }
    format!(
        "{place}: cleared {} IPv4 and {} IPv6 routes in {} s ({} with their nexthop objects, {} of these; {} one by one); counted \
         afterwards: none is left\n",
        grouped(cleared.v4),
        grouped(cleared.v6),
        seconds(cleared.removing_ns),
        grouped((cleared.v4 + cleared.v6).saturating_sub(cleared.one_by_one)),
        grouped(cleared.nexthops),
        grouped(cleared.one_by_one),
    )
}

#[cfg(test)]
mod tests;
