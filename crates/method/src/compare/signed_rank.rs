//! The middle of paired differences with an interval, after Wilcoxon and Hodges and Lehmann: it supposes only that they
//! lie evenly on both sides of their middle. A fifth of them may be anywhere, and the middle hardly moves.

use crate::interval::Interval;
use crate::statistics::median;

/// The interval is wrong at most this often, 0 to 1. `None` where so few samples cannot be so sure, or where one is no
/// finite number.
pub(crate) fn interval(samples: &[f64], wrong: f64) -> Option<Interval> {
    if !samples.iter().all(|sample| sample.is_finite()) {
        return None;
    }
    let cut = means_cut(samples.len(), wrong)?;
    let mut means = pair_means(samples);
    means.sort_by(f64::total_cmp);
    let last = means.len().checked_sub(1 + cut)?;
    Some(Interval {
        low: *means.get(cut)?,
        middle: median(&means)?,
        high: *means.get(last)?,
    })
}

/// The mean of each sample with itself and with each other one (Walsh averages).
fn pair_means(samples: &[f64]) -> Vec<f64> {
    let from = |(place, &one): (usize, &f64)| {
        let others = samples.iter().skip(place);
        others.map(move |&other| one.midpoint(other))
    };
    samples.iter().enumerate().flat_map(from).collect()
}

/// How many of the sorted means lie outside the interval, on each side: from the exact distribution of the sum of
/// those ranks whose sign is positive, where each sign is a fair coin.
fn means_cut(number: usize, wrong: f64) -> Option<usize> {
    // No more than half of all means can lie on one side.
    let sums = 1 + number * (number + 1) / 4;
    let mut share = vec![0.0_f64; sums];
    *share.first_mut()? = 1.0;
    for rank in 1..=number {
        let without = share.clone();
        let with = std::iter::repeat_n(&0.0, rank).chain(&without);
        for (share, with) in share.iter_mut().zip(with) {
            *share = share.midpoint(*with);
        }
    }
    let mut at_most = 0.0;
    let sure = |share: &&f64| {
        at_most += **share;
        2.0 * at_most <= wrong
    };
    share.iter().take_while(sure).count().checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_those_of_the_tables() {
        // Wilcoxon's critical values, two-sided: 5 % and 1 %. So many means lie below the interval.
        for (number, critical) in [(6, 0), (8, 3), (10, 8), (20, 52), (30, 137)] {
            assert_eq!(means_cut(number, 0.05), Some(critical), "{number} at 5 %");
        }
        for (number, critical) in [(8, 0), (10, 3), (20, 37), (30, 109)] {
            assert_eq!(means_cut(number, 0.01), Some(critical), "{number} at 1 %");
        }
        assert_eq!(means_cut(5, 0.05), None, "1 of 16 cannot be 5 % sure");
        assert_eq!(means_cut(0, 0.05), None);
    }

    #[test]
    fn far_samples_hardly_move_the_middle() {
        let mut samples: Vec<f64> = (1..=20).map(f64::from).collect();
        let found = interval(&samples, 0.05).expect("an interval");
        assert_eq!((found.low, found.middle, found.high), (7.5, 10.5, 13.5));
        samples[18] = 1e6;
        samples[19] = 1e9;
        let moved = interval(&samples, 0.05).expect("an interval");
        assert!(moved.middle < 12.0 && moved.high < 17.0, "{moved:?}");
        assert_eq!(interval(&[f64::NAN; 20], 0.05), None);
    }
}
