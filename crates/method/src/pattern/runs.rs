//! Runs of zero bits in a bitmap of sequences.

use std::ops::Range;

/// Frames lost one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Sequence of the first.
    pub first: u64,
    /// How many.
    pub frames: u64,
}

/// Finds them, a word of 64 sequences at a time.
#[derive(Clone, Debug)]
pub(super) struct Runs<'a> {
    words: &'a [u64],
    sent: u64,
    at: u64,
    /// Sequences that are passed over, in their order.
    without: &'a [Range<u64>],
}

impl<'a> Runs<'a> {
    /// Of the first `sent` sequences; words that are not there count as arrived.
    pub(super) fn new(words: &'a [u64], sent: u64, without: &'a [Range<u64>]) -> Self {
        Self {
            words,
            sent,
            at: 0,
            without,
        }
    }

    /// The next sequence from `at` on that is lost (or arrived), or the end.
    fn seek(&self, mut at: u64, lost: bool) -> u64 {
        while at < self.sent {
            let Some(word) = self.words.get((at / 64) as usize) else {
                return self.sent;
            };
            let wanted = if lost { !word } else { *word };
            let ahead = wanted >> (at % 64);
            if ahead != 0 {
                return (at + u64::from(ahead.trailing_zeros())).min(self.sent);
            }
            at = (at / 64 + 1) * 64;
        }
        self.sent
    }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        loop {
            let first = self.seek(self.at, true);
            if first >= self.sent {
                return None;
            }
            let ended = self.without.partition_point(|range| range.end <= first);
            let next = self.without.get(ended);
            if let Some(range) = next.filter(|range| range.start <= first) {
                self.at = range.end;
                continue;
            }
            let end = next.map_or(u64::MAX, |range| range.start);
            self.at = self.seek(first, false).min(end);
            return Some(Run {
                first,
                frames: self.at - first,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bitmap of `sent` sequences without those lost.
    fn bitmap(sent: u64, lost: &[u64]) -> Vec<u64> {
        let mut words = vec![0; sent.div_ceil(64) as usize];
        for sequence in (0..sent).filter(|sequence| !lost.contains(sequence)) {
            words[(sequence / 64) as usize] |= 1_u64 << (sequence % 64);
        }
        words
    }

    fn runs(sent: u64, lost: &[u64]) -> Vec<(u64, u64)> {
        let words = bitmap(sent, lost);
        Runs::new(&words, sent, &[])
            .map(|run| (run.first, run.frames))
            .collect()
    }

    #[test]
    fn runs_are_found_at_ends_of_words_and_trial() {
        assert_eq!(runs(200, &[]), []);
        assert_eq!(runs(0, &[]), []);
        assert_eq!(runs(200, &[0, 63, 64, 199]), [(0, 1), (63, 2), (199, 1)]);
        let all: Vec<u64> = (0..130).collect();
        assert_eq!(runs(130, &all), [(0, 130)]);
        // What lies behind the last sequence is no loss.
        assert_eq!(runs(65, &[64]), [(64, 1)]);
        assert_eq!(Runs::new(&[u64::MAX], 200, &[]).count(), 0);
    }

    #[test]
    fn sequences_that_are_passed_over_cut_runs() {
        let lost: Vec<u64> = (60..140).chain(180..190).collect();
        let words = bitmap(200, &lost);
        let runs = |without: &[Range<u64>]| -> Vec<(u64, u64)> {
            Runs::new(&words, 200, without)
                .map(|run| (run.first, run.frames))
                .collect()
        };
        assert_eq!(runs(&[]), [(60, 80), (180, 10)]);
        assert_eq!(runs(&[70..80, 139..185]), [(60, 10), (80, 59), (185, 5)]);
        assert_eq!(runs(&[0..10, 50..150]), [(180, 10)]);
        assert_eq!(runs(std::slice::from_ref(&(0..400))), []);
    }

    proptest::proptest! {
        #[test]
        fn every_lost_frame_is_in_exactly_one_run(words in proptest::collection::vec(proptest::num::u64::ANY, 1..6), short in 0_u64..64) {
            let sent = words.len() as u64 * 64 - short;
            let lost = (0..sent).filter(|s| words[(s / 64) as usize] >> (s % 64) & 1 == 0);
            let listed = Runs::new(&words, sent, &[]).flat_map(|run| run.first..run.first + run.frames);
            proptest::prop_assert!(lost.eq(listed));
            let mut ends = Runs::new(&words, sent, &[]).map(|run| (run.first, run.first + run.frames));
            let mut before = None;
            proptest::prop_assert!(ends.all(|(first, end)| before.replace(end).is_none_or(|b| b < first)));
        }
    }
}
