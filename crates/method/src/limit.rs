//! Whether the DUT itself was the limit at the load that failed: it had no CPU time left, or it lost frames until the end.
//!
//! A DUT that loses frames for 2 ms of a trial with its CPU 70 % busy forwards more in the rest of that trial. Such loss
//! ends a search, but it is no limit of the DUT's.

use crate::pattern::{HUNDREDTHS, Losses};
use crate::trial::Trial;
use crate::units::Rate;
use crate::verdict::Verdict;

pub use mpps_record::BUSY;

/// The kernel's reasons of drops at a queueing discipline begin so.
pub const QDISC: &str = "QDISC_";
/// The kernel's reason of drops for which it got no memory.
pub const NO_MEMORY: &str = "NOMEM";

/// Loss that lasts shows in the last 1/20 of the trial ...
const END_HUNDREDTHS: usize = HUNDREDTHS / 20;
/// ... and in 1/10 of it at least. The ring takes the first of an overload, so a small one shows late.
const LASTING_HUNDREDTHS: usize = HUNDREDTHS / 10;

/// Fewer runs of lost frames are too few to tell that they last.
const SINGLE_RUNS: u64 = 8;

/// Whether a DUT lost these frames because it was too slow: its busiest CPU was at least 95 % busy (where that is
/// known), or the loss lasted to the trial's end.
#[must_use]
pub fn was_too_slow(busy: Option<f64>, losses: &[Losses]) -> bool {
    busy.is_some_and(|busy| busy >= BUSY) || losses.iter().any(Losses::lasts)
}

impl Losses {
    /// Whether the loss went on to the trial's end: in its last 5 %, in at least half of its hundredths since the loss
    /// began, and in at least 10 of them. Single frames lost here and there last with fewer: at least 8 times over at
    /// least 10 % of the trial, until no more than two of their distances are left.
    #[must_use]
    pub fn lasts(&self) -> bool {
        self.lasts_densely() || self.lasts_singly()
    }

    fn lasts_singly(&self) -> bool {
        2 * self.lost_in_bunches < self.lost
            && self.runs >= SINGLE_RUNS
            && 10 * self.extent().as_nanos() >= self.length.as_nanos()
            && self.left as f64 <= 2.0 * self.spacing_mean
    }

    fn lasts_densely(&self) -> bool {
        let lossy = |windows: &[u64]| windows.iter().filter(|&&lost| lost > 0).count();
        let begin = self.windows.iter().take_while(|&&lost| lost == 0).count();
        let since = self.windows.get(begin..).unwrap_or_default();
        let end = since
            .get(since.len().saturating_sub(END_HUNDREDTHS)..)
            .unwrap_or_default();
        let with_loss = lossy(since);
        lossy(end) > 0 && with_loss >= LASTING_HUNDREDTHS && 2 * with_loss >= since.len()
    }
}

/// Whether the DUT was the limit at the load that failed: in at least half of the trials there that lost frames.
/// `false` without one.
#[must_use]
pub fn is_the_duts<'a>(
    trials: impl IntoIterator<Item = &'a (Trial, Verdict)>,
    failed: Rate,
) -> bool {
    let (mut lossy, mut limited) = (0_u32, 0_u32);
    for (trial, verdict) in trials {
        if trial.offered == failed && matches!(verdict, Verdict::Lossy { .. }) {
            lossy += 1;
            limited += u32::from(was_too_slow(trial.busiest_share(), &trial.losses));
        }
    }
    lossy > 0 && 2 * limited >= lossy
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::CpuBusy;
    use crate::units::Span;

    const LOAD: Rate = Rate::from_fps(64_000.0);

    /// A second of 64 000 frames, without those that `lost` names, with the DUT's CPU so busy.
    fn trial(busy: Option<f64>, lost: impl Fn(usize) -> bool) -> (Trial, Verdict) {
        let mut words = vec![u64::MAX; 1_000];
        for sequence in (0..64_000).filter(|&sequence| lost(sequence)) {
            words[sequence / 64] &= !(1 << (sequence % 64));
        }
        let length = Span::from_millis(1_000);
        let losses = Losses::from_bitmap(&words, 64_000, length, &[]);
        let lost = losses.as_ref().map_or(0, |losses| losses.lost);
        let busy = busy.map(|busy| CpuBusy {
            cpu: 1,
            run_ns: (busy * 1e9) as u64,
            ..CpuBusy::default()
        });
        let trial = Trial {
            offered: LOAD,
            duration: length,
            losses: losses.into_iter().collect(),
            busy: busy.into_iter().collect(),
            ..Trial::default()
        };
        (trial, Verdict::Lossy { lost })
    }

    fn slow(busy: Option<f64>, lost: impl Fn(usize) -> bool) -> bool {
        is_the_duts(&[trial(busy, lost)], LOAD)
    }

    #[test]
    fn loss_of_2_ms_at_70_percent_is_not_the_duts() {
        // As recorded: 1713 frames from 762.9 to 765.3 ms, in runs between which frames were served.
        let bunch =
            |sequence: usize| (48_825..48_980).contains(&sequence) && !sequence.is_multiple_of(3);
        assert!(!slow(Some(0.70), bunch));
        assert!(!slow(None, bunch));
        assert!(slow(Some(0.95), bunch));
    }

    #[test]
    fn loss_to_the_end_is_the_duts_however_busy() {
        // A ring that is full after 0.7 s of a small overload; a policer.
        let overload = |sequence: usize| sequence > 45_000 && sequence % 100 < 2;
        let policer = |sequence: usize| sequence % 10 == 9;
        // One a little above its rate: when its bucket is used up, each 800th frame.
        let sparse = |sequence: usize| sequence > 55_000 && sequence.is_multiple_of(800);
        for busy in [None, Some(0.5)] {
            assert!(slow(busy, sparse));
            assert!(slow(busy, overload));
            assert!(slow(busy, policer));
        }
    }

    #[test]
    fn pauses_do_not_last_wherever_they_lie() {
        // 5 ms ten times a second; 40 ms at the end; loss that ends early.
        let often = |sequence: usize| sequence % 6_400 > 6_080;
        let at_end = |sequence: usize| sequence > 61_440;
        let early = |sequence: usize| sequence < 60_000 && sequence % 100 < 2;
        assert!(!slow(Some(0.7), often));
        assert!(!slow(Some(0.7), at_end));
        assert!(!slow(Some(0.7), early));
        let few = |sequence: usize| sequence.is_multiple_of(10_000);
        assert!(!slow(Some(0.7), few));
    }

    #[test]
    fn half_of_the_lossy_trials_decide() {
        let pause = || trial(Some(0.7), |sequence| (100..300).contains(&sequence));
        let full = || trial(Some(0.99), |sequence| sequence % 10 == 9);
        assert!(is_the_duts(&[full(), pause()], LOAD));
        assert!(!is_the_duts(&[full(), pause(), pause()], LOAD));
        // Other loads and other verdicts do not count.
        let mut other = full();
        other.0.offered = Rate::from_fps(1.0);
        let passed = (full().0, Verdict::Lossless);
        assert!(!is_the_duts(&[pause(), other, passed], LOAD));
        assert!(!is_the_duts(&[], LOAD));
    }
}
