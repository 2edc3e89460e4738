//! A file of route changes: a whole one, then whatever comes. What is read keeps its order and names prefixes that are there.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpps_tables::{ChooseOptions, Source, read_changes_from};

fuzz_target!(|octets: &[u8]| {
    let file = [b"A 20.0.0.0/8\n", octets].concat();
    let source = Source::File("changes".into());
    let Ok(changes) = read_changes_from(source, Box::new(&file[..]), &ChooseOptions::default())
    else {
        return;
    };
    let count = changes.prefixes.len();
    assert!(changes.list.is_sorted_by_key(|change| change.after_ns));
    assert!(changes.list.iter().all(|change| (change.prefix as usize) < count));
    assert!(changes.lasting(&changes.prefixes).len() <= count);
});
