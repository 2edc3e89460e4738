//! The frames the sender's program writes, read back by another implementation: every field, every checksum.

use crate::support;
use crate::support::PortsOfBed as _;
use crate::support::test_frame::TestFrame;
use mpps_ebpf::instruments::sender::Order;
use mpps_lab::bed::{Bed, Side};
use mpps_lab::destinations::{DestinationList, Destinations};
use mpps_lab::tester::{Sender, SenderPlan, frame_template, ways};
use mpps_lab::traffic::Traffic;
use mpps_method::destinations::Draw;
use mpps_method::flows::{PORT_COUNT, PORT_FIRST};
use mpps_method::{FrameSpec, Transport};
use mpps_wire::template;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The first frames of this traffic on the bed.
fn preview(bed: &Bed, traffic: &Traffic, order: Order, frames: usize) -> Vec<Vec<u8>> {
    let ways = ways(bed, traffic.bidirectional);
    let plan = SenderPlan::new(bed, traffic, &ways).expect("a plan");
    let ports: Vec<_> = ways
        .iter()
        .map(|way| (&*way.from.netns, way.from.ifindex))
        .collect();
    let sender = Sender::load(plan, &ports, None).unwrap_or_else(|error| panic!("load: {error}"));
    let written = sender.preview(order, frames);
    written.unwrap_or_else(|error| panic!("preview: {error}"))
}

fn parse(frame: &[u8]) -> TestFrame {
    let parsed = TestFrame::parse(frame).unwrap_or_else(|| panic!("not ours: {frame:02x?}"));
    assert!(parsed.is_right(), "{parsed:?}");
    parsed
}

#[test]
fn every_kind_of_frame_is_right() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let family = |ipv6| {
        if ipv6 {
            mpps_method::Family::V6
        } else {
            mpps_method::Family::V4
        }
    };
    for transport in Transport::ALL {
        for (ipv6, bidirectional) in [(false, false), (true, false), (false, true), (true, true)] {
            let least = family(ipv6).frame_min(transport);
            let sizes = format!("mix:{least}=1,{least}-200=3,1518=1,3400=1");
            let traffic = Traffic {
                frames: FrameSpec::parse_list(&sizes).expect("sizes").remove(0),
                flows: 5,
                transport,
                ipv6,
                bidirectional,
                dscp: 46,
                ..support::traffic()
            };
            let order = Order {
                id: 0xbeef,
                ..Order::default()
            };
            let ways = ways(&bed, bidirectional);
            for (number, frame) in preview(&bed, &traffic, order, 200).iter().enumerate() {
                let parsed = parse(frame);
                let (way, sequence) = (ways[number % ways.len()], (number / ways.len()) as u64);
                let template = frame_template(&traffic, &way);
                assert_eq!(parsed.template, template, "{traffic:?} {number}");
                assert_eq!((parsed.tag.id, parsed.tag.sequence), (0xbeef, sequence));
                assert!(parsed.tag.time_ns > 0);
                let port = 1024 + u16::try_from(sequence % 5).expect("a port");
                assert_eq!(parsed.ports, (port, port));
                let payload =
                    frame.len() - template.addresses.family().headers_len(template.transport);
                let position = match transport {
                    Transport::Udp => 0,
                    Transport::Tcp => template::STREAM_START,
                    // Each flow has had one segment a round.
                    Transport::TcpStream => 1 + (sequence / 5) as u32 * payload as u32,
                };
                assert_eq!(parsed.position, position, "{traffic:?} {number}");
            }
        }
    }
}

#[test]
fn flows_beyond_64512_move_the_source_address() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    for ipv6 in [false, true] {
        let traffic = Traffic {
            frames: FrameSpec::parse_list("78").expect("a size").remove(0),
            flows: 200_000,
            ipv6,
            ..support::traffic()
        };
        // The program begins where it is told: just before each change of address.
        for first in [64_510, 129_022, 193_534] {
            let order = Order {
                flow_first: first,
                ..Order::default()
            };
            for (number, frame) in (first..).zip(preview(&bed, &traffic, order, 4)) {
                let (host, port) = (number / PORT_COUNT, number % PORT_COUNT);
                let port = PORT_FIRST + u16::try_from(port).expect("a port");
                let parsed = parse(&frame);
                let from = bed.port(Side::A);
                let source = parsed.template.addresses.source();
                let wanted: std::net::IpAddr = if ipv6 {
                    std::net::Ipv6Addr::from(u128::from(from.v6) + u128::from(host)).into()
                } else {
                    std::net::Ipv4Addr::from(u32::from(from.v4) + host).into()
                };
                assert_eq!((source, parsed.ports.0), (wanted, port), "{number}");
            }
        }
    }
}

#[test]
fn flows_with_a_length_are_followed_by_new_ones() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let traffic = Traffic {
        flows: 3,
        flow_length: Some(4),
        ..support::traffic()
    };
    let order = Order {
        flow_first: 64_508,
        ..Order::default()
    };
    for (number, frame) in preview(&bed, &traffic, order, 60).iter().enumerate() {
        let flow = 64_508 + traffic.flow_order().flow(number as u64) as u32;
        let parsed = parse(frame);
        let port = 1024 + u16::try_from(flow % 64_512).expect("a port");
        assert_eq!(parsed.ports, (port, port), "{number}");
        let host = u32::from(bed.port(Side::A).v4) + flow / 64_512;
        let source = std::net::Ipv4Addr::from(host);
        assert_eq!(parsed.template.addresses.source(), source, "{number}");
    }
}

