//! BGP UPDATE messages in records of type BGP4MP: RFC 6396 section 4.4, RFC 4271 section 4.3, RFC 4760, RFC 8050.

use super::{Header, MrtError, front, v4, v6, whole};
use crate::TooShort;
use crate::field;
use ipnet::IpNet;

/// Type BGP4MP (RFC 6396 section 4.4).
pub const BGP4MP: u16 = 16;
/// Type BGP4MP_ET: the same with microseconds (RFC 6396 section 4.5).
pub const BGP4MP_ET: u16 = 17;

/// Octets before a BGP message's body: marker, length, type (RFC 4271 section 4.1).
const MESSAGE_HEADER_LEN: usize = 19;
const UPDATE: u8 = 2;
/// Path attributes (RFC 4760) and the flag of a length of two octets.
const MP_REACH: u8 = 14;
const MP_UNREACH: u8 = 15;
const EXTENDED_LENGTH: u8 = 0x10;
const UNICAST: u8 = 1;

/// What one record changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Microseconds after the header's time.
    pub micros: u32,
    /// Prefixes that are withdrawn, in their order. Host bits are cut.
    pub withdrawn: Vec<IpNet>,
    /// Prefixes that are announced. One that is in both lists is announced (RFC 4271 section 3.1).
    pub announced: Vec<IpNet>,
}

/// How prefixes of one kind are written.
#[derive(Clone, Copy)]
struct Written {
    is_v6: bool,
    /// Behind a path identifier (RFC 7911).
    path_id: bool,
}

impl Header {
    /// The unicast changes in the `length` octets that follow the header. A record of BGP4MP that holds no UPDATE has none;
    /// `None` is a record of another type.
    ///
    /// # Errors
    /// They are not what the type says, to the last octet.
    pub fn update(&self, body: &[u8]) -> Result<Option<Update>, MrtError> {
        let mut update = Update::default();
        let body = match self.kind {
            BGP4MP => body,
            BGP4MP_ET => {
                let (micros, body) = field::split::<4>(body, "microseconds")?;
                update.micros = u32::from_be_bytes(*micros);
                body
            }
            _ => return Ok(None),
        };
        // RFC 6396 section 4.4.2, 4.4.3; RFC 6397; RFC 8050 section 3.
        let (as_octets, path_id) = match self.subtype {
            1 | 6 => (2, false),
            4 | 7 => (4, false),
            8 | 10 => (2, true),
            9 | 11 => (4, true),
            _ => return Ok(Some(update)),
        };
        let (_, body) = take(body, 2 * as_octets + 2, "AS numbers and an interface")?;
        let (&family, body) = field::split::<2>(body, "an address family")?;
        let address = match u16::from_be_bytes(family) {
            1 => 4,
            2 => 16,
            other => return Err(MrtError::Family(other)),
        };
        let (_, body) = take(body, 2 * address, "addresses of both peers")?;
        message(body, path_id, &mut update)?;
        Ok(Some(update))
    }
}

/// One BGP message, with the octets that its length says.
fn message(body: &[u8], path_id: bool, update: &mut Update) -> Result<(), MrtError> {
    let (header, _) = field::split::<MESSAGE_HEADER_LEN>(body, "a BGP message")?;
    let &[.., high, low, kind] = header;
    let length = usize::from(u16::from_be_bytes([high, low]));
    let (octets, rest) = take(body, length, "a BGP message")?;
    whole(rest)?;
    let (_, octets) = take(octets, MESSAGE_HEADER_LEN, "a BGP message")?;
    if kind != UPDATE {
        return Ok(());
    }
    let plain = Written {
        is_v6: false,
        path_id,
    };
    let (withdrawn, octets) = sized(octets, "withdrawn routes")?;
    prefixes(withdrawn, plain, &mut update.withdrawn)?;
    let (mut attributes, announced) = sized(octets, "path attributes")?;
    while !attributes.is_empty() {
        let (&[flags, kind], rest) = field::split::<2>(attributes, "a path attribute")?;
        let (value, rest) = if flags & EXTENDED_LENGTH == 0 {
            let (&[length], rest) = field::split::<1>(rest, "an attribute's length")?;
            take(rest, length.into(), "a path attribute")?
        } else {
            sized(rest, "a path attribute")?
        };
        attributes = rest;
        match kind {
            MP_REACH => reached(value, path_id, &mut update.announced)?,
            MP_UNREACH => {
                let (written, value) = family(value, path_id)?;
                let into = &mut update.withdrawn;
                written.map_or(Ok(()), |written| prefixes(value, written, into))?;
            }
            _ => {}
        }
    }
    prefixes(announced, plain, &mut update.announced)
}

