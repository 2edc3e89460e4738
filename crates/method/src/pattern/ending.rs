//! When loss ended after the load had dropped (RFC 2544 26.5).
//!
//! The last lost frame alone does not tell: one frame that the machine lost at the very end would be a DUT that never
//! recovers. So loss has ended when no frame is lost for a stretch. What is lost later is counted apart.

use super::passed_over;
use super::runs::Runs;
use std::ops::Range;

/// Frames lost later are at most this part of those after the drop. More are no accident of the machine's.
const LATER_MAX: f64 = 0.01;

/// How the loss of a trial ended, disturbances aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending<T> {
    /// The last frame lost before the stretch without loss, by its number or its time; `None`: none was lost before it.
    pub last: Option<T>,
    /// Whether there was such a stretch after the drop.
    pub is_over: bool,
    /// Frames lost after it.
    pub later: u64,
}

impl Ending<u64> {
    /// From the receiver's bitmap of `sent` frames, the sequences `without` aside. The frame `dropped` was the first of the
    /// lower load; a stretch has so many frames.
    #[must_use]
    pub fn from_bitmap(
        words: &[u64],
        sent: u64,
        without: &[Range<u64>],
        (dropped, stretch): (u64, u64),
    ) -> Self {
        let mut ending = Self::default();
        let is_clean = |last: Option<u64>, next: u64| {
            let from = last.map_or(0, |last| last + 1).max(dropped);
            let passed = passed_over(without, next).saturating_sub(passed_over(without, from));
            next.saturating_sub(from).saturating_sub(passed) >= stretch
        };
        for run in Runs::new(words, sent, without) {
            ending.is_over |= run.first > dropped && is_clean(ending.last, run.first);
            if ending.is_over {
                ending.later += run.frames;
            } else {
                ending.last = Some(run.first + run.frames - 1);
            }
        }
        ending.is_over |= is_clean(ending.last, sent);
        if ending.later as f64 > LATER_MAX * sent.saturating_sub(dropped) as f64 {
            let last = Runs::new(words, sent, without).last();
            return Self {
                last: last.map(|run| run.first + run.frames - 1),
                ..Self::default()
            };
        }
        ending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 640 frames, of which 320 at the lower load; a stretch of 32.
    fn ending(lost: &[u64], without: &[Range<u64>]) -> Ending<u64> {
        let mut words = [u64::MAX; 10];
        for sequence in lost {
            words[(sequence / 64) as usize] &= !(1 << (sequence % 64));
        }
        Ending::from_bitmap(&words, 640, without, (320, 32))
    }

    #[test]
    fn one_frame_at_the_end_is_later_and_not_lasting() {
        let overload: Vec<u64> = (0..330).step_by(3).collect();
        let over = Ending {
            last: Some(327),
            is_over: true,
            later: 0,
        };
        assert_eq!(ending(&overload, &[]), over);
        let stray: Vec<u64> = overload.iter().copied().chain([630, 639]).collect();
        assert_eq!(ending(&stray, &[]), Ending { later: 2, ..over });
    }

    #[test]
    fn loss_that_goes_on_is_not_over() {
        let steady: Vec<u64> = (0..640).step_by(30).collect();
        let lasting = ending(&steady, &[]);
        assert_eq!((lasting.last, lasting.is_over), (Some(630), false));
        // A pause of the machine is no evidence of a stretch without loss.
        let before: Vec<u64> = (0..600).step_by(30).collect();
        assert!(ending(&before, &[]).is_over);
        let pause = 575..630;
        assert!(!ending(&before, std::slice::from_ref(&pause)).is_over);
        assert!(!ending(&(0..640).collect::<Vec<_>>(), &[]).is_over);
    }

    #[test]
    fn much_loss_after_a_stretch_is_not_over() {
        // Clean for the stretch, then a third is lost to the end.
        let overload = (0..320).step_by(3);
        let lost: Vec<u64> = overload.chain((400..640).step_by(3)).collect();
        let again = Ending {
            last: Some(637),
            is_over: false,
            later: 0,
        };
        assert_eq!(ending(&lost, &[]), again);
    }

    #[test]
    fn without_loss_before_the_drop_nothing_ended() {
        let none = Ending {
            last: None,
            is_over: true,
            later: 0,
        };
        assert_eq!(ending(&[], &[]), none);
        assert_eq!(ending(&[600], &[]), Ending { later: 1, ..none });
    }
}
