//! Whole files of every format and packing, mutated by the ten thousand: nothing may panic, hang, or break a law.
//! The seed decides, so a failure comes again; the line with its number says which it was.
//! `MPPS_CASES=1000000 cargo test --release -p mpps-tables --test all mutated::` for more.

use crate::laws;
use mpps_wire::mrt::Header;
use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::io::Write;
use std::time::{Duration, Instant};

/// Mutations of each file, by default.
const CASES: u64 = 2_000;
/// The longest that one case may take, on a machine that has other things to do.
const CASE_MAX: Duration = Duration::from_secs(20);

fn record(kind: u16, subtype: u16, body: &[&[u8]]) -> Vec<u8> {
    let body = body.concat();
    let header = Header {
        timestamp: 1_401_487_200,
        kind,
        subtype,
        length: body.len() as u32,
    };
    [&header.octets()[..], &body].concat()
}

/// Routes of TABLE_DUMP_V2, two paths each, with path identifiers or without.
fn dump_v2(path_id: bool) -> Vec<u8> {
    let add = if path_id { 6 } else { 0 };
    let entry: &[u8] = if path_id {
        &[0, 1, 0x53, 0x89, 0, 0, 0, 0, 0, 7, 0, 3, 0x40, 1, 1]
    } else {
        &[0, 1, 0x53, 0x89, 0, 0, 0, 3, 0x40, 1, 1]
    };
    let mut dump = record(13, 1, &[&[10, 0, 0, 1, 0, 0, 0, 0]]);
    for n in 0..12 {
        let v4 = [0, 0, 0, n, 20 + n % 3, 20, n, 16 * n];
        dump.extend(record(13, 2 + add, &[&v4, &[0, 2], entry, entry]));
        let v6 = [0, 0, 0, n, 32 + n % 3, 0x2a, n, 1, n, n << 7];
        let octets = if n % 3 == 0 { 9 } else { 10 };
        dump.extend(record(13, 4 + add, &[&v6[..octets], &[0, 1], entry]));
    }
    dump.extend(record(13, 3, &[&[0, 0, 0, 9, 0, 0, 0]]));
    dump
}

fn dump_v1() -> Vec<u8> {
    let mut dump = Vec::new();
    for n in 0..12 {
        let head = [0, 0, 0, n, 20, n, 0, 0, 16, 1];
        let peer = [0x3d, 0x3c, 0, 0, 193, 203, 0, n, 7, 0x3d];
        dump.extend(record(12, 1, &[&head, &peer, &[0, 3, 0x40, 1, 1]]));
        let head = [&[0, 0, 0, n, 0x2a, n][..], &[0; 14], &[32, 1]].concat();
        dump.extend(record(12, 2, &[&head, &[0; 20], &[7, 0x3d, 0, 0]]));
    }
    dump
}

fn list() -> Vec<u8> {
    let lines = (0..40).map(|n| format!("20.{n}.0.0/16\n2a00:{n}::/32 # of {n}\r\n\n30.1.2.{n}\n"));
    lines.collect::<String>().into_bytes()
}

fn bgpdump() -> Vec<u8> {
    let lines = (0..40).map(|n| {
        format!(
            "TABLE_DUMP2|1401487200|B|196.223.14.55|30844|20.{n}.0.0/16|30844 {n}|IGP|196.223.14.55|0|0||NAG||\n"
        )
    });
    lines.collect::<String>().into_bytes()
}

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(octets).expect("to memory");
    encoder.finish().expect("to memory")
}

fn bzip2(octets: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(octets).expect("to memory");
    encoder.finish().expect("to memory")
}

fn zstd(octets: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(octets, ruzstd::encoding::CompressionLevel::Fastest)
}

fn xz(octets: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(6);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).expect("options");
    encoder.write_all(octets).expect("to memory");
    encoder.finish().expect("to memory")
}

/// Uniform from 0 to below `bound`.
fn below(random: &mut Xoshiro256StarStar, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// Changes a file in up to eight places: as bits fail, as transfers break off, as programs with errors write.
fn mutate(random: &mut Xoshiro256StarStar, octets: &mut Vec<u8>, other: &[u8]) {
    const TELLING: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, b'/', b'|', b'\n'];
    for _ in 0..=below(random, 7) {
        let length = octets.len() as u64;
        let at = below(random, length) as usize;
        let some = at + below(random, (length - at as u64).min(64) + 1) as usize;
        match below(random, 9) {
            _ if octets.is_empty() => octets.push(random.next_u64() as u8),
            0 | 1 => octets[at] ^= 1 << below(random, 8),
            2 => octets[at] = random.next_u64() as u8,
            3 => octets[at] = TELLING[below(random, 8) as usize],
            4 => drop(octets.drain(at..some)),
            5 => octets.truncate(at),
            6 => {
                let piece = octets[at..some].to_vec();
                octets.splice(at..at, piece);
            }
            7 => {
                let noise: Vec<u8> = (at..some).map(|_| random.next_u64() as u8).collect();
                octets.splice(at..at, noise);
            }
            _ => {
                let from = below(random, other.len() as u64) as usize;
                octets.splice(at..some, other[from..].iter().take(100).copied());
            }
        }
    }
}

