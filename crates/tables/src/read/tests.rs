use super::*;
use std::path::PathBuf;

/// Reads octets as if they stood in a file named `routes`.
pub(super) fn read_octets(octets: &[u8], lenient: bool) -> Result<ReadTable, ReadError> {
    let options = ReadOptions {
        lenient,
        ..ReadOptions::default()
    };
    let source = Source::File(PathBuf::from("routes"));
    let total = Some(octets.len() as u64);
    read_from(source, Box::new(octets), total, &options, &mut |_| {})
}

fn listed(read: &ReadTable) -> Vec<String> {
    read.table.iter().map(|prefix| prefix.to_string()).collect()
}

fn error_of(octets: &[u8], lenient: bool) -> String {
    read_octets(octets, lenient)
        .expect_err("an error")
        .to_string()
}

#[test]
fn a_list_is_read_and_counted() {
    let text = b"# routes\n10.0.0.0/8\n\n10.0.0.0/8\n2001:db8::1/32\r\n9.0.0.0/8";
    let read = read_octets(text, false).expect("a list");
    assert_eq!(listed(&read), ["9.0.0.0/8", "10.0.0.0/8", "2001:db8::/32"]);
    let wanted = Counts {
        format: "list of prefixes",
        packed: None,
        octets: text.len() as u64,
        octets_unpacked: text.len() as u64,
        records: 6,
        prefixes: 4,
        paths: 4,
        duplicates: 1,
        host_bits: 1,
        skipped: Vec::new(),
        damaged: 0,
        first_damage: None,
    };
    assert_eq!(read.counts, wanted);
}

#[test]
fn the_output_of_bgpdump_is_read_packed_or_not() {
    let text = b"TABLE_DUMP2|1|B|10.0.0.1|1|1.0.0.0/24|1 2|IGP|10.0.0.1|0|0||NAG||\n\
        TABLE_DUMP2|1|B|10.0.0.2|3|1.0.0.0/24|3 2|IGP|10.0.0.2|0|0||NAG||\n\
        BGP4MP|1|W|10.0.0.2|3|9.0.0.0/24\n";
    let plain = read_octets(text, false).expect("bgpdump -m");
    assert_eq!(listed(&plain), ["1.0.0.0/24"]);
    assert_eq!(
        (plain.counts.format, plain.counts.duplicates),
        ("bgpdump -m", 1)
    );
    assert_eq!(plain.counts.skipped, [("updates", 1)]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    io::Write::write_all(&mut encoder, text).expect("to memory");
    let gzip = encoder.finish().expect("to memory");
    let packed = read_octets(&gzip, false).expect("packed");
    assert_eq!(packed.table, plain.table);
    assert_eq!(
        (packed.counts.packed, packed.counts.octets),
        (Some("gzip"), gzip.len() as u64)
    );
    assert_eq!(packed.counts.octets_unpacked, text.len() as u64);
    let error = error_of(&gzip[..gzip.len() - 12], false);
    assert!(
        error.starts_with("read routes: line ") && error.contains("gzip data damaged"),
        "{error}"
    );
}

#[test]
fn an_error_names_file_line_octet_and_content() {
    assert_eq!(
        error_of(b"1.0.0.0/8\n2.0.0.0/8\nthree\n4.0.0.0/8\n", false),
        "read routes: line 3 at octet 20: not a prefix: `three` (`mpps table read --lenient` keeps the undamaged routes)"
    );
    let mixed = b"1.0.0.0/8\nTABLE_DUMP2|1|B|10.0.0.1|1|1.0.0.0/24|1\n";
    assert!(error_of(mixed, false).contains("line 2"));
}

#[test]
fn lenient_keeps_what_is_whole_and_counts_what_is_not() {
    let read = read_octets(b"1.0.0.0/8\nthree\n2.0.0.0/8\n1.0.0.0/99\n", true).expect("two routes");
    assert_eq!(listed(&read), ["1.0.0.0/8", "2.0.0.0/8"]);
    assert_eq!(read.counts.damaged, 2);
    let first = read.counts.first_damage.expect("the first");
    assert_eq!(first, "line 2 at octet 10: not a prefix: `three`");
    assert!(error_of(b"one\ntwo\n", true).contains("2 damaged"));
}

#[test]
fn a_line_without_end_is_not_held() {
    let mut text = b"1.0.0.0/8\n".to_vec();
    text.resize(5 << 20, b'x');
    assert!(error_of(&text, false).contains("line 2 at octet 10: over 1048576 octets"));
    text.extend(b"\n2.0.0.0/8\n");
    let read = read_octets(&text, true).expect("two routes");
    assert_eq!(
        (listed(&read), read.counts.damaged),
        (vec!["1.0.0.0/8".into(), "2.0.0.0/8".into()], 1)
    );
}

#[test]
fn what_holds_no_route_says_what_it_holds() {
    assert!(error_of(b"", false).contains("it is empty"));
    assert!(error_of(b"\n\n# none\n", false).contains("nothing but blanks"));
    assert!(error_of(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0", false).contains("begins with `.ELF...."));
    let updates = error_of(b"BGP4MP|1|A|10.0.0.1|1|1.0.0.0/24|1|IGP\n", false);
    assert!(
        updates.contains("1 updates") && updates.contains("give a RIB dump"),
        "{updates}"
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let source = Source::from_argument(PathBuf::from("/nowhere/routes"));
    let error = read(source, &ReadOptions::default(), &mut |_| {}).expect_err("no file");
    assert!(
        error.to_string().starts_with("open /nowhere/routes: "),
        "{error}"
    );
    let source = Source::File(std::env::temp_dir());
    assert!(matches!(
        read(source, &ReadOptions::default(), &mut |_| {}),
        Err(ReadError::Open(..))
    ));
    assert_eq!(Source::from_argument(PathBuf::from("-")), Source::Stdin);
}

#[test]
fn too_many_prefixes_are_refused() {
    let text: String = (0..300_000_u32)
        .map(|n| format!("{}/32\n", std::net::Ipv4Addr::from(n)))
        .collect();
    let options = ReadOptions {
        most_prefixes: 100_000,
        ..ReadOptions::default()
    };
    let source = Source::Stdin;
    let error = read_from(
        source,
        Box::new(text.as_bytes()),
        None,
        &options,
        &mut |_| {},
    );
    let error = error.expect_err("too many").to_string();
    assert!(
        error.starts_with("read standard input: line ") && error.contains("over 100000"),
        "{error}"
    );
}

#[test]
fn progress_goes_up_to_the_whole() {
    let text = "10.0.0.0/8\n".repeat(200_000);
    let mut seen = Vec::new();
    let total = Some(text.len() as u64);
    let read = read_from(
        Source::Stdin,
        Box::new(text.as_bytes()),
        total,
        &ReadOptions::default(),
        &mut |progress| seen.push(progress),
    );
    assert!(read.is_ok() && seen.len() > 2);
    assert!(seen.is_sorted_by_key(|progress| (progress.octets_read, progress.prefixes)));
    let wanted = Progress {
        octets_read: text.len() as u64,
        octets_total: total,
        prefixes: 200_000,
    };
    assert_eq!(seen.last(), Some(&wanted));
}
