//! A result's line: what was found for one frame size and goal, and the trials it stands on.

use crate::other::Other;
use crate::whole;
use crate::words::{
    Basis, Claim, ForwardingLimit, LimitedBy, Outcome, RateIs, ReceiverPlace, Stability,
};
use serde::{Deserialize, Serialize};

/// One result. Each frame size has one for each goal, whatever came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultLine {
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// The mean of a mix.
    pub frame_mean_octets: f64,
    /// Goal of MLRsearch (RFC 9971); null for a bisection.
    pub goal: Option<String>,
    /// Its dense code.
    pub goal_code: Option<String>,
    /// Loss that it allows, 0 to 1.
    pub goal_loss_ratio: Option<f64>,
    /// Whether tester and router were simulated: nothing was measured.
    pub simulated: bool,
    /// How the search ended.
    pub outcome: Outcome,
    /// Why the rate was not measured.
    pub why: Option<String>,
    /// What overload told.
    #[serde(flatten)]
    pub overload: Overload,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// What may be claimed.
    pub claim: Option<Claim>,
    /// How the rate is to be read.
    pub rate_is: Option<RateIs>,
    /// The rate, over all directions.
    #[serde(default, deserialize_with = "whole::optional")]
    pub rate_fps: Option<u64>,
    /// Of the full-length trials at that load (or at the lowest that failed), those within the goal. Null in schema 1.
    pub lossless_trials: Option<u32>,
    /// Those that say something of the DUT. Null in schema 1.
    pub judged_trials: Option<u32>,
    /// Lowest load that failed.
    #[serde(default, deserialize_with = "whole::optional")]
    pub lossy_fps: Option<u64>,
    /// A load above the rate that failed the goal in the same state of the machine, whatever other trials may say; only
    /// where the search ended before it confirmed the rate. Missing: none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lossless_below_fps: Option<u64>,
    /// The load of the gate's short trials, if they lost nothing and no load of the search passed. Missing: it is not so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_lossless_fps: Option<u64>,
    /// RFC 9971's Conditional Throughput.
    #[serde(default, deserialize_with = "whole::optional")]
    pub conditional_throughput_fps: Option<u64>,
    /// A property of a regular result (RFC 9971) that this one lacks.
    pub irregular: Option<String>,
    /// What keeps the rate from being higher.
    pub limited_by: Option<LimitedBy>,
    /// Of the run's link in one direction, which may be notional: `link_source` of the plan says.
    pub link_share: Option<f64>,
    /// On the wire (preamble and gap included), over all directions.
    pub rate_gbit_per_s: Option<f64>,
    /// Lost of sent in the trial the result stands on, 0 to 1.
    pub loss_ratio: Option<f64>,
    /// Loss at the lowest load that failed.
    pub loss_above: Option<LossAbove>,
    /// Busy share of all the DUT's CPUs.
    pub dut_busy_share: Option<f64>,
    /// Busy share of its busiest CPU: the one that limits.
    pub dut_busiest_cpu_share: Option<f64>,
    /// Busy time of the DUT for each frame.
    pub dut_busy_ns_per_frame: Option<f64>,
    /// Most that the tester could offer and receive.
    #[serde(deserialize_with = "whole::required")]
    pub tester_ceiling_fps: u64,
    /// Flows begun a second, where flows have a length.
    pub new_flows_per_s: Option<f64>,
    /// Trials of the search.
    pub trials: u32,
    /// Of these, void ones.
    pub voided_trials: u32,
    /// Numbers of the trials behind it.
    #[serde(flatten)]
    pub stands_on: StandsOn,
    /// Why frames were lost at the lowest load that lost any.
    pub why_lost: Option<WhyLost>,
    /// The forwarding rate at 80 % of the DUT's CPU.
    pub headroom: Option<Headroom>,
    /// How evenly frames left in the trial the result stands on.
    pub evenness: Option<Evenness>,
    /// Whether the DUT loses frames for no load.
    pub stability: Stability,
    /// Where it does, how: in words.
    pub unstable: Option<String>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// Numbers of the trials behind a result, in the same run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StandsOn {
    /// At overload, through the router and through a wire in its place.
    #[serde(default)]
    pub overload_trials: Vec<u32>,
    /// Far below any load of the search.
    #[serde(default)]
    pub gate_trials: Vec<u32>,
    /// Those of the search.
    #[serde(default)]
    pub search_trials: Vec<u32>,
    /// Those of them that do not count, because the machine was in another state.
    #[serde(default)]
    pub left_out_trials: Vec<u32>,
    /// The one the figures come from.
    pub stands_on_trial: Option<u32>,
}

