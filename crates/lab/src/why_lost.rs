//! Why frames were lost at the lowest load that lost any: the pattern of that loss, its place and how busy the DUT
//! was, in one line.

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
    /// Busy share of the DUT's busiest CPU in the trial.
    pub busy: Option<f64>,
    /// Frames the DUT's receive rings hold together.
    pub ring_frames: u32,
}

impl WhyLost {
    /// From the trials of a search; `None` when none was lossy, or the receiver does not know which frames came.
    #[must_use]
    pub fn of(trials: &[(Trial, Verdict)], ring_frames: u32) -> Option<Self> {
        let lossy = |(_, verdict): &&(Trial, Verdict)| matches!(verdict, Verdict::Lossy { .. });
        let by_load = |a: &&(Trial, Verdict), b: &&(Trial, Verdict)| {
            a.0.offered.fps().total_cmp(&b.0.offered.fps())
        };
        let (trial, _) = trials.iter().filter(lossy).min_by(by_load)?;
        let losses = trial.losses.iter().max_by_key(|losses| losses.lost)?;
        Some(Self {
            rate: trial.offered,
            losses: losses.clone(),
            busy: trial.busiest_share(),
            ring_frames,
        })
    }

    /// What it looks like.
    #[must_use]
    pub fn pattern(&self) -> LossPattern {
        self.losses.pattern()
    }

    /// Whether the loss has another cause than load.
    #[must_use]
    pub fn is_not_by_load(&self) -> bool {
        matches!(
            self.pattern(),
            LossPattern::Stall { .. } | LossPattern::Random { .. } | LossPattern::Periodic { .. }
        )
    }

    /// How long the DUT stood still at the longest run: at least so long, and at most so long, for its ring may have
    /// been anything from full to empty before.
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

/// `1.250 Mfps: overflow: more came than was taken; 12034 of 1250000 frames in 311 runs (longest 96), from 12 ms to
/// 1 s; all at the receive ring; DUT 99 % busy`
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
            "; {} of {} frames in {} {runs}",
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
            losses.length
        )?;
        if let Some(place) = self.place() {
            write!(f, "; {place}")?;
        }
        match self.busy {
            Some(busy) => write!(f, "; DUT {:.0} % busy", busy * 100.0),
            None => Ok(()),
        }
    }
}

/// To a tenth of a ms: more than that nobody reads.
fn rounded(span: Span) -> Span {
    Span::from_nanos((span.as_nanos() + 50_000) / 100_000 * 100_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::CpuBusy;

    /// 100 ms at 64 000 frames/s, without the frames in `lost`.
    fn trial(fps: f64, lost: impl IntoIterator<Item = usize>) -> (Trial, Verdict) {
        let mut words = vec![u64::MAX; 100];
        for sequence in lost {
            words[sequence / 64] &= !(1 << (sequence % 64));
        }
        let losses = Losses::from_bitmap(&words, 6_400, Span::from_millis(100));
        let lost = losses.as_ref().map_or(0, |losses| losses.lost);
        let busy = CpuBusy {
            cpu: 1,
            run_ns: 40_000_000,
            wait_ns: 0,
        };
        let trial = Trial {
            offered: Rate::from_fps(fps),
            duration: Span::from_millis(100),
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
    fn the_lowest_lossy_load_says_why_in_one_line() {
        let trials = [
            trial(90_000.0, 0..6_000),
            trial(64_000.0, 3_200..3_840),
            trial(32_000.0, []),
        ];
        let why = WhyLost::of(&trials, 320).expect("a loss");
        assert!(why.is_not_by_load());
        assert_eq!(
            why.to_string(),
            "64.0 kfps: stall: nothing was taken for 10 ms, so it stood still for 10 ms to 15 ms (its ring hides \
             the rest); 640 of 6400 frames in 1 run, from 50 ms to 60 ms of 100 ms; all at the receive ring; DUT 40 % busy"
        );
        assert_eq!(WhyLost::of(&trials[2..], 320), None);
    }

    #[test]
    fn an_overload_is_by_load() {
        let lost = (10..64).flat_map(|at| at * 100..at * 100 + 30);
        let why = WhyLost::of(&[trial(64_000.0, lost)], 320).expect("a loss");
        assert!(!why.is_not_by_load(), "{why}");
        assert!(
            why.to_string()
                .contains("1620 of 6400 frames in 54 runs (longest 30)"),
            "{why}"
        );
    }
}
