//! IPv4 headers without options (RFC 791).

use std::net::Ipv4Addr;

use crate::TooShort;
use crate::checksum;
use crate::field;

/// Octets of a header without options.
pub const HEADER_LEN: usize = 20;
/// Version 4, five words: no options.
const VERSION_IHL: u8 = 0x45;

/// "Do not fragment", in the octet of the flags.
const DF: u8 = 0x40;

/// The header's fields. Test frames are never fragments; their identification is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4 {
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Octets of header and payload.
    pub total_length: u16,
    /// Not to be fragmented (RFC 791), as TCP's packets are not: GRO takes packets of one identification for
    /// parts of one stream only so.
    pub dont_fragment: bool,
    /// Time to live.
    pub ttl: u8,
    /// Payload protocol (17: UDP).
    pub protocol: u8,
    /// From whom.
    pub source: Ipv4Addr,
    /// To whom.
    pub destination: Ipv4Addr,
}

impl Ipv4 {
    /// Reads a header; returns it and what follows. A version or header length other than 4 and 20
    /// octets gives `None`.
    ///
    /// # Errors
    /// Fewer than 20 octets.
    pub fn parse(octets: &[u8]) -> Result<Option<(Self, &[u8])>, TooShort> {
        let (header, rest) = field::split::<HEADER_LEN>(octets, "an IPv4 header")?;
        let &[
            version,
            tos,
            l0,
            l1,
            _,
            _,
            flags,
            _,
            ttl,
            protocol,
            _,
            _,
            s0,
            s1,
            s2,
            s3,
            d0,
            d1,
            d2,
            d3,
        ] = header;
        if version != VERSION_IHL {
            return Ok(None);
        }
        let parsed = Self {
            dscp: tos >> 2,
            total_length: u16::from_be_bytes([l0, l1]),
            dont_fragment: flags & DF != 0,
            ttl,
            protocol,
            source: Ipv4Addr::new(s0, s1, s2, s3),
            destination: Ipv4Addr::new(d0, d1, d2, d3),
        };
        Ok(Some((parsed, rest)))
    }

    /// Writes the header with its checksum; returns what follows it.
    ///
    /// # Errors
    /// Fewer than 20 octets.
    pub fn emit<'a>(&self, octets: &'a mut [u8]) -> Result<&'a mut [u8], TooShort> {
        let (header, rest) = field::split_mut::<HEADER_LEN>(octets, "an IPv4 header")?;
        let [l0, l1] = self.total_length.to_be_bytes();
        let [s0, s1, s2, s3] = self.source.octets();
        let [d0, d1, d2, d3] = self.destination.octets();
        let tos = self.dscp << 2;
        let flags = if self.dont_fragment { DF } else { 0 };
        let with_checksum = |[c0, c1]: [u8; 2]| {
            let (ttl, protocol) = (self.ttl, self.protocol);
            [
                VERSION_IHL,
                tos,
                l0,
                l1,
                0,
                0,
                flags,
                0,
                ttl,
                protocol,
                c0,
                c1,
                s0,
                s1,
                s2,
                s3,
                d0,
                d1,
                d2,
                d3,
            ]
        };
        *header = with_checksum(checksum::compute(&with_checksum([0, 0])).to_be_bytes());
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_the_wire() {
        let header = Ipv4 {
            dscp: 46,
            total_length: 46,
            dont_fragment: true,
            ttl: 64,
            protocol: 17,
            source: Ipv4Addr::new(198, 18, 0, 2),
            destination: Ipv4Addr::new(198, 19, 0, 2),
        };
        let mut octets = [0_u8; 20];
        header.emit(&mut octets).unwrap();
        assert_eq!(octets[..8], [0x45, 0xb8, 0, 46, 0, 0, 0x40, 0]);
        assert_eq!(Ipv4::parse(&octets).unwrap(), Some((header, &[][..])));
        assert_eq!(checksum::compute(&octets), 0);
        octets[8] -= 1;
        assert_ne!(
            checksum::compute(&octets),
            0,
            "one hop less, checksum not updated"
        );
    }

    #[test]
    fn a_known_header_has_its_known_checksum() {
        // The example of many textbooks: 192.168.0.1 to 192.168.0.199, checksum 0xb861.
        let octets = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(checksum::compute(&octets), 0);
    }

    #[test]
    fn options_and_other_versions_are_left_alone() {
        let mut octets = [0_u8; 20];
        assert_eq!(Ipv4::parse(&octets).unwrap(), None);
        octets[0] = 0x46;
        assert_eq!(Ipv4::parse(&octets).unwrap(), None);
        assert!(Ipv4::parse(&octets[..19]).is_err());
    }
}
