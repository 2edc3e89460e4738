//! A point of `mpps fib-scale`: routes, destinations, and what was measured there.

use crate::other::Other;
use crate::plan::{Routes, Traffic};
use crate::result::{Doubt, FrameCost, Interval, LoadAboveRate, ResultLine};
use crate::words::LimitedBy;
use serde::{Deserialize, Serialize};

/// One point with one frame size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PointLine {
    /// What changes in the series: `routes`, `destinations` or `coupled`.
    pub series: String,
    /// Routes as asked for.
    pub asked_routes: u64,
    /// Destinations as asked for.
    pub asked_destinations: u64,
    /// As counted back in the DUT's FIB; null where none were asked for.
    pub routes: Option<Routes>,
    /// What was sent, with the destinations as drawn and how.
    pub traffic: Traffic,
    /// Frame size in octets, FCS included, or the name of a mix. Null in schema 1: `results` has it.
    pub frame: Option<String>,
    /// What a frame costs at overload.
    pub cost: Option<FrameCost>,
    /// RFC 2285 3.6.3: the higher of the two that follow.
    pub max_forwarding_fps: Option<Interval<u64>>,
    /// At the highest load the tester offers (RFC 2285 3.6.2).
    pub at_most: Option<LoadAboveRate>,
    /// At the lower overload: the sender backs off, or offers little more than the DUT forwards.
    pub at_little_more: Option<LoadAboveRate>,
    /// What limits the maximum forwarding rate: `DUT`, `tester`, `disturbed`, or `-`. Null in schema 1.
    pub limited_by: Option<String>,
    /// Numbers of the trials at overload, through the router and through a wire in its place.
    #[serde(default)]
    pub overload_trials: Vec<u32>,
    /// The same at one load for all points of a frame size. Missing: no point of it had a maximum forwarding rate so far, or the
    /// record is older.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_load: Option<AtLoad>,
    /// What to doubt.
    #[serde(default)]
    pub doubts: Vec<Doubt>,
    /// What the search found, one a goal; none without a search.
    pub results: Vec<ResultLine>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// What a frame costs at a load that all points of a frame size have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtLoad {
    /// The load, over all directions: a share of the maximum forwarding rate of the first point that has one.
    pub load_fps: u64,
    /// What a frame costs there; null: `why` says why.
    pub cost: Option<FrameCost>,
    /// Pairs of trials that count, of the router and of a wire in its place.
    pub pairs: u32,
    /// How far apart the CPUs were in them, ns.
    pub cpu_distance_ns: Option<f64>,
    /// Numbers of all trials at this load, in the order of the turns.
    pub trials: Vec<u32>,
    /// Why the cost is unknown.
    pub why: Option<String>,
}

impl PointLine {
    /// What a frame costs at the load that all points have.
    #[must_use]
    pub fn cost_at_load(&self) -> Option<FrameCost> {
        self.at_load.as_ref()?.cost
    }

    /// The load at which the DUT forwarded most.
    #[must_use]
    pub fn load_of_maximum(&self) -> Option<&LoadAboveRate> {
        let maximum = self.max_forwarding_fps?;
        self.loads().find(|load| load.forwarding_fps == maximum)
    }

    /// Whether the maximum is a bound: neither the router nor a CPU that it shares with the tester was at its limit.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        let reached = [LimitedBy::Dut, LimitedBy::SharedCpu];
        let limit = self.limited_by.as_deref();
        limit.is_some_and(|limit| reached.iter().all(|reached| reached.as_str() != limit))
    }

    /// Both loads, as far as they were measured.
    pub fn loads(&self) -> impl Iterator<Item = &LoadAboveRate> {
        self.at_most.iter().chain(&self.at_little_more)
    }
}
