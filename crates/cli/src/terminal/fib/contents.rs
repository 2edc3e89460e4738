//! What of ours is in the FIB.

use super::{headed, table_name};
use crate::terminal::grouped;
use mpps_lab::fib::{Contents, PROTOCOL};

/// A row for each table, family and next hop, then the prefix lengths.
pub fn contents(place: &str, contents: &Contents) -> String {
    if contents.groups.is_empty() {
        return format!("{place}: mpps has loaded no routes (protocol {PROTOCOL})\n");
    }
    let total = grouped(contents.total());
    let mut text = format!("{place}: {total} routes loaded by mpps (protocol {PROTOCOL})\n\n");
    let head = "table;family;next hop;interface;object;metric;routes";
    let or_dash = |word: Option<String>| word.unwrap_or("-".to_owned());
    let groups = contents.groups.iter().map(|group| {
        [
            table_name(group.table),
            group.family.to_string(),
            or_dash(group.gateway.map(|gateway| gateway.to_string())),
            or_dash(group.interface.clone()),
            or_dash(group.nexthop.map(|id| id.to_string())),
            group.metric.to_string(),
            grouped(group.routes),
        ]
    });
    text += &headed(head, groups, &[0, 1, 2, 3]);
    text.push('\n');
    let head = "table;family;length;routes";
    let lengths = contents.lengths.iter();
    let lengths = lengths.map(|one| {
        let (table, length) = (table_name(one.table), format!("/{}", one.bits));
        [table, one.family.to_string(), length, grouped(one.routes)]
    });
    text + &headed(head, lengths, &[0, 1])
}