/// RFC 4760 section 3: family, next hop, a reserved octet, prefixes.
fn reached(value: &[u8], path_id: bool, announced: &mut Vec<IpNet>) -> Result<(), MrtError> {
    let (written, value) = family(value, path_id)?;
    let (&[length], value) = field::split::<1>(value, "a next hop's length")?;
    let (_, value) = take(value, usize::from(length) + 1, "a next hop")?;
    written.map_or(Ok(()), |written| prefixes(value, written, announced))
}

/// The family and the octets behind it; no family where these are no unicast prefixes.
fn family(value: &[u8], path_id: bool) -> Result<(Option<Written>, &[u8]), MrtError> {
    let (&[high, low, safi], value) = field::split::<3>(value, "an address family")?;
    let is_v6 = u16::from_be_bytes([high, low]) == 2;
    let is_ip = is_v6 || u16::from_be_bytes([high, low]) == 1;
    let written = (is_ip && safi == UNICAST).then_some(Written { is_v6, path_id });
    Ok((written, value))
}

fn prefixes(mut octets: &[u8], written: Written, into: &mut Vec<IpNet>) -> Result<(), MrtError> {
    while !octets.is_empty() {
        if written.path_id {
            octets = field::split::<4>(octets, "a path identifier")?.1;
        }
        let (&[bits], rest) = field::split::<1>(octets, "a prefix length")?;
        let (prefix, rest) = if written.is_v6 {
            let (address, rest) = front::<16>(rest, bits)?;
            (v6(address, bits)?, rest)
        } else {
            let (address, rest) = front::<4>(rest, bits)?;
            (v4(address, bits)?, rest)
        };
        into.push(prefix);
        octets = rest;
    }
    Ok(())
}

/// A length of two octets, then as many octets; returns these and the rest.
fn sized<'a>(octets: &'a [u8], what: &'static str) -> Result<(&'a [u8], &'a [u8]), MrtError> {
    let (&length, octets) = field::split::<2>(octets, what)?;
    take(octets, usize::from(u16::from_be_bytes(length)), what)
}

