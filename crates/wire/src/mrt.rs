//! MRT, the format in which route collectors write their tables: RFC 6396, and RFC 8050 for ADD-PATH.
//!
//! Takes single records apart as far as a forwarding table needs: which prefix, and how many paths to it, or which prefixes
//! an update announces and withdraws. Attributes of routes are walked over, never looked into. A record that is not whole is an error, not a guess.

mod updates;

pub use updates::{BGP4MP, BGP4MP_ET, Update};

use crate::TooShort;
use crate::field;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Octets of the header that every record begins with (RFC 6396 section 2).
pub const HEADER_LEN: usize = 12;

/// Type TABLE_DUMP (RFC 6396 section 4.2).
pub const TABLE_DUMP: u16 = 12;
/// Type TABLE_DUMP_V2 (RFC 6396 section 4.3).
pub const TABLE_DUMP_V2: u16 = 13;

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Seconds since 1970.
    pub timestamp: u32,
    /// Type.
    pub kind: u16,
    /// Subtype.
    pub subtype: u16,
    /// Octets that follow the header.
    pub length: u32,
}

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A prefix of the unicast table, and how many paths there are to it. Host bits are cut.
    Route(IpNet, u16),
    /// Something else: its name.
    Other(&'static str),
}

/// A record that is not what its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MrtError {
    /// It ends too early.
    #[error(transparent)]
    TooShort(#[from] TooShort),
    /// No address is as long as this prefix.
    #[error("a prefix of {bits} bits, addresses have {most}")]
    PrefixLength {
        /// Bits it says.
        bits: u8,
        /// Bits an address has.
        most: u8,
    },
    /// Octets are left after its last entry.
    #[error("{0} octets after its last entry")]
    LeftOver(usize),
    /// No addresses of peers are of this family (AFI).
    #[error("peers of address family {0}, neither 1 nor 2")]
    Family(u16),
    /// No such type, or no such subtype of it.
    #[error("no MRT record has type {kind}, subtype {subtype}")]
    Unknown {
        /// Type.
        kind: u16,
        /// Subtype.
        subtype: u16,
    },
}

/// What a (type, subtype) is, as far as we care.
#[derive(Clone, Copy)]
enum Layout {
    /// TABLE_DUMP: a prefix with its one path.
    Single(Family),
    /// A RIB record of TABLE_DUMP_V2: a prefix with entries; `path_id` where they are ADD-PATH's.
    Rib {
        family: Family,
        path_id: bool,
    },
    Other(&'static str),
}

#[derive(Clone, Copy)]
enum Family {
    V4,
    V6,
}

impl Header {
    /// Reads the header; returns it and what follows.
    ///
    /// # Errors
    /// Fewer than 12 octets.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), TooShort> {
        let (header, rest) = field::split::<HEADER_LEN>(octets, "an MRT header")?;
        let &[t0, t1, t2, t3, k0, k1, s0, s1, l0, l1, l2, l3] = header;
        let parsed = Self {
            timestamp: u32::from_be_bytes([t0, t1, t2, t3]),
            kind: u16::from_be_bytes([k0, k1]),
            subtype: u16::from_be_bytes([s0, s1]),
            length: u32::from_be_bytes([l0, l1, l2, l3]),
        };
        Ok((parsed, rest))
    }

    /// The header as octets.
    #[must_use]
    pub fn octets(&self) -> [u8; HEADER_LEN] {
        let [t0, t1, t2, t3] = self.timestamp.to_be_bytes();
        let [k0, k1] = self.kind.to_be_bytes();
        let [s0, s1] = self.subtype.to_be_bytes();
        let [l0, l1, l2, l3] = self.length.to_be_bytes();
        [t0, t1, t2, t3, k0, k1, s0, s1, l0, l1, l2, l3]
    }

    /// Whether there are records of this type and subtype.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.layout().is_some()
    }

    /// Takes apart the `length` octets that follow the header.
    ///
    /// # Errors
    /// They are not what the type says, to the last octet.
    pub fn content(&self, body: &[u8]) -> Result<Content, MrtError> {
        let unknown = MrtError::Unknown {
            kind: self.kind,
            subtype: self.subtype,
        };
        match self.layout().ok_or(unknown)? {
            Layout::Single(family) => single(body, family),
            Layout::Rib { family, path_id } => rib(body, family, path_id),
            Layout::Other(name) => Ok(Content::Other(name)),
        }
    }

    /// RFC 6396 section 4 (types), 4.3 (subtypes), RFC 6397, RFC 8050 section 4; the IANA registry of MRT types.
    fn layout(&self) -> Option<Layout> {
        let rib = |family, path_id| Layout::Rib { family, path_id };
        Some(match (self.kind, self.subtype) {
            (TABLE_DUMP, 1) => Layout::Single(Family::V4),
            (TABLE_DUMP, 2) => Layout::Single(Family::V6),
            (TABLE_DUMP_V2, 2) => rib(Family::V4, false),
            (TABLE_DUMP_V2, 4) => rib(Family::V6, false),
            (TABLE_DUMP_V2, 8) => rib(Family::V4, true),
            (TABLE_DUMP_V2, 10) => rib(Family::V6, true),
            (TABLE_DUMP_V2, 1) => Layout::Other("PEER_INDEX_TABLE"),
            (TABLE_DUMP_V2, 3 | 5 | 9 | 11) => Layout::Other("multicast RIB"),
            (TABLE_DUMP_V2, 6 | 12) => Layout::Other("RIB_GENERIC"),
            (TABLE_DUMP_V2, 7) => Layout::Other("GEO_PEER_TABLE"),
            (BGP4MP | BGP4MP_ET, 0..=11) => Layout::Other("BGP4MP"),
            (11 | 48 | 49, _) => Layout::Other("OSPF"),
            (32 | 33, _) => Layout::Other("IS-IS"),
            (5 | 9 | 10, _) => Layout::Other("BGP (deprecated)"),
            _ => return None,
        })
    }
}

