//! The same as one JSON object.

use crate::terminal::document::{by_length, document};
use mpps_tables::{Families, Histogram, Routes};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What [`super::routes`] says, as one object.
pub fn routes_json(read: &Routes) -> String {
    let counts = &read.counts;
    let histogram = Histogram::from_table(&read.chosen.table);
    let left_out = read.chosen.left_out.iter();
    let left_out = left_out.map(|(class, count)| (class.name(), families(count)));
    document(json!({
        "source": read.from,
        "format": counts.format,
        "packed": counts.packed,
        "octets": counts.octets,
        "unpacked_octets": counts.octets_unpacked,
        "records": counts.records,
        "prefixes": counts.prefixes,
        "repeated_prefixes": counts.duplicates,
        "host_bits_prefixes": counts.host_bits,
        "paths": counts.paths,
        "skipped_records": counts.skipped.iter().copied().collect::<BTreeMap<_, _>>(),
        "damaged": counts.damaged,
        "first_damage": counts.first_damage,
        "distinct": families(read.distinct),
        "left_out": left_out.collect::<BTreeMap<_, _>>(),
        "chosen": families(Families::from_table(&read.chosen.table)),
        "lengths": {
            "ipv4_prefixes": by_length(&histogram.v4),
            "ipv6_prefixes": by_length(&histogram.v6),
        },
    }))
}

fn families(count: Families) -> Value {
    json!({ "ipv4_prefixes": count.v4, "ipv6_prefixes": count.v6 })
}
