//! Recovery of `mpps recovery`: for how long frames were lost after an overload had ended.

use crate::other::Other;
use crate::result::Doubt;
use crate::words::{ReceiverPlace, Recovered, Verdict};
use serde::{Deserialize, Serialize};

/// One frame size (RFC 2544 section 26.5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecoveryLine {
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// What the overload is a share of; null where it was not found.
    pub throughput_fps: Option<u64>,
    /// The overload: 110 % of it, or the tester's ceiling. Where the search ended early: 110 % of the maximum forwarding
    /// rate.
    pub overload_fps: Option<u64>,
    /// How long the overload lasts.
    pub overload_ns: u64,
    /// How long half of it lasts.
    pub after_ns: u64,
    /// In their order.
    pub trials: Vec<RecoveryTrial>,
    /// Mean of the trials' times; null without any, and where a trial did not recover.
    pub average_ns: Option<u64>,
    /// What cut it short.
    pub why: Option<String>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// One trial with both loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecoveryTrial {
    /// Its number.
    pub trial: u32,
    /// Void trials before it.
    pub void_trials: u32,
    /// The verdict on it.
    pub verdict: Verdict,
    /// The same with its numbers.
    pub verdict_text: String,
    /// What it says.
    pub recovered: Recovered,
    /// From the drop to the departure of the last frame that was lost; null unless it recovered.
    pub recovery_ns: Option<u64>,
    /// Frames lost, in both loads.
    pub lost_frames: u64,
}
