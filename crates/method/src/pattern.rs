//! The pattern of a trial's loss: which frames, by their sequence numbers, never arrived, and what that says
//! of why. A ring that overflows, a DUT that stands still, and frames lost at random leave different traces;
//! `docs/method.md` states the rule.

mod ending;
mod rule;
mod runs;

pub use ending::Ending;
pub use rule::LossPattern;
pub use runs::Run;

use crate::units::Span;
use runs::Runs;
use std::ops::Range;

/// Runs kept one by one.
pub const RUNS_KEPT: usize = 100;
/// Parts of a trial for [`Losses::dispersion`].
pub const HUNDREDTHS: usize = 100;
/// Runs closer than this belong to one episode ...
const EPISODE_GAP: Span = Span::from_millis(1);
/// ... and so do those with fewer frames between them than one NAPI poll takes at once (NAPI_POLL_WEIGHT).
const POLL_FRAMES: u64 = 64;

/// What one direction of a trial lost, by sequence. "When" is by the sender's schedule: the share of the
/// frames sent before, of the trial's length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Losses {
    /// Frames sent, without those that were sent in disturbances.
    pub sent: u64,
    /// Of these, frames that never arrived, those aside that were sent in a disturbance.
    pub lost: u64,
    /// Frames that the DUT's receive ring refused; `None` where nobody counts them, or not those outside disturbances.
    pub at_ring: Option<u64>,
    /// Length of the trial, without disturbances.
    pub length: Span,
    /// Runs of frames lost one after the other.
    pub runs: u64,
    /// The first [`RUNS_KEPT`] of them.
    pub first_runs: Vec<Run>,
    /// The longest.
    pub longest: Run,
    /// The last.
    pub last: Run,
    /// Frames sent after it, without those that were sent in disturbances.
    pub left: u64,
    /// The same before the first.
    pub before: u64,
    /// Episodes: runs with less than 1 ms, or fewer than 64 frames, from one to the next are one episode.
    pub episodes: u64,
    /// Of these, episodes that lost `rule::BUNCH` frames or more.
    pub bunches: u64,
    /// Frames lost in bunches.
    pub lost_in_bunches: u64,
    /// Frames lost in the longest run of each bunch.
    pub lost_in_lumps: u64,
    /// Frames from the start of one run to the start of the next: mean, 0 with fewer than two runs.
    pub spacing_mean: f64,
    /// Standard deviation of the same over its mean.
    pub spacing_cv: f64,
    /// The most frequent of these distances, frames, and how many runs are so far from the one before, or a multiple of it
    /// where what is between was passed over.
    pub spacing_commonest: (u64, u64),
    /// Frames lost in each of [`HUNDREDTHS`] equal parts of the trial.
    pub windows: Vec<u64>,
    /// Variance over mean of these: about 1 when each frame is lost by chance, near 0 when loss is even, large
    /// when it comes in lumps.
    pub dispersion: f64,
}

impl Losses {
    /// From the receiver's bitmap (bit `s % 64` of word `s / 64` is set when sequence `s` arrived), the sequences
    /// `without` aside; `None` when no other was lost. A bitmap knows no places: [`Losses::at_ring`] is for who does.
    #[must_use]
    pub fn from_bitmap(
        words: &[u64],
        sent: u64,
        length: Span,
        without: &[Range<u64>],
    ) -> Option<Self> {
        let kept = sent - passed_over(without, sent);
        let mut tally = Tally::new(kept, share(length, kept, sent));
        // As if the others had never been sent: else ordinary unrest makes lumps of even loss.
        let runs = Runs::new(words, sent, without);
        runs.clone().for_each(|run| {
            let kept = run.first - passed_over(without, run.first);
            tally.add(Run { first: kept, ..run }, run.first);
        });
        let commonest = tally.candidate;
        let mut losses = tally.conclude()?;
        let starts = runs.map(|run| run.first);
        let spaced = starts.clone().skip(1).zip(starts);
        // Where the frame one distance on was passed over, nobody knows whether it was lost: the next one tells.
        let is_without = |sequence: u64| without.iter().any(|range| range.contains(&sequence));
        let is_so_far = |(next, this): &(u64, u64)| {
            let mut between = (this + commonest..*next).step_by(commonest.max(1) as usize);
            (next - this).is_multiple_of(commonest) && between.all(is_without)
        };
        let as_often = spaced.filter(is_so_far).count();
        losses.spacing_commonest = (commonest, as_often as u64);
        Some(losses)
    }

    /// When a sequence was sent, since the first.
    #[must_use]
    pub fn at(&self, sequence: u64) -> Span {
        share(self.length, sequence, self.sent)
    }

    /// How long the sender needs for so many frames.
    #[must_use]
    pub fn lasting(&self, frames: u64) -> Span {
        share(self.length, frames, self.sent)
    }

