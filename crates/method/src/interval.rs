//! A median with its interval, and what the interval has to hold.

use crate::statistics::{median, quantile};

/// Confidence of an interval, 0 to 1.
const CONFIDENCE: f64 = 0.95;
/// How far runs in one state of a machine lie apart beyond their own intervals: their standard deviation as a share
/// (docs/method.md, "Overload").
pub const RUNS_APART: f64 = 0.02;
/// Standard deviations of a normal distribution on each side of its middle 95 %.
const DEVIATIONS: f64 = 1.96;

/// A median with its 95 % confidence interval; the unit is that of the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// The median.
    pub middle: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// The median of independent samples. The interval comes from order statistics (the binomial distribution of how
    /// many samples lie below the median), so it supposes no shape. With fewer than 6 samples it is their whole range,
    /// which is less than 95 % sure. `None` without a sample, or where one is no finite number.
    #[must_use]
    pub fn from_samples(samples: &[f64]) -> Option<Self> {
        if !samples.iter().all(|sample| sample.is_finite()) {
            return None;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let cut = samples_cut(sorted.len());
        let last = sorted.len().checked_sub(1 + cut)?;
        Some(Self {
            low: *sorted.get(cut)?,
            middle: median(&sorted)?,
            high: *sorted.get(last)?,
        })
    }

    /// A value without a range.
    #[must_use]
    pub const fn from_value(value: f64) -> Self {
        Self {
            low: value,
            middle: value,
            high: value,
        }
    }

    /// The same with what other runs in this state would find: the blocks of one run are more alike than runs are.
    #[must_use]
    pub fn widen_to_runs(self) -> Self {
        let apart = DEVIATIONS * RUNS_APART * self.middle;
        Self {
            low: self.middle - (self.middle - self.low).hypot(apart),
            high: self.middle + (self.high - self.middle).hypot(apart),
            ..self
        }
    }

    /// The smallest range of all samples, whatever their number.
    pub(crate) fn from_range(samples: &[f64]) -> Option<Self> {
        Some(Self {
            low: quantile(samples, 0.0)?,
            middle: median(samples)?,
            high: quantile(samples, 1.0)?,
        })
    }
}

/// How many of `number` sorted samples lie outside the interval, on each side.
fn samples_cut(number: usize) -> usize {
    let n = number as f64;
    if number > 1_000 {
        // The powers of 1/2 below would vanish; the normal distribution is the binomial one by then.
        return (n / 2.0 - 0.98 * n.sqrt()).floor() as usize;
    }
    // P(exactly k of n samples lie below the median), k from 0.
    let (mut exactly, mut at_most, mut k) = (0.5_f64.powf(n), 0.0, 0_usize);
    loop {
        at_most += exactly;
        if 2.0 * at_most > 1.0 - CONFIDENCE || k >= number {
            return k.saturating_sub(1).min(number.saturating_sub(1) / 2);
        }
        exactly *= (n - k as f64) / (k as f64 + 1.0);
        k += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn interval(low: f64, middle: f64, high: f64) -> Interval {
        Interval { low, middle, high }
    }

    #[test]
    fn interval_is_that_of_the_tables() {
        // Sign test, 95 %: the 1st to the 6th of 6, the 2nd of 9, the 2nd of 10, the 6th of 20, the 10th of 30.
        for (number, first) in [(1, 1), (2, 1), (5, 1), (6, 1), (8, 1), (9, 2)] {
            assert_eq!(samples_cut(number) + 1, first, "{number} samples");
        }
        for (number, first) in [(10, 2), (20, 6), (30, 10), (100, 40), (10_000, 4_903)] {
            assert_eq!(samples_cut(number) + 1, first, "{number} samples");
        }
        let samples: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        let found = Interval::from_samples(&samples).unwrap();
        assert_eq!(found, interval(2.0, 5.5, 9.0));
        let few = Interval::from_samples(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!(few, interval(1.0, 2.0, 3.0));
    }

    #[test]
    fn interval_holds_the_median_19_times_in_20() {
        let mut random = Random::from_seed(1);
        let mut held = 0;
        for _ in 0..2_000 {
            // Skewed, and its median known: exp(u) with u from -1 to 1.
            let samples: Vec<f64> = (0..20)
                .map(|_| (2.0 * random.next_f64() - 1.0).exp())
                .collect();
            let found = Interval::from_samples(&samples).unwrap();
            held += u32::from(found.low <= 1.0 && 1.0 <= found.high);
        }
        assert!((1_880..=1_970).contains(&held), "{held} of 2000");
    }

    #[test]
    fn an_interval_of_runs_holds_their_spread() {
        let alike = interval(1e6, 1e6, 1e6).widen_to_runs();
        assert_eq!((alike.middle, alike.high - 1e6), (1e6, 1e6 - alike.low));
        assert!((alike.high - 1_039_200.0).abs() < 1.0, "{alike:?}");
        // A wide one stays what it is: deviations add as squares.
        let wide = interval(0.7e6, 1e6, 1.1e6).widen_to_runs();
        assert!((697_000.0..698_000.0).contains(&wide.low), "{wide:?}");
        assert!((1_107_000.0..1_108_000.0).contains(&wide.high), "{wide:?}");
        // Nineteen of twenty runs that also differ from one another hold what the machine does.
        let mut random = Random::from_seed(2);
        let mut normal = || (0..12).map(|_| random.next_f64()).sum::<f64>() - 6.0;
        let (mut own, mut of_runs) = (0, 0);
        for _ in 0..2_000 {
            let here = 1e6 * (1.0 + RUNS_APART * normal());
            let blocks: Vec<f64> = (0..12).map(|_| here * (1.0 + 0.01 * normal())).collect();
            let found = Interval::from_samples(&blocks).unwrap();
            let holds = |found: Interval| u32::from(found.low <= 1e6 && 1e6 <= found.high);
            own += holds(found);
            of_runs += holds(found.widen_to_runs());
        }
        assert!(
            own < 1_200 && of_runs > 1_860,
            "{own} and {of_runs} of 2000"
        );
    }

    #[test]
    fn no_interval_without_numbers() {
        assert_eq!(Interval::from_samples(&[]), None);
        assert_eq!(Interval::from_samples(&[1.0, f64::NAN]), None);
    }
}
