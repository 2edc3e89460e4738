use super::*;
use crate::tests::net;

fn read(text: &[u8], v6: bool) -> Result<Changes, String> {
    let choosing = ChooseOptions {
        v4: !v6,
        v6,
        local: vec![net("198.18.0.0/15")],
        ..ChooseOptions::default()
    };
    let source = Source::File("updates".into());
    read_changes_from(source, Box::new(text), &choosing).map_err(|error| error.to_string())
}

fn told(changes: &Changes) -> Vec<String> {
    let prefixes: Vec<IpNet> = changes.prefixes.iter().collect();
    let told = changes.list.iter().map(|change| {
        let kind = if change.announced { "A" } else { "W" };
        let ms = change.after_ns / 1_000_000;
        format!("{kind} {} {ms}", prefixes[change.prefix as usize])
    });
    told.collect()
}

#[test]
fn changes_keep_their_order_and_may_have_times() {
    let text = b"# a day\nA 20.0.0.0/8\nW 20.1.0.9/16\n\nA 9.0.0.0/8 of a peer\nA 20.0.0.0/8\n";
    let plain = read(text, false).expect("changes");
    let wanted = [
        "A 20.0.0.0/8 0",
        "W 20.1.0.0/16 0",
        "A 9.0.0.0/8 0",
        "A 20.0.0.0/8 0",
    ];
    assert_eq!(told(&plain), wanted);
    assert!(!plain.timed);
    let timed = read(
        b"1700000000.25 A 20.0.0.0/8\n1700000001 W 20.0.0.0/8\n",
        false,
    );
    let timed = timed.expect("changes");
    assert_eq!(told(&timed), ["A 20.0.0.0/8 0", "W 20.0.0.0/8 750"]);
    assert!(timed.timed);
}

#[test]
fn updates_of_bgpdump_are_changes() {
    let text = b"BGP4MP|1700000000|STATE|10.0.0.1|1|1|2\n\
        BGP4MP|1700000000|A|10.0.0.1|1|20.0.0.0/8|1 2|IGP\n\
        BGP4MP_ET|1700000002.5|W|10.0.0.1|1|20.0.0.0/8\n";
    let changes = read(text, false).expect("changes");
    assert_eq!(told(&changes), ["A 20.0.0.0/8 0", "W 20.0.0.0/8 2500"]);
}

#[test]
fn what_cannot_be_used_is_left_out_and_counted() {
    let text = b"A 20.0.0.0/8\nA 2001:db9::/32\nW 0.0.0.0/0\nA 198.18.7.0/24\nW 10.0.0.0/8\nW 10.0.0.0/8\n";
    let changes = read(text, false).expect("changes");
    assert_eq!(told(&changes), ["A 20.0.0.0/8 0"]);
    assert_eq!(changes.changes_left_out, 5);
    assert_eq!(changes.left_out.total().total(), 4);
    let other = read(b"A 20.0.0.0/8\n", true).expect_err("of the other family");
    let wanted =
        "read updates: no route change in it can be used (prefixes left out: 1 other family)";
    assert_eq!(other, wanted);
}

#[test]
fn an_error_names_file_line_and_content() {
    for (text, wanted) in [
        (
            &b"A 20.0.0.0/8\nB 20.0.0.0/8\n"[..],
            "line 2 at octet 13: not a route change: `B 20.0.0.0/8`",
        ),
        (
            b"A 20.0.0.0/8\nA 20.0.0",
            "line 2 at octet 13: the last line has no end",
        ),
        (
            b"A 20.0.0.0/8\nA 20.0.0\n",
            "line 2 at octet 13: not a route change: `A 20.0.0`",
        ),
        (b"20.0.0.0/8\n", "line 1 at octet 0: not a route change"),
        (b"A\n", "line 1"),
        (b"x A 20.0.0.0/8\n", "line 1"),
        (b"-1 A 20.0.0.0/8\n", "line 1"),
        (b"TABLE_DUMP2|1|B|10.0.0.1|1|1.0.0.0/24|1\n", "line 1"),
        (
            b"2 A 20.0.0.0/8\n1 A 20.0.0.0/8\n",
            "line 2 at octet 15: it is 1.000 s before the line above",
        ),
        (
            b"2 A 20.0.0.0/8\nA 20.0.0.0/8\n",
            "line 2 at octet 15: some lines have a time",
        ),
        (b"\xff\xfe\n", "line 1 at octet 0: not a route change"),
    ] {
        let error = read(text, false).expect_err(wanted);
        let begins = format!("read updates: {wanted}");
        assert!(error.starts_with(&begins), "{error}");
    }
    for empty in [&b""[..], b"# none\n\n"] {
        assert!(
            read(empty, false)
                .expect_err("empty")
                .contains("it is empty")
        );
    }
    let mut endless = b"A 20.0.0.0/8\n".to_vec();
    endless.resize(5 << 20, b'x');
    let error = read(&endless, false).expect_err("endless");
    assert!(error.contains("line 2 at octet 13: more than"), "{error}");
}

#[test]
fn a_packed_file_that_was_cut_is_refused() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    io::Write::write_all(&mut encoder, b"A 20.0.0.0/8\nW 20.0.0.0/8\n").expect("to memory");
    let packed = encoder.finish().expect("to memory");
    assert_eq!(read(&packed, false).expect("whole").list.len(), 2);
    let error = read(&packed[..packed.len() - 10], false).expect_err("cut");
    assert!(error.starts_with("read updates: line "), "{error}");
}

#[test]
fn mrt_updates_name_the_remedy() {
    // BGP4MP, subtype 4, 4 octets (RFC 6396 section 4.4).
    let mrt = [&[0x65, 0, 0, 0, 0, 16, 0, 4, 0, 0, 0, 4, 1, 2, 3, 4][..]; 2].concat();
    let error = read(&mrt, false).expect_err("MRT");
    assert!(error.contains("line 1 at octet 0: MRT updates"), "{error}");
}

#[test]
fn a_prefix_withdrawn_once_does_not_last() {
    let text = b"W 20.1.0.0/16\nA 20.1.0.0/16\nA 20.0.0.0/8\nW 30.0.0.0/8\n";
    let changes = read(text, false).expect("changes");
    let table = ["20.0.0.0/8", "20.1.0.0/16", "40.0.0.0/8"].map(net);
    let lasting = changes.lasting(&Table::from_prefixes(table));
    let lasting: Vec<String> = lasting.iter().map(|prefix| prefix.to_string()).collect();
    assert_eq!(lasting, ["20.0.0.0/8", "40.0.0.0/8"]);
}
