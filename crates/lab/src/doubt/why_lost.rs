//! Why frames were lost, in one line: the pattern of the loss, its place, and how busy the DUT was. It is the loss at
//! the load that failed. If no load failed, it is that at the lowest load that lost any.

use crate::trial::rules::DEVICE_RING;
use mpps_method::limit;
use mpps_method::pattern::Run;
use mpps_method::{LossPattern, Losses, Rate, Span, Trial, Verdict};
use std::fmt;

/// The loss of one trial, as far as it says why.
#[derive(Clone, Debug, PartialEq)]
pub struct WhyLost {
    /// The load.
    pub rate: Rate,
    /// What the direction that lost most lost.
    pub losses: Losses,
    /// How long the trial was.
    pub duration: Span,
    /// Busy share of the DUT's busiest CPU in the trial.
    pub busy: Option<f64>,
    /// Frames the DUT's receive rings hold together.
    pub ring_frames: u32,
    /// Frames the sender was behind at once and caught up with; `None` where its pace was not timed.
    pub catch_up_frames: Option<u64>,
    /// Whether the load is the one that failed. If not, the search went by another trial there, or something else than
    /// loss ended it.
    pub bounds: bool,
}

/// A larger share of the ring may be missing when a router under load needs it.
const CATCH_UP_SHARE: f64 = 0.1;

/// A catch-up of the sender that may have lost frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CatchUp {
    /// The load.
    pub rate: Rate,
    /// Frames sent late at once.
    pub frames: u64,
    /// Frames the ring holds, or is taken to hold.
    pub ring: u32,
    /// Frames lost.
    pub lost: u64,
}

impl WhyLost {
    /// From the trials of a search and the load that failed. Of that load's trials the one that came closest to passing
    /// is taken, because each of them made the load fail. If no load failed, it is the lowest load that lost any.
    /// `None`: no trial was lossy, or the receiver does not know which frames came.
    #[must_use]
    pub fn from_trials(
        trials: &[(Trial, Verdict)],
        failed: Option<Rate>,
        ring_frames: u32,
    ) -> Option<Self> {
        let lossy = || {
            let lossy = |verdict: &Verdict| matches!(verdict, Verdict::Lossy { .. });
            let lossy = trials.iter().filter(move |(_, verdict)| lossy(verdict));
            lossy.map(|(trial, _)| trial)
        };
        let at_border = lossy().filter(|trial| Some(trial.offered) == failed);
        let closest = at_border.min_by_key(|trial| trial.lost_at_dut());
        let lowest = || lossy().min_by(|a, b| a.offered.fps().total_cmp(&b.offered.fps()));
        let trial = closest.or_else(lowest)?;
        let losses = trial.losses.iter().max_by_key(|losses| losses.lost)?;
        Some(Self {
            rate: trial.offered,
            losses: losses.clone(),
            duration: trial.duration,
            busy: trial.busiest_share(),
            ring_frames,
            catch_up_frames: trial.catch_up_frames(),
            bounds: closest.is_some(),
        })
    }

    /// What it looks like.
    #[must_use]
    pub fn pattern(&self) -> LossPattern {
        self.losses.pattern()
    }

    /// Whether the loss has another cause than load. A few frames tell no pattern, but load fills the ring first.
    #[must_use]
    pub fn is_not_by_load(&self) -> bool {
        match self.pattern() {
            LossPattern::Stall { .. }
            | LossPattern::Random { .. }
            | LossPattern::Periodic { .. } => true,
            LossPattern::Scarce => self.losses.at_ring == Some(0) && self.is_pause(),
            LossPattern::Overflow | LossPattern::Mixed => false,
        }
    }

    /// Whether these frames were lost in a pause and not because the DUT was too slow ([`mpps_method::limit`]). Whose
    /// pause it was is not known.
    #[must_use]
    pub fn is_pause(&self) -> bool {
        !limit::was_too_slow(self.busy, std::slice::from_ref(&self.losses))
    }