fn take<'a>(
    octets: &'a [u8],
    needs: usize,
    what: &'static str,
) -> Result<(&'a [u8], &'a [u8]), MrtError> {
    let has = octets.len();
    let short = TooShort { what, needs, has };
    Ok(octets.split_at_checked(needs).ok_or(short)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(kind: u16, subtype: u16, body: &[&[u8]]) -> Result<Option<Update>, MrtError> {
        let body = body.concat();
        let header = Header {
            timestamp: 1_700_000_000,
            kind,
            subtype,
            length: body.len() as u32,
        };
        header.update(&body)
    }

    fn bgp(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = (MESSAGE_HEADER_LEN + body.len()) as u16;
        [&[255; 16][..], &length.to_be_bytes(), &[kind], body].concat()
    }

    fn nets(words: &str) -> Vec<IpNet> {
        words
            .split_whitespace()
            .map(|word| word.parse().expect(word))
            .collect()
    }

    /// Peers of 4-octet AS numbers at IPv4 addresses.
    const PEERS: [u8; 20] = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 10, 0, 0, 1, 10, 0, 0, 2];
    /// 20.1.0.0/16 withdrawn; ORIGIN; 20.2.128.0/17 announced.
    const PLAIN: &[u8] = &[0, 3, 16, 20, 1, 0, 4, 0x40, 1, 1, 0, 17, 20, 2, 128];
    /// MP_REACH of 2a00:1::/32 with an extended length, MP_UNREACH of 2a00:2::/32.
    const MULTI: &[u8] = &[
        0, 0, 0, 41, 0x90, 14, 0, 26, 0, 2, 1, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 32, 0x2a, 0, 0, 1, 0x80, 15, 8, 0, 2, 1, 32, 0x2a, 0, 0, 2,
    ];

    #[test]
    fn both_families_and_both_kinds_of_as_are_read() {
        let plain = Update {
            micros: 0,
            withdrawn: nets("20.1.0.0/16"),
            announced: nets("20.2.128.0/17"),
        };
        let message = bgp(UPDATE, PLAIN);
        assert_eq!(
            update(BGP4MP, 4, &[&PEERS, &message]),
            Ok(Some(plain.clone()))
        );
        let timed = update(BGP4MP_ET, 4, &[&[0, 7, 0xa1, 0x20], &PEERS, &message]);
        let micros = 500_000;
        assert_eq!(
            timed,
            Ok(Some(Update {
                micros,
                ..plain.clone()
            }))
        );
        let old = [&[0, 1, 0, 2, 0, 0, 0, 2][..], &[0; 32]].concat();
        assert_eq!(update(BGP4MP, 1, &[&old, &message]), Ok(Some(plain)));
        let multi = update(BGP4MP, 1, &[&old, &bgp(UPDATE, MULTI)]);
        let wanted = Update {
            micros: 0,
            withdrawn: nets("2a00:2::/32"),
            announced: nets("2a00:1::/32"),
        };
        assert_eq!(multi, Ok(Some(wanted)));
    }

    #[test]
    fn path_identifiers_are_stepped_over() {
        let body: &[u8] = &[0, 7, 0, 0, 0, 9, 16, 20, 1, 0, 0, 0, 0, 0, 8, 8, 21];
        let read = update(BGP4MP, 9, &[&PEERS, &bgp(UPDATE, body)]);
        let read = read.expect("whole").expect("an update");
        assert_eq!(
            (read.withdrawn, read.announced),
            (nets("20.1.0.0/16"), nets("21.0.0.0/8"))
        );
    }

    #[test]
    fn what_is_no_update_changes_nothing() {
        let none = Ok(Some(Update::default()));
        assert_eq!(update(BGP4MP, 5, &[&PEERS, &[0, 3, 0, 6]]), none);
        assert_eq!(update(BGP4MP, 4, &[&PEERS, &bgp(4, &[])]), none);
        assert_eq!(update(13, 2, &[&PEERS]), Ok(None));
        // Multicast, and a family that is no IP.
        let other: &[u8] = &[
            0, 0, 0, 14, 0x80, 15, 4, 0, 1, 2, 9, 0x80, 15, 4, 0, 25, 65, 9,
        ];
        assert_eq!(update(BGP4MP, 4, &[&PEERS, &bgp(UPDATE, other)]), none);
    }

    #[test]
    fn an_update_cut_off_anywhere_is_an_error() {
        for body in [PLAIN, MULTI] {
            let whole = [&PEERS[..], &bgp(UPDATE, body)].concat();
            for octets in 0..whole.len() {
                assert!(update(BGP4MP, 4, &[&whole[..octets]]).is_err(), "{octets}");
            }
            assert!(update(BGP4MP, 4, &[&whole, &[0]]).is_err());
        }
        let long = bgp(UPDATE, &[0, 2, 33, 20, 0, 0]);
        assert!(update(BGP4MP, 4, &[&PEERS, &long]).is_err());
        let family = [&PEERS[..10], &[0, 25], &[0; 64]].concat();
        assert_eq!(update(BGP4MP, 4, &[&family]), Err(MrtError::Family(25)));
    }
}
