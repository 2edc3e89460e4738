//! Bursts of `mpps back-to-back`: the longest one without loss, and the buffer that it implies.

use crate::other::Other;
use crate::result::Doubt;
use crate::words::ReceiverPlace;
use serde::{Deserialize, Serialize};

/// One frame size (RFC 2544 section 26.4, RFC 9004).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstLine {
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// The maximum forwarding rate, by which the buffer time is corrected; null where overload did not tell.
    pub max_forwarding_fps: Option<u64>,
    /// One a search that ended.
    pub searches: Vec<BurstSearch>,
    /// All of them together; null without any.
    pub all: Option<BurstSum>,
    /// The longest burst tried, where no burst was too long. Else null.
    pub all_passed_frames: Option<u64>,
    /// Frames that the bed's own receive rings hold: there they are what was measured. Null around an external device.
    pub own_ring_frames: Option<u32>,
    /// What cut it short.
    pub why: Option<String>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// One search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstSearch {
    /// The longest burst without loss.
    pub longest_frames: u64,
    /// The shortest that lost frames each time.
    pub lossy_frames: u64,
    /// Rate within the longest.
    pub burst_fps: u64,
    /// The longest, without what the DUT forwarded meanwhile by its busy time.
    pub buffer_frames: f64,
}

/// All searches together (RFC 9004 section 5.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstSum {
    /// Longest burst, on average: the benchmark.
    pub average_frames: f64,
    /// The least of the searches.
    pub least_frames: u64,
    /// The most.
    pub most_frames: u64,
    /// Standard deviation; null with one search.
    pub deviation_frames: Option<f64>,
    /// Rate within the bursts, on average. RFC 9004 has the media's maximum in its place.
    pub burst_fps: u64,
    /// Implied DUT Buffer Time.
    pub implied_buffer_ns: u64,
    /// Corrected DUT Buffer Time; null without a maximum forwarding rate.
    pub corrected_buffer_ns: Option<u64>,
}
