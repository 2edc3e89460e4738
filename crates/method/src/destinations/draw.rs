//! Drawing: a [`Space`] and a [`Draw`] give addresses, all different.

use super::permutation::Permutation;
use super::{Address, Draw, LIST_MAX, Space, TooFew};
use crate::random::{Random, scramble};

/// Entries of a schedule in which destinations come again; one more than others need, so that the rare
/// ones have a chance.
const SCHEDULE: usize = LIST_MAX as usize;

/// What was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn<A> {
    /// Addresses, all different, in the order in which frames go to them. Each stands for `2^block_bits`
    /// addresses from it on.
    pub addresses: Vec<A>,
    /// Bits of the addresses within a block; 0: each address stands for itself.
    pub block_bits: u32,
    /// Where destinations come more or less often: which address each frame goes to, by place.
    pub schedule: Option<Vec<u32>>,
}

impl<A: Address> Drawn<A> {
    /// How many destinations there are.
    #[must_use]
    pub fn distinct(&self) -> u64 {
        (self.addresses.len() as u64) << self.block_bits
    }

    /// How many destinations frames really go to: of a schedule, those that are in it.
    #[must_use]
    pub fn in_use(&self) -> u64 {
        let Some(schedule) = &self.schedule else {
            return self.distinct();
        };
        let mut used = vec![false; self.addresses.len()];
        for &place in schedule {
            if let Some(used) = used.get_mut(place as usize) {
                *used = true;
            }
        }
        used.iter().filter(|&&used| used).count() as u64
    }
}

impl Draw {
    /// Draws `count` distinct destinations. `space` is the table's own space, or its gaps
    /// ([`Draw::Missing`]).
    ///
    /// # Errors
    /// The space has fewer.
    pub fn from<A: Address>(
        self,
        space: Space<A>,
        count: u64,
        seed: u64,
    ) -> Result<Drawn<A>, TooFew> {
        self.listed_up_to(space, count, seed, LIST_MAX)
    }

    /// The same with so many addresses in a list at most; beyond that there are blocks.
    pub(super) fn listed_up_to<A: Address>(
        self,
        space: Space<A>,
        count: u64,
        seed: u64,
        list_max: u64,
    ) -> Result<Drawn<A>, TooFew> {
        let block_bits = block_bits(count, list_max);
        let space = if block_bits > 0 {
            space.in_blocks(block_bits)
        } else {
            space
        };
        let entries = count.div_ceil(1 << block_bits);
        let there = space.total();
        if there < u128::from(entries) || entries == 0 {
            return Err(TooFew {
                asked: count,
                there: there << block_bits,
                of: match self {
                    Self::Missing => "unicast addresses without a route",
                    _ if block_bits > 0 => "addresses of their own prefix in whole blocks",
                    _ => "addresses to draw from",
                },
            });
        }
        let entries = entries as usize;
        let addresses = match self {
            Self::PerPrefix | Self::Zipf(_) | Self::Missing => per_owner(&space, entries, seed),
            Self::PerAddress => per_address(&space, entries, seed),
            Self::Sequential => sequential(&space, entries),
        };
        let schedule = match self {
            Self::Zipf(exponent) => Some(zipf(addresses.len(), exponent, seed, SCHEDULE)),
            _ => None,
        };
        Ok(Drawn {
            addresses,
            block_bits,
            schedule,
        })
    }
}

/// Bits of blocks, so that no more than `list_max` of them hold `count` addresses.
fn block_bits(count: u64, list_max: u64) -> u32 {
    (0..64).find(|bits| count >> bits <= list_max).unwrap_or(0)
}

/// Owners take turns in random order; each gives its addresses in random order.
fn per_owner<A: Address>(space: &Space<A>, count: usize, seed: u64) -> Vec<A> {
    let sized = |owner: usize| (owner, space.size(owner));
    let mut owners: Vec<(usize, u128)> = (0..space.owners())
        .map(sized)
        .filter(|(_, size)| *size > 0)
        .collect();
    Random::from_seed(seed).shuffle(&mut owners);
    let mut drawn = Vec::with_capacity(count);
    let mut round = 0;
    while drawn.len() < count && !owners.is_empty() {
        for &(owner, size) in owners.iter().take(count - drawn.len()) {
            let order = Permutation::new(size, scramble(seed ^ scramble(owner as u64)));
            drawn.extend(space.address(owner, order.at(round)));
        }
        round += 1;
        owners.retain(|(_, size)| *size > round);
    }
    drawn
}

fn per_address<A: Address>(space: &Space<A>, count: usize, seed: u64) -> Vec<A> {
    let sums = space.sums();
    let order = Permutation::new(space.total(), scramble(seed));
    (0..count as u128)
        .filter_map(|place| space.among_all(&sums, order.at(place)))
        .collect()
}

/// The same share of each owner, or of every n-th where there are more owners than addresses to draw;
/// what small owners cannot give, the others give by turns.
fn sequential<A: Address>(space: &Space<A>, count: usize) -> Vec<A> {
    let owners: Vec<(usize, u128)> = (0..space.owners())
        .map(|owner| (owner, space.size(owner)))
        .filter(|(_, size)| *size > 0)
        .collect();
    if owners.len() >= count {
        let nth = |place: usize| owners.get(place * owners.len() / count);
        return (0..count)
            .filter_map(nth)
            .filter_map(|&(owner, _)| space.address(owner, 0))
            .collect();
    }
    let mut shares = vec![0_u128; owners.len()];
    let mut left = count as u128;
    while left > 0 {
        let open = shares
            .iter()
            .zip(&owners)
            .filter(|(share, (_, size))| *share < size)
            .count() as u128;
        let each = (left / open.max(1)).max(1);
        for (share, (_, size)) in shares.iter_mut().zip(&owners) {
            let more = each.min(size - *share).min(left);
            *share += more;
            left -= more;
        }
        if open == 0 {
            break;
        }
    }
    let of_owner = |(share, (owner, _)): (u128, (usize, u128))| {
        (0..share).filter_map(move |number| space.address(owner, number))
    };
    shares.into_iter().zip(owners).flat_map(of_owner).collect()
}

/// Places drawn independently, the k-th (from 1) with a probability in proportion to 1 / k^exponent.
pub(super) fn zipf(places: usize, exponent: f64, seed: u64, entries: usize) -> Vec<u32> {
    let mut sums = Vec::with_capacity(places);
    let mut sum = 0.0;
    for rank in 1..=places {
        sum += (rank as f64).powf(-exponent);
        sums.push(sum);
    }
    let mut random = Random::from_seed(scramble(seed ^ 0x7a69_7066));
    let mut place = || {
        let drawn = random.next_f64() * sum;
        let at = sums.partition_point(|&up_to| up_to <= drawn);
        u32::try_from(at.min(places.saturating_sub(1))).unwrap_or(0)
    };
    (0..entries).map(|_| place()).collect()
}
