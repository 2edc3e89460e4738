//! A sweep of `mpps explain`: what a frame costs along one axis, fitted and predicted.

use crate::other::Other;
use crate::profile::{CostModel, FunctionCost, ProfiledLoad};
use crate::result::{Doubt, Interval};
use crate::words::{LimitedBy, ReceiverPlace};
use serde::{Deserialize, Serialize};

/// All points of one axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepLine {
    /// `flows`, `destinations`, `routes`, `frame`, `cores`; or `paper`, whose points are the scenarios of Raumer et al. (2015).
    pub axis: String,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// In the order in which they were measured. The first one was measured once more behind the others, and so was each that
    /// had met another state of the machine.
    pub points: Vec<SweepPoint>,
    /// Time of one memory access by the size of the working set, as a chase of pointers measured it.
    pub memory: Vec<MemoryLatency>,
    /// A line for each stage; null where `no_fit` says why.
    pub fit: Option<SweepFit>,
    /// Why there is no fit.
    pub no_fit: Option<String>,
    /// Cost of the first point when it was measured last, by that when it was measured first, minus 1. Both in one state of
    /// the machine; null where there are no two.
    pub drift_ratio: Option<f64>,
    /// Why the fit is not to be trusted, a sentence each.
    pub distrust: Vec<String>,
    /// What cut it short.
    pub why: Option<String>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// What a frame cost at one point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepPoint {
    /// The place on the axis.
    pub value: f64,
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// Flows.
    pub flows: u32,
    /// Different destinations, as drawn.
    pub destinations: u64,
    /// Routes that were loaded, as counted back.
    pub routes: u64,
    /// CPUs of the router.
    pub cores: u32,
    /// What keeps the router from forwarding more.
    pub limited_by: Option<LimitedBy>,
    /// What was measured at saturation.
    pub load: ProfiledLoad,
    /// The dearest functions, their callees not counted.
    pub functions: Vec<FunctionCost>,
    /// Whether it was left out of the fit, to check it.
    pub held_out: bool,
    /// Whether the machine was in another state than at most points. Such a point is neither fitted nor checked.
    #[serde(default)]
    pub other_state: bool,
    /// Cost that the fit predicts here, ns, with its 95 % interval. Null where nothing was fitted. No prediction where the
    /// interval reaches 0, or farther to one side than the cost itself.
    pub predicted_ns: Option<Interval<f64>>,
    /// Predicted / measured - 1.
    pub error_ratio: Option<f64>,
    /// Of `paper`: cost by batching, fitted to lower loads, with the maximum forwarding rate that it predicts.
    pub model: Option<CostModel>,
    /// Of `paper`: forwarding rate while the tester offers all that it can, the median of trials in the state of `load`. Before
    /// method version 21 it was that of one trial in any state.
    pub overload_fps: Option<f64>,
}

/// Time of one memory access.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryLatency {
    /// Size of the working set.
    pub octets: u64,
    /// Time of an access that waits for the one before.
    pub ns: f64,
}

/// cost of a stage = `constant_ns` + `slope_ns` * x. x is the frame's octets, the cores beside the first, or the memory's
/// latency for a working set of so many items. Where no size of an item explains the costs of flows, destinations or
/// routes, x is the part of the growth that is reached: it goes from place to place along their logarithm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepFit {
    /// Octets that one item of the look-up takes; null where the cost does not follow memory so.
    pub item_octets: Option<f64>,
    /// Each stage.
    pub stages: Vec<StageFit>,
    /// How far the fitted points lie from the line, ns; from place to place, how far each lies from its neighbours' line.
    pub off_ns: f64,
    /// Points that it was fitted to, the repetition of the first among them.
    pub points: u32,
    /// Median of how far held-out points are off, as a part of what was measured; null where none of them is predicted.
    pub held_out_error_ratio: Option<f64>,
}

/// A stage's line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageFit {
    /// The stage.
    pub part: String,
    /// Its constant cost.
    pub constant_ns: f64,
    /// What each unit of x adds.
    pub slope_ns: f64,
}

impl SweepPoint {
    /// Its place: on the axis, and the frame. Published scenarios differ in both.
    #[must_use]
    pub fn place(&self) -> (f64, &str) {
        (self.value, &self.frame)
    }

    /// What a fit takes of it: its place on the axis, and the ns of its stages.
    #[must_use]
    pub fn cost(&self) -> (f64, Vec<f64>) {
        let stages = self.load.stages.iter();
        (self.value, stages.map(|part| part.ns.median).collect())
    }

    /// What the fit predicts, where its interval says anything: it stays above 0 and reaches no farther than the cost.
    #[must_use]
    pub fn prediction(&self) -> Option<Interval<f64>> {
        self.predicted_ns
            .filter(|ns| ns.low > 0.0 && ns.high <= 2.0 * ns.median)
    }
}

impl SweepLine {
    /// What `axis` has in place of an axis where the points are the published scenarios.
    pub const PAPER: &str = "paper";

    /// Whether its points are the published scenarios.
    #[must_use]
    pub fn is_paper(&self) -> bool {
        self.axis == Self::PAPER
    }

    /// A point for each place along the axis: the first one that counts, else the first one.
    #[must_use]
    pub fn along(&self) -> Vec<&SweepPoint> {
        let (counted, others) = self.points.iter().partition(|point| !point.other_state);
        let mut points: Vec<&SweepPoint> = Vec::new();
        for point in Vec::into_iter(counted).chain::<Vec<&SweepPoint>>(others) {
            if !points.iter().any(|known| known.place() == point.place()) {
                points.push(point);
            }
        }
        if !self.is_paper() {
            points.sort_by(|one, other| one.value.total_cmp(&other.value));
        }
        points
    }

    /// Octets of the working set, and ns of one access to it.
    #[must_use]
    pub fn latencies(&self) -> Vec<(f64, f64)> {
        let known = self.memory.iter();
        known.map(|at| (at.octets as f64, at.ns)).collect()
    }
}
