//! A result as one JSON object, for programs. The members of each stand beside its words.

use mpps_record::SCHEMA;
use serde_json::Value;
use std::collections::BTreeMap;

/// The object as text, with the schema's version.
pub fn document(mut members: Value) -> String {
    members["schema"] = SCHEMA.into();
    format!("{members:#}\n")
}

/// Prefixes by their length in bits; only those there are.
pub fn by_length(counts: &[u64]) -> BTreeMap<usize, u64> {
    let all = counts.iter().copied().enumerate();
    all.filter(|(_, count)| *count > 0).collect()
}