/// One load above what the DUT forwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadAboveRate {
    /// The load really sent.
    pub offered_fps: Interval<u64>,
    /// What the DUT forwarded.
    pub forwarding_fps: Interval<u64>,
    /// Busy share of its busiest CPU.
    pub dut_busiest_cpu_share: Option<f64>,
    /// Windows it stands on.
    pub windows: u32,
    /// Windows left out because something else had a CPU of the bed in them.
    pub disturbed_windows: u32,
    /// Whether it stands on disturbed windows. Then it is a bound from below. Null before schema 3.
    pub only_disturbed: Option<bool>,
    /// Round trip of a cache line between the tester's CPU and the DUT's, ns, in the state of the machine that it stands on.
    pub cpu_distance_ns: Option<f64>,
    /// A fixed piece of work on the DUT's CPU in that state, ns.
    pub work_ns: Option<f64>,
}

/// What overload told. All of it is null in schema 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overload {
    /// The maximum forwarding rate (RFC 2285 3.6.3); null where too little of the time was undisturbed.
    pub max_forwarding_fps: Option<Interval<u64>>,
    /// The load really sent there: the median.
    pub offered_fps: Option<u64>,
    /// Busy share of the DUT's busiest CPU there.
    pub max_forwarding_busy_share: Option<f64>,
    /// The forwarding rate at maximum offered load (RFC 2285 3.6.2), and that load. Missing: not measured, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<LoadAboveRate>,
    /// The highest rate forwarded at overload, where the search's trials forwarded more: then the maximum is theirs. Missing
    /// else, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_overload: Option<LoadAboveRate>,
    /// What keeps the router from forwarding more.
    pub max_forwarding_limited_by: Option<ForwardingLimit>,
    /// Undisturbed windows that it stands on.
    pub windows: Option<u32>,
    /// Windows left out.
    pub disturbed_windows: Option<u32>,
    /// Whether it stands on disturbed windows, because too few others were there. Then it is a bound from below. Null
    /// before schema 3.
    pub max_forwarding_only_disturbed: Option<bool>,
    /// The round trip of a cache line between the tester's CPU and the DUT's.
    pub max_forwarding_cpu_distance_ns: Option<f64>,
    /// A fixed piece of work on the router's CPU in these windows; missing where nobody timed it, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_forwarding_work_ns: Option<f64>,
    /// Windows left out, for the machine was in another state in them: the CPUs farther apart or nearer, or a neighbour on
    /// the core. Missing in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_state_windows: Option<u32>,
    /// What the median one of these windows forwarded. Missing in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_state_fps: Option<u64>,
    /// The other states, if they took over a quarter of the time and the router's rate in them differs by a factor over 1.1.
    /// Missing in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_states: Option<OtherStates>,
    /// Trials on which the maximum stands. Missing in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_forwarding_trials: Option<u32>,
    /// Trials left out because the CPUs were elsewhere in them.
    pub elsewhere_trials: Option<u32>,
    /// What a frame costs there; null where no wire can stand in for the router, too few trials tell, or the rate contradicts
    /// them.
    pub cost: Option<FrameCost>,
    /// The part of `bed_ns` that the receiver's program at the exit takes; null where it could not be timed. Before version 8
    /// of the method it was timed through the wire.
    pub exit_program_ns: Option<f64>,
    /// What that program takes more through the wire. The wire's cost has it, `bed_ns` has not. Missing in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_program_more_ns: Option<Interval<f64>>,
}

impl Overload {
    /// What was forwarded at overload itself, with the distance of the CPUs and the fixed work there.
    #[must_use]
    pub fn at_overload(&self) -> (Option<Interval<u64>>, Option<f64>, Option<f64>) {
        match &self.at_overload {
            Some(at) => (Some(at.forwarding_fps), at.cpu_distance_ns, at.work_ns),
            None => (
                self.max_forwarding_fps,
                self.max_forwarding_cpu_distance_ns,
                self.max_forwarding_work_ns,
            ),
        }
    }
}