/// The destinations of the list, as long as it has no blocks.
fn listed(destinations: &Destinations) -> Vec<IpAddr> {
    match destinations.list.as_ref() {
        DestinationList::V4(list) => list
            .iter()
            .map(|&number| Ipv4Addr::from(number).into())
            .collect(),
        DestinationList::V6(list) => list
            .iter()
            .map(|&number| Ipv6Addr::from(number).into())
            .collect(),
    }
}

#[test]
fn each_frame_goes_to_the_next_destination() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    for (ipv6, bidirectional) in [(false, false), (true, false), (false, true), (true, true)] {
        let destinations = support::destinations(Draw::PerPrefix, 70, ipv6, 3);
        let list = listed(&destinations);
        let traffic = Traffic {
            frames: FrameSpec::parse_list("78").expect("a size").remove(0),
            flows: 3,
            destinations: Some(destinations),
            ipv6,
            bidirectional,
            ..support::traffic()
        };
        let ways = ways(&bed, bidirectional);
        for (number, frame) in preview(&bed, &traffic, Order::default(), 300)
            .iter()
            .enumerate()
        {
            let (way, sequence) = (number % ways.len(), number / ways.len());
            let parsed = parse(frame);
            let addresses = parsed.template.addresses;
            // Back from there: the destination is the source.
            let (far, near) = match way {
                0 => (addresses.destination(), addresses.source()),
                _ => (addresses.source(), addresses.destination()),
            };
            assert_eq!(far, list[sequence % 70], "{number}");
            let port = bed.port(Side::A);
            let own: IpAddr = if ipv6 { port.v6.into() } else { port.v4.into() };
            assert_eq!(
                (near, parsed.ports.0),
                (own, 1024 + (sequence % 3) as u16),
                "{number}"
            );
        }
        // A trial may go on where the one before it ended.
        let order = Order {
            entry_first: 60,
            ..Order::default()
        };
        for (number, frame) in preview(&bed, &traffic, order, 100).iter().enumerate() {
            let addresses = parse(frame).template.addresses;
            let far = match number % ways.len() {
                0 => addresses.destination(),
                _ => addresses.source(),
            };
            assert_eq!(far, list[(60 + number / ways.len()) % 70], "{number}");
        }
        // Canaries go where the receiver is, whatever the table says.
        let plain = Order {
            plain: true,
            ..Order::default()
        };
        for (number, frame) in preview(&bed, &traffic, plain, 4).iter().enumerate() {
            let template = frame_template(&traffic, &ways[number % ways.len()]);
            assert_eq!(parse(frame).template, template);
        }
    }
}

#[test]
fn a_destination_belongs_to_its_flow_where_flows_end() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let destinations = support::destinations(Draw::PerAddress, 11, false, 2);
    let list = listed(&destinations);
    let traffic = Traffic {
        flows: 2,
        flow_length: Some(3),
        destinations: Some(destinations),
        ..support::traffic()
    };
    let order = traffic.flow_order();
    for (number, frame) in preview(&bed, &traffic, Order::default(), 200)
        .iter()
        .enumerate()
    {
        let parsed = parse(frame);
        let destination = parsed.template.addresses.destination();
        assert_eq!(
            destination,
            list[order.destination(number as u64) as usize],
            "{number}"
        );
        let flow = order.flow(number as u64);
        assert_eq!(u64::from(parsed.ports.0) - 1024, flow, "{number}");
    }
}

#[test]
fn blocks_are_walked_through_without_a_repeat() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    for ipv6 in [false, true] {
        let destinations = support::blocks(ipv6);
        let traffic = Traffic {
            frames: FrameSpec::parse_list("78").expect("a size").remove(0),
            destinations: Some(destinations.clone()),
            ipv6,
            seed: 12_345,
            ..support::traffic()
        };
        assert_eq!(destinations.places(), 80);
        let frames = preview(&bed, &traffic, Order::default(), 160);
        let sent: Vec<IpAddr> = frames
            .iter()
            .map(|frame| parse(frame).template.addresses.destination())
            .collect();
        let distinct: BTreeSet<IpAddr> = sent[..80].iter().copied().collect();
        assert_eq!(distinct.len(), 80);
        assert_eq!(sent[..80], sent[80..], "then the same again");
        let blocks = listed(&destinations);
        for (number, address) in sent.iter().enumerate() {
            let network: IpAddr = match address {
                IpAddr::V4(v4) => Ipv4Addr::from(u32::from(*v4) & !15).into(),
                IpAddr::V6(v6) => Ipv6Addr::from(u128::from(*v6) & !15).into(),
            };
            assert_eq!(blocks[number % 5], network, "{number}");
        }
    }
}

#[test]
fn a_genome_is_sent_in_exactly_its_order() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let genome = FrameSpec::parse_list("genome:aaafgzAb,A=594")
        .expect("a genome")
        .remove(0);
    let octets = [64, 64, 64, 1280, 1518, 1518, 594, 128];
    for bidirectional in [false, true] {
        let traffic = Traffic {
            frames: genome.clone(),
            bidirectional,
            ..support::traffic()
        };
        let ways = if bidirectional { 2 } else { 1 };
        for (number, frame) in preview(&bed, &traffic, Order::default(), 80)
            .iter()
            .enumerate()
        {
            // Each direction passes the genome by itself.
            assert_eq!(
                frame.len() + 4,
                octets[number / ways % octets.len()],
                "{number}"
            );
            parse(frame);
        }
    }
}
