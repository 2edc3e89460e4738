//! What a link loses when it moves to another namespace, and can put on again: addresses, routes, settings.
//!
//! Addresses and routes are kept as the kernel told them, message body by message body. So labels, lifetimes and
//! metrics are kept too, although we have no names for them. Queueing disciplines, neighbours and multicast groups are
//! not kept, because the kernel forgets them and they cannot be read back whole.

use std::path::Path;

use super::{index, object};
use crate::error::{Error, Result};
use crate::netlink::{attributes, transact_raw};
use crate::setting::Setting;

/// `struct ifaddrmsg`: family, prefix length, flags, scope, index.
const ADDRESS_INDEX: usize = 4;
/// `struct rtmsg`: 12 octets; its flags are the last four.
const ROUTE_HEADER: usize = 12;
const ROUTE_FLAGS: usize = 8;
/// Of the flags only this may be asked for (`RTNH_F_ONLINK`); the others tell a state.
const ONLINK: u32 = 4;
/// The protocol of routes that the kernel makes itself, with the address.
const RTPROT_KERNEL: u8 = 2;
/// Tables of settings that a link has of its own.
const TABLES: [&str; 4] = [
    "net/ipv4/conf",
    "net/ipv6/conf",
    "net/ipv4/neigh",
    "net/ipv6/neigh",
];
const EXCHANGE: u16 = (libc::NLM_F_CREATE | libc::NLM_F_REPLACE) as u16;

/// A link's layer 3.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Bodies of RTM_NEWADDR.
    pub addresses: Vec<Vec<u8>>,
    /// Bodies of RTM_NEWROUTE, those left out that the kernel makes itself.
    pub routes: Vec<Vec<u8>>,
    /// Parameters below /proc/sys, with `*` for the link's name, and their values.
    pub settings: Vec<(String, String)>,
}

impl Configuration {
    /// What a link of the calling thread's namespace has.
    ///
    /// # Errors
    /// No such link (ENODEV); a route of several ways or over a nexthop object leads over it, which cannot
    /// be put on again.
    pub fn read(link: &str) -> Result<Self> {
        let index = index(link)?;
        let fail = |what: &'static str| {
            move |refusal: crate::netlink::Refusal| refusal.into_error(what, object(link))
        };
        let dump = libc::NLM_F_DUMP as u16;
        let addresses =
            transact_raw(libc::RTM_GETADDR, vec![0; 8], dump).map_err(fail("read addresses of"))?;
        let routes = transact_raw(libc::RTM_GETROUTE, vec![0; ROUTE_HEADER], dump)
            .map_err(fail("read routes of"))?;
        let mut kept = Vec::new();
        for route in routes {
            if is_over(&route, index, link)? {
                kept.push(route);
            }
        }
        Ok(Self {
            addresses: addresses
                .into_iter()
                .filter(|body| number(body, ADDRESS_INDEX) == Some(index))
                .collect(),
            routes: kept,
            settings: settings(link),
        })
    }

    /// Puts settings, addresses and routes on the link, in this order; what it has already is left. Routes
    /// want the link up.
    ///
    /// # Errors
    /// The first that the kernel refused; the others were put on all the same.
    pub fn put_on(&self, link: &str) -> Result<()> {
        let index = index(link)?;
        let mut first = self.put_settings(link);
        let messages = self
            .addresses
            .iter()
            .map(|body| {
                (
                    libc::RTM_NEWADDR,
                    "add address to",
                    with_address_index(body, index),
                )
            })
            .chain(self.routes.iter().map(|body| {
                (
                    libc::RTM_NEWROUTE,
                    "add route over",
                    with_route_index(body, index),
                )
            }));
        for (kind, what, body) in messages {
            let put = transact_raw(kind, body, EXCHANGE).map(drop);
            let put = put.or_else(|refusal| match refusal.errno() {
                Some(libc::EEXIST) => Ok(()),
                _ => Err(refusal.into_error(what, object(link))),
            });
            first = first.and(put);
        }
        first
    }

    /// Puts the settings on alone: before the link is up, some have no effect later.
    ///
    /// # Errors
    /// The first that could not be written.
    pub fn put_settings(&self, link: &str) -> Result<()> {
        let mut first = Ok(());
        for (name, value) in &self.settings {
            let setting = setting(link, name);
            if setting.exists() {
                first = first.and(setting.ensure(value));
            }
        }
        first
    }
}

