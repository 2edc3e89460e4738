//! The same as one JSON object.

use mpps_record::SCHEMA;
use mpps_tables::{Families, Histogram, Routes};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    source: &'a str,
    format: &'static str,
    /// Null where it is not packed.
    packed: Option<&'static str>,
    octets: u64,
    unpacked_octets: u64,
    records: u64,
    prefixes: u64,
    repeated_prefixes: u64,
    host_bits_prefixes: u64,
    paths: u64,
    skipped_records: BTreeMap<&'static str, u64>,
    damaged: u64,
    first_damage: Option<&'a str>,
    distinct: Value,
    /// By class; only those there are.
    left_out: BTreeMap<&'static str, Value>,
    chosen: Value,
    /// Of those chosen, by prefix length in bits.
    lengths: Value,
}

/// What [`super::routes`] says, as one object.
///
/// # Errors
/// None that can happen: all of it is text and numbers.
pub fn routes_json(read: &Routes) -> serde_json::Result<String> {
    let counts = &read.counts;
    let histogram = Histogram::from_table(&read.chosen.table);
    let left_out = read.chosen.left_out.iter();
    let document = Document {
        schema: SCHEMA,
        source: &read.from,
        format: counts.format,
        packed: counts.packed,
        octets: counts.octets,
        unpacked_octets: counts.octets_unpacked,
        records: counts.records,
        prefixes: counts.prefixes,
        repeated_prefixes: counts.duplicates,
        host_bits_prefixes: counts.host_bits,
        paths: counts.paths,
        skipped_records: counts.skipped.iter().copied().collect(),
        damaged: counts.damaged,
        first_damage: counts.first_damage.as_deref(),
        distinct: families(read.distinct),
        left_out: left_out
            .map(|(class, count)| (class.name(), families(count)))
            .collect(),
        chosen: families(Families::from_table(&read.chosen.table)),
        lengths: json!({
            "ipv4_prefixes": those_there_are(&histogram.v4),
            "ipv6_prefixes": those_there_are(&histogram.v6),
        }),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn families(count: Families) -> Value {
    json!({ "ipv4_prefixes": count.v4, "ipv6_prefixes": count.v6 })
}

fn those_there_are(lengths: &[u64]) -> BTreeMap<usize, u64> {
    let all = lengths.iter().copied().enumerate();
    all.filter(|(_, count)| *count > 0).collect()
}
