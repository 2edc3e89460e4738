//! A seeded order of the numbers below a bound, without a list of them: a Feistel network over the next
//! power of four, walked until a number is below the bound (Black & Rogaway, "Ciphers with Arbitrary
//! Finite Domains", 2002). Over few numbers such a network knows too few orders (a chi-square test tells):
//! these are shuffled as cards are.

use crate::random::{Random, scramble};

/// Rounds: enough to spread; nobody attacks.
const ROUNDS: u64 = 6;
/// Up to so many numbers are shuffled.
const CARDS: u128 = 256;

/// The order.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    size: u128,
    half_bits: u32,
    seed: u64,
}

impl Permutation {
    /// An order of the numbers below `size`, which is above 0.
    #[must_use]
    pub fn new(size: u128, seed: u64) -> Self {
        let bits = 128 - size.saturating_sub(1).leading_zeros();
        Self {
            size: size.max(1),
            half_bits: bits.div_ceil(2).clamp(1, 64),
            seed,
        }
    }

    /// The number at `place`, below the size; places below the size all have different numbers.
    #[must_use]
    pub fn at(&self, place: u128) -> u128 {
        let place = place % self.size;
        if self.size <= CARDS {
            return self.card(place as usize);
        }
        let mut number = place;
        loop {
            number = self.mix(number);
            if number < self.size {
                return number;
            }
        }
    }

    /// Fisher and Yates from the front, as far as this place.
    fn card(&self, place: usize) -> u128 {
        let mut cards: [u8; CARDS as usize] = std::array::from_fn(|card| card as u8);
        let mut random = Random::from_seed(self.seed);
        for at in 0..=place {
            let other = at as u64 + random.below(self.size as u64 - at as u64);
            cards.swap(at, other as usize);
        }
        cards.get(place).copied().map_or(0, u128::from)
    }

    fn mix(&self, number: u128) -> u128 {
        let mask = u64::MAX >> (64 - self.half_bits);
        let mut left = (number >> self.half_bits) as u64 & mask;
        let mut right = number as u64 & mask;
        for round in 0..ROUNDS {
            let scrambled = scramble(right ^ scramble(self.seed.wrapping_add(round)));
            (left, right) = (right, left ^ (scrambled & mask));
        }
        u128::from(left) << self.half_bits | u128::from(right)
    }
}
