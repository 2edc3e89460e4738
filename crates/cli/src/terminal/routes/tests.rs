use super::*;
use mpps_tables::{ChooseOptions, choose};

fn read() -> Routes {
    let prefixes = [
        "0.0.0.0/0",
        "10.0.0.0/8",
        "20.0.0.0/8",
        "20.1.0.0/16",
        "2a00::/32",
    ];
    let table = Table::from_prefixes(prefixes.map(|prefix| prefix.parse().expect("a prefix")));
    Routes {
        from: "rib.bz2".to_owned(),
        counts: Counts {
            format: "MRT",
            packed: Some("bzip2"),
            octets: 3_941_646,
            octets_unpacked: 32_575_928,
            records: 10,
            prefixes: 7,
            paths: 1234,
            duplicates: 2,
            skipped: vec![("PEER_INDEX_TABLE", 1)],
            damaged: 1,
            first_damage: Some("record 3 at octet 99: cut off".to_owned()),
            ..Counts::default()
        },
        distinct: Families::from_table(&table),
        chosen: choose(table, &ChooseOptions::default()),
    }
}

#[test]
fn a_person_sees_what_was_read_left_out_and_left() {
    let wanted = "\
rib.bz2: MRT packed by bzip2, 3.94 MB, unpacked 32.58 MB
10 records, 7 prefixes, 2 repeated, 1 234 paths, 1 PEER_INDEX_TABLE skipped
DAMAGED in 1 place, left out; the first: record 3 at octet 99: cut off

                   IPv4  IPv6
distinct prefixes     4     1
- default route       1     0
- martian             1     0
left to use           2     1

length             IPv4  IPv6
/8                    1
/16                   1
/32                         1
";
    assert_eq!(routes(&read()), wanted);
    assert_eq!(
        prefixes(&read().chosen.table),
        "20.0.0.0/8\n20.1.0.0/16\n2a00::/32\n"
    );
}

#[test]
fn a_program_sees_the_same() {
    let json = routes_json(&read());
    let json: serde_json::Value = serde_json::from_str(&json).expect("one object");
    assert_eq!(json["left_out"]["martian"]["ipv4_prefixes"], 1);
    assert_eq!(json["lengths"]["ipv4_prefixes"]["16"], 1);
    assert_eq!(json["chosen"]["ipv6_prefixes"], 1);
    assert_eq!(json["skipped_records"]["PEER_INDEX_TABLE"], 1);
}
