//! One route as a netlink message. All messages of a load differ in prefix and sequence number
//! only, so the rest is written once and copied.

use std::net::IpAddr;

use ipnet::IpNet;

use super::Family;
use super::attributes::{put, put_address};

/// Octets of `struct nlmsghdr` and of `struct rtmsg`.
pub(super) const NLMSG_HEADER: usize = 16;
pub(super) const RTMSG: usize = 12;
/// Where the fields that differ stand in a message.
const FLAGS_AT: usize = 6;
const SEQUENCE_AT: usize = 8;
const PREFIX_LEN_AT: usize = NLMSG_HEADER + 1;
/// The destination is the first attribute; its value comes behind the attribute's header.
const PREFIX_AT: usize = NLMSG_HEADER + RTMSG + 4;

/// What all routes of a load share beside the way they point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Routing table, 1 to 2^32-1; 254 is main.
    pub table: u32,
    /// Who added it (`rtm_protocol`, /etc/iproute2/rt_protos).
    pub protocol: u8,
    /// Metric; without one the kernel takes 0 for IPv4 and 1024 for IPv6.
    pub metric: Option<u32>,
}

/// Where a route points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// A gateway of the route's own, and the index of its interface (0: the kernel finds it).
    Gateway(IpAddr, u32),
    /// A nexthop object, by id.
    Nexthop(u32),
}

/// The message that adds or removes a route, but for the prefix.
#[derive(Clone, Debug)]
pub struct Request {
    family: Family,
    message: Vec<u8>,
}

impl Request {
    /// To add a route that must not be there yet (same prefix, table and metric).
    #[must_use]
    pub fn add(family: Family, stamp: &Stamp, via: Via) -> Self {
        Self::pointing(family, libc::NLM_F_EXCL, stamp, via)
    }

    /// To add a route, or to replace the one that is there (same prefix, table and metric).
    #[must_use]
    pub fn replace(family: Family, stamp: &Stamp, via: Via) -> Self {
        Self::pointing(family, libc::NLM_F_REPLACE, stamp, via)
    }

    fn pointing(family: Family, if_there: libc::c_int, stamp: &Stamp, via: Via) -> Self {
        let create = flag(libc::NLM_F_CREATE | if_there);
        let mut request = Self::new(family, libc::RTM_NEWROUTE, create, stamp, Scope::Universe);
        match via {
            Via::Gateway(address, interface) => {
                put_address(&mut request.message, libc::RTA_GATEWAY, address);
                if interface != 0 {
                    put(
                        &mut request.message,
                        libc::RTA_OIF,
                        &interface.to_ne_bytes(),
                    );
                }
            }
            Via::Nexthop(id) => put(&mut request.message, RTA_NH_ID, &id.to_ne_bytes()),
        }
        request.finished()
    }

    /// To remove a route of this table, protocol and metric, wherever it points.
    #[must_use]
    pub fn remove(family: Family, stamp: &Stamp) -> Self {
        Self::new(family, libc::RTM_DELROUTE, 0, stamp, Scope::Any).finished()
    }

    fn new(family: Family, kind: u16, flags: u16, stamp: &Stamp, scope: Scope) -> Self {
        let request = flag(libc::NLM_F_REQUEST);
        // struct nlmsghdr: length (set at the end), type, flags, sequence, port.
        let mut message = vec![0; 4];
        message.extend(kind.to_ne_bytes());
        message.extend((request | flags).to_ne_bytes());
        message.extend([0; 8]);
        // struct rtmsg; a table beyond 255 stands in an attribute, and 0 here.
        let short_table = u8::try_from(stamp.table).unwrap_or(0);
        message.extend([family.number(), 0, 0, 0, short_table, stamp.protocol]);
        message.extend([scope as u8, libc::RTN_UNICAST]);
        message.extend([0; 4]);
        match family {
            Family::V4 => put(&mut message, libc::RTA_DST, &[0; 4]),
            Family::V6 => put(&mut message, libc::RTA_DST, &[0; 16]),
        }
        if short_table == 0 {
            put(&mut message, libc::RTA_TABLE, &stamp.table.to_ne_bytes());
        }
        if let Some(metric) = stamp.metric {
            put(&mut message, libc::RTA_PRIORITY, &metric.to_ne_bytes());
        }
        Self { family, message }
    }

    fn finished(mut self) -> Self {
        let length = u32::try_from(self.message.len()).unwrap_or(0);
        self.message[..4].copy_from_slice(&length.to_ne_bytes());
        self
    }

    /// Appends the message for this prefix. A prefix of the other family is the caller's mistake; the
    /// kernel would be asked for nonsense, so nothing is appended and the answer is `false`.
    pub(super) fn write(&self, prefix: IpNet, sequence: u32, batch: &mut Vec<u8>) -> bool {
        let start = batch.len();
        batch.extend_from_slice(&self.message);
        let message = &mut batch[start..];
        match (self.family, prefix.addr()) {
            (Family::V4, IpAddr::V4(v4)) => {
                message[PREFIX_AT..PREFIX_AT + 4].copy_from_slice(&v4.octets());
            }
            (Family::V6, IpAddr::V6(v6)) => {
                message[PREFIX_AT..PREFIX_AT + 16].copy_from_slice(&v6.octets());
            }
            _ => {
                batch.truncate(start);
                return false;
            }
        }
        message[PREFIX_LEN_AT] = prefix.prefix_len();
        message[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&sequence.to_ne_bytes());
        true
    }

    /// Octets of one message.
    pub(super) fn len(&self) -> usize {
        self.message.len()
    }
}

/// Asks for an answer to the message that begins at `start`, refused or not.
pub(super) fn want_answer(batch: &mut [u8], start: usize) {
    let at = start + FLAGS_AT;
    let flags = u16::from_ne_bytes([batch[at], batch[at + 1]]) | flag(libc::NLM_F_ACK);
    batch[at..at + 2].copy_from_slice(&flags.to_ne_bytes());
}

/// The attribute that names a nexthop object (Linux 5.3).
pub(super) const RTA_NH_ID: u16 = 30;

#[derive(Clone, Copy)]
#[repr(u8)]
enum Scope {
    /// By a gateway.
    Universe = 0,
    /// To remove a route of any scope.
    Any = 255,
}

/// Netlink's flags are 16 bits in a message, and C integers in libc.
pub(super) fn flag(bits: libc::c_int) -> u16 {
    u16::try_from(bits).unwrap_or(0)
}

#[cfg(test)]
mod tests;
