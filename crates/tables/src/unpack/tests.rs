use super::*;
use std::io::Write;

/// What octets unpack to, and by what.
fn unpacked(packed: &[u8]) -> (Option<&'static str>, io::Result<Vec<u8>>) {
    let position = Position::default();
    position.store(packed.len() as u64, Ordering::Relaxed);
    let (name, mut reader) = unpack(packed, position).expect("a slice can be read");
    let mut all = Vec::new();
    (name, reader.read_to_end(&mut all).map(|_| all))
}

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
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

/// `printf 'routes\n' | xz -9`: the crate's encoder is not built in.
const ROUTES_XZ: &[u8] = &[
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01,
    0x1c, 0x00, 0x00, 0x00, 0x10, 0xcf, 0x58, 0xcc, 0x01, 0x00, 0x06, 0x72, 0x6f, 0x75, 0x74, 0x65,
    0x73, 0x0a, 0x00, 0x00, 0xfd, 0x3f, 0x35, 0x45, 0xf4, 0x63, 0x5d, 0xe1, 0x00, 0x01, 0x1f, 0x07,
    0x16, 0x2e, 0xb8, 0x73, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
];

fn content() -> Vec<u8> {
    (0..300_000_u32)
        .flat_map(|n| (n / 7).to_be_bytes())
        .collect()
}

#[test]
fn packers_are_known_by_content_and_take_members() {
    let (first, second) = (content(), b"the second member".to_vec());
    let both = [&first[..], &second].concat();
    for (name, pack) in [
        ("gzip", gzip as fn(&[u8]) -> Vec<u8>),
        ("bzip2", bzip2),
        ("zstd", zstd),
    ] {
        let row = [pack(&first), pack(&second)].concat();
        let (found, all) = unpacked(&row);
        assert_eq!(found, Some(name));
        assert!(all.expect("whole") == both, "{name}");
        // Cut off within the first member, and within the second.
        for cut in [row.len() / 2, row.len() - 3] {
            let (_, all) = unpacked(&row[..cut]);
            let error = all.expect_err("cut off").to_string();
            assert!(
                error.starts_with(&format!("{name} data damaged in the first {cut} octets")),
                "{error}"
            );
        }
        // A flipped bit is found, by a checksum if by nothing else; some mean the same (a copy from elsewhere).
        let whole = pack(&first);
        let mut found = 0;
        for bit in 0..40 {
            let mut flipped = whole.clone();
            flipped[whole.len() / 41 * (bit + 1)] ^= 1 << (bit % 8);
            match unpacked(&flipped).1 {
                Ok(all) => assert!(all == first, "{name}, bit {bit}: other octets"),
                Err(_) => found += 1,
            }
        }
        assert!(found > 20, "{name}: {found} of 40 flipped bits found");
    }
    let (found, all) = unpacked(ROUTES_XZ);
    assert_eq!(
        (found, all.expect("whole")),
        (Some("xz"), b"routes\n".to_vec())
    );
    let row = [ROUTES_XZ, ROUTES_XZ].concat();
    assert_eq!(unpacked(&row).1.expect("whole"), b"routes\nroutes\n");
    assert!(unpacked(&ROUTES_XZ[..ROUTES_XZ.len() - 1]).1.is_err());
}

#[test]
fn skippable_frames_of_zstd_are_skipped() {
    let skippable = [&[0x53, 0x2a, 0x4d, 0x18, 5, 0, 0, 0][..], b"aside"].concat();
    let row = [&skippable[..], &zstd(b"one "), &skippable, &zstd(b"two")].concat();
    let (found, all) = unpacked(&row);
    assert_eq!(
        (found, all.expect("whole")),
        (Some("zstd"), b"one two".to_vec())
    );
    let huge = [0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff, 1];
    assert!(
        unpacked(&huge)
            .1
            .expect_err("cut off")
            .to_string()
            .contains("cut off")
    );
}

#[test]
fn what_is_not_packed_is_itself() {
    for plain in [
        &b""[..],
        b"1",
        b"1.0.0.0/24\n",
        b"BZh",
        b"BZh9 is not",
        b"\x1f",
    ] {
        let (found, all) = unpacked(plain);
        assert_eq!((found, all.expect("itself")), (None, plain.to_vec()));
    }
}

#[test]
fn large_windows_are_refused_before_allocation() {
    // A zstd frame that wants a window of 2^41 octets.
    let greedy = [0x28, 0xb5, 0x2f, 0xfd, 0, 0xf8, 1, 0, 0];
    assert!(unpacked(&greedy).1.is_err());
    // An xz block with the largest dictionary there is (4 GiB - 1): property 40 in the block's header.
    let mut greedy = ROUTES_XZ.to_vec();
    let at = greedy
        .windows(3)
        .position(|three| three[..2] == [0x21, 1])
        .expect("the LZMA2 filter");
    greedy[at + 2] = 40;
    let crc = crc32(&greedy[12..20]).to_le_bytes();
    greedy[20..24].copy_from_slice(&crc);
    let error = unpacked(&greedy).1.expect_err("too large").to_string();
    assert!(error.contains("mem_limit"), "{error}");
}

fn crc32(octets: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(octets);
    crc.sum()
}

#[test]
fn a_bomb_is_refused() {
    // 8 MiB of zeros in 50 octets, again and again.
    let bomb = bzip2(&vec![0; 8 << 20]).repeat(20);
    let position = Position::default();
    position.store(bomb.len() as u64, Ordering::Relaxed);
    let (_, mut reader) = unpack(&bomb[..], position).expect("a slice can be read");
    let error = io::copy(&mut reader, &mut io::sink()).expect_err("a bomb");
    assert!(error.to_string().contains("over 1000 times"), "{error}");
}
