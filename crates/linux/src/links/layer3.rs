//! Addresses, neighbours and routes of links.

use std::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::address::{
    AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage,
};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::{index, object};
use crate::error::{Error, Result};
use crate::netlink::transact;
use crate::netns;

/// Gives the link an address with this prefix length (bits); IPv6 without duplicate address
/// detection, so it is usable at once and no solicitation is sent.
///
/// # Errors
/// The address is there already (EEXIST), no such link (ENODEV), no right (EPERM), IPv6 disabled
/// on the link (EACCES).
pub fn add_address(link: &str, address: IpAddr, prefix_len: u8) -> Result<()> {
    let what = || format!("{address}/{prefix_len} to {}", object(link));
    check_prefix(address, prefix_len, "add address")?;
    let mut message = AddressMessage::default();
    message.header.family = family(address);
    message.header.prefix_len = prefix_len;
    message.header.index = index(link)?;
    message.attributes = vec![
        AddressAttribute::Local(address),
        AddressAttribute::Address(address),
    ];
    if address.is_ipv6() {
        message.header.flags = AddressHeaderFlags::Nodad;
        message
            .attributes
            .push(AddressAttribute::Flags(AddressFlags::Nodad));
    }
    transact(
        RouteNetlinkMessage::NewAddress(message),
        NLM_F_CREATE | NLM_F_EXCL,
    )
    .map(drop)
    .map_err(|refusal| {
        let error = refusal.into_error("add address", what());
        match error.errno() {
            Some(libc::EACCES) if address.is_ipv6() => {
                error.with_remedy("IPv6 is disabled here; set net.ipv6.conf.all.disable_ipv6=0")
            }
            _ => error,
        }
    })
}

/// An address of a link, and the network that the kernel reaches through the link for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// Index of the link it is on.
    pub link: u32,
    /// The machine's own.
    pub own: IpAddr,
    /// An address of the network: the peer's on a point-to-point link, else the same.
    pub network: IpAddr,
    /// Bits of the network's prefix.
    pub prefix_len: u8,
}

/// Every address of every link of the namespace.
///
/// # Errors
/// The kernel's answer could not be read.
pub fn addresses() -> Result<Vec<Address>> {
    let request = RouteNetlinkMessage::GetAddress(AddressMessage::default());
    let answers = transact(request, NLM_F_DUMP)
        .map_err(|refusal| refusal.into_error("list", format!("addresses{}", netns::place())))?;
    let described = answers.iter().filter_map(|answer| match answer {
        RouteNetlinkMessage::NewAddress(message) => describe(message),
        _ => None,
    });
    Ok(described.collect())
}

fn describe(message: &AddressMessage) -> Option<Address> {
    let (mut local, mut address) = (None, None);
    for attribute in &message.attributes {
        match attribute {
            AddressAttribute::Local(ip) => local = Some(*ip),
            AddressAttribute::Address(ip) => address = Some(*ip),
            _ => {}
        }
    }
    // The kernel gives both, or (IPv6 without a peer) only the second.
    Some(Address {
        link: message.header.index,
        own: local.or(address)?,
        network: address.or(local)?,
        prefix_len: message.header.prefix_len,
    })
}

/// Tells the kernel for good (state PERMANENT) the Ethernet address of a neighbour on this link;
/// replaces what it knew.
///
/// # Errors
/// No such link (ENODEV), the link is down (ENETDOWN), no right (EPERM).
pub fn add_neighbour(link: &str, address: IpAddr, mac: [u8; 6]) -> Result<()> {
    add(link, address, mac, None)
}

/// As [`add_neighbour`], with a protocol number by which [`neighbours`] finds it again.
///
/// # Errors
/// As [`add_neighbour`].
pub fn add_neighbour_by(link: &str, address: IpAddr, mac: [u8; 6], protocol: u8) -> Result<()> {
    add(link, address, mac, Some(protocol))
}

fn add(link: &str, address: IpAddr, mac: [u8; 6], protocol: Option<u8>) -> Result<()> {
    let mut message = neighbour(index(link)?, address);
    message.header.state = NeighbourState::Permanent;
    message
        .attributes
        .push(NeighbourAttribute::LinkLayerAddress(mac.to_vec()));
    let protocol = protocol.map(|number| NeighbourAttribute::Protocol(number.into()));
    message.attributes.extend(protocol);
    transact(
        RouteNetlinkMessage::NewNeighbour(message),
        NLM_F_CREATE | NLM_F_REPLACE,
    )
    .map(drop)
    .map_err(|refusal| {
        refusal.into_error("add neighbour", format!("{address} on {}", object(link)))
    })
}

/// A neighbour that the kernel knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    /// Index of the link it is on.
    pub link: u32,
    /// Its address.
    pub address: IpAddr,
    /// Who added it (`NDA_PROTOCOL`); 0: nobody said.
    pub protocol: u8,
    /// Whether its hardware address was learned, and is asked for again.
    pub is_learned: bool,
}

