//! UDP headers (RFC 768).

use crate::TooShort;
use crate::field;

/// Octets of the header.
pub const HEADER_LEN: usize = 8;
/// IP protocol number.
pub const PROTOCOL: u8 = 17;

/// The header's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Octets of header and payload.
    pub length: u16,
    /// Checksum as on the wire (0: none, IPv4 only).
    pub checksum: u16,
}

/// What goes on the wire for a computed checksum: zero would mean "none", so all ones stand for it.
#[must_use]
pub const fn checksum_on_wire(computed: u16) -> u16 {
    if computed == 0 { 0xffff } else { computed }
}

impl Udp {
    /// Reads a header; returns it and what follows.
    ///
    /// # Errors
    /// Fewer than 8 octets.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), TooShort> {
        let (&[s0, s1, d0, d1, l0, l1, c0, c1], rest) =
            field::split::<HEADER_LEN>(octets, "a UDP header")?;
        let parsed = Self {
            source: u16::from_be_bytes([s0, s1]),
            destination: u16::from_be_bytes([d0, d1]),
            length: u16::from_be_bytes([l0, l1]),
            checksum: u16::from_be_bytes([c0, c1]),
        };
        Ok((parsed, rest))
    }

    /// Writes the header; returns what follows it.
    ///
    /// # Errors
    /// Fewer than 8 octets.
    pub fn emit<'a>(&self, octets: &'a mut [u8]) -> Result<&'a mut [u8], TooShort> {
        let (header, rest) = field::split_mut::<HEADER_LEN>(octets, "a UDP header")?;
        let [s0, s1] = self.source.to_be_bytes();
        let [d0, d1] = self.destination.to_be_bytes();
        let [l0, l1] = self.length.to_be_bytes();
        let [c0, c1] = self.checksum.to_be_bytes();
        *header = [s0, s1, d0, d1, l0, l1, c0, c1];
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_the_wire() {
        let header = Udp {
            source: 1024,
            destination: 1055,
            length: 26,
            checksum: 0xbeef,
        };
        let mut octets = [0_u8; 8];
        header.emit(&mut octets).unwrap();
        assert_eq!(octets, [4, 0, 4, 31, 0, 26, 0xbe, 0xef]);
        assert_eq!(Udp::parse(&octets).unwrap(), (header, &[][..]));
        assert!(Udp::parse(&octets[1..]).is_err());
        assert_eq!((checksum_on_wire(0), checksum_on_wire(1)), (0xffff, 1));
    }
}
