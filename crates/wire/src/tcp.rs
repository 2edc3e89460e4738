//! TCP headers without options (RFC 9293 section 3.1), as far as a test frame needs them: nobody talks
//! TCP here, the frames only look like it.

use crate::TooShort;
use crate::field;

/// Octets of the header.
pub const HEADER_LEN: usize = 20;
/// IP protocol number.
pub const PROTOCOL: u8 = 6;
/// Data offset of a header without options, in its octet.
const OFFSET: u8 = ((HEADER_LEN / 4) << 4) as u8;
/// The ACK flag alone: a segment in the middle of a connection.
const ACK: u8 = 0x10;

/// The header's fields; all frames have the ACK flag and no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Where in the stream the payload stands.
    pub sequence: u32,
    /// Next octet expected of the other side.
    pub acknowledgement: u32,
    /// Octets the sender would take.
    pub window: u16,
    /// Checksum as on the wire.
    pub checksum: u16,
}

impl Tcp {
    /// Reads a header; returns it and what follows. Options or other flags than ACK give `None`.
    ///
    /// # Errors
    /// Fewer than 20 octets.
    pub fn parse(octets: &[u8]) -> Result<Option<(Self, &[u8])>, TooShort> {
        let what = "a TCP header";
        let (&[s0, s1, d0, d1, q0, q1, q2, q3], rest) = field::split::<8>(octets, what)?;
        let (&[a0, a1, a2, a3, offset, flags, w0, w1], rest) = field::split::<8>(rest, what)?;
        let (&[c0, c1, _, _], rest) = field::split::<4>(rest, what)?;
        if offset != OFFSET || flags != ACK {
            return Ok(None);
        }
        let parsed = Self {
            source: u16::from_be_bytes([s0, s1]),
            destination: u16::from_be_bytes([d0, d1]),
            sequence: u32::from_be_bytes([q0, q1, q2, q3]),
            acknowledgement: u32::from_be_bytes([a0, a1, a2, a3]),
            window: u16::from_be_bytes([w0, w1]),
            checksum: u16::from_be_bytes([c0, c1]),
        };
        Ok(Some((parsed, rest)))
    }

    /// Writes the header; returns what follows it.
    ///
    /// # Errors
    /// Fewer than 20 octets.
    pub fn emit<'a>(&self, octets: &'a mut [u8]) -> Result<&'a mut [u8], TooShort> {
        let what = "a TCP header";
        let (ports, rest) = field::split_mut::<4>(octets, what)?;
        let (numbers, rest) = field::split_mut::<8>(rest, what)?;
        let (last, rest) = field::split_mut::<8>(rest, what)?;
        let [s0, s1] = self.source.to_be_bytes();
        let [d0, d1] = self.destination.to_be_bytes();
        *ports = [s0, s1, d0, d1];
        let both = u64::from(self.sequence) << 32 | u64::from(self.acknowledgement);
        *numbers = both.to_be_bytes();
        let [w0, w1] = self.window.to_be_bytes();
        let [c0, c1] = self.checksum.to_be_bytes();
        *last = [OFFSET, ACK, w0, w1, c0, c1, 0, 0];
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_the_wire() {
        let header = Tcp {
            source: 1024,
            destination: 1055,
            sequence: 0x0102_0304,
            acknowledgement: 0x0506_0708,
            window: 0xffff,
            checksum: 0xbeef,
        };
        let mut octets = [0_u8; 20];
        header.emit(&mut octets).unwrap();
        let by_hand = [
            4, 0, 4, 31, 1, 2, 3, 4, 5, 6, 7, 8, 0x50, 0x10, 0xff, 0xff, 0xbe, 0xef, 0, 0,
        ];
        assert_eq!(octets, by_hand);
        assert_eq!(Tcp::parse(&octets).unwrap(), Some((header, &[][..])));
        assert!(Tcp::parse(&octets[1..]).is_err());
        octets[12] = 0x60;
        assert_eq!(Tcp::parse(&octets).unwrap(), None, "options");
    }
}
