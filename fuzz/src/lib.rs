//! The laws that every file of routes obeys, shared with the tests of mutated files that run on a stable compiler.
#![forbid(unsafe_code)]

#[path = "../../crates/tables/tests/laws/mod.rs"]
pub mod laws;

use mpps_tables::{ChooseOptions, Source, read_changes_from};

/// What is read of a file of route changes keeps its order and names prefixes that are there.
///
/// # Panics
/// A law is broken.
pub fn hold_changes(octets: &[u8]) {
    let source = Source::File("changes".into());
    let Ok(changes) = read_changes_from(source, Box::new(octets), &ChooseOptions::default()) else {
        return;
    };
    let count = changes.prefixes.len();
    assert!(changes.list.is_sorted_by_key(|change| change.after_ns));
    assert!(changes.list.iter().all(|change| (change.prefix as usize) < count));
    assert!(changes.lasting(&changes.prefixes).len() <= count);
}
