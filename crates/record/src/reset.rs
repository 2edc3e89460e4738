//! Resets of `mpps reset`: for how long the router forwarded nothing after a part of it was reset.

use crate::RecoveryTrial;
use crate::other::Other;
use crate::result::Doubt;
use crate::words::ReceiverPlace;
use serde::{Deserialize, Serialize};

/// One frame size and one part (RFC 2544 section 26.6, RFC 6201).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResetLine {
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// What was reset: link, routes, set-up, process or program.
    pub reset: String,
    /// How long it stayed away before it was put back.
    pub hold_ns: u64,
    /// The load; null where it was not found.
    pub load_fps: Option<u64>,
    /// In their order.
    pub trials: Vec<ResetTrial>,
    /// Median of the trials' times by the frame-loss method; null without any, and where the router was not back.
    pub frame_loss_ns: Option<u64>,
    /// The same by the time-stamp method.
    pub time_stamp_ns: Option<u64>,
    /// What cut it short.
    pub why: Option<String>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// One trial with a reset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResetTrial {
    /// As of `mpps recovery`. The recovery time is the one by the frame-loss method: lost and unsent frames by the offered
    /// rate.
    #[serde(flatten)]
    pub tried: RecoveryTrial,
    /// The longest time without a received frame around the reset; null where none was seen.
    pub time_stamp_ns: Option<u64>,
    /// Of the lost frames, those lost in disturbances and not within that time: they do not count. Null in older records.
    pub disturbed_lost_frames: Option<u64>,
    /// Frames that the sender left out within that time; null in older records.
    pub unsent_frames: Option<u64>,
    /// The two methods may differ by so much.
    pub resolution_ns: u64,
    /// How long the reset itself took.
    pub took_ns: u64,
    /// From the reset to the end of the trial.
    pub rest_ns: u64,
    /// The forwarding rate before the outage.
    pub before_fps: Option<u64>,
    /// The forwarding rate after it.
    pub after_fps: Option<u64>,
}
