//! Dumps: every route of a family, one at a time, without an allocation a route.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

use super::Family;
use super::attributes::{address, number, put};
use super::request::{RTA_NH_ID, RTMSG, flag};
use super::socket::{Message, RouteSocket};
use crate::error::{Error, Result};
use crate::netlink::attributes;
use crate::netns;

const NLMSG_DONE: u16 = libc::NLMSG_DONE as u16;
const NLMSG_ERROR: u16 = libc::NLMSG_ERROR as u16;
/// A table that changes while it is read is read again, so often at most.
const TRIES: u32 = 5;

/// Which routes to dump. The kernel leaves the others out (Linux 4.20).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this table only.
    pub table: Option<u32>,
    /// Added by this protocol only.
    pub protocol: Option<u8>,
}

impl Filter {
    fn keeps(&self, route: &Route) -> bool {
        self.table.is_none_or(|table| table == route.table)
            && self
                .protocol
                .is_none_or(|protocol| protocol == route.protocol)
    }
}

/// A route as the kernel has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Destination.
    pub prefix: IpNet,
    /// Its table; 254 is main.
    pub table: u32,
    /// Who added it (`rtm_protocol`).
    pub protocol: u8,
    /// Its type (`rtm_type`): 1 is unicast.
    pub kind: u8,
    /// Metric.
    pub metric: u32,
    /// Id of its nexthop object.
    pub nexthop: Option<u32>,
    /// Gateway, of its own or of its nexthop object.
    pub gateway: Option<IpAddr>,
    /// Index of the interface it leaves by, of its own or of its nexthop object.
    pub interface: Option<u32>,
}

/// Gives every route of the family that the filter keeps to `each`, in the kernel's order.
///
/// Cached clones of IPv6 routes are left out. When the table changed meanwhile, `restart` is called and
/// the dump begins again.
///
/// # Errors
/// The kernel refused or its answer could not be read; the table changed all the time.
pub fn dump(
    family: Family,
    filter: &Filter,
    mut restart: impl FnMut(),
    mut each: impl FnMut(&Route),
) -> Result<()> {
    for _ in 0..TRIES {
        if dump_once(family, filter, &mut each)? {
            return Ok(());
        }
        restart();
    }
    let object = format!("{family} routes{}", netns::place());
    Err(
        Error::from_text("dump", object, "they changed while they were read")
            .with_remedy("stop what changes them, or ask again"),
    )
}

/// Whether the dump is of one moment.
fn dump_once(family: Family, filter: &Filter, each: &mut impl FnMut(&Route)) -> Result<bool> {
    let fail =
        |errno: i32| Error::from_errno("dump", format!("{family} routes{}", netns::place()), errno);
    let mut socket = RouteSocket::open()?;
    socket.send(&request(family, filter))?;
    let (mut whole, mut refused) = (true, 0);
    loop {
        let ended = socket.receive(|message| {
            whole &= message.flags & flag(libc::NLM_F_DUMP_INTR) == 0;
            match message.kind {
                NLMSG_DONE | NLMSG_ERROR => {
                    refused = code(message);
                    false
                }
                libc::RTM_NEWROUTE => {
                    if let Some(route) = read(message.body).filter(|route| filter.keeps(route)) {
                        each(&route);
                    }
                    true
                }
                _ => true,
            }
        })?;
        if ended {
            break;
        }
    }
    match refused {
        // No such table: none of its routes.
        0 | libc::ENOENT => Ok(whole),
        libc::EINTR => Ok(false),
        errno => Err(fail(errno)),
    }
}

fn code(message: &Message<'_>) -> i32 {
    let code = message.body.get(..4).and_then(|code| code.try_into().ok());
    code.map_or(0, i32::from_ne_bytes).wrapping_neg()
}

fn request(family: Family, filter: &Filter) -> Vec<u8> {
    let mut message = vec![0; 4];
    message.extend(libc::RTM_GETROUTE.to_ne_bytes());
    message.extend(flag(libc::NLM_F_REQUEST | libc::NLM_F_DUMP).to_ne_bytes());
    message.extend([0; 8]);
    // struct rtmsg: family, lengths, TOS, table, protocol, scope, type, flags.
    let table = filter
        .table
        .and_then(|table| u8::try_from(table).ok())
        .unwrap_or(0);
    let protocol = filter.protocol.unwrap_or(0);
    message.extend([family.number(), 0, 0, 0, table, protocol, 0, 0]);
    message.extend([0; 4]);
    if let Some(table) = filter.table {
        put(&mut message, libc::RTA_TABLE, &table.to_ne_bytes());
    }
    let length = u32::try_from(message.len()).unwrap_or(0);
    message[..4].copy_from_slice(&length.to_ne_bytes());
    message
}

/// A route out of the body of RTM_NEWROUTE; `None` for a cached clone and for another family.
pub(super) fn read(body: &[u8]) -> Option<Route> {
    const RTM_F_CLONED: u32 = 0x200;
    let header = body.get(..RTMSG)?;
    let flags = number(&header[8..])?;
    let family = Family::from_number(header[0])?;
    if flags & RTM_F_CLONED != 0 {
        return None;
    }
    let unspecified = match family {
        Family::V4 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        Family::V6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let mut route = Route {
        prefix: IpNet::new(unspecified, 0).ok()?,
        table: u32::from(header[4]),
        protocol: header[5],
        kind: header[7],
        metric: 0,
        nexthop: None,
        gateway: None,
        interface: None,
    };
    let mut destination = unspecified;
    for (kind, value) in attributes(&body[RTMSG..]) {
        match kind {
            libc::RTA_DST => destination = address(value)?,
            libc::RTA_TABLE => route.table = number(value)?,
            libc::RTA_PRIORITY => route.metric = number(value)?,
            libc::RTA_OIF => route.interface = number(value),
            libc::RTA_GATEWAY => route.gateway = address(value),
            RTA_NH_ID => route.nexthop = number(value),
            _ => {}
        }
    }
    route.prefix = IpNet::new(destination, header[1]).ok()?;
    Some(route)
}
