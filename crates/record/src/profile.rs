//! A profile of `mpps explain`: where the time of a frame goes.

use crate::bed::SetUpScript;
use crate::comparison::Pairs;
use crate::other::Other;
use crate::result::{Doubt, Interval};
use crate::watched::Watched;
use crate::words::{LimitedBy, ReceiverPlace};
use serde::{Deserialize, Serialize};

/// One frame size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileLine {
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// What decided when a sample was taken: `cycles` of a PMU, or `cpu-clock`, a timer. Null where none was taken.
    pub clock: Option<String>,
    /// A program on the router's path had to spin so long for each frame; null without one.
    pub burnt_ns: Option<u64>,
    /// How long it spun for a frame in the mean, by its own clock; null where it did not.
    #[serde(default)]
    pub burnt_measured_ns: Option<f64>,
    /// CPUs of the DUT that were sampled.
    pub cpus: Vec<usize>,
    /// What keeps the router from forwarding more; null where nothing was measured.
    pub limited_by: Option<LimitedBy>,
    /// The same as a sentence; where no wire was measured with the hottest stage and function.
    pub limit_text: Option<String>,
    /// Each load; the saturated one first. Empty where nothing was measured.
    pub loads: Vec<ProfiledLoad>,
    /// Call stacks of the saturated load. The smallest are merged into `[rest]`. Missing in records that were cut
    /// down.
    #[serde(default)]
    pub stacks: Vec<FoldedStack>,
    /// What a wire in the router's place takes of each stage; null where that was not measured.
    #[serde(default)]
    pub wire: Option<Box<ProfiledWire>>,
    /// Why there is no such wire, where one was laid.
    #[serde(default)]
    pub no_wire: Option<String>,
    /// Cost by batching, fitted over all loads; null where that cannot be done.
    pub model: Option<CostModel>,
    /// Why there is no model.
    pub no_model: Option<String>,
    /// What sampling costs the router; null where it was not measured.
    pub looking: Option<Looking>,
    /// Share of the router's CPUs that interrupts and the hypervisor took in a test before the trials, with the watch and
    /// the sampler, 0 to 1. Each cost contains it. Null where it was not measured.
    #[serde(default)]
    pub interrupted_share: Option<f64>,
    /// What saturated trials counted; null where there was none.
    #[serde(default)]
    pub evidence: Option<Evidence>,
    /// With `--against`: the set-up that took turns with this one, and what this one takes more. Null without.
    #[serde(default)]
    pub against: Option<Box<ProfiledAgainst>>,
    /// `mpps explain --cpus`: what was seen of the host, with traffic of others. Missing where a bed was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<Watched>,
    /// What cut it short.
    pub why: Option<String>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// What a frame costs at one load, over several trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfiledLoad {
    /// What the tester offered.
    pub offered_fps: f64,
    /// What the router forwarded.
    pub forwarding_fps: Interval<f64>,
    /// Numbers of the trials.
    pub trials: Vec<u32>,
    /// Busy share of the DUT's busiest CPU.
    pub busy_share: f64,
    /// Busy time of a frame by the scheduler's accounts: the mean over trials, to which the stages sum, with Student's interval
    /// over trials. Of fewer than 3 trials it is their range. Before method version 21 the interval was that of the median.
    pub frame_ns: Interval<f64>,
    /// The same without the stages that are the bed's: virtual NIC and exit. A wire in the router's place takes a part of it
    /// too, so it is more than the router's part: see `router_ns` of `wire`.
    pub router_ns: f64,
    /// How often the router's threads woke up for a frame; null where nobody counted.
    pub wake_ups_per_frame: Option<f64>,
    /// Polls for a frame that took any; null where nobody counted.
    pub polls_per_frame: Option<f64>,
    /// The round trip of a cache line between the tester's CPU and the router's; median over the windows of these trials. Null
    /// where nobody timed it.
    #[serde(default)]
    pub cpu_distance_ns: Option<f64>,
    /// The same of the fixed piece of work on the router's CPU.
    #[serde(default)]
    pub work_ns: Option<f64>,
    /// Samples of the router's threads within the trials.
    pub samples: u64,
    /// Samples that found no room.
    pub lost_samples: u64,
    /// Sampled time of the router's threads by their busy time; with the clock `cycles` samples that came by those that
    /// should have come. Above 1 by chance where none is missing; in older records at most 1.
    pub seen_share: Option<f64>,
    /// Part of the time that no rule places, 0 to 1.
    pub unclassified_share: f64,
    /// Part of the time whose samples came late, because interrupts were off, and went to the function that had turned
    /// them off, 0 to 1.
    pub shadow_share: f64,
    /// By stage, in the order in which a frame meets them. Empty where samples say nothing.
    pub stages: Vec<PartCost>,
    /// By cause.
    pub causes: Vec<PartCost>,
    /// Functions that no rule places.
    pub unplaced: Vec<FunctionCost>,
}