/// Every neighbour that the kernel of this namespace knows, of both families.
///
/// # Errors
/// The kernel's answer could not be read.
pub fn neighbours() -> Result<Vec<Neighbour>> {
    let request = RouteNetlinkMessage::GetNeighbour(NeighbourMessage::default());
    let answers = transact(request, NLM_F_DUMP)
        .map_err(|refusal| refusal.into_error("list", format!("neighbours{}", netns::place())))?;
    let described = answers.iter().filter_map(|answer| match answer {
        RouteNetlinkMessage::NewNeighbour(message) => describe_neighbour(message),
        _ => None,
    });
    Ok(described.collect())
}

fn describe_neighbour(message: &NeighbourMessage) -> Option<Neighbour> {
    let (mut address, mut protocol) = (None, 0);
    for attribute in &message.attributes {
        match attribute {
            NeighbourAttribute::Destination(NeighbourAddress::Inet(v4)) => {
                address = Some(IpAddr::V4(*v4));
            }
            NeighbourAttribute::Destination(NeighbourAddress::Inet6(v6)) => {
                address = Some(IpAddr::V6(*v6));
            }
            NeighbourAttribute::Protocol(number) => protocol = (*number).into(),
            _ => {}
        }
    }
    Some(Neighbour {
        link: message.header.ifindex,
        address: address?,
        protocol,
        is_learned: matches!(
            message.header.state,
            NeighbourState::Reachable
                | NeighbourState::Stale
                | NeighbourState::Delay
                | NeighbourState::Probe
        ),
    })
}

/// Makes the kernel forget a neighbour.
///
/// # Errors
/// There is no such neighbour (ENOENT), no right (EPERM).
pub fn remove_neighbour(known: &Neighbour) -> Result<()> {
    let message = neighbour(known.link, known.address);
    transact(RouteNetlinkMessage::DelNeighbour(message), 0)
        .map(drop)
        .map_err(|refusal| {
            let what = format!("{} of link {}{}", known.address, known.link, netns::place());
            refusal.into_error("remove neighbour", what)
        })
}

fn neighbour(link: u32, address: IpAddr) -> NeighbourMessage {
    let mut message = NeighbourMessage::default();
    message.header.family = family(address);
    message.header.ifindex = link;
    message.attributes = vec![NeighbourAttribute::Destination(match address {
        IpAddr::V4(v4) => NeighbourAddress::Inet(v4),
        IpAddr::V6(v6) => NeighbourAddress::Inet6(v6),
    })];
    message
}

/// Adds a route to the main table: `destination/prefix_len` by a gateway, or directly on the link
/// without one.
///
/// # Errors
/// The route is there already (EEXIST), the gateway cannot be reached (ENETUNREACH or EINVAL, with
/// the kernel's words), the link is down (ENETDOWN), no such link (ENODEV), no right (EPERM).
pub fn add_route(
    destination: IpAddr,
    prefix_len: u8,
    gateway: Option<IpAddr>,
    link: &str,
) -> Result<()> {
    check_prefix(destination, prefix_len, "add route")?;
    let mut message = RouteMessage::default();
    message.header = RouteHeader {
        address_family: family(destination),
        destination_prefix_length: prefix_len,
        table: RouteHeader::RT_TABLE_MAIN,
        protocol: RouteProtocol::Static,
        scope: match gateway {
            None if destination.is_ipv4() => RouteScope::Link,
            _ => RouteScope::Universe,
        },
        kind: RouteType::Unicast,
        ..RouteHeader::default()
    };
    message.attributes = vec![
        RouteAttribute::Destination(RouteAddress::from(destination)),
        RouteAttribute::Oif(index(link)?),
    ];
    if let Some(gateway) = gateway {
        message
            .attributes
            .push(RouteAttribute::Gateway(RouteAddress::from(gateway)));
    }
    transact(
        RouteNetlinkMessage::NewRoute(message),
        NLM_F_CREATE | NLM_F_EXCL,
    )
    .map(drop)
    .map_err(|refusal| {
        let via = gateway.map_or_else(String::new, |g| format!(" via {g}"));
        refusal.into_error(
            "add route",
            format!(
                "{destination}/{prefix_len}{via} dev {link}{}",
                netns::place()
            ),
        )
    })
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

fn check_prefix(address: IpAddr, prefix_len: u8, operation: &str) -> Result<()> {
    let bits = if address.is_ipv4() { 32 } else { 128 };
    if prefix_len <= bits {
        return Ok(());
    }
    Err(Error::from_text(
        operation,
        format!("{address}/{prefix_len}"),
        format!("prefix longer than {bits} bits"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_longer_than_its_address_is_refused() {
        let v4 = "10.0.0.1".parse().unwrap();
        let v6 = "2001:2::1".parse().unwrap();
        assert!(check_prefix(v4, 32, "add route").is_ok());
        assert!(check_prefix(v6, 128, "add route").is_ok());
        let error = add_address("lo", v4, 33).unwrap_err();
        assert_eq!(
            error.to_string(),
            "add address 10.0.0.1/33: prefix longer than 32 bits"
        );
        assert!(add_route(v6, 129, None, "lo").is_err());
    }
}