    /// Frames that the sender sent back to back because it was late, if they may have caused the loss. Two things have
    /// to hold. No episode lost more frames than that. And they take a share of the ring that a loaded router may lack, or
    /// the loss lies behind the ring, where a policer may take a few frames at once.
    #[must_use]
    pub fn catch_up(&self) -> Option<CatchUp> {
        let frames = self.catch_up_frames?;
        let ring = match self.ring_frames {
            0 => DEVICE_RING,
            ring => ring,
        };
        let share = frames as f64 / f64::from(ring);
        let most = frames.saturating_mul(self.losses.episodes);
        let is_much = share >= CATCH_UP_SHARE || self.losses.at_ring == Some(0);
        (is_much && self.losses.lost <= most).then_some(CatchUp {
            rate: self.rate,
            frames,
            ring,
            lost: self.losses.lost,
        })
    }

    /// How long the DUT stood still at the longest run, at least and at most. Both ends are needed, because its ring
    /// may have been full before, or empty.
    fn stood(&self) -> (Span, Span) {
        let losses = &self.losses;
        let least = losses.lasting(losses.longest.frames);
        let most = losses.lasting(losses.longest.frames + u64::from(self.ring_frames));
        (least, most)
    }

    fn place(&self) -> Option<&'static str> {
        let (refused, lost) = (self.losses.at_ring?, self.losses.lost);
        Some(if refused >= lost {
            "all at the receive ring"
        } else if refused == 0 {
            "all inside the DUT"
        } else {
            "partly at the receive ring"
        })
    }
}

/// `1.250 Mfps: overflow: frames arrived faster than the DUT took them. 12034 of 1250000 frames were lost in 311 runs (longest
/// 96), from 12 ms to 1 s of 1 s; all at the receive ring. The DUT was 99 % busy`
impl fmt::Display for WhyLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let losses = &self.losses;
        write!(f, "{}: {}", self.rate, self.pattern())?;
        if let LossPattern::Stall { .. } = self.pattern() {
            let (least, most) = self.stood();
            let (least, most) = (rounded(least), rounded(most));
            write!(
                f,
                ", so it stood still for {least} to {most} (its ring hides the rest)"
            )?;
        }
        let runs = if losses.runs == 1 { "run" } else { "runs" };
        write!(
            f,
            ". {} of {} frames were lost in {} {runs}",
            losses.lost, losses.sent, losses.runs
        )?;
        if losses.runs > 1 {
            write!(f, " (longest {})", losses.longest.frames)?;
        }
        let first = losses.first_runs.first().map_or(0, |run: &Run| run.first);
        let last = losses.last.first + losses.last.frames;
        let (from, to) = (losses.at(first), losses.at(last));
        write!(
            f,
            ", from {} to {} of {}",
            rounded(from),
            rounded(to),
            self.duration
        )?;
        if let Some(place) = self.place() {
            write!(f, "; {place}")?;
        }
        match self.busy {
            Some(busy) => write!(f, ". The DUT was {:.0} % busy", busy * 100.0),
            None => Ok(()),
        }
    }
}

