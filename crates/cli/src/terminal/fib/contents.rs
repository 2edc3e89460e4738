//! What of ours is in the FIB.

use super::{columns, table_name};
use crate::terminal::grouped;
use mpps_lab::fib::{Contents, PROTOCOL};

/// A row for each table, family and next hop, then the prefix lengths.
#[must_use]
pub fn contents(place: &str, contents: &Contents) -> String {
    if contents.groups.is_empty() {
        return format!("{place}: mpps has loaded no routes (protocol {PROTOCOL})\n");
    }
    let total = grouped(contents.total());
    let mut text = format!("{place}: {total} routes loaded by mpps (protocol {PROTOCOL})\n\n");
    let head = [
        "table",
        "family",
        "next hop",
        "interface",
        "object",
        "metric",
        "routes",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    let or_dash = |word: Option<String>| word.unwrap_or("-".to_owned());
    for group in &contents.groups {
        rows.push([
            table_name(group.table),
            group.family.to_string(),
            or_dash(group.gateway.map(|gateway| gateway.to_string())),
            or_dash(group.interface.clone()),
            or_dash(group.nexthop.map(|id| id.to_string())),
            group.metric.to_string(),
            grouped(group.routes),
        ]);
    }
    text += &columns(&rows, &[0, 1, 2, 3]);
    text.push('\n');
    let head = ["table", "family", "length", "routes"];
    let mut rows = vec![head.map(str::to_owned)];
    for (table, family, length, routes) in &contents.lengths {
        rows.push([
            table_name(*table),
            family.to_string(),
            format!("/{length}"),
            grouped(*routes),
        ]);
    }
    text + &columns(&rows, &[0, 1])
}
