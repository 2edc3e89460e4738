//! Links, addresses, neighbours and routes of the calling thread's network namespace.
//!
//! Names are interface names (at most 15 octets). Frame counts are frames as the kernel counts
//! them; lengths in octets.

mod configuration;
mod layer3;
mod stats;

pub use configuration::Configuration;
pub use layer3::{
    Address, Neighbour, add_address, add_neighbour, add_neighbour_by, add_route, addresses,
    neighbours, remove_neighbour,
};
pub use stats::{LinkStats, stats};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, In6AddrGenMode, InfoData, InfoKind, InfoVeth, LinkAttribute,
    LinkFlags, LinkInfo, LinkMessage, LinkXdp, XdpAttached,
};
use std::os::fd::{AsFd, AsRawFd};

use crate::error::{Error, Result};
use crate::netlink::{Refusal, transact};
use crate::netns::{self, NetNs};

/// A pair of virtual Ethernet links to make: one end here, the other in `peer_netns`.
#[derive(Debug, Clone, Copy)]
pub struct VethSpec<'a> {
    /// Name of the end in the calling thread's namespace.
    pub name: &'a str,
    /// Its Ethernet address.
    pub mac: [u8; 6],
    /// Name of the other end.
    pub peer_name: &'a str,
    /// Its Ethernet address.
    pub peer_mac: [u8; 6],
    /// Namespace of the other end.
    pub peer_netns: &'a NetNs,
    /// Receive queues of *each* end, at least 1.
    pub rx_queues: u32,
    /// Transmit queues of *each* end, at least 1.
    pub tx_queues: u32,
}

/// A link as the kernel describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// Interface index, unique within its namespace.
    pub index: u32,
    /// Interface name.
    pub name: String,
    /// Link-layer address; empty where the link has none.
    pub mac: Vec<u8>,
    /// Largest layer 3 packet, octets.
    pub mtu: u32,
    /// Administratively up (IFF_UP).
    pub up: bool,
    /// Up with carrier (IFF_LOWER_UP): both ends of a veth are up.
    pub carrier: bool,
    /// Takes part in multicast (IFF_MULTICAST).
    pub multicast: bool,
    /// Receive queues allocated.
    pub rx_queues: u32,
    /// Transmit queues allocated.
    pub tx_queues: u32,
    /// It is a loopback (IFF_LOOPBACK).
    pub loopback: bool,
    /// Made promiscuous by hand (IFF_PROMISC); what sockets ask for does not show here.
    pub promiscuous: bool,
    /// Index of the bridge, bond or other link it is part of.
    pub master: Option<u32>,
    /// Index of the link of this namespace it stands on (a VLAN's port), or is joined to (a veth's peer).
    pub lower: Option<u32>,
    /// What kind of virtual link it is (`veth`, `bridge`...); `None` for hardware.
    pub kind: Option<String>,
    /// Largest MTU its driver takes, octets; `None` where it does not say.
    pub mtu_max: Option<u32>,
    /// The kind of its root queueing discipline (`noqueue`, `tbf`...); `None` where it does not say.
    pub qdisc: Option<String>,
    /// Longest frame that GSO makes, octets.
    pub gso_max: Option<u32>,
    /// Longest frame that GRO makes, octets.
    pub gro_max: Option<u32>,
    /// Where an XDP program runs: `none`, `driver`, `generic`, `hardware` or `several`.
    pub xdp: &'static str,
}

/// Makes a veth pair, both ends down.
///
/// # Errors
/// A name is taken (EEXIST) or too long (ERANGE), a queue count the kernel refuses (EINVAL), or no
/// right (EPERM).
pub fn create_veth(spec: &VethSpec<'_>) -> Result<()> {
    let end = |name: &str, mac: [u8; 6]| {
        vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::Address(mac.to_vec()),
            LinkAttribute::NumRxQueues(spec.rx_queues),
            LinkAttribute::NumTxQueues(spec.tx_queues),
        ]
    };
    let mut peer = LinkMessage::default();
    peer.attributes = end(spec.peer_name, spec.peer_mac);
    peer.attributes
        .push(LinkAttribute::NetNsFd(spec.peer_netns.as_fd().as_raw_fd()));
    let mut link = LinkMessage::default();
    link.attributes = end(spec.name, spec.mac);
    link.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Veth),
        LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
    ]));
    transact(
        RouteNetlinkMessage::NewLink(link),
        NLM_F_CREATE | NLM_F_EXCL,
    )
    .map(drop)
    .map_err(|refusal| {
        refusal.into_error(
            "create veth",
            format!(
                "{}{} to {} in netns {}",
                spec.name,
                netns::place(),
                spec.peer_name,
                spec.peer_netns.name()
            ),
        )
    })
}

