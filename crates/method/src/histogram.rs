//! Log-linear histogram of ns, the same buckets as the eBPF programs count in: values below 32
//! exact, then 32 equal steps for every power of two (an error of at most 1/32), up to 2^40.

use crate::units::Span;
use std::fmt;

/// Sub-buckets of each power of two, as a power of two.
pub const HIST_SUB_BITS: u32 = 5;
/// Values from here on fall into the last bucket (18 minutes in ns).
pub const VALUE_BITS: u32 = 40;
/// Number of buckets.
pub const BUCKETS: usize = ((VALUE_BITS - HIST_SUB_BITS + 1) as usize) << HIST_SUB_BITS;

const SUB_BUCKETS: u64 = 1 << HIST_SUB_BITS;

/// The bucket of a value, below [`BUCKETS`].
#[must_use]
pub const fn index(value: u64) -> usize {
    if value < SUB_BUCKETS {
        return value as usize;
    }
    if value >> VALUE_BITS != 0 {
        return BUCKETS - 1;
    }
    let shift = value.ilog2() - HIST_SUB_BITS;
    (((shift as u64 + 1) << HIST_SUB_BITS) + ((value >> shift) & (SUB_BUCKETS - 1))) as usize
}

/// Smallest value of a bucket (of the last one, for an index beyond it).
#[must_use]
pub const fn lower(index: usize) -> u64 {
    let index = if index < BUCKETS {
        index as u64
    } else {
        BUCKETS as u64 - 1
    };
    if index < SUB_BUCKETS {
        return index;
    }
    let shift = (index >> HIST_SUB_BITS) - 1;
    (SUB_BUCKETS + (index & (SUB_BUCKETS - 1))) << shift
}

/// Largest value of a bucket; of the last one 2^40 - 1, though it holds all above as well.
#[must_use]
pub const fn upper(index: usize) -> u64 {
    if index + 1 < BUCKETS {
        lower(index + 1) - 1
    } else {
        (1 << VALUE_BITS) - 1
    }
}

/// Counts by bucket.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    /// One count a bucket; [`BUCKETS`] of them.
    counts: Vec<u64>,
}

/// A thousand zeros tell nobody anything: the count and where most values lie.
impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("median", &self.quantile(0.5))
            .field("most", &self.quantile(1.0))
            .finish()
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS],
        }
    }
}

impl Histogram {
    /// From the buckets an eBPF program counted; `None` unless there are [`BUCKETS`] of them.
    #[must_use]
    pub fn from_counts(counts: Vec<u64>) -> Option<Self> {
        (counts.len() == BUCKETS).then_some(Self { counts })
    }

    /// The counts, one a bucket.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Counts one value.
    pub fn add(&mut self, value: Span) {
        self.add_many(value, 1);
    }

    /// Counts one value many times.
    pub fn add_many(&mut self, value: Span, times: u64) {
        if let Some(count) = self.counts.get_mut(index(value.as_nanos())) {
            *count = count.saturating_add(times);
        }
    }

    /// Takes over another's counts.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
    }

    /// Values counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts
            .iter()
            .fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// The value that a share `part` (0 to 1) of all values does not exceed: the upper end of its
    /// bucket, so at most 1/32 too high and never too low. `None` when nothing was counted.
    #[must_use]
    pub fn quantile(&self, part: f64) -> Option<Span> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let rank = ((count as f64 * part.clamp(0.0, 1.0)).ceil() as u64).clamp(1, count);
        let mut below = 0_u64;
        let place = self.counts.iter().position(|&here| {
            below = below.saturating_add(here);
            below >= rank
        })?;
        Some(Span::from_nanos(upper(place)))
    }

    /// Range of the highest bucket with a value in it: (smallest, largest).
    #[must_use]
    pub fn max_bucket(&self) -> Option<(Span, Span)> {
        let place = self.counts.iter().rposition(|&count| count > 0)?;
        Some((
            Span::from_nanos(lower(place)),
            Span::from_nanos(upper(place)),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_the_ebpf_programs() {
        assert_eq!(BUCKETS, 1152);
        let table = [
            (0, 0),
            (31, 31),
            (32, 32),
            (63, 63),
            (64, 64),
            (65, 64),
            (66, 65),
            (1_000, 190),
            (1_000_000, 509),
        ];
        for (value, place) in table {
            assert_eq!(index(value), place, "{value}");
        }
        assert_eq!(index((1 << 40) - 1), 1151);
        assert_eq!(index(1 << 40), 1151);
        assert_eq!(index(u64::MAX), 1151);
    }

    #[test]
    fn buckets_touch_and_hold_their_ends() {
        for place in 0..BUCKETS {
            assert_eq!(index(lower(place)), place);
            assert_eq!(index(upper(place)), place);
            if place + 1 < BUCKETS {
                assert_eq!(upper(place) + 1, lower(place + 1));
            }
        }
        assert_eq!(lower(usize::MAX), lower(BUCKETS - 1));
        assert_eq!(upper(usize::MAX - 1), (1 << 40) - 1);
    }

    #[test]
    fn quantiles_are_the_upper_ends_of_their_buckets() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        for value in 1..=10 {
            histogram.add(Span::from_nanos(value));
        }
        assert_eq!(histogram.quantile(0.5).unwrap().as_nanos(), 5);
        assert_eq!(histogram.quantile(0.0).unwrap().as_nanos(), 1);
        assert_eq!(histogram.quantile(1.0).unwrap().as_nanos(), 10);
        let mut other = Histogram::default();
        other.add_many(Span::from_nanos(1_000), 90);
        histogram.merge(&other);
        assert_eq!(histogram.count(), 100);
        assert_eq!(
            histogram.quantile(0.11).unwrap().as_nanos(),
            upper(index(1_000))
        );
        assert_eq!(
            histogram.max_bucket().unwrap().0.as_nanos(),
            lower(index(1_000))
        );
    }

    #[test]
    fn it_shows_what_matters_and_no_thousand_zeros() {
        let mut histogram = Histogram::default();
        histogram.add_many(Span::from_nanos(7), 3);
        let shown = format!("{histogram:?}");
        assert!(shown.contains("count: 3") && shown.len() < 100, "{shown}");
    }

    proptest::proptest! {
        #[test]
        fn the_error_is_at_most_a_thirty_second(value in 0_u64..1 << 40) {
            let place = index(value);
            assert!(lower(place) <= value && value <= upper(place));
            assert!((upper(place) - lower(place)) * 16 <= value.max(16));
        }
    }
}
