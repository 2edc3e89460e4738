//! IPv6 headers (RFC 8200).

use std::net::Ipv6Addr;

use crate::TooShort;
use crate::field;

/// Octets of the header.
pub const HEADER_LEN: usize = 40;

/// The header's fields. Test frames carry no flow label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv6 {
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Octets after this header.
    pub payload_length: u16,
    /// Payload protocol (17: UDP).
    pub next_header: u8,
    /// Hops left.
    pub hop_limit: u8,
    /// From whom.
    pub source: Ipv6Addr,
    /// To whom.
    pub destination: Ipv6Addr,
}

impl Ipv6 {
    /// Reads a header; returns it and what follows. Another version gives `None`.
    ///
    /// # Errors
    /// Fewer than 40 octets.
    pub fn parse(octets: &[u8]) -> Result<Option<(Self, &[u8])>, TooShort> {
        let what = "an IPv6 header";
        let (&[v0, v1, _, _, l0, l1, next_header, hop_limit], rest) =
            field::split::<8>(octets, what)?;
        let (source, rest) = field::split::<16>(rest, what)?;
        let (destination, rest) = field::split::<16>(rest, what)?;
        if v0 >> 4 != 6 {
            return Ok(None);
        }
        let parsed = Self {
            dscp: (v0 << 2 | v1 >> 6) & 0x3f,
            payload_length: u16::from_be_bytes([l0, l1]),
            next_header,
            hop_limit,
            source: Ipv6Addr::from(*source),
            destination: Ipv6Addr::from(*destination),
        };
        Ok(Some((parsed, rest)))
    }

    /// Writes the header; returns what follows it.
    ///
    /// # Errors
    /// Fewer than 40 octets.
    pub fn emit<'a>(&self, octets: &'a mut [u8]) -> Result<&'a mut [u8], TooShort> {
        let what = "an IPv6 header";
        let (header, rest) = field::split_mut::<8>(octets, what)?;
        let (source, rest) = field::split_mut::<16>(rest, what)?;
        let (destination, rest) = field::split_mut::<16>(rest, what)?;
        let [l0, l1] = self.payload_length.to_be_bytes();
        *header = [
            0x60 | self.dscp >> 2,
            self.dscp << 6,
            0,
            0,
            l0,
            l1,
            self.next_header,
            self.hop_limit,
        ];
        *source = self.source.octets();
        *destination = self.destination.octets();
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_the_wire() {
        let header = Ipv6 {
            dscp: 0b10_1110,
            payload_length: 20,
            next_header: 17,
            hop_limit: 64,
            source: "2001:2:0:1::2".parse().unwrap(),
            destination: "2001:2:0:2::2".parse().unwrap(),
        };
        let mut octets = [0_u8; 40];
        header.emit(&mut octets).unwrap();
        assert_eq!(octets[..8], [0x6b, 0x80, 0, 0, 0, 20, 17, 64]);
        assert_eq!(Ipv6::parse(&octets).unwrap(), Some((header, &[][..])));
    }

    #[test]
    fn other_versions_and_short_buffers_are_told_apart() {
        assert_eq!(Ipv6::parse(&[0x45; 40]).unwrap(), None);
        assert!(Ipv6::parse(&[0x60; 39]).is_err());
    }
}
