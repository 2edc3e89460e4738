mod test_frame;

use super::*;
use test_frame::TestFrame;

fn v4() -> FrameTemplate {
    FrameTemplate {
        src_mac: MacAddr([0x02, 0x6d, 0x70, 0x70, 0, 0x0a]),
        dst_mac: MacAddr([0x02, 0x6d, 0x70, 0x70, 0, 0x0b]),
        addresses: Addresses::V4("198.18.0.2".parse().unwrap(), "198.19.0.2".parse().unwrap()),
        transport: Transport::Udp,
        dscp: 46,
        ttl: 64,
    }
}

fn v6() -> FrameTemplate {
    let addresses = Addresses::V6(
        "2001:2:0:1::2".parse().unwrap(),
        "2001:2:0:2::2".parse().unwrap(),
    );
    FrameTemplate { addresses, ..v4() }
}

fn over_tcp(template: FrameTemplate) -> FrameTemplate {
    let transport = Transport::Tcp;
    FrameTemplate {
        transport,
        ..template
    }
}

const TAG: Tag = Tag {
    id: 7,
    sequence: 123_456_789_012,
    time_ns: 987_654_321_098,
};

#[test]
fn frames_of_every_length_survive_the_wire() {
    for template in [v4(), v6(), over_tcp(v4()), over_tcp(v6())] {
        let min = template.addresses.family().frame_min(template.transport);
        for length in (min..min + 9).chain([508, 1514, 1515, 3396, 9212, 65_535]) {
            let frame = template.frame(length, (1024, 1055), &TAG).unwrap();
            assert_eq!(frame.len(), length);
            let parsed = TestFrame::parse(&frame).unwrap();
            assert!(parsed.is_right(), "{length}: {parsed:?}");
            assert_eq!(
                (parsed.template, parsed.ports, parsed.tag),
                (template, (1024, 1055), TAG)
            );
            let is_tcp = template.transport == Transport::Tcp;
            assert_eq!(parsed.position, if is_tcp { STREAM_START } else { 0 });
        }
    }
}

#[test]
fn the_shortest_frames_hold_headers_and_tag() {
    let octets =
        |family: Family, transport| (family.headers_len(transport), family.frame_min(transport));
    assert_eq!(octets(Family::V4, Transport::Udp), (42, 60));
    assert_eq!(octets(Family::V6, Transport::Udp), (62, 74));
    assert_eq!(octets(Family::V4, Transport::Tcp), (54, 66));
    assert_eq!(octets(Family::V6, Transport::Tcp), (74, 86));
    assert!(over_tcp(v4()).frame(65, (1, 1), &TAG).is_err());
    let error = v6().frame(73, (1, 1), &TAG).unwrap_err().to_string();
    assert_eq!(
        error,
        "no test frame has 73 octets without FCS: choose 74 to 65535"
    );
    assert!(v4().frame(59, (1, 1), &TAG).is_err());
    assert!(v4().frame(65_536, (1, 1), &TAG).is_err());
}

#[test]
fn an_ipv4_frame_equals_one_written_by_hand() {
    let frame = v4().frame(60, (1024, 1024), &Tag::default()).unwrap();
    let mut by_hand = vec![
        0x02, 0x6d, 0x70, 0x70, 0x00, 0x0b, 0x02, 0x6d, 0x70, 0x70, 0x00, 0x0a, 0x08,
        0x00, // Ethernet
        0x45, 0xb8, 0x00, 0x2e, 0x00, 0x00, 0x00, 0x00, 0x40, 0x11, 0xed, 0xdd, // IPv4 ...
        0xc6, 0x12, 0x00, 0x02, 0xc6, 0x13, 0x00, 0x02, // ... and its addresses
        0x04, 0x00, 0x04, 0x00, 0x00, 0x1a, 0x6b, 0x90, // UDP
    ];
    by_hand.resize(60, 0);
    assert_eq!(frame, by_hand);
}

#[test]
fn what_a_router_changes_is_told_apart_from_damage() {
    let mut frame = v4().frame(60, (1024, 1024), &TAG).unwrap();
    // One hop less, and the checksum anew.
    frame[22] -= 1;
    frame[24..26].fill(0);
    let anew = checksum::compute(&frame[14..34]);
    frame[24..26].copy_from_slice(&anew.to_be_bytes());
    let forwarded = TestFrame::parse(&frame).unwrap();
    assert!(forwarded.is_right());
    assert_eq!(forwarded.template.ttl, 63);

    let damaged = |place: usize| {
        let mut frame = frame.clone();
        frame[place] ^= 1;
        TestFrame::parse(&frame).unwrap()
    };
    assert!(!damaged(22).ip_checksum_right);
    assert!(!damaged(50).l4_checksum_right, "in the tag");
    assert!(!damaged(17).lengths_right);
    assert!(!damaged(39).lengths_right);
}

#[test]
fn a_checksum_may_be_absent_over_ipv4_alone() {
    let mut frame = v4().frame(60, (1, 1), &TAG).unwrap();
    frame[40..42].fill(0);
    assert!(TestFrame::parse(&frame).unwrap().l4_checksum_right);
    let mut frame = v6().frame(74, (1, 1), &TAG).unwrap();
    frame[60..62].fill(0);
    assert!(!TestFrame::parse(&frame).unwrap().l4_checksum_right);
}

#[test]
fn other_frames_are_none_of_ours() {
    let frame = v4().frame(60, (1, 1), &TAG).unwrap();
    assert_eq!(TestFrame::parse(&[]), None);
    assert_eq!(TestFrame::parse(&frame[..53]), None, "no room for the tag");
    for (place, value) in [(12, 0x88), (14, 0x46), (23, 50), (23, 6)] {
        let mut other = frame.clone();
        other[place] = value;
        assert_eq!(TestFrame::parse(&other), None, "{place}");
    }
    let mut other = v6().frame(74, (1, 1), &TAG).unwrap();
    other[20] = 6;
    assert_eq!(TestFrame::parse(&other), None);
}