/// Updates of both families by peers with AS numbers of two octets and of four, with times below a second or without.
fn updates() -> Vec<u8> {
    let message = |octets: &[u8]| {
        let length = (19 + octets.len() as u16).to_be_bytes();
        [&[255; 16][..], &length, &[2], octets].concat()
    };
    let (mut file, mut timed) = (Vec::new(), Vec::new());
    for n in 0..12 {
        let v4 = message(&[0, 3, 16, 20, n, 0, 4, 0x40, 1, 1, 0, 17, 20, n, 128]);
        let v6 = message(&[
            0, 0, 0, 26, 0x90, 14, 0, 11, 0, 2, 1, 0, 0, 40, 0x2a, n, 0, 0, 1, 0x80, 15, 8, 0, 2,
            1, 32, 0x2a, n, 0, 2,
        ]);
        let new = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 10, 0, 0, 1, 10, 0, 0, 2];
        let old = [0, 1, 0, 2, 0, 0, 0, 1, 10, 0, 0, 1, 10, 0, 0, 2];
        file.extend(record(16, 4, &[&new, &v4]));
        file.extend(record(16, 1, &[&old, &v6]));
        timed.extend(record(17, 4, &[&[0, 7, 0xa1, n], &new, &v4]));
        file.extend(record(16, 5, &[&new, &[0, 3, 0, 6]]));
    }
    [file, timed].concat()
}

fn changes() -> Vec<u8> {
    let lines = (0..40)
        .map(|n| format!("17000000{n:02}.5 A 20.{n}.0.0/16\n17000000{n:02}.75 W 2a00:{n}::/32\n"));
    lines.collect::<String>().into_bytes()
}

/// Says which case it was, if it does not end well.
struct Case<'a>(&'a str, u64);

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("broken by {}, case {}", self.0, self.1);
        }
    }
}

/// The file itself is whole, and no mutation of it breaks a law; that both kinds come out shows that they are mild.
fn try_mutations(name: &str, file: &[u8], other: &[u8]) {
    try_mutations_by(laws::hold, name, file, other);
}

fn try_mutations_by(hold: fn(&[u8]) -> bool, name: &str, file: &[u8], other: &[u8]) {
    assert!(hold(file), "{name} is not whole to begin with");
    let cases = std::env::var("MPPS_CASES").map_or(CASES, |cases| cases.parse().expect("a number"));
    let mut whole = 0;
    for number in 0..cases {
        let case = Case(name, number);
        let mut mutated = file.to_vec();
        mutate(
            &mut Xoshiro256StarStar::seed_from_u64(number),
            &mut mutated,
            other,
        );
        let begun = Instant::now();
        whole += u64::from(hold(&mutated));
        let took = begun.elapsed();
        assert!(took < CASE_MAX, "{name}, case {number} took {took:?}");
        drop(case);
    }
    assert!(
        whole < cases,
        "{name}: nothing was damaged in {cases} cases"
    );
}

#[test]
fn mutated_dumps_break_no_law() {
    let (v1, v2, ids) = (dump_v1(), dump_v2(false), dump_v2(true));
    try_mutations("TABLE_DUMP", &v1, &v2);
    try_mutations("TABLE_DUMP_V2", &v2, &ids);
    try_mutations("ADD-PATH", &ids, &v1);
}

#[test]
fn mutated_text_breaks_no_law() {
    try_mutations("list", &list(), &bgpdump());
    try_mutations("bgpdump -m", &bgpdump(), &list());
}

#[test]
fn mutated_route_changes_break_no_law() {
    let hold = laws::hold_changes;
    try_mutations_by(hold, "updates", &updates(), &dump_v2(false));
    try_mutations_by(hold, "changes", &changes(), &list());
    try_mutations_by(
        hold,
        "updates by gzip",
        &gzip(&updates()),
        &gzip(&changes()),
    );
}

#[test]
fn mutated_packings_break_no_law() {
    type Pack = fn(&[u8]) -> Vec<u8>;
    let packers: [(&str, Pack); 4] = [("gzip", gzip), ("bzip2", bzip2), ("zstd", zstd), ("xz", xz)];
    for (name, pack) in packers {
        let (dump, text) = (pack(&dump_v2(false)), pack(&list()));
        try_mutations(&format!("{name} of a dump"), &dump, &text);
        try_mutations(&format!("{name} of a list"), &text, &dump);
    }
}

#[test]
fn a_packed_file_cut_off_anywhere_breaks_no_law() {
    for file in [
        gzip(&dump_v1()),
        bzip2(&dump_v1()),
        zstd(&dump_v1()),
        xz(&dump_v1()),
    ] {
        for cut in 0..file.len() {
            assert!(!laws::hold(&file[..cut]), "cut off at {cut}, and whole");
        }
    }
}