    /// From the first frame lost to the last.
    #[must_use]
    pub fn extent(&self) -> Span {
        let first = self.first_runs.first().map_or(0, |run| run.first);
        self.lasting((self.last.first + self.last.frames).saturating_sub(first))
    }

    /// What all this looks like.
    #[must_use]
    pub fn pattern(&self) -> LossPattern {
        rule::pattern(self)
    }
}

/// Sequences before this one that are passed over.
fn passed_over(without: &[Range<u64>], sequence: u64) -> u64 {
    let before = |range: &Range<u64>| range.end.min(sequence).saturating_sub(range.start);
    without.iter().map(before).sum()
}

fn share(length: Span, part: u64, whole: u64) -> Span {
    let ns = u128::from(length.as_nanos()) * u128::from(part) / u128::from(whole.max(1));
    Span::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// One pass over the runs.
struct Tally {
    losses: Losses,
    /// Frames between two runs that end an episode.
    pause: u64,
    /// Of the episode under way: frames lost, longest run.
    episode: (u64, u64),
    /// Where the run before began and ended.
    before: Option<Run>,
    /// Where that began among all sequences.
    began: u64,
    /// Sum of the distances and of their squares.
    spacing: (f64, f64),
    /// The only distance that can be over half of all (Boyer and Moore), and its lead.
    candidate: u64,
    lead: u64,
}

impl Tally {
    fn new(sent: u64, length: Span) -> Self {
        let losses = Losses {
            sent,
            length,
            windows: vec![0; HUNDREDTHS],
            ..Losses::default()
        };
        let in_gap = u128::from(EPISODE_GAP.as_nanos()) * u128::from(sent)
            / u128::from(length.as_nanos().max(1));
        Self {
            losses,
            pause: u64::try_from(in_gap).unwrap_or(u64::MAX).max(POLL_FRAMES),
            episode: (0, 0),
            before: None,
            began: 0,
            spacing: (0.0, 0.0),
            candidate: 0,
            lead: 0,
        }
    }

    /// A run, and where it began among all sequences: what repeats, repeats there.
    fn add(&mut self, run: Run, began: u64) {
        if let Some(before) = self.before {
            if run.first - (before.first + before.frames) > self.pause {
                self.end_episode();
            }
            self.add_spacing(began - self.began);
        } else {
            self.losses.before = run.first;
        }
        let (lost, longest) = &mut self.episode;
        *lost += run.frames;
        *longest = run.frames.max(*longest);
        self.before = Some(run);
        self.began = began;
        self.fill_windows(run);
        let losses = &mut self.losses;
        losses.lost += run.frames;
        losses.runs += 1;
        losses.left = losses.sent.saturating_sub(run.first + run.frames);
        let run = Run {
            first: began,
            ..run
        };
        losses.last = run;
        if losses.first_runs.len() < RUNS_KEPT {
            losses.first_runs.push(run);
        }
        if run.frames > losses.longest.frames {
            losses.longest = run;
        }
    }

    fn add_spacing(&mut self, frames: u64) {
        self.spacing.0 += frames as f64;
        self.spacing.1 += (frames as f64).powi(2);
        if self.lead == 0 {
            self.candidate = frames;
        }
        if self.candidate == frames {
            self.lead += 1;
        } else {
            self.lead -= 1;
        }
    }

    fn fill_windows(&mut self, run: Run) {
        let (sent, mut at) = (self.losses.sent.max(1), run.first);
        let end = run.first + run.frames;
        while at < end {
            let place = u128::from(at) * HUNDREDTHS as u128 / u128::from(sent);
            let next = ((place + 1) * u128::from(sent)).div_ceil(HUNDREDTHS as u128);
            let upto = end.min(u64::try_from(next).unwrap_or(u64::MAX)).max(at + 1);
            if let Some(window) = self.losses.windows.get_mut(place as usize) {
                *window += upto - at;
            }
            at = upto;
        }
    }

    fn end_episode(&mut self) {
        let (lost, longest) = std::mem::take(&mut self.episode);
        let losses = &mut self.losses;
        losses.episodes += 1;
        if lost >= rule::BUNCH {
            losses.bunches += 1;
            losses.lost_in_bunches += lost;
            losses.lost_in_lumps += longest;
        }
    }

    fn conclude(mut self) -> Option<Losses> {
        self.before?;
        self.end_episode();
        let mut losses = self.losses;
        if losses.runs > 1 {
            let distances = (losses.runs - 1) as f64;
            let mean = self.spacing.0 / distances;
            let variance = (self.spacing.1 / distances - mean * mean).max(0.0);
            losses.spacing_mean = mean;
            losses.spacing_cv = variance.sqrt() / mean;
        }
        let mean = losses.lost as f64 / HUNDREDTHS as f64;
        let off = |&lost: &u64| (lost as f64 - mean).powi(2);
        let squares: f64 = losses.windows.iter().map(off).sum();
        losses.dispersion = squares / HUNDREDTHS as f64 / mean;
        Some(losses)
    }
}

#[cfg(test)]
mod tests;