impl ProfiledLoad {
    /// Fewer trials have no interval over trials.
    pub const TRIALS_MIN: usize = 3;

    /// Whether its intervals are those of few trials, or of their samples.
    #[must_use]
    pub const fn has_few_trials(&self) -> bool {
        matches!(self.trials.len(), 1..Self::TRIALS_MIN)
    }
}

/// A wire in the router's place, in turns with it, at an overload of its own: the bed's part of each stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfiledWire {
    /// What a frame costs through it.
    pub load: ProfiledLoad,
    /// Pairs of neighbouring trials, of the router and of a wire at one distance of the CPUs, that the rest stands on.
    pub pairs: u32,
    /// The router's part of a frame's cost: what the router takes more in a pair, with the interval of 95 %. Virtual NIC and
    /// exit are the bed's, whatever they take; before version 8 of the method their difference was in it.
    pub router_ns: Interval<f64>,
    /// The router's part of each of its stages. The intervals hold together in 19 of 20 profiles.
    pub stages: Vec<PartChange>,
    /// The router's part from pairs that were not sampled, by the rule of a `result` line; null with fewer than 2 of them.
    pub unsampled_router_ns: Option<Interval<f64>>,
}

/// The set-up that a profiled one is compared with. Both took turns, A B B A, with the same load where their rates are alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfiledAgainst {
    /// What the explained set-up is called.
    pub explained: String,
    /// What this one is called.
    pub name: String,
    /// Its own flags as typed.
    pub flags: Vec<String>,
    /// Its set-up script.
    pub set_up: Option<SetUpScript>,
    /// A program on its path had to spin so long for each frame; null without one.
    pub burnt_ns: Option<u64>,
    /// How long it spun for a frame in the mean, by its own clock; null where it did not.
    #[serde(default)]
    pub burnt_measured_ns: Option<f64>,
    /// What a frame costs in it at saturation.
    pub load: ProfiledLoad,
    /// Its call stacks, as of the explained one.
    pub stacks: Vec<FoldedStack>,
    /// Pairs of neighbouring trials that the change stands on.
    pub pairs: Pairs,
    /// Frames/s that the explained one forwards more, as a share of what this one does.
    pub rate_change: Option<Interval<f64>>,
    /// What the explained set-up takes more; null with too few pairs.
    pub change: Option<ProfileChange>,
}

/// What a frame's time gained or lost, by part. The intervals of all stages hold together in 19 of 20 comparisons, and those
/// of all causes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileChange {
    /// The router's time of a frame before: in the first profile, or in the set-up that this one is compared with.
    pub router_before_ns: f64,
    /// The change of that time, in one interval of 95 %.
    pub router: PartChange,
    /// By stage.
    pub stages: Vec<PartChange>,
    /// By cause.
    pub causes: Vec<PartChange>,
}

/// The change of one part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartChange {
    /// Name of the stage or cause.
    pub part: String,
    /// More time of a frame.
    pub ns: Interval<f64>,
    /// Whether there is a difference: the whole interval lies beyond what two profiles of one set-up differ by.
    pub seen: bool,
}

impl PartChange {
    /// By this interval: its lower end, its median, its upper end.
    #[must_use]
    pub fn new(part: &str, [low, median, high]: [f64; 3], seen: bool) -> Self {
        Self {
            part: part.to_owned(),
            ns: Interval { low, median, high },
            seen,
        }
    }
}

/// What a frame costs in one part: a stage, or a cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartCost {
    /// Name of the stage or cause: `prerouting`.
    pub part: String,
    /// Time of a frame in it. `median` is the mean over the trials, so that the parts sum to the whole.
    pub ns: Interval<f64>,
    /// Samples it rests on.
    pub samples: u64,
    /// The functions that take the most of it.
    pub top: Vec<FunctionCost>,
}

/// What a frame costs in one function, its callees not counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FunctionCost {
    /// Its name.
    pub function: String,
    /// Time of a frame in it.
    pub ns: f64,
}

/// A call stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldedStack {
    /// Functions from the outermost, joined by semicolons.
    pub frames: String,
    /// The stage of each function: its place in the saturated load's `stages`.
    pub stages: Vec<u8>,
    /// Time of a frame in it.
    pub ns: f64,
}

