//! A lasting overload of `mpps loss --overload`: what was forwarded by second, and whether the management path answered.

use crate::other::Other;
use crate::result::Doubt;
use crate::words::{ReceiverPlace, Recovered, Verdict};
use serde::{Deserialize, Serialize};

/// A second is disturbed where the machine took more than this share of it from the bed.
const DISTURBED_MAX: f64 = 0.02;

/// One frame size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverloadLine {
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// As asked for: `5x` of the maximum forwarding rate, or `max`.
    pub load: String,
    /// For how long it was asked for.
    pub asked_ns: u64,
    /// How long the lower load afterwards lasts.
    pub after_ns: u64,
    /// The maximum forwarding rate, as measured before; null where it was not.
    pub max_forwarding_fps: Option<u64>,
    /// The forwarding rate at the most that the tester can offer, as measured before in short trials; null where it was not,
    /// and in older records.
    #[serde(default)]
    pub forwarding_at_most_fps: Option<u64>,
    /// The overload; what was really sent is in `seconds`.
    pub overload_fps: Option<u64>,
    /// The lower load afterwards.
    pub after_fps: Option<u64>,
    /// The overload, as far as it came.
    pub seconds: Vec<OverloadSecond>,
    /// Null around an external device.
    pub management: Option<ManagementPath>,
    /// Number of the trial with both loads; null where it was cut short.
    pub trial: Option<u32>,
    /// The verdict on it.
    pub verdict: Option<Verdict>,
    /// The same with its numbers.
    pub verdict_text: Option<String>,
    /// Whether frames were lost after the overload had ended.
    pub recovered: Recovered,
    /// From its end to the departure of the last frame that was lost before a tenth of the time without loss; null unless
    /// it recovered.
    pub recovery_ns: Option<u64>,
    /// The maximum forwarding rate, as measured after the trial; null where it was not, and in older records.
    pub max_forwarding_afterwards_fps: Option<u64>,
    /// CPU time of the tester's that readings and questions took.
    pub watching_ns: u64,
    /// What cut it short.
    pub why: Option<String>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

impl OverloadLine {
    /// The seconds that the machine left alone.
    pub fn undisturbed(&self) -> impl Iterator<Item = &OverloadSecond> {
        self.seconds.iter().filter(|second| !second.is_disturbed())
    }
}

/// A second of it; the last may be shorter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverloadSecond {
    /// Its length.
    pub length_ns: u64,
    /// What was sent.
    pub offered_fps: u64,
    /// What the DUT forwarded.
    pub forwarding_fps: u64,
    /// Largest share of it that the machine took from the bed, 0 to 1: stolen from a CPU, or in pauses and other
    /// programs. These are not known where the trial was cut short.
    pub disturbed_share: f64,
    /// Questions to the management path; null where there is none.
    pub asked: Option<u64>,
    /// Of these, those answered within a second.
    pub answered: Option<u64>,
}

impl OverloadSecond {
    /// Whether its rate may be the machine's doing.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        self.disturbed_share > DISTURBED_MAX
    }
}

/// What the router's management path was seen to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManagementPath {
    /// Questions before the overload.
    pub before_asked: u64,
    /// Of these, those answered within a second.
    pub before_answered: u64,
    /// Questions during the overload.
    pub asked: u64,
    /// Of these, those answered within a second.
    pub answered: u64,
    /// The longest time of the overload without an answer.
    pub longest_silence_ns: u64,
    /// From the end of the overload until each question is answered; null where that was not seen.
    pub back_ns: Option<u64>,
    /// CPU time of the router's that the answers took.
    pub answering_ns: u64,
}
