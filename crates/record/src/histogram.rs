//! How late frames left, or how long they took: each bucket that holds any, and the usual quantiles.

use serde::{Deserialize, Serialize};

/// Times below this have a bucket each, ns. Above, each power of two has as many equal buckets.
const EXACT_NS: u64 = 32;

/// Times by bucket: pairs of the bucket's upper end, ns, and the frames in it, rising. Empty buckets are left out.
///
/// A time below 32 ns has a bucket of its own. Above that each power of two has 32 equal ones, so the upper end is at
/// most 1/32 too high. The last bucket ends at 2^40 - 1 ns and holds all longer times too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Histogram(pub Vec<(u64, u64)>);

impl Histogram {
    /// Frames timed.
    #[must_use]
    pub fn frames(&self) -> u64 {
        let frames = self.0.iter().map(|(_, frames)| *frames);
        frames.fold(0, u64::saturating_add)
    }

    /// The time that a share `part` (0 to 1) of all frames does not exceed, ns: the upper end of its bucket. `None`
    /// where no frame was timed.
    #[must_use]
    pub fn quantile_ns(&self, part: f64) -> Option<u64> {
        let frames = self.frames();
        let rank = (frames as f64 * part.clamp(0.0, 1.0)).ceil() as u64;
        let rank = rank.clamp(1, frames.max(1));
        let mut below = 0_u64;
        let bucket = self.0.iter().find(|(_, frames)| {
            below = below.saturating_add(*frames);
            below >= rank
        });
        bucket.map(|(upper_ns, _)| *upper_ns)
    }

    /// The shortest time of a bucket, ns, by its upper end.
    #[must_use]
    pub const fn lower_ns(upper_ns: u64) -> u64 {
        if upper_ns < EXACT_NS {
            return upper_ns;
        }
        let step = upper_ns.ilog2() - EXACT_NS.ilog2();
        upper_ns >> step << step
    }
}

/// The usual quantiles, and the histogram they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantiles {
    /// Frames timed.
    pub timed_frames: u64,
    /// Half of the frames took no longer. Each quantile is the upper end of a bucket; null where nothing was timed.
    pub p50_ns: Option<u64>,
    /// 90 % took no longer.
    pub p90_ns: Option<u64>,
    /// 99 % took no longer.
    pub p99_ns: Option<u64>,
    /// 99.9 % took no longer.
    pub p999_ns: Option<u64>,
    /// None took longer.
    pub max_ns: Option<u64>,
    /// All of it. Null before schema 3.
    pub histogram_ns: Option<Histogram>,
}

impl From<Histogram> for Quantiles {
    fn from(histogram: Histogram) -> Self {
        Self {
            timed_frames: histogram.frames(),
            p50_ns: histogram.quantile_ns(0.5),
            p90_ns: histogram.quantile_ns(0.9),
            p99_ns: histogram.quantile_ns(0.99),
            p999_ns: histogram.quantile_ns(0.999),
            max_ns: histogram.quantile_ns(1.0),
            histogram_ns: Some(histogram),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_timed_has_no_quantile() {
        let none = Histogram::default();
        assert_eq!((none.frames(), none.quantile_ns(0.5)), (0, None));
        let quantiles = Quantiles::from(none);
        assert_eq!((quantiles.timed_frames, quantiles.max_ns), (0, None));
    }

    #[test]
    fn quantiles_are_upper_ends_of_buckets() {
        let histogram = Histogram(vec![(5, 50), (63, 49), (1_007, 1)]);
        let at = [0.0, 0.5, 0.51, 0.99, 0.991, 1.0];
        let found = at.map(|part| histogram.quantile_ns(part).expect("timed"));
        assert_eq!(found, [5, 5, 63, 63, 1_007, 1_007]);
        let lower = [5, 31, 63, 65, 1_007, (1 << 40) - 1].map(Histogram::lower_ns);
        assert_eq!(lower, [5, 31, 63, 64, 992, (1 << 40) - (1 << 34)]);
    }

    proptest! {
        /// The oracle sorts all times.
        #[test]
        fn quantiles_are_those_of_all_frames(
            buckets in proptest::collection::btree_map(0_u64..1 << 40, 1_u64..50, 1..20),
            part in 0.0_f64..=1.0,
        ) {
            let mut times = Vec::new();
            for (upper, frames) in &buckets {
                times.extend(std::iter::repeat_n(*upper, *frames as usize));
            }
            let histogram = Histogram(buckets.into_iter().collect());
            prop_assert_eq!(histogram.frames(), times.len() as u64);
            let rank = (times.len() as f64 * part).ceil().max(1.0) as usize;
            prop_assert_eq!(histogram.quantile_ns(part), Some(times[rank - 1]));
            let json = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(serde_json::from_str::<Histogram>(&json).unwrap(), histogram);
        }

        #[test]
        fn a_bucket_is_at_most_a_32nd_wide(upper in 32_u64..1 << 40) {
            let lower = Histogram::lower_ns(upper);
            prop_assert!(lower <= upper && (upper - lower) * 32 <= lower);
        }
    }
}
