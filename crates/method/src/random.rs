//! Small seeded generator: the same seed gives the same numbers on every machine and version.
//! xoshiro256** 1.0, its state filled by splitmix64 (Blackman & Vigna, <https://prng.di.unimi.it>).
//! Not for secrets.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256StarStar};

/// The generator.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256StarStar);

/// Spreads a number, however plain, over all 64 bits: one step of splitmix64.
#[must_use]
pub(crate) fn scramble(number: u64) -> u64 {
    SplitMix64::seed_from_u64(number).next_u64()
}

impl Random {
    /// A generator started from `seed`; any seed will do.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Self(Xoshiro256StarStar::seed_from_u64(seed))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform from 0 to below 1, in steps of 2^-53.
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform from 0 to below `bound`; 0 when the bound is 0. (High half of a product: off by less
    /// than bound / 2^64.)
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.next_f64() < probability
    }

    /// Puts the elements into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            elements.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_seed_are_those_published() {
        // The authors' splitmix64.c for seed 1234567, and their xoshiro256starstar.c filled by it.
        assert_eq!(scramble(1_234_567), 6_457_827_717_110_365_317);
        let mut random = Random::from_seed(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(
            first,
            [
                3_504_822_795_582_309_479,
                1_819_558_768_956_484_042,
                1_250_851_346_055_027_673
            ]
        );
    }

    #[test]
    fn bounds_hold_and_shuffling_loses_nothing() {
        let mut random = Random::from_seed(1);
        assert_eq!(random.below(0), 0);
        assert!((0..1000).all(|_| random.below(7) < 7));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.next_f64())));
        let mean = (0..100_000).map(|_| random.next_f64()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.01);
        let mut cards: Vec<u32> = (0..52).collect();
        random.shuffle(&mut cards);
        assert_ne!(cards, (0..52).collect::<Vec<_>>());
        cards.sort_unstable();
        assert_eq!(cards, (0..52).collect::<Vec<_>>());
    }
}
