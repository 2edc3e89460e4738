//! A curve of `mpps loss`: what was lost at each load, for one frame size.

use crate::other::Other;
use crate::result::Doubt;
use crate::words::{LimitedBy, ReceiverPlace, SeriesEnd, Verdict};
use serde::{Deserialize, Serialize};

/// One frame size (RFC 2544 section 26.3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveLine {
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// Whether tester and router were simulated: nothing was measured.
    pub simulated: bool,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// The highest load; null where that was not measured.
    pub highest_fps: Option<u64>,
    /// What keeps it from being higher: `tester`, `link` or `max-rate`.
    pub highest_limited_by: Option<LimitedBy>,
    /// From one load to the next, of the highest, 0 to 1.
    pub step_share: f64,
    /// Length of a trial.
    pub trial_ns: u64,
    /// The highest load first, as far as they were offered.
    pub loads: Vec<CurvePoint>,
    /// How the series ended.
    pub end: SeriesEnd,
    /// What cut it short.
    pub why: Option<String>,
    /// Numbers of the trials at overload, which tell the highest load.
    pub overload_trials: Vec<u32>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// One load. Its counts and rates are those outside disturbances, over all directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurvePoint {
    /// Of the highest load, 0 to 1.
    pub load_share: f64,
    /// The load to be offered.
    pub load_fps: u64,
    /// What was measured; null unless the last trial is lossless or lossy.
    pub measured: Option<Measured>,
    /// The verdict on the trial.
    pub verdict: Verdict,
    /// The same with its numbers.
    pub verdict_text: String,
    /// Its number.
    pub trial: u32,
    /// Void trials before it.
    pub void_trials: u32,
}

/// What was measured at one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measured {
    /// The load really sent.
    pub offered_fps: u64,
    /// What the DUT forwarded.
    pub forwarding_fps: u64,
    /// Time outside disturbances, which the rates are over.
    #[serde(default)]
    pub undisturbed_ns: u64,
    /// Frames sent.
    pub sent_frames: u64,
    /// Frames that the DUT lost.
    pub lost_frames: u64,
    /// Frames lost in disturbances: they do not count.
    #[serde(default)]
    pub disturbed_lost_frames: u64,
    /// Lost at the DUT of those that reached it, 0 to 1.
    pub loss_ratio: f64,
    /// Busy share of the DUT's busiest CPU.
    pub dut_busiest_cpu_share: Option<f64>,
}
