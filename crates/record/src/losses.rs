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
    /// When the first was lost.
    pub first_ns: Option<u64>,
    /// The longest run.
    pub longest: LostRun,
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