/// To a tenth of a ms: no reader needs more digits.
fn rounded(span: Span) -> Span {
    Span::from_nanos((span.as_nanos() + 50_000) / 100_000 * 100_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::{CpuBusy, Direction};

    /// 100 ms at 64 000 frames/s, without the frames in `lost`.
    fn trial(fps: f64, lost: impl IntoIterator<Item = usize>) -> (Trial, Verdict) {
        let mut words = vec![u64::MAX; 100];
        for sequence in lost {
            words[sequence / 64] &= !(1 << (sequence % 64));
        }
        let losses = Losses::from_bitmap(&words, 6_400, Span::from_millis(100), &[]);
        let lost = losses.as_ref().map_or(0, |losses| losses.lost);
        let busy = CpuBusy {
            cpu: 1,
            run_ns: 40_000_000,
            ..CpuBusy::default()
        };
        let mut way = Direction::default();
        way.counts.lost = lost;
        let trial = Trial {
            offered: Rate::from_fps(fps),
            duration: Span::from_millis(100),
            directions: vec![way],
            losses: losses
                .into_iter()
                .map(|losses| Losses {
                    at_ring: Some(losses.lost),
                    ..losses
                })
                .collect(),
            busy: vec![busy],
            ..Trial::default()
        };
        let verdict = match lost {
            0 => Verdict::Lossless,
            lost => Verdict::Lossy { lost },
        };
        (trial, verdict)
    }

    #[test]
    fn the_load_that_failed_says_why() {
        let mut trials = [
            trial(90_000.0, 0..6_000),
            trial(64_000.0, 3_200..3_840),
            trial(32_000.0, []),
        ];
        // 20 ms of it were disturbed.
        trials[1].0.duration = Span::from_millis(120);
        let why =
            WhyLost::from_trials(&trials, Some(Rate::from_fps(64_000.0)), 320).expect("a loss");
        assert!(why.is_not_by_load() && why.bounds);
        assert_eq!(
            why.to_string(),
            "64.0 kfps: stall: the DUT took no frames for 10 ms, so it stood still for 10 ms to 15 ms (its ring hides \
             the rest). 640 of 6400 frames were lost in 1 run, from 50 ms to 60 ms of 120 ms; all at the receive \
             ring. The DUT was 33 % busy"
        );
        assert_eq!(WhyLost::from_trials(&trials[2..], None, 320), None);
    }

    #[test]
    fn an_overload_is_by_load() {
        let lost = (10..64).flat_map(|at| at * 100..at * 100 + 30);
        let why = WhyLost::from_trials(&[trial(64_000.0, lost)], None, 320).expect("a loss");
        assert!(!why.is_not_by_load(), "{why}");
        assert!(
            why.to_string()
                .contains("1620 of 6400 frames were lost in 54 runs (longest 30)"),
            "{why}"
        );
    }

    #[test]
    fn a_lower_lossy_load_does_not_stand_for_the_failed() {
        let trials = [
            trial(90_000.0, 0..6_000),
            trial(90_000.0, 100..1_200),
            trial(80_000.0, 10..13),
        ];
        let failed = Rate::from_fps(90_000.0);
        let why = WhyLost::from_trials(&trials, Some(failed), 320).expect("a loss");
        assert_eq!((why.rate, why.losses.lost), (failed, 1_100));
        assert!(why.bounds);
        // Where the tester ended the search no load failed.
        let why = WhyLost::from_trials(&trials, None, 320).expect("a loss");
        assert_eq!((why.rate.fps(), why.bounds), (80_000.0, false));
    }

    #[test]
    fn loss_within_a_catch_up_may_be_the_testers() {
        let late = |lost: std::ops::Range<usize>, late_us: u64| {
            let (mut trial, verdict) = trial(64_000.0, lost);
            trial.lateness.add(Span::from_nanos(late_us * 1_000));
            let why = WhyLost::from_trials(&[(trial, verdict)], None, 320).expect("a loss");
            why.catch_up()
        };
        // 64 frames at once, a fifth of the ring.
        let catch_up = late(100..140, 1_000).expect("40 lost");
        assert!((64..=68).contains(&catch_up.frames), "{catch_up:?}");
        assert_eq!((catch_up.ring, catch_up.lost), (320, 40));
        assert_eq!(late(100..180, 1_000), None, "80 lost");
        assert_eq!(late(100..110, 400), None, "26 at once are not much");
        let untimed = trial(64_000.0, 100..110);
        let why = WhyLost::from_trials(&[untimed], None, 320).expect("a loss");
        assert_eq!(why.catch_up(), None);
    }
}
