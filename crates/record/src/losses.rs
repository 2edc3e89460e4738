//! Which frames a trial lost.

use serde::{Deserialize, Serialize};

/// What one direction lost. Times are since the trial's first frame, by the sender's schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Losses {
    /// What it looks like: docs/method.md, "Why frames were lost".
    pub pattern: String,
    /// The pattern in words, with its numbers.
    pub pattern_text: String,
    /// Periodic: frames from one loss to the next. Random: one in this number of frames is lost.
    pub pattern_frames: Option<u64>,
    /// Stall: how often.
    pub pauses: Option<u64>,
    /// Frames sent.
    pub sent_frames: u64,
    /// Frames lost.
    pub lost_frames: u64,
    /// Of these, frames that the DUT's receive ring refused; null where nobody counts it.
    pub at_ring_frames: Option<u64>,
    /// Runs of frames lost one after the other.
    pub runs: u64,
    /// Runs that lie close together count as one episode.
    pub episodes: u64,
    /// Bunches of runs.
    pub bunches: u64,
    /// Frames lost in bunches.
    pub bunched_frames: u64,
    /// Frames lost in lumps.
    pub lumped_frames: u64,
    /// When the first was lost.
    pub first_ns: Option<u64>,
    /// The last run.
    pub last: LostRun,
    /// The longest run.
    pub longest: LostRun,
    /// Runs by length; lengths without any are left out.
    pub run_lengths: Vec<LengthCount>,
    /// From one run to the next, on average.
    pub spacing_mean_frames: f64,
    /// The spacing's standard deviation as a share of its mean.
    pub spacing_cv: f64,
    /// The distance from one run to the next that occurs most often.
    pub spacing_commonest_frames: u64,
    /// How many runs are so far from the one before, or a multiple of it where what is between was passed over (disturbed).
    pub spacing_commonest_runs: u64,
    /// Variance of the loss in each hundredth over its mean: 1 where it comes at random.
    pub dispersion: f64,
    /// In each hundredth of the trial.
    pub lost_by_hundredth_frames: Vec<u64>,
    /// At most the first hundred.
    pub first_runs: Vec<LostRun>,
}

/// Frames lost one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostRun {
    /// Sequence number of the first.
    pub sequence: u64,
    /// Frames.
    pub frames: u64,
    /// When.
    pub at_ns: u64,
}

/// Runs of similar length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LengthCount {
    /// Shortest.
    pub least_frames: u64,
    /// Longest.
    pub most_frames: u64,
    /// Runs.
    pub runs: u64,
}
