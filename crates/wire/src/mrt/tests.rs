//! Records written by hand from the figures of RFC 6396 and RFC 8050.

use super::*;

/// A record of this type around this body.
fn content(kind: u16, subtype: u16, body: &[u8]) -> Result<Content, MrtError> {
    let header = Header {
        timestamp: 1_401_487_200,
        kind,
        subtype,
        length: body.len() as u32,
    };
    header.content(body)
}

fn route(prefix: &str, paths: u16) -> Result<Content, MrtError> {
    Ok(Content::Route(prefix.parse().expect("a prefix"), paths))
}

/// Sequence 7, then these octets.
fn rib_of(octets: &[&[u8]]) -> Vec<u8> {
    [&[0, 0, 0, 7][..], &octets.concat()].concat()
}

/// Peer 3, a time, two octets of attributes.
const ENTRY: &[u8] = &[0, 3, 0x53, 0x89, 0, 0, 0, 2, 0x40, 0x01];
/// The same with path identifier 9.
const ENTRY_WITH_ID: &[u8] = &[0, 3, 0x53, 0x89, 0, 0, 0, 0, 0, 9, 0, 2, 0x40, 0x01];

#[test]
fn a_header_survives() {
    let octets = [0x53, 0x89, 0, 0x20, 0, 13, 0, 2, 0, 1, 0, 4, 99];
    let (header, rest) = Header::parse(&octets).expect("a header");
    assert_eq!(
        (header.kind, header.subtype, header.length),
        (13, 2, 0x1_0004)
    );
    assert_eq!((header.timestamp, rest), (0x5389_0020, &[99][..]));
    assert_eq!(header.octets(), octets[..12]);
    assert_eq!(Header::parse(&octets[..11]).expect_err("short").needs, 12);
}

#[test]
fn rib_records_are_a_prefix_and_its_paths() {
    for (subtype, prefix, wanted, paths) in [
        (2, &[24, 193, 0, 14][..], "193.0.14.0/24", 1_u8),
        (2, &[8, 3], "3.0.0.0/8", 2),
        (2, &[0], "0.0.0.0/0", 1),
        (2, &[32, 1, 2, 3, 4], "1.2.3.4/32", 3),
        (2, &[20, 1, 2, 0xff], "1.2.240.0/20", 1), // trailing bits are irrelevant
        (2, &[19, 1, 2, 0xe0], "1.2.224.0/19", 0),
        (4, &[32, 0x20, 1, 0xd, 0xb8], "2001:db8::/32", 1),
        (4, &[0], "::/0", 1),
        (4, &[1, 0xff], "8000::/1", 1),
    ] {
        let body = rib_of(&[prefix, &[0, paths], &ENTRY.repeat(paths.into())]);
        assert_eq!(
            content(13, subtype, &body),
            route(wanted, paths.into()),
            "{wanted}"
        );
        let body = rib_of(&[prefix, &[0, paths], &ENTRY_WITH_ID.repeat(paths.into())]);
        assert_eq!(
            content(13, subtype + 6, &body),
            route(wanted, paths.into()),
            "ADD-PATH {wanted}"
        );
    }
    let all = [&[128][..], &[0xfe; 16], &[0, 1], ENTRY].concat();
    let wanted = route("fefe:fefe:fefe:fefe:fefe:fefe:fefe:fefe/128", 1);
    assert_eq!(content(13, 4, &rib_of(&[&all])), wanted);
}

#[test]
fn table_dump_is_a_prefix_and_one_path() {
    let v4 = [
        &[0, 0, 0, 1, 3, 0, 0, 0, 8, 1][..], // view, sequence, prefix, length, status
        &[0x3d, 0x3c, 0, 0, 193, 203, 0, 1], // time, peer
        &[7, 0x3d, 0, 3, 1, 2, 3],           // AS, attributes
    ]
    .concat();
    assert_eq!(content(12, 1, &v4), route("3.0.0.0/8", 1));
    let v6 = [
        &[0, 0, 0, 1, 0x20, 1, 6][..],
        &[0; 13],
        &[35, 1],
        &[0; 20],
        &[7, 0x3d, 0, 0],
    ]
    .concat();
    assert_eq!(content(12, 2, &v6), route("2001:600::/35", 1));
    for body in [v4, v6] {
        let subtype = if body.len() < 30 { 1 } else { 2 };
        for cut in 0..body.len() {
            let error = content(12, subtype, &body[..cut]).expect_err("cut off");
            assert!(matches!(error, MrtError::TooShort(_)), "{cut}: {error}");
        }
        let longer = [&body[..], &[0]].concat();
        assert_eq!(content(12, subtype, &longer), Err(MrtError::LeftOver(1)));
    }
}

#[test]
fn a_rib_record_cut_off_anywhere_is_an_error() {
    for (subtype, entry) in [
        (2, ENTRY),
        (4, ENTRY),
        (8, ENTRY_WITH_ID),
        (10, ENTRY_WITH_ID),
    ] {
        let body = rib_of(&[&[24, 1, 2, 3], &[0, 2], entry, entry]);
        assert!(content(13, subtype, &body).is_ok());
        for cut in 0..body.len() {
            let error = content(13, subtype, &body[..cut]).expect_err("cut off");
            assert!(matches!(error, MrtError::TooShort(_)), "{cut}: {error}");
        }
        let longer = [&body[..], &[1, 2]].concat();
        assert_eq!(content(13, subtype, &longer), Err(MrtError::LeftOver(2)));
    }
}

#[test]
fn a_prefix_longer_than_an_address_is_an_error() {
    for (subtype, bits, most) in [
        (2, 33, 32),
        (2, 255, 32),
        (4, 129, 128),
        (8, 40, 32),
        (10, 136, 128),
    ] {
        let body = rib_of(&[&[bits], &[1; 40]]);
        assert_eq!(
            content(13, subtype, &body),
            Err(MrtError::PrefixLength { bits, most })
        );
    }
    let body = [&[0, 0, 0, 1, 3, 0, 0, 0, 33, 1][..], &[0; 16]].concat();
    let error = content(12, 1, &body).expect_err("33 bits");
    assert_eq!(error.to_string(), "a prefix of 33 bits, addresses have 32");
}

#[test]
fn what_is_no_unicast_route_has_a_name_or_is_unknown() {
    for (kind, subtype, name) in [
        (13, 1, "PEER_INDEX_TABLE"),
        (13, 3, "multicast RIB"),
        (13, 11, "multicast RIB"),
        (13, 6, "RIB_GENERIC"),
        (13, 12, "RIB_GENERIC"),
        (13, 7, "GEO_PEER_TABLE"),
        (16, 4, "BGP4MP"),
        (17, 9, "BGP4MP"),
        (11, 0, "OSPF"),
        (33, 0, "IS-IS"),
    ] {
        assert_eq!(content(kind, subtype, &[1, 2, 3]), Ok(Content::Other(name)));
    }
    for (kind, subtype) in [
        (0, 0),
        (12, 0),
        (12, 3),
        (13, 0),
        (13, 13),
        (16, 99),
        (0x312e, 0x302e),
    ] {
        assert_eq!(
            content(kind, subtype, &[]),
            Err(MrtError::Unknown { kind, subtype })
        );
    }
}
