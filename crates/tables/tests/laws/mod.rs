//! What holds for every file, whatever stands in it: for the tests of mutated files and for the fuzz targets alike.

use mpps_tables::{
    ChooseOptions, ReadError, ReadOptions, ReadTable, Source, Table, read_changes_from,
};
use std::collections::HashSet;

/// Few, so that a file that claims many is refused soon.
const MOST_PREFIXES: usize = 1 << 20;

fn read(octets: &[u8], lenient: bool) -> Result<ReadTable, ReadError> {
    let options = ReadOptions {
        lenient,
        most_prefixes: MOST_PREFIXES,
    };
    let total = Some(octets.len() as u64);
    mpps_tables::read_from(
        Source::Stdin,
        Box::new(octets),
        total,
        &options,
        &mut |_| {},
    )
}

/// Reads both ways and holds the results against each other. True if the file is whole.
///
/// # Panics
/// A law is broken.
pub fn hold(octets: &[u8]) -> bool {
    let (strict, lenient) = (read(octets, false), read(octets, true));
    if let Err(error) = &strict {
        assert_one_line(error);
    }
    match (&strict, &lenient) {
        (Ok(strict), Ok(lenient)) => {
            assert_eq!(strict.table, lenient.table, "lenient changes what is whole");
            assert_eq!(
                strict.counts, lenient.counts,
                "lenient counts what is whole otherwise"
            );
            assert_eq!(strict.counts.damaged, 0);
        }
        (Err(ReadError::Damaged(..) | ReadError::Read(..)), Ok(lenient)) => {
            assert!(
                lenient.counts.damaged > 0,
                "damage that lenient does not count"
            );
            assert!(lenient.counts.first_damage.is_some());
        }
        (Ok(_), Err(error)) => panic!("whole, and lenient says: {error}"),
        (Err(other), Ok(_)) => panic!("lenient reads on behind: {other}"),
        (Err(_), Err(error)) => assert_one_line(error),
    }
    if let Ok(read) = &lenient {
        let (table, counts) = (&read.table, &read.counts);
        assert_eq!(
            Table::from_prefixes(table.iter()),
            *table,
            "sorted, unique, no host bits"
        );
        assert!(!table.is_empty());
        assert_eq!(counts.prefixes, table.len() as u64 + counts.duplicates);
        assert!(counts.host_bits <= counts.prefixes && counts.prefixes <= counts.records);
        assert!(counts.octets <= octets.len() as u64);
    }
    strict.is_ok()
}

/// Reads route changes, text or MRT updates. True if the file is whole.
///
/// # Panics
/// A law is broken.
pub fn hold_changes(octets: &[u8]) -> bool {
    let read = read_changes_from(Source::Stdin, Box::new(octets), &ChooseOptions::default());
    let changes = match read {
        Ok(changes) => changes,
        Err(error) => {
            assert_one_line(&error);
            return false;
        }
    };
    let (prefixes, list) = (&changes.prefixes, &changes.list);
    assert_eq!(
        Table::from_prefixes(prefixes.iter()),
        *prefixes,
        "sorted, unique, no host bits"
    );
    let named: HashSet<u32> = list.iter().map(|change| change.prefix).collect();
    assert_eq!(named.len(), prefixes.len(), "each prefix has a change");
    assert!(named.iter().all(|place| (*place as usize) < prefixes.len()));
    assert!(list.is_sorted_by_key(|change| change.after_ns));
    assert!(changes.timed || list.iter().all(|change| change.after_ns == 0));
    let withdrawn = list.iter().filter(|change| !change.announced);
    let withdrawn: HashSet<u32> = withdrawn.map(|change| change.prefix).collect();
    let lasting = changes.lasting(prefixes).len();
    assert_eq!(lasting, prefixes.len() - withdrawn.len());
    true
}

fn assert_one_line(error: &dyn std::error::Error) {
    let line = error.to_string();
    assert!(line.contains("standard input"), "no file in: {line}");
    assert!(
        !line.contains(char::is_control),
        "cannot be printed: {line:?}"
    );
    assert!(line.len() < 600, "endless: {line}");
}
