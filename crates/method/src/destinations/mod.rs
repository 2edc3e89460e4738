//! Destinations: which addresses of a routing table the frames go to.
//!
//! A prefix's *own* addresses are those whose longest match it is: the prefix less its more-specifics
//! ([`Space`]). A [`Draw`] takes distinct addresses from them; the same seed, the same addresses. Beyond
//! [`LIST_MAX`] addresses blocks of them are drawn, and the sender walks through each block by itself.

mod draw;
mod permutation;
mod space;

pub use draw::Drawn;
pub use permutation::Permutation;
pub use space::{Exclusion, Space};

use std::fmt;
use std::str::FromStr;

/// Most addresses drawn one by one. The list is walked in order, so that reading it costs the sender little;
/// far beyond any cache it makes no difference to a router how many more there are.
pub const LIST_MAX: u64 = 1 << 22;
/// Most destinations in all: offsets within a block have 32 bits.
pub const DESTINATIONS_MAX: u64 = LIST_MAX << 8;

/// An address of one family as a number.
pub trait Address: Copy + Ord + fmt::Debug + private::Sealed {
    /// Bits of it: 32 or 128.
    const BITS: u32;
    /// Addresses that a unicast destination can have, from first to last.
    const UNICAST: (u128, u128);

    /// The number.
    fn to_number(self) -> u128;

    /// The address of this number; upper bits that it has no room for are dropped.
    fn from_number(number: u128) -> Self;
}

mod private {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u128 {}
}

impl Address for u32 {
    const BITS: u32 = 32;
    /// 1.0.0.0 to 223.255.255.255: neither "this network" nor multicast nor reserved.
    const UNICAST: (u128, u128) = (0x0100_0000, 0xdfff_ffff);

    fn to_number(self) -> u128 {
        u128::from(self)
    }

    fn from_number(number: u128) -> Self {
        number as Self
    }
}

impl Address for u128 {
    const BITS: u32 = 128;
    /// 2000::/3: global unicast (RFC 4291 section 2.4).
    const UNICAST: (u128, u128) = (0x2 << 124, (0x4 << 124) - 1);

    fn to_number(self) -> u128 {
        self
    }

    fn from_number(number: u128) -> Self {
        number
    }
}

/// Which address of a block of `2^bits` is sent to in the `lap`-th walk through the list, as an offset to the
/// block's first: a permutation for every seed (each step can be undone), the same as `sender.bpf.c` has.
#[must_use]
pub const fn block_offset(lap: u64, bits: u32, seed: u32) -> u32 {
    let mask = match bits {
        0..32 => (1 << bits) - 1,
        _ => u32::MAX,
    };
    let half = bits.div_ceil(2);
    let mut offset = (lap as u32).wrapping_mul(0x9e37_79b1).wrapping_add(seed) & mask;
    offset ^= offset >> half;
    offset = offset.wrapping_mul(0x85eb_ca6b).wrapping_add(seed >> 7) & mask;
    offset ^ (offset >> half)
}

/// How destinations are drawn from a table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Draw {
    /// Prefixes take turns in random order; of each an address of its own at random.
    #[default]
    PerPrefix,
    /// Every own address of the table is as likely as every other.
    PerAddress,
    /// Destinations as of per-prefix; the k-th gets frames in proportion to 1 / k^S, in random order.
    Zipf(f64),
    /// Evenly over the table in order of address, from each prefix its lowest own addresses: no chance.
    Sequential,
    /// Addresses that no prefix covers, evenly over the gaps between prefixes: the DUT must drop them.
    Missing,
}

impl Draw {
    /// Largest exponent: beyond it one destination gets nearly all frames.
    pub const ZIPF_MAX: f64 = 3.0;
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerPrefix => f.pad("per-prefix"),
            Self::PerAddress => f.pad("per-address"),
            Self::Zipf(exponent) => write!(f, "zipf:{exponent}"),
            Self::Sequential => f.pad("sequential"),
            Self::Missing => f.pad("missing"),
        }
    }
}

/// A draw nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no way to draw destinations: give per-prefix, per-address, zipf:S (S above 0, at most {max}), sequential or missing", max = Draw::ZIPF_MAX)]
pub struct UnknownDraw(String);

impl FromStr for Draw {
    type Err = UnknownDraw;

    fn from_str(text: &str) -> Result<Self, UnknownDraw> {
        let exponent = |text: &str| {
            let exponent: f64 = text.parse().ok()?;
            (exponent > 0.0 && exponent <= Self::ZIPF_MAX).then_some(Self::Zipf(exponent))
        };
        let draw = match text {
            "per-prefix" => Some(Self::PerPrefix),
            "per-address" => Some(Self::PerAddress),
            "sequential" => Some(Self::Sequential),
            "missing" => Some(Self::Missing),
            _ => text.strip_prefix("zipf:").and_then(exponent),
        };
        draw.ok_or_else(|| UnknownDraw(text.to_owned()))
    }
}

/// Fewer addresses than were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFew {
    /// Asked for.
    pub asked: u64,
    /// There.
    pub there: u128,
    /// What they were to be.
    pub of: &'static str,
}

impl fmt::Display for TooFew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, there, of } = self;
        if *there == 0 {
            return write!(f, "{asked} destinations: the table has no {of} at all");
        }
        write!(
            f,
            "{asked} destinations: the table has {there} {of}; ask for at most that"
        )
    }
}

impl std::error::Error for TooFew {}

#[cfg(test)]
mod tests;
