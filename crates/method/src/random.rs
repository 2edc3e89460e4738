//! Small seeded generator: the same seed gives the same numbers on every machine and version.
//! xoshiro256** 1.0, its state filled by splitmix64 (Blackman & Vigna, public domain,
//! <https://prng.di.unimi.it>). Not for secrets.

/// The generator.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

/// One step of splitmix64: spreads a seed, however plain, over all bits.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Random {
    /// A generator started from `seed`; any seed will do.
    #[must_use]
    pub fn from_seed(mut seed: u64) -> Self {
        Self {
            state: std::array::from_fn(|_| splitmix(&mut seed)),
        }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s1.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= shifted;
        *s3 = s3.rotate_left(45);
        result
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
    fn the_seed_decides_and_the_numbers_are_those_published() {
        // First outputs of the authors' splitmix64.c for seed 1234567.
        let mut state = 1_234_567;
        assert_eq!(splitmix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(splitmix(&mut state), 3_203_168_211_198_807_973);
        // xoshiro256** from the state 1, 2, 3, 4 (known answers of the rand_xoshiro crate).
        let mut random = Random {
            state: [1, 2, 3, 4],
        };
        let first: Vec<u64> = (0..4).map(|_| random.next_u64()).collect();
        assert_eq!(first, [11_520, 0, 1_509_978_240, 1_215_971_899_390_074_240]);
        assert_eq!(
            Random::from_seed(7).next_u64(),
            Random::from_seed(7).next_u64()
        );
        assert_ne!(
            Random::from_seed(7).next_u64(),
            Random::from_seed(8).next_u64()
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
