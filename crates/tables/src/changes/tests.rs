use super::*;
use crate::tests::net;
use mpps_wire::mrt::Header;

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
            "line 2 at octet 15: it is 1.000 s before the one above",
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

/// A record of BGP4MP (or BGP4MP_ET) with 4-octet AS numbers: an UPDATE of this body from 10.0.0.1.
fn mrt_update(time: (u32, Option<u32>), body: &[u8]) -> Vec<u8> {
    let length = 19 + body.len() as u16;
    let micros = time
        .1
        .map_or(Vec::new(), |micros| micros.to_be_bytes().to_vec());
    let peers = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 10, 0, 0, 1, 10, 0, 0, 2];
    let message = [&[255; 16][..], &length.to_be_bytes(), &[2], body].concat();
    let octets = [&micros[..], &peers, &message].concat();
    let header = Header {
        timestamp: time.0,
        kind: if time.1.is_some() { 17 } else { 16 },
        subtype: 4,
        length: octets.len() as u32,
    };
    [&header.octets()[..], &octets].concat()
}

/// ORIGIN, an empty AS_PATH and NEXT_HOP, which every announcement has.
const ATTRIBUTES: [u8; 14] = [0x40, 1, 1, 0, 0x40, 2, 0, 0x40, 3, 4, 10, 0, 0, 1];

fn updates() -> Vec<u8> {
    // 20/8 and 21.1/16 announced; then 20/8 withdrawn and 22/8 announced; then 2a00:1::/32 by MP_REACH.
    let two = [&[0, 0, 0, 14][..], &ATTRIBUTES, &[8, 20, 16, 21, 1]].concat();
    let both = [&[0, 2, 8, 20, 0, 14][..], &ATTRIBUTES, &[8, 22]].concat();
    let next_hop = [&[0x2a, 0, 0, 1][..], &[0; 12]].concat();
    let reach = [
        &[0x80, 14, 26, 0, 2, 1, 16][..],
        &next_hop,
        &[0, 32, 0x2a, 0, 0, 1],
    ]
    .concat();
    let v6 = [&[0, 0, 0, 36][..], &ATTRIBUTES[..7], &reach].concat();
    [
        mrt_update((1_700_000_000, None), &two),
        mrt_update((1_700_000_001, Some(500_000)), &both),
        mrt_update((1_700_000_002, None), &v6),
    ]
    .concat()
}

#[test]
fn mrt_updates_are_changes() {
    let mrt = updates();
    let changes = read(&mrt, false).expect("changes");
    let wanted = [
        "A 20.0.0.0/8 0",
        "A 21.1.0.0/16 0",
        "W 20.0.0.0/8 1500",
        "A 22.0.0.0/8 1500",
    ];
    assert_eq!(
        (told(&changes), changes.timed),
        (wanted.map(str::to_owned).to_vec(), true)
    );
    let v6 = read(&mrt, true).expect("changes");
    assert_eq!(told(&v6), ["A 2a00:1::/32 2000"]);
    assert_eq!(v6.changes_left_out, 4);
}

/// The same updates as Debian's bgpdump prints them.
#[test]
fn mrt_and_its_text_are_the_same_changes() {
    let mrt = updates();
    let file = std::env::temp_dir().join(format!("mpps-updates-{}", std::process::id()));
    std::fs::write(&file, &mrt).expect("a file");
    let printed = std::process::Command::new("bgpdump")
        .arg("-m")
        .arg(&file)
        .output();
    std::fs::remove_file(&file).expect("it was there");
    let Ok(printed) = printed else {
        println!("SKIP: needs bgpdump (apt-get install bgpdump)");
        return;
    };
    for v6 in [false, true] {
        let [text, records] =
            [&printed.stdout, &mrt].map(|octets| read(octets, v6).expect("changes"));
        let named = |changes: &Changes| -> Vec<String> {
            let all = told(changes).into_iter();
            all.map(|line| line.rsplit_once(' ').expect("a time").0.to_owned())
                .collect()
        };
        // bgpdump may leave the microseconds out.
        assert_eq!(
            named(&text),
            named(&records),
            "{}",
            String::from_utf8_lossy(&printed.stdout)
        );
    }
}

#[test]
fn damaged_mrt_updates_name_their_record() {
    let mrt = updates();
    for octets in 1..mrt.len() {
        let _read_or_refused = read(&mrt[..octets], false);
        let mut flipped = mrt.clone();
        flipped[octets] ^= 0xff;
        let _read_or_refused = read(&flipped, false);
    }
    let error = read(&mrt[..mrt.len() - 1], false).expect_err("cut");
    assert!(
        error.contains("record 3 at octet ") && error.contains("cut off"),
        "{error}"
    );
    let table = [
        0x65, 0, 0, 0, 0, 13, 0, 1, 0, 0, 0, 8, 10, 0, 0, 1, 0, 0, 0, 0,
    ];
    let error = read(&table, false).expect_err("a table");
    assert!(error.contains("--table reads tables"), "{error}");
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

#[test]
fn changes_within_a_table_add_no_other_route() {
    let text = b"A 50.0.0.0/8\nW 20.1.0.0/16\nA 20.0.0.0/8\nA 20.1.0.0/16\n";
    let changes = read(text, false).expect("changes");
    let within = changes.within(&Table::from_prefixes(
        ["20.1.0.0/16", "60.0.0.0/8"].map(net),
    ));
    let prefixes: Vec<IpNet> = within.prefixes.iter().collect();
    assert_eq!(prefixes, [net("20.1.0.0/16")]);
    let list: Vec<(u32, bool)> = within
        .list
        .iter()
        .map(|c| (c.prefix, c.announced))
        .collect();
    assert_eq!(list, [(0, false), (0, true)]);
    assert_eq!(within.changes_left_out, 2);
    let all = Table::from_prefixes(changes.prefixes.iter());
    assert_eq!(changes.within(&all), changes);
    assert!(changes.within(&Table::default()).list.is_empty());
}