/// Removes a link; a veth's other end goes with it.
///
/// # Errors
/// No such link (ENODEV), no right (EPERM).
pub fn delete(name: &str) -> Result<()> {
    transact(RouteNetlinkMessage::DelLink(named(name)), 0)
        .map(drop)
        .map_err(|refusal| refusal.into_error("delete link", object(name)))
}

/// The link of this name.
///
/// # Errors
/// No such link (ENODEV).
pub fn get(name: &str) -> Result<Link> {
    Ok(describe(&fetch(name)?))
}

/// All links of the namespace, by rising index.
///
/// # Errors
/// The kernel's answer could not be read.
pub fn list() -> Result<Vec<Link>> {
    let answers = transact(
        RouteNetlinkMessage::GetLink(LinkMessage::default()),
        NLM_F_DUMP,
    )
    .map_err(|refusal| refusal.into_error("list", format!("links{}", netns::place())))?;
    let mut links: Vec<Link> = answers
        .iter()
        .filter_map(|answer| match answer {
            RouteNetlinkMessage::NewLink(message) => Some(describe(message)),
            _ => None,
        })
        .collect();
    links.sort_by_key(|link| link.index);
    Ok(links)
}

/// Interface index of the link.
///
/// # Errors
/// No such link (ENODEV).
pub fn index(name: &str) -> Result<u32> {
    Ok(fetch(name)?.header.index)
}

/// Whether a link of this name exists.
///
/// # Errors
/// The kernel could not be asked.
pub fn exists(name: &str) -> Result<bool> {
    match fetch(name) {
        Ok(_) => Ok(true),
        Err(error) if error.is_missing() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Sets the link administratively up.
///
/// # Errors
/// No such link (ENODEV), no right (EPERM).
pub fn set_up(name: &str) -> Result<()> {
    set_flag(name, "set link up", LinkFlags::Up, true)
}

/// Sets the link administratively down.
///
/// # Errors
/// As [`set_up`].
pub fn set_down(name: &str) -> Result<()> {
    set_flag(name, "set link down", LinkFlags::Up, false)
}

/// Switches the multicast flag: without it the kernel sends no MLD report and no router
/// solicitation on this link.
///
/// # Errors
/// As [`set_up`].
pub fn set_multicast(name: &str, on: bool) -> Result<()> {
    set_flag(name, "set multicast flag of", LinkFlags::Multicast, on)
}

/// Sets the largest layer 3 packet, in octets (without Ethernet header and FCS).
///
/// # Errors
/// Out of the link's range (EINVAL), no such link (ENODEV), no right (EPERM).
pub fn set_mtu(name: &str, octets: u32) -> Result<()> {
    let mut link = named(name);
    link.attributes.push(LinkAttribute::Mtu(octets));
    change(link, "set MTU of", name)
}

/// Stops the kernel from making up an IPv6 link-local address for this link (addr_gen_mode none).
/// To have an effect it must come before the link is set up.
///
/// # Errors
/// The kernel runs without IPv6 (EAFNOSUPPORT), no such link (ENODEV), no right (EPERM).
pub fn set_addr_gen_mode_none(name: &str) -> Result<()> {
    let mut link = named(name);
    link.attributes
        .push(LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(
            vec![AfSpecInet6::AddrGenMode(In6AddrGenMode::None)],
        )]));
    change(link, "set IPv6 address generation mode none of", name)
}

/// Switches promiscuous mode: the link takes frames to any address.
///
/// # Errors
/// As [`set_up`].
pub fn set_promiscuous(name: &str, on: bool) -> Result<()> {
    set_flag(name, "set promiscuous mode of", LinkFlags::Promisc, on)
}

