use super::*;
use mpps_method::FlowOrder;
use mpps_wire::ether::MacAddr;
use mpps_wire::template::{Addresses, FrameTemplate, Transport};
use std::net::{Ipv4Addr, Ipv6Addr};

const ID: u16 = 9;
const CANARY: u16 = 10;
const NOW_NS: u64 = (3 << 40) + 5_000;

fn plan() -> ReceiverPlan {
    ReceiverPlan {
        place_flow: None,
        order: FlowOrder {
            flows: 4,
            flow_length: None,
            destinations: 1,
        },
        tcp: false,
        sequences_max: 128,
        all_timed: false,
        pass_foreign: false,
    }
}

fn frame(id: u16, sequence: u64, port: u16) -> Vec<u8> {
    let template = FrameTemplate {
        src_mac: MacAddr([2, 0, 0, 0, 0, 1]),
        dst_mac: MacAddr([2, 0, 0, 0, 0, 2]),
        addresses: Addresses::V4(Ipv4Addr::new(198, 18, 0, 2), Ipv4Addr::new(198, 19, 0, 2)),
        transport: Transport::Udp,
        dscp: 0,
        ttl: 63,
    };
    let tag = Tag {
        id,
        sequence,
        time_ns: NOW_NS - 700,
    };
    template.frame(60, (port, port), &tag).unwrap()
}

fn armed() -> Counter {
    let mut counter = Counter::new(plan());
    counter.arm(ID, CANARY, 128);
    counter
}

/// The same frames, and the same counts, as the eBPF receiver's own test.
#[test]
fn each_kind_of_frame_is_counted_once() {
    let mut one_flow = plan();
    one_flow.order.flows = 1;
    let mut counter = Counter::new(one_flow);
    counter.arm(ID, CANARY, 128);
    for (sequence, port) in [
        (0, 1024),
        (2, 1024),
        (1, 1024),
        (2, 1024),
        (3, 1025),
        (200, 1024),
    ] {
        counter.count(&frame(ID, sequence, port), 60, NOW_NS);
    }
    counter.count(&frame(CANARY, 0, 1024), 60, NOW_NS);
    counter.count(&frame(ID - 1, 5, 1024), 60, NOW_NS);
    counter.count(&frame(0x8000, 0, 1024), 60, NOW_NS);
    counter.count(&[0; 60], 60, NOW_NS);
    let got = counter.received();
    assert_eq!((got.tagged, got.duplicated, got.reordered), (5, 1, 1));
    assert_eq!(
        (got.foreign, got.late, got.canary, got.beyond),
        (2, 1, 1, 1)
    );
    assert_eq!(got.latency[histogram::index(700)], 5);
    assert_eq!(counter.by_length(60), 4, "each sequence once");
    assert_eq!((got.first_ns, got.last_ns), (NOW_NS, NOW_NS));
}

#[test]
fn reordering_is_seen_within_a_flow_only() {
    let mut counter = armed();
    for (sequence, port) in [(5, 1024), (4, 1025), (7, 1026), (6, 1027)] {
        counter.count(&frame(ID, sequence, port), 60, NOW_NS);
    }
    assert_eq!(counter.received().reordered, 0);
    // Behind 7, whose flow it is: ports may be others behind address translation.
    counter.count(&frame(ID, 3, 1024), 60, NOW_NS);
    assert_eq!(counter.received().reordered, 1);
}

#[test]
fn arming_forgets_everything() {
    let mut counter = armed();
    counter.count(&frame(ID, 0, 1024), 60, NOW_NS);
    counter.arm(ID + 2, CANARY + 2, 64);
    assert_eq!(counter.received(), nothing());
    assert_eq!(counter.by_length(60), 0);
    counter.count(&frame(ID, 0, 1024), 60, NOW_NS);
    counter.count(&frame(ID + 2, 0, 1024), 60, NOW_NS);
    counter.count(&frame(ID + 2, 64, 1024), 60, NOW_NS);
    let got = counter.received();
    assert_eq!(
        (got.late, got.tagged, got.duplicated, got.beyond),
        (1, 1, 0, 1)
    );
}

#[test]
fn ipv6_frames_are_known_damaged_ones_are_foreign() {
    let v6 = |net: u16, host| Ipv6Addr::new(0x2001, 2, 0, net, 0, 0, 0, host);
    let template = FrameTemplate {
        src_mac: MacAddr([2, 0, 0, 0, 0, 1]),
        dst_mac: MacAddr([2, 0, 0, 0, 0, 2]),
        addresses: Addresses::V6(v6(1, 2), v6(2, 2)),
        transport: Transport::Udp,
        dscp: 0,
        ttl: 63,
    };
    let tag = Tag {
        id: ID,
        sequence: 3,
        time_ns: NOW_NS,
    };
    let whole = template.frame(74, (1026, 1026), &tag).unwrap();
    let mut counter = armed();
    counter.count(&whole, 74, NOW_NS);
    assert_eq!((counter.received().tagged, counter.by_length(74)), (1, 1));
    // Cut anywhere before the tag's end it is nobody's; no cut makes it panic.
    for cut in 0..74 {
        counter.arm(ID, CANARY, 128);
        counter.count(&whole[..cut], 74, NOW_NS);
        assert_eq!(counter.received().foreign, 1, "{cut}");
    }
}

#[test]
fn tcp_segments_are_known_only_where_tcp_is_sent() {
    let template = FrameTemplate {
        src_mac: MacAddr([2, 0, 0, 0, 0, 1]),
        dst_mac: MacAddr([2, 0, 0, 0, 0, 2]),
        addresses: Addresses::V4(Ipv4Addr::new(198, 18, 0, 2), Ipv4Addr::new(198, 19, 0, 2)),
        transport: Transport::Tcp,
        dscp: 0,
        ttl: 63,
    };
    let tag = Tag {
        id: ID,
        sequence: 0,
        time_ns: NOW_NS,
    };
    let segment = template.frame(66, (1024, 1024), &tag).unwrap();
    for (tcp, tagged) in [(true, 1), (false, 0)] {
        let mut counter = Counter::new(ReceiverPlan { tcp, ..plan() });
        counter.arm(ID, CANARY, 128);
        counter.count(&segment, 66, NOW_NS);
        let got = counter.received();
        assert_eq!((got.tagged, got.foreign), (tagged, 1 - tagged));
    }
}
