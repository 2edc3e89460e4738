//! A load of `mpps trial`: what came of it through the router, and through a wire in its place.

use crate::other::Other;
use crate::result::Doubt;
use crate::words::ReceiverPlace;
use serde::{Deserialize, Serialize};

/// One load with one frame size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadLine {
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// As asked for; `max`: all that the sender can.
    pub load: String,
    /// Where the tester received; null of a simulated pair.
    pub receiver: Option<ReceiverPlace>,
    /// Through the router, in their order.
    pub trials: Vec<LoadTrial>,
    /// Through a wire in its place; null without a wire: around an external device, of a simulated
    /// pair, where the router's outgoing port has something at its egress, and if none was asked for.
    pub wire: Option<LoadTrial>,
    /// The bed's part of a trial's `ns_per_frame`, ns: the wire's, less what the receiver's program at the exit takes more through
    /// the wire. The rest is the router's. Missing in older records, where that program was not timed, and where other CPUs
    /// did some of the router's work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bed_ns: Option<f64>,
    /// What to doubt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// A trial, repeated while the machine disturbed it, with what follows from its counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadTrial {
    /// Number of the last one.
    pub trial: u32,
    /// Disturbed ones before it.
    pub disturbed_tries: u32,
    /// What was sent.
    pub sent_fps: Option<f64>,
    /// What was forwarded.
    pub forwarding_fps: Option<f64>,
    /// Busy share of the DUT's busiest CPU.
    pub busiest_share: Option<f64>,
    /// Busy time of the DUT for each frame.
    pub ns_per_frame: Option<f64>,
    /// Largest share of a CPU of the bed that was stolen.
    pub stolen_share: f64,
    /// Frames forwarded in time.
    pub forwarded_frames: u64,
    /// Frames lost; those that came much too late are among them.
    pub lost_frames: u64,
    /// Of these, lost before the DUT's NIC.
    pub lost_before_nic_frames: u64,
    /// Refused by its receive ring.
    pub lost_nic_ring_frames: u64,
    /// Lost between the ring and the exit of the DUT.
    pub lost_inside_frames: u64,
    /// Lost in the receiver's ring.
    pub lost_receiver_ring_frames: u64,
}
