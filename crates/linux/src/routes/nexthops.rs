//! Nexthop objects (Linux 5.3): one gateway that a million routes point to by its number. Routes are
//! added faster so, and go with the object when it is removed.

use std::net::IpAddr;

use super::attributes::{address, number, put, put_address};
use super::request::flag;
use crate::error::Result;
use crate::netlink::attributes;
use crate::netlink::transact_raw;
use crate::netns;

/// Octets of `struct nhmsg`: family, scope, protocol, a reserved octet, flags.
const NHMSG: usize = 8;
const NHA_ID: u16 = 1;
const NHA_OIF: u16 = 5;
const NHA_GATEWAY: u16 = 6;
const RTM_NEWNEXTHOP: u16 = 104;
const RTM_DELNEXTHOP: u16 = 105;
const RTM_GETNEXTHOP: u16 = 106;

/// A nexthop object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nexthop {
    /// Its number, unique in the namespace.
    pub id: u32,
    /// Who made it (as `rtm_protocol` of routes).
    pub protocol: u8,
    /// Gateway; groups and black holes have none.
    pub gateway: Option<IpAddr>,
    /// Index of its interface; groups and black holes have none.
    pub interface: Option<u32>,
}

/// Whether this kernel has nexthop objects.
#[must_use]
pub fn supported() -> bool {
    list().is_ok()
}

/// Makes a nexthop object; its number must be free.
///
/// # Errors
/// The number is taken (EEXIST), the gateway cannot be reached on this interface (EHOSTUNREACH or
/// EINVAL, with the kernel's words), the interface is down (ENETDOWN), no right (EPERM), a kernel without
/// nexthop objects (EOPNOTSUPP).
pub fn add(id: u32, gateway: IpAddr, interface: u32, protocol: u8) -> Result<()> {
    let family = if gateway.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    let mut body = vec![
        u8::try_from(family).unwrap_or(0),
        0,
        protocol,
        0,
        0,
        0,
        0,
        0,
    ];
    put(&mut body, NHA_ID, &id.to_ne_bytes());
    put(&mut body, NHA_OIF, &interface.to_ne_bytes());
    put_address(&mut body, NHA_GATEWAY, gateway);
    let create = flag(libc::NLM_F_CREATE | libc::NLM_F_EXCL);
    transact_raw(RTM_NEWNEXTHOP, body, create)
        .map(drop)
        .map_err(|refusal| {
            let object = format!("{id} via {gateway}{}", netns::place());
            refusal.into_error("add nexthop object", object)
        })
}

/// Removes a nexthop object and every route that points to it. That it is not there is success: what
/// was asked for holds.
///
/// # Errors
/// No right (EPERM).
pub fn delete(id: u32) -> Result<()> {
    let mut body = vec![0; NHMSG];
    put(&mut body, NHA_ID, &id.to_ne_bytes());
    match transact_raw(RTM_DELNEXTHOP, body, 0) {
        Err(refusal) if refusal.errno() != Some(libc::ENOENT) => {
            Err(refusal.into_error("delete nexthop object", format!("{id}{}", netns::place())))
        }
        _ => Ok(()),
    }
}

/// All nexthop objects, in the kernel's order.
///
/// # Errors
/// A kernel without them (EOPNOTSUPP), or its answer could not be read.
pub fn list() -> Result<Vec<Nexthop>> {
    let answers = transact_raw(RTM_GETNEXTHOP, vec![0; NHMSG], flag(libc::NLM_F_DUMP)).map_err(
        |refusal| refusal.into_error("list", format!("nexthop objects{}", netns::place())),
    )?;
    Ok(answers.iter().filter_map(|body| read(body)).collect())
}

fn read(body: &[u8]) -> Option<Nexthop> {
    let header = body.get(..NHMSG)?;
    let mut nexthop = Nexthop {
        id: 0,
        protocol: header[2],
        gateway: None,
        interface: None,
    };
    for (kind, value) in attributes(&body[NHMSG..]) {
        match kind {
            NHA_ID => nexthop.id = number(value)?,
            NHA_OIF => nexthop.interface = number(value),
            NHA_GATEWAY => nexthop.gateway = address(value),
            _ => {}
        }
    }
    Some(nexthop)
}
