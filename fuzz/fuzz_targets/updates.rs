//! A file of MRT updates: a whole one, then whatever comes. What is read keeps its order and names prefixes that are there.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpps_tables::{ChooseOptions, Source, read_changes_from};

/// BGP4MP_MESSAGE_AS4 with an UPDATE that withdraws 20.0.0.0/8.
const UPDATE: [u8; 57] = [
    0x65, 0, 0, 0, 0, 16, 0, 4, 0, 0, 0, 45, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 10, 0, 0, 1, 10, 0, 0, 2, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 25, 2, 0, 2, 8, 20, 0, 0,
];

fuzz_target!(|octets: &[u8]| {
    let file = [&UPDATE, octets].concat();
    let source = Source::File("updates".into());
    let Ok(changes) = read_changes_from(source, Box::new(&file[..]), &ChooseOptions::default())
    else {
        return;
    };
    let count = changes.prefixes.len();
    assert!(changes.list.is_sorted_by_key(|change| change.after_ns));
    assert!(changes.list.iter().all(|change| (change.prefix as usize) < count));
});
