use super::*;
use crate::ReadTable;
use crate::read::tests::read_octets;

const TIME: u32 = 1_401_487_200;

fn record(kind: u16, subtype: u16, body: &[u8]) -> Vec<u8> {
    let header = Header {
        timestamp: TIME,
        kind,
        subtype,
        length: body.len() as u32,
    };
    [&header.octets()[..], body].concat()
}

/// A route to 20.`n`.0.0/16 with one path.
fn route(n: u8) -> Vec<u8> {
    record(
        13,
        2,
        &[
            0, 0, 0, n, 16, 20, n, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0x40, 1, 1,
        ],
    )
}

fn peers() -> Vec<u8> {
    record(13, 1, &[10, 0, 0, 1, 0, 0, 0, 0])
}

/// Peers and routes 0 to 9.
fn dump() -> Vec<Vec<u8>> {
    let routes = (0..10).map(route);
    [peers()].into_iter().chain(routes).collect()
}

fn lenient(octets: &[u8]) -> ReadTable {
    read_octets(octets, true).expect("some routes")
}

fn strict(octets: &[u8]) -> String {
    read_octets(octets, false).expect_err("damage").to_string()
}

/// The second octets of the routes found.
fn found(read: &ReadTable) -> Vec<u8> {
    read.table
        .v4
        .iter()
        .map(|prefix| prefix.addr().octets()[1])
        .collect()
}

#[test]
fn a_dump_is_read_and_counted() {
    let multicast = record(13, 3, &[0; 7]);
    let without = record(13, 2, &[0, 0, 0, 9, 8, 99, 0, 0]);
    let v6 = record(
        13,
        4,
        &[
            0, 0, 0, 1, 16, 0x20, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
        ],
    );
    let all = [dump().concat(), multicast, without, v6, route(3)].concat();
    let read = read_octets(&all, false).expect("whole");
    assert_eq!(found(&read), (0..10).collect::<Vec<_>>());
    assert_eq!(read.table.v6, ["2001::/16".parse().expect("a prefix")]);
    let counts = &read.counts;
    assert_eq!(
        (counts.format, counts.records, counts.prefixes),
        ("MRT", 15, 12)
    );
    assert_eq!(
        (counts.paths, counts.duplicates, counts.damaged),
        (13, 1, 0)
    );
    let skipped = [
        ("PEER_INDEX_TABLE", 1),
        ("multicast RIB", 1),
        ("prefixes without a path", 1),
    ];
    assert_eq!(counts.skipped, skipped);
}

#[test]
fn updates_are_no_table() {
    let updates = record(16, 4, &[0; 20]).repeat(3);
    let error = strict(&updates);
    assert!(
        error.contains("3 BGP4MP") && error.contains("give a RIB dump"),
        "{error}"
    );
}

#[test]
fn a_damaged_record_is_an_error_or_counted() {
    let mut records = dump();
    let octet: usize = records[..4].iter().map(Vec::len).sum();
    let place = format!("read routes: record 5 at octet {octet}: ");
    // Whatever happens to record 5, the rest is found: its prefix length, number of entries, length of attributes,
    // its own length (longer, shorter, huge), its type.
    for (at, value, what) in [
        (16, 33, "a prefix of 33 bits"),
        (20, 2, "a RIB entry needs 6 octets"),
        (20, 0, "octets after its last entry"),
        (28, 9, "BGP attributes needs 9 octets"),
        (11, 21, "octets after its last entry"),
        (11, 19, "BGP attributes needs 3 octets, there are 2"),
        (11, 0, "a sequence number needs 4 octets"),
        (8, 0xff, "a record of 4278190100 octets, over"),
        (9, 1, "cut off"),
        (5, 99, "no MRT record has type 99"),
    ] {
        let before = std::mem::replace(&mut records[4][at], value);
        let all = records.concat();
        let error = strict(&all);
        assert!(error.starts_with(&place) && error.contains(what), "{error}");
        let read = lenient(&all);
        assert_eq!(
            found(&read),
            [0, 1, 2, 4, 5, 6, 7, 8, 9],
            "octet {at}: {value}"
        );
        assert_eq!(read.counts.damaged, 1, "octet {at}: {value}");
        let first = read.counts.first_damage.expect("noted");
        assert!(
            first.contains("record 5") && first.contains(what),
            "{first}"
        );
        records[4][at] = before;
    }
}

#[test]
fn a_file_cut_off_anywhere_keeps_what_is_whole() {
    let records = dump();
    let all = records.concat();
    let mut ends: Vec<usize> = Vec::new();
    for record in &records {
        ends.push(ends.last().unwrap_or(&0) + record.len());
    }
    for cut in ends[1]..all.len() {
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        let on_the_edge = ends.contains(&cut);
        assert_eq!(
            read_octets(&all[..cut], false).is_ok(),
            on_the_edge,
            "{cut}"
        );
        let read = lenient(&all[..cut]);
        assert_eq!(found(&read).len(), whole - 1, "{cut}");
        assert_eq!(read.counts.damaged, u64::from(!on_the_edge), "{cut}");
    }
    let error = strict(&all[..all.len() - 5]);
    assert!(
        error.contains("record 11") && error.contains("cut off: 27 octets of 32"),
        "{error}"
    );
}

#[test]
fn octets_lost_or_put_in_between_are_passed_over() {
    let records = dump();
    for garbage in [
        vec![0; 1000],
        vec![0xff; 5],
        [0, 13, 0, 2, 0, 0, 0, 32].repeat(400),
    ] {
        let all = [records[..3].concat(), garbage, records[3..].concat()].concat();
        assert!(read_octets(&all, false).is_err());
        assert_eq!(found(&lenient(&all)), (0..10).collect::<Vec<_>>());
    }
    let all = [
        &records[..3].concat()[..],
        &records[3][7..],
        &records[4..].concat(),
    ]
    .concat();
    assert_eq!(found(&lenient(&all)), [0, 1, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn records_of_another_day_are_not_taken_for_this_dump() {
    let records = dump();
    let mut other = route(77);
    other[..4].copy_from_slice(&(TIME + DUMP_SECONDS_MAX + 1).to_be_bytes());
    let all = [
        records[..3].concat(),
        vec![0xff; 20],
        other,
        vec![0xff; 20],
        records[3..].concat(),
    ]
    .concat();
    assert_eq!(found(&lenient(&all)), (0..10).collect::<Vec<_>>());
}

#[test]
fn a_file_made_to_be_slow_is_not() {
    // Each octet of it begins a header that is plausible, of a record that is long and not whole.
    let step = [0, 13, 0, 13, 0, 2, 0, 2];
    let begin = [peers(), route(1)].concat();
    let all = [begin, step.repeat(500_000), route(2)].concat();
    let begun = std::time::Instant::now();
    let read = lenient(&all);
    assert!(found(&read).contains(&1));
    let elapsed = begun.elapsed();
    assert!(elapsed.as_secs() < 20, "4 MB took {elapsed:?}");
}
