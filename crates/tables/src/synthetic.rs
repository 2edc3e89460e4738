//! Synthetic tables of any size, with the prefix lengths of a real one.
//!
//! The lengths are real. The addresses are drawn: evenly over the unicast space without martians (IPv4), over the
//! blocks of the five regional registries (IPv6). Real tables cluster, and nest where space is announced twice.
//! Synthetic ones nest only as far as they must. The shortest prefixes come first, each where no other lies. When a
//! length no longer fits, a second layer begins over the first, and so on.

mod space;

use super::histogram::{Histogram, scale};
use super::{ReadOptions, Table};
use ipnet::{Ipv4Net, Ipv6Net};
use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::SeedableRng;
use space::{Space, draw_distinct};
use std::net::{Ipv4Addr, Ipv6Addr};
use thiserror::Error;

/// A table that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SynthesizeError {
    /// The address space has fewer networks of this length.
    #[error(
        "synthesize IPv{family}: the prefix lengths ask for {wanted} networks of /{length}, and there are {most}; give fewer prefixes"
    )]
    TooMany {
        /// 4 or 6.
        family: u8,
        /// Prefix length, bits.
        length: u8,
        /// Wanted.
        wanted: u64,
        /// There are.
        most: u64,
    },
    /// More prefixes than a table is ever read with: [`ReadOptions::MOST_PREFIXES`].
    #[error(
        "synthesize IPv{family}: {wanted} prefixes, more than any routing table has; give at most {most}",
        most = ReadOptions::MOST_PREFIXES
    )]
    TooLarge {
        /// 4 or 6.
        family: u8,
        /// Wanted.
        wanted: u64,
    },
    /// The histogram has no prefix of a family that is wanted.
    #[error(
        "synthesize IPv{family}: the table whose prefix lengths to use has no IPv{family} route"
    )]
    NoLengths {
        /// 4 or 6.
        family: u8,
    },
}

/// Makes a table of this many prefixes, in the histogram's shares. The same arguments give the same table.
///
/// # Errors
/// They do not fit, or the histogram is empty where prefixes are wanted.
pub fn synthesize(
    histogram: &Histogram,
    ipv4: u64,
    ipv6: u64,
    seed: u64,
) -> Result<Table, SynthesizeError> {
    let mut table = Table::default();
    let v4 = place(&Space::unicast_v4(), &histogram.v4, ipv4, seed)?;
    table.v4 = v4
        .into_iter()
        .map(|(address, length)| net_v4(address, length))
        .collect();
    // Another stream of numbers than IPv4's: one family must not depend on how large the other is.
    let v6 = place(&Space::registries_v6(), &histogram.v6, ipv6, !seed)?;
    table.v6 = v6
        .into_iter()
        .map(|(address, length)| net_v6(address, length))
        .collect();
    Ok(table)
}

fn net_v4(address: u128, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::from(address as u32), length)
}

fn net_v6(address: u128, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::from(address), length)
}

/// Addresses and lengths, sorted.
fn place(
    whole: &Space,
    shares: &[u64],
    prefixes: u64,
    seed: u64,
) -> Result<Vec<(u128, u8)>, SynthesizeError> {
    let mut shares = shares.to_vec();
    // A default route is no sample of where prefixes lie.
    shares[0] = 0;
    let family = whole.family();
    if prefixes > 0 && shares.iter().all(|&share| share == 0) {
        return Err(SynthesizeError::NoLengths { family });
    }
    if prefixes > ReadOptions::MOST_PREFIXES as u64 {
        let wanted = prefixes;
        return Err(SynthesizeError::TooLarge { family, wanted });
    }
    let mut random = Xoshiro256StarStar::seed_from_u64(seed);
    let mut free = whole.clone();
    let mut placed = Vec::with_capacity(prefixes as usize);
    for (length, wanted) in (0..).zip(scale(&shares, prefixes)) {
        if wanted == 0 {
            continue;
        }
        let most = whole.blocks(length);
        if u128::from(wanted) > most {
            return Err(SynthesizeError::TooMany {
                family,
                length,
                wanted,
                most: most as u64,
            });
        }
        let fits = free.blocks(length).min(wanted.into());
        let chosen = draw_distinct(&mut random, fits, free.blocks(length));
        let mut taken = free.take(length, &chosen);
        if fits < wanted.into() {
            // Full: a layer above, for what is left of this length and for all that is longer.
            let mut above = whole.without(&taken, length);
            let rest = u128::from(wanted) - fits;
            let chosen = draw_distinct(&mut random, rest, above.blocks(length));
            let second = above.take(length, &chosen);
            free = whole.without(&second, length);
            taken.extend(second);
        }
        placed.extend(taken.into_iter().map(|address| (address, length)));
    }
    placed.sort_unstable();
    Ok(placed)
}

#[cfg(test)]
mod tests;