/// What a router forwarded at overload while the machine was in other states than the maximum's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherStates {
    /// Their share of the undisturbed time at overload, 0 to 1.
    pub share: f64,
    /// What the median window in them forwarded.
    pub forwarding_fps: u64,
}

/// A median with its 95 % confidence interval, in the member's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval<T> {
    /// Lower end.
    pub low: T,
    /// The median.
    pub median: T,
    /// Upper end.
    pub high: T,
}

impl<T> From<[T; 3]> for Interval<T> {
    fn from([low, median, high]: [T; 3]) -> Self {
        Self { low, median, high }
    }
}

impl From<Interval<u64>> for Interval<f64> {
    fn from(Interval { low, median, high }: Interval<u64>) -> Self {
        let [low, median, high] = [low, median, high].map(|end| end as f64);
        Self { low, median, high }
    }
}

impl Interval<f64> {
    /// Whole numbers, without a -0.
    #[must_use]
    pub fn rounded(self) -> Self {
        let [low, median, high] = [self.low, self.median, self.high].map(|end| end.round() + 0.0);
        Self { low, median, high }
    }
}

/// What a frame costs the DUT's CPU: at overload, if nothing else is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrameCost {
    /// The virtual NIC's and the receiver's part.
    pub bed_ns: Interval<f64>,
    /// The router's part.
    pub router_ns: Interval<f64>,
    /// Both.
    pub total_ns: Interval<f64>,
}

/// Loss at the lowest load that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossAbove {
    /// The load.
    #[serde(deserialize_with = "whole::required")]
    pub rate_fps: u64,
    /// Frames lost.
    pub lost_frames: u64,
    /// Lost of sent, 0 to 1.
    pub loss_ratio: f64,
}

/// Why frames were lost. Its trial's `losses` has all there is to know of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhyLost {
    /// The load.
    pub rate_fps: f64,
    /// Whether this load is the one that failed and bounds the result. Null in the oldest records.
    pub bounds: Option<bool>,
    /// The pattern's name.
    pub pattern: String,
    /// In one line, as printed.
    pub text: String,
    /// Frames lost.
    pub lost_frames: u64,
    /// Frames sent.
    pub sent_frames: u64,
    /// Busy share of the DUT's busiest CPU.
    pub dut_busiest_cpu_share: Option<f64>,
}

/// The forwarding rate at 80 % of the DUT's busiest CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Headroom {
    /// The rate.
    pub rate_fps: f64,
    /// Whether it was measured, or lies between two loads that were.
    pub basis: Basis,
    /// The load below; where it was measured, the load itself.
    pub below: BusyLoad,
    /// The load above; where it was measured, the load itself.
    pub above: BusyLoad,
}

/// A load, and the busy share of the DUT's busiest CPU at it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BusyLoad {
    /// The load.
    pub rate_fps: f64,
    /// Of the DUT's busiest CPU at that rate, 0 to 1.
    pub busy_share: f64,
}

/// How evenly frames left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evenness {
    /// Half of the frames were no later than this.
    pub late_ns_p50: u64,
    /// 99.9 % were no later.
    pub late_ns_p999: u64,
    /// None was later.
    pub late_ns_max: u64,
    /// Most frames sent without a wait between.
    pub largest_burst_frames: u64,
    /// Most frames behind schedule at once that were caught up with. Null in the oldest records.
    #[serde(alias = "made_up_frames")]
    pub catch_up_frames: Option<u64>,
    /// Frames that the DUT's receive rings hold together; null where that is unknown, and before schema 3.
    pub ring_frames: Option<u32>,
    /// The frames caught up with as a share of the rings; null where these are unknown.
    pub ring_share: Option<f64>,
}

/// A doubt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doubt {
    /// Its name.
    pub name: String,
    /// What was seen.
    pub seen: String,
    /// Why it matters.
    pub why: String,
    /// What to do next.
    pub next: String,
    /// Its place among all doubts, the gravest first. Null before schema 3.
    pub weight: Option<u32>,
    /// What a footnote says of it, where it holds for every result of such a bed. Null otherwise, and in older records.
    pub footnote: Option<String>,
}
