//! The test tag: 12 octets right after the UDP header, big-endian, the same shape as `struct tag` of
//! the eBPF programs.
//!
//! | octets | what |
//! |---|---|
//! | 0-1 | id of the trial |
//! | 2-6 | sequence number within the trial |
//! | 7-11 | time of sending, monotonic ns modulo 2^40 (18 minutes) |

use crate::TooShort;
use crate::field;

/// Octets of the tag.
pub const TAG_LEN: usize = 12;
/// Sequence and time take so many bits.
pub const FIELD_BITS: u32 = 40;
const FIELD_MASK: u64 = (1 << FIELD_BITS) - 1;

/// The tag's fields. Of sequence and time only the lower 40 bits travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Which trial.
    pub id: u16,
    /// Which frame of it.
    pub sequence: u64,
    /// When sent, ns.
    pub time_ns: u64,
}

impl Tag {
    /// Reads a tag; returns it and what follows.
    ///
    /// # Errors
    /// Fewer than 12 octets.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), TooShort> {
        let (&[i0, i1, s0, s1, s2, s3, s4, t0, t1, t2, t3, t4], rest) =
            field::split::<TAG_LEN>(octets, "a test tag")?;
        let parsed = Self {
            id: u16::from_be_bytes([i0, i1]),
            sequence: u64::from_be_bytes([0, 0, 0, s0, s1, s2, s3, s4]),
            time_ns: u64::from_be_bytes([0, 0, 0, t0, t1, t2, t3, t4]),
        };
        Ok((parsed, rest))
    }

    /// Writes the tag; returns what follows it.
    ///
    /// # Errors
    /// Fewer than 12 octets.
    pub fn emit<'a>(&self, octets: &'a mut [u8]) -> Result<&'a mut [u8], TooShort> {
        let (tag, rest) = field::split_mut::<TAG_LEN>(octets, "a test tag")?;
        let [i0, i1] = self.id.to_be_bytes();
        let [_, _, _, s0, s1, s2, s3, s4] = self.sequence.to_be_bytes();
        let [_, _, _, t0, t1, t2, t3, t4] = self.time_ns.to_be_bytes();
        *tag = [i0, i1, s0, s1, s2, s3, s4, t0, t1, t2, t3, t4];
        Ok(rest)
    }

    /// Time from sending to `now_ns` of the same clock, right for up to 18 minutes.
    #[must_use]
    pub const fn age_ns(&self, now_ns: u64) -> u64 {
        now_ns.wrapping_sub(self.time_ns) & FIELD_MASK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_octets_lie_as_the_ebpf_programs_have_them() {
        let tag = Tag {
            id: 0x1234,
            sequence: 0x56_789a_bcde,
            time_ns: 0xf0_1122_3344,
        };
        let mut octets = [0_u8; 12];
        tag.emit(&mut octets).unwrap();
        assert_eq!(
            octets,
            [
                0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 0x11, 0x22, 0x33, 0x44
            ]
        );
        assert_eq!(Tag::parse(&octets).unwrap(), (tag, &[][..]));
        assert!(Tag::parse(&octets[1..]).is_err());
    }

    #[test]
    fn forty_bits_travel_and_ages_wrap_with_them() {
        let mut octets = [0_u8; 12];
        Tag {
            id: 1,
            sequence: 1 << 40 | 7,
            time_ns: 3 << 40 | FIELD_MASK,
        }
        .emit(&mut octets)
        .unwrap();
        let (tag, _) = Tag::parse(&octets).unwrap();
        assert_eq!(
            tag,
            Tag {
                id: 1,
                sequence: 7,
                time_ns: FIELD_MASK
            }
        );
        assert_eq!(tag.age_ns((4 << 40) + 9), 10);
    }
}
