//! Tables in the kernel's FIB: loaded, there, described, cleared.

mod contents;
mod json;
mod loaded;
mod stats;

pub use contents::contents;
pub use json::{cleared_json, contents_json, fib_stats_json, loaded_json};
pub use loaded::{RoutesLoaded, left_out, loaded};
pub use stats::fib_stats;

use super::{columns, grouped, headed};
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

/// What was cleared.
pub fn cleared(place: &str, cleared: &Cleared) -> String {
    if cleared.v4 + cleared.v6 + cleared.nexthops == 0 {
        return format!("{place}: mpps had loaded no routes (protocol {PROTOCOL})\n");
    }
    format!(
        "{place}: cleared {} IPv4 and {} IPv6 routes in {} s; none was left when they were counted again. {} were \
         cleared with their {} nexthop objects, {} one by one\n",
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