/// Whether this route is one of the link's own that somebody made.
fn is_over(route: &[u8], index: u32, link: &str) -> Result<bool> {
    let protocol = route.get(5).copied().unwrap_or(RTPROT_KERNEL);
    let (mut over, mut object_id) = (false, false);
    for (kind, value) in route_attributes(route) {
        match kind {
            libc::RTA_OIF => over = number(value, 0) == Some(index),
            RTA_NH_ID => object_id = true,
            libc::RTA_MULTIPATH if ways(value).any(|way| way == index) => {
                return Err(cannot_keep(link, "a multipath route uses it"));
            }
            _ => {}
        }
    }
    if over && object_id {
        return Err(cannot_keep(link, "a route with a nexthop object uses it"));
    }
    // Cached clones and local addresses come and go with what they belong to.
    let cloned = number(route, ROUTE_FLAGS).is_some_and(|flags| flags & 0x200 != 0);
    Ok(over && protocol != RTPROT_KERNEL && !cloned)
}

const RTA_NH_ID: u16 = 30;

fn cannot_keep(link: &str, why: &str) -> Error {
    Error::from_text("keep the routes of", object(link), why)
        .with_remedy("remove that route first, or use another port")
}

/// Type and value of each attribute behind the header of a route.
fn route_attributes(route: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    attributes(route.get(ROUTE_HEADER..).unwrap_or_default())
}

/// Interface indexes of the ways of RTA_MULTIPATH (`struct rtnexthop`).
fn ways(mut rest: &[u8]) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes([*rest.first()?, *rest.get(1)?]));
        let index = number(rest, 4)?;
        rest = rest.get(length.max(8).next_multiple_of(4)..).unwrap_or(&[]);
        Some(index)
    })
}

fn number(octets: &[u8], at: usize) -> Option<u32> {
    let word = octets.get(at..at + 4)?;
    word.try_into().ok().map(u32::from_ne_bytes)
}

fn with_address_index(body: &[u8], index: u32) -> Vec<u8> {
    let mut body = body.to_vec();
    if let Some(place) = body.get_mut(ADDRESS_INDEX..ADDRESS_INDEX + 4) {
        place.copy_from_slice(&index.to_ne_bytes());
    }
    body
}

/// The route over this index, without what only tells a state: flags and times of use.
fn with_route_index(body: &[u8], index: u32) -> Vec<u8> {
    let mut route = body.get(..ROUTE_HEADER).unwrap_or(&[]).to_vec();
    let flags = number(body, ROUTE_FLAGS).unwrap_or(0) & ONLINK;
    if let Some(place) = route.get_mut(ROUTE_FLAGS..) {
        place.copy_from_slice(&flags.to_ne_bytes());
    }
    for (kind, value) in route_attributes(body) {
        let own = index.to_ne_bytes();
        let value = match kind {
            libc::RTA_CACHEINFO => continue,
            libc::RTA_OIF => &own[..],
            _ => value,
        };
        let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
        route.extend(length.to_ne_bytes());
        route.extend(kind.to_ne_bytes());
        route.extend(value);
        route.resize(route.len().next_multiple_of(4), 0);
    }
    route
}

fn setting(link: &str, name: &str) -> Setting {
    Setting {
        interface: Some(link.to_owned()),
        ..Setting::sysctl(name)
    }
}

/// The link's settings that can be read and written. What is not there is not kept.
fn settings(link: &str) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    for table in TABLES {
        let folder = Path::new("/proc/sys").join(table).join(link);
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let writable = entry
                .metadata()
                .is_ok_and(|about| !about.permissions().readonly());
            let name = format!("{table}/*/{}", entry.file_name().display());
            if let (true, Ok(value)) = (writable, setting(link, &name).read()) {
                settings.push((name, value));
            }
        }
    }
    settings.sort();
    settings
}