/// Moves the link to another namespace. It arrives there down, under its name, without addresses, routes
/// and settings of layer 3: see [`Configuration`].
///
/// # Errors
/// The name is taken there (EEXIST), the link cannot move (EINVAL: a loopback, a bridge), no such link
/// (ENODEV), no right (EPERM).
pub fn move_to(name: &str, netns: &NetNs) -> Result<()> {
    let mut link = named(name);
    link.attributes
        .push(LinkAttribute::NetNsFd(netns.as_fd().as_raw_fd()));
    change(link, &format!("move to netns {}", netns.name()), name)
}

fn kind_of(infos: &[LinkInfo]) -> Option<String> {
    infos.iter().find_map(|info| match info {
        LinkInfo::Kind(kind) => Some(kind.to_string()),
        _ => None,
    })
}

fn xdp_of(about: &[LinkXdp]) -> &'static str {
    let mut places = about.iter().filter_map(|one| match one {
        LinkXdp::Attached(XdpAttached::Driver) => Some("driver"),
        LinkXdp::Attached(XdpAttached::SocketBuffer) => Some("generic"),
        LinkXdp::Attached(XdpAttached::Hardware) => Some("hardware"),
        LinkXdp::Attached(XdpAttached::Multiple) => Some("several"),
        _ => None,
    });
    places.next().unwrap_or("none")
}

fn set_flag(name: &str, operation: &str, flag: LinkFlags, on: bool) -> Result<()> {
    let mut link = named(name);
    link.header.change_mask = flag;
    link.header.flags = if on { flag } else { LinkFlags::empty() };
    change(link, operation, name)
}

fn change(link: LinkMessage, operation: &str, name: &str) -> Result<()> {
    transact(RouteNetlinkMessage::SetLink(link), 0)
        .map(drop)
        .map_err(|refusal| refusal.into_error(operation, object(name)))
}

fn named(name: &str) -> LinkMessage {
    let mut link = LinkMessage::default();
    link.attributes.push(LinkAttribute::IfName(name.to_owned()));
    link
}

/// "NAME in netns NS", for error messages.
fn object(name: &str) -> String {
    format!("{name}{}", netns::place())
}

fn fetch(name: &str) -> Result<LinkMessage> {
    let fail = |refusal: Refusal| refusal.into_error("find link", object(name));
    let answers = transact(RouteNetlinkMessage::GetLink(named(name)), 0).map_err(fail)?;
    answers
        .into_iter()
        .find_map(|answer| match answer {
            RouteNetlinkMessage::NewLink(message) => Some(message),
            _ => None,
        })
        .ok_or_else(|| Error::from_text("find link", object(name), "the kernel's answer is empty"))
}

fn describe(message: &LinkMessage) -> Link {
    let flags = message.header.flags;
    let mut link = Link {
        index: message.header.index,
        up: flags.contains(LinkFlags::Up),
        carrier: flags.contains(LinkFlags::LowerUp),
        multicast: flags.contains(LinkFlags::Multicast),
        loopback: flags.contains(LinkFlags::Loopback),
        promiscuous: flags.contains(LinkFlags::Promisc),
        xdp: "none",
        ..Link::default()
    };
    let mut lower_elsewhere = false;
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => link.name.clone_from(name),
            LinkAttribute::Address(mac) => link.mac.clone_from(mac),
            LinkAttribute::Mtu(octets) => link.mtu = *octets,
            LinkAttribute::NumRxQueues(n) => link.rx_queues = *n,
            LinkAttribute::NumTxQueues(n) => link.tx_queues = *n,
            LinkAttribute::Controller(master) => link.master = Some(*master),
            LinkAttribute::Link(lower) => link.lower = Some(*lower).filter(|&lower| lower > 0),
            LinkAttribute::LinkNetNsId(_) => lower_elsewhere = true,
            LinkAttribute::Qdisc(kind) => link.qdisc = Some(kind.clone()),
            LinkAttribute::MaxMtu(octets) => link.mtu_max = Some(*octets).filter(|&mtu| mtu > 0),
            LinkAttribute::LinkInfo(infos) => link.kind = kind_of(infos),
            LinkAttribute::GsoMaxSize(octets) => link.gso_max = Some(*octets),
            LinkAttribute::GroMaxSize(octets) => link.gro_max = Some(*octets),
            LinkAttribute::Xdp(about) => link.xdp = xdp_of(about),
            _ => {}
        }
    }
    if lower_elsewhere {
        link.lower = None;
    }
    link
}