/// cost = `frame_ns` + `wake_up_ns` * wake-ups a frame + `poll_ns` * polls a frame. Method version 11 and older had one
/// more term, for a sender that waited; it is not read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostModel {
    /// Each frame.
    pub frame_ns: f64,
    /// Each time that the router's thread is woken.
    pub wake_up_ns: f64,
    /// Each poll; 0 also where nobody counted polls.
    pub poll_ns: f64,
    /// Terms whose cost the loads cannot tell from the others': `frame`, `wake-up`, `poll`, in old records `waiting`. Newer
    /// records have `term_ranges_ns` in its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mixed: Vec<String>,
    /// Student's 95 % interval of each of the three terms above, from the fits without one trial at a time. It contains the
    /// term of fits that explain the loads about as well. Absent where a fit without one trial fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub term_ranges_ns: Option<Vec<Interval<f64>>>,
    /// How far the loads lie from the model: root of the mean square.
    pub off_ns: f64,
    /// Loads that it was fitted to, all below saturation: of whole trials in one state of the machine, or of trials in which
    /// they took turns.
    pub loads: u32,
    /// Windows of these loads; absent where whole trials were fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<u32>,
    /// Trials in which these loads took turns with an overload; absent in older records too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials_in_turns: Option<u32>,
    /// The maximum forwarding rate that it predicts.
    pub predicted_fps: f64,
    /// The one that was measured in the same state, or in the same trials.
    pub measured_fps: f64,
    /// Predicted / measured - 1.
    pub error_ratio: f64,
    /// Student's 95 % interval of `error_ratio`, from the fits without one trial at a time. Absent where too few trials tell
    /// it, and of method version 28 or older.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_range: Option<Interval<f64>>,
    /// Half of that interval is over 10 %, or there is none. Of method versions 29 to 32 also if the prediction is over 10 %
    /// off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unsure: bool,
}

/// What saturated trials counted: the last sampled one, and for drops one more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// The DUT's CPUs.
    pub cpus: Vec<CpuEvidence>,
    /// Frames that were dropped, by place and reason.
    pub drops: Vec<Drops>,
    /// The stage in which the most time goes to locks; null where samples see none.
    pub locks_in: Option<PartCost>,
    /// What the hardware counted.
    #[serde(default)]
    pub hardware: Hardware,
}

/// What the PMU counted on the DUT's CPUs for each frame that its NIC took, the trial's beginning and end included. A number
/// is null where the machine does not count it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hardware {
    /// Cycles that the CPUs were not halted.
    pub cycles_per_frame: Option<f64>,
    /// Instructions that retired.
    pub instructions_per_frame: Option<f64>,
    /// Accesses that missed the last level of the caches.
    pub llc_misses_per_frame: Option<f64>,
    /// Reads that missed the first level of the TLB.
    pub dtlb_misses_per_frame: Option<f64>,
    /// Octets that the machine's memory gave, to all CPUs and devices.
    pub memory_read_octets_per_frame: Option<f64>,
    /// Octets that it took from them.
    pub memory_written_octets_per_frame: Option<f64>,
    /// Why there are no counts: `no PMU`.
    pub no_counters: Option<String>,
    /// Power of all processor packages by RAPL, the tester's CPUs included.
    pub watts: Option<f64>,
}

/// What one CPU of the DUT did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuEvidence {
    /// Its number.
    pub cpu: usize,
    /// Interrupts of all kinds.
    pub interrupts_per_s: f64,
    /// Polls that took frames.
    pub polls_per_s: f64,
    /// Frames of such a poll; null without polls.
    pub frames_per_poll: Option<f64>,
    /// How often the router's threads were put on it.
    pub wake_ups_per_s: f64,
    /// Busy time of these threads by the trial's, 0 to 1.
    pub busy_share: f64,
}

/// Frames dropped at one place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drops {
    /// `sending port`, `virtual NIC's ring`, `veth's ring` or `router`.
    pub place: String,
    /// The kernel's reason, as `NETFILTER_DROP`; null where it gives none.
    pub reason: Option<String>,
    /// How many.
    pub frames: u64,
    /// By the frames that were sent, 0 to 1.
    pub share: f64,
}

/// Forwarding rate with the sampler, as a share of that without it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Looking {
    /// The share: 0.99 is 1 % less.
    pub ratio: Interval<f64>,
    /// Trials in which the sampler took turns; in older records, pairs of trials.
    pub pairs: u32,
}
