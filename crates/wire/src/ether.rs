//! Ethernet II headers.

use std::fmt;

use crate::TooShort;
use crate::field;

/// Octets of the header.
pub const HEADER_LEN: usize = 14;
/// EtherType of IPv4.
pub const TYPE_IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub const TYPE_IPV6: u16 = 0x86dd;

/// A hardware address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MacAddr(pub [u8; 6]);

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        f.pad(&format!("{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}"))
    }
}

/// The header's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ether {
    /// To whom.
    pub destination: MacAddr,
    /// From whom.
    pub source: MacAddr,
    /// EtherType.
    pub ethertype: u16,
}

impl Ether {
    /// Reads the header; returns it and what follows.
    ///
    /// # Errors
    /// Fewer than 14 octets.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), TooShort> {
        let (header, rest) = field::split::<HEADER_LEN>(octets, "an Ethernet header")?;
        let &[d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, t0, t1] = header;
        let parsed = Self {
            destination: MacAddr([d0, d1, d2, d3, d4, d5]),
            source: MacAddr([s0, s1, s2, s3, s4, s5]),
            ethertype: u16::from_be_bytes([t0, t1]),
        };
        Ok((parsed, rest))
    }

    /// Writes the header; returns what follows it.
    ///
    /// # Errors
    /// Fewer than 14 octets.
    pub fn emit<'a>(&self, octets: &'a mut [u8]) -> Result<&'a mut [u8], TooShort> {
        let (header, rest) = field::split_mut::<HEADER_LEN>(octets, "an Ethernet header")?;
        let [d0, d1, d2, d3, d4, d5] = self.destination.0;
        let [s0, s1, s2, s3, s4, s5] = self.source.0;
        let [t0, t1] = self.ethertype.to_be_bytes();
        *header = [d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, t0, t1];
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_the_wire() {
        let header = Ether {
            destination: MacAddr([0x02, 0x6d, 0x70, 0x70, 0, 0x0b]),
            source: MacAddr([0x02, 0x6d, 0x70, 0x70, 0, 0x0a]),
            ethertype: TYPE_IPV6,
        };
        let mut octets = [0_u8; 16];
        assert_eq!(header.emit(&mut octets).unwrap().len(), 2);
        assert_eq!(octets[..8], [0x02, 0x6d, 0x70, 0x70, 0, 0x0b, 0x02, 0x6d]);
        assert_eq!(octets[12..], [0x86, 0xdd, 0, 0]);
        assert_eq!(Ether::parse(&octets).unwrap(), (header, &[0, 0][..]));
        assert_eq!(header.destination.to_string(), "02:6d:70:70:00:0b");
    }

    #[test]
    fn too_short_a_buffer_says_so() {
        let error = Ether::parse(&[0; 13]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "an Ethernet header needs 14 octets, there are 13"
        );
    }
}