/// RFC 6396 section 4.2: view, sequence, prefix, length, status, time, peer, AS, attributes.
fn single(body: &[u8], family: Family) -> Result<Content, MrtError> {
    let (_, body) = field::split::<4>(body, "view and sequence")?;
    let (prefix, body) = match family {
        Family::V4 => {
            let (address, body) = field::split::<4>(body, "an IPv4 prefix")?;
            let (&[bits], body) = field::split::<1>(body, "a prefix length")?;
            (v4(*address, bits)?, body)
        }
        Family::V6 => {
            let (address, body) = field::split::<16>(body, "an IPv6 prefix")?;
            let (&[bits], body) = field::split::<1>(body, "a prefix length")?;
            (v6(*address, bits)?, body)
        }
    };
    let (_, body) = field::split::<5>(body, "status and time")?;
    let body = match family {
        Family::V4 => field::split::<4>(body, "a peer's IPv4 address")?.1,
        Family::V6 => field::split::<16>(body, "a peer's IPv6 address")?.1,
    };
    let (_, body) = field::split::<2>(body, "a peer's AS")?;
    whole(attributes(body)?)?;
    Ok(Content::Route(prefix, 1))
}

/// RFC 6396 section 4.3.2: sequence, prefix in as few octets as it needs, number of entries, entries.
fn rib(body: &[u8], family: Family, path_id: bool) -> Result<Content, MrtError> {
    let (_, body) = field::split::<4>(body, "a sequence number")?;
    let (&[bits], body) = field::split::<1>(body, "a prefix length")?;
    let (prefix, body) = match family {
        Family::V4 => {
            let (address, body) = front::<4>(body, bits)?;
            (v4(address, bits)?, body)
        }
        Family::V6 => {
            let (address, body) = front::<16>(body, bits)?;
            (v6(address, bits)?, body)
        }
    };
    let (&paths, mut body) = field::split::<2>(body, "a number of RIB entries")?;
    let paths = u16::from_be_bytes(paths);
    for _ in 0..paths {
        body = entry(body, path_id)?;
    }
    whole(body)?;
    Ok(Content::Route(prefix, paths))
}

/// RFC 6396 section 4.3.4: peer index, time, attributes; RFC 8050 section 4 puts a path identifier before these.
fn entry(body: &[u8], path_id: bool) -> Result<&[u8], MrtError> {
    let (_, mut body) = field::split::<6>(body, "a RIB entry")?;
    if path_id {
        body = field::split::<4>(body, "a path identifier")?.1;
    }
    attributes(body)
}

/// Steps over a length and as many octets of attributes.
fn attributes(body: &[u8]) -> Result<&[u8], MrtError> {
    let (&length, body) = field::split::<2>(body, "a length of attributes")?;
    let needs = usize::from(u16::from_be_bytes(length));
    let short = TooShort {
        what: "BGP attributes",
        needs,
        has: body.len(),
    };
    Ok(body.get(needs..).ok_or(short)?)
}

/// The octets that `bits` need, filled up with zeros.
fn front<const N: usize>(body: &[u8], bits: u8) -> Result<([u8; N], &[u8]), MrtError> {
    let needs = usize::from(bits.div_ceil(8));
    let mut address = [0; N];
    let Some(into) = address.get_mut(..needs) else {
        let most = u8::try_from(N * 8).unwrap_or(u8::MAX);
        return Err(MrtError::PrefixLength { bits, most });
    };
    let (octets, rest) = body.split_at_checked(needs).ok_or(TooShort {
        what: "a prefix",
        needs,
        has: body.len(),
    })?;
    into.copy_from_slice(octets);
    Ok((address, rest))
}

fn v4(address: [u8; 4], bits: u8) -> Result<IpNet, MrtError> {
    let prefix = Ipv4Net::new(Ipv4Addr::from(address), bits);
    prefix
        .map(|prefix| prefix.trunc().into())
        .map_err(|_| MrtError::PrefixLength { bits, most: 32 })
}

fn v6(address: [u8; 16], bits: u8) -> Result<IpNet, MrtError> {
    let prefix = Ipv6Net::new(Ipv6Addr::from(address), bits);
    prefix
        .map(|prefix| prefix.trunc().into())
        .map_err(|_| MrtError::PrefixLength { bits, most: 128 })
}

fn whole(rest: &[u8]) -> Result<(), MrtError> {
    if rest.is_empty() {
        Ok(())
    } else {
        Err(MrtError::LeftOver(rest.len()))
    }
}

#[cfg(test)]
mod tests;
