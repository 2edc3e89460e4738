//! What holds for every file, whatever stands in it: for the tests of mutated files and for the fuzz targets alike.

use mpps_tables::{ReadError, ReadOptions, ReadTable, Source, Table};

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

fn assert_one_line(error: &ReadError) {
    let line = error.to_string();
    assert!(line.contains("standard input"), "no file in: {line}");
    assert!(
        !line.contains(char::is_control),
        "cannot be printed: {line:?}"
    );
    assert!(line.len() < 600, "endless: {line}");
}
