use super::*;
use netlink_packet_core::{NetlinkBuffer, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage, RouteProtocol};
use proptest::prelude::*;

/// The message as another implementation reads it.
fn understood(batch: &[u8]) -> (NetlinkMessage<RouteNetlinkMessage>, RouteMessage) {
    let length = NetlinkBuffer::new(batch).length() as usize;
    assert_eq!(length, batch.len(), "one message, whole");
    let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(batch).expect("a message");
    let route = match &message.payload {
        NetlinkPayload::InnerMessage(
            RouteNetlinkMessage::NewRoute(route) | RouteNetlinkMessage::DelRoute(route),
        ) => route.clone(),
        other => panic!("not a route: {other:?}"),
    };
    (message, route)
}

fn encoded(request: &Request, prefix: IpNet, sequence: u32) -> Vec<u8> {
    let mut batch = Vec::new();
    assert!(request.write(prefix, sequence, &mut batch));
    batch
}

fn family(prefix: &IpNet) -> Family {
    match prefix {
        IpNet::V4(_) => Family::V4,
        IpNet::V6(_) => Family::V6,
    }
}

fn prefixes() -> impl Strategy<Value = IpNet> {
    let v4 = (any::<[u8; 4]>(), 0..=32u8)
        .prop_map(|(octets, len)| IpNet::new(IpAddr::from(octets), len).expect("in range"));
    let v6 = (any::<[u8; 16]>(), 0..=128u8)
        .prop_map(|(octets, len)| IpNet::new(IpAddr::from(octets), len).expect("in range"));
    prop_oneof![v4, v6]
}

proptest! {
    /// Any prefix, table, metric, protocol and way to point reads back as it was meant.
    #[test]
    fn another_implementation_reads_what_was_meant(
        prefix in prefixes(),
        table in 1..=u32::MAX,
        metric in proptest::option::of(any::<u32>()),
        protocol in 4..=255u8,
        sequence in any::<u32>(),
        nexthop in proptest::option::of(1..=u32::MAX),
        interface in 0..5u32,
    ) {
        let stamp = Stamp { table, protocol, metric };
        let gateway: IpAddr = match prefix {
            IpNet::V4(_) => [198, 19, 0, 2].into(),
            IpNet::V6(_) => "2001:2:0:2::2".parse().expect("an address"),
        };
        let via = nexthop.map_or(Via::Gateway(gateway, interface), Via::Nexthop);
        let (message, route) = understood(&encoded(&Request::add(family(&prefix), &stamp, via), prefix, sequence));
        prop_assert_eq!(message.header.sequence_number, sequence);
        prop_assert_eq!(route.header.destination_prefix_length, prefix.prefix_len());
        prop_assert_eq!(route.header.protocol, RouteProtocol::from(protocol));
        let has = |wanted: RouteAttribute| route.attributes.contains(&wanted);
        prop_assert!(has(RouteAttribute::Destination(RouteAddress::from(prefix.addr()))));
        let told = route.attributes.iter().find_map(|attribute| match attribute {
            RouteAttribute::Table(table) => Some(*table),
            _ => None,
        });
        prop_assert_eq!(told.unwrap_or_else(|| u32::from(route.header.table)), table);
        match metric {
            Some(metric) => prop_assert!(has(RouteAttribute::Priority(metric))),
            None => prop_assert!(!route.attributes.iter().any(|a| matches!(a, RouteAttribute::Priority(_)))),
        }
        match via {
            Via::Gateway(gateway, interface) => {
                prop_assert!(has(RouteAttribute::Gateway(RouteAddress::from(gateway))));
                prop_assert_eq!(has(RouteAttribute::Oif(interface)), interface != 0);
            }
            Via::Nexthop(id) => prop_assert!(has(RouteAttribute::NhId(id))),
        }
    }

    #[test]
    fn removal_names_prefix_table_and_protocol(prefix in prefixes(), table in 1..=u32::MAX) {
        let stamp = Stamp { table, protocol: 109, metric: None };
        let request = Request::remove(family(&prefix), &stamp);
        let (message, route) = understood(&encoded(&request, prefix, 5));
        prop_assert!(matches!(
            message.payload,
            NetlinkPayload::InnerMessage(RouteNetlinkMessage::DelRoute(_))
        ));
        prop_assert_eq!(route.header.protocol, RouteProtocol::from(109));
        prop_assert!(route.attributes.contains(&RouteAttribute::Destination(RouteAddress::from(prefix.addr()))));
    }
}

#[test]
fn only_the_last_message_of_a_batch_asks_for_answers() {
    let stamp = Stamp {
        table: 254,
        protocol: 109,
        metric: None,
    };
    let request = Request::add(Family::V4, &stamp, Via::Nexthop(7));
    let prefix = "192.0.2.0/24".parse().unwrap();
    let mut batch = encoded(&request, prefix, 1);
    let first = batch.len();
    assert!(request.write(prefix, 2, &mut batch));
    want_answer(&mut batch, first);
    let asks = |message: &[u8]| understood(message).0.header.flags & flag(libc::NLM_F_ACK) != 0;
    assert!(!asks(&batch[..first]) && asks(&batch[first..]));
}

#[test]
fn a_prefix_of_the_other_family_is_not_encoded() {
    let stamp = Stamp {
        table: 254,
        protocol: 109,
        metric: None,
    };
    let request = Request::add(Family::V4, &stamp, Via::Nexthop(7));
    let mut batch = Vec::new();
    assert!(!request.write("2001:db8::/32".parse().unwrap(), 1, &mut batch));
    assert!(batch.is_empty());
}
