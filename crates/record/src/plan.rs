//! The plan of a run: what is sent, how it is searched, and through which routes.

use crate::ReplayedFile;
use serde::{Deserialize, Serialize};

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Frame sizes in octets, FCS included, or names of mixes.
    pub frames: Vec<String>,
    /// What is sent.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// A calibration's searches are part of the method; `fib-scale` may have none.
    #[serde(flatten)]
    pub search: Option<Search>,
    /// `mpps trial`: loads that are offered without a search.
    #[serde(flatten)]
    pub fixed: Option<FixedLoads>,
    /// `mpps fib-scale`: what its points are made of.
    pub scale: Option<Scale>,
    /// `mpps tune measure`: which settings, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<MeasuredSettings>,
    /// `mpps rfc2544`: its parts, each done for each frame size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Rate that each result was to show (`--expect-min`).
    pub expected_min_fps: Option<u64>,
}

/// What `mpps tune measure` was asked for. A resumed run has the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredSettings {
    /// Ids of the settings.
    pub settings: Vec<String>,
    /// Whether many are switched at once.
    pub screen: bool,
    /// A difference smaller than this share needs not be found.
    pub within_share: f64,
    /// Time for all turns.
    pub budget_ns: u64,
}

/// A part of `mpps rfc2544`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// The verb that does the same alone.
    pub verb: String,
    /// Its section of RFC 2544.
    pub section: String,
    /// What is done, in words.
    pub rule: String,
    /// What RFC 2544 asks for, in words, where less is done; else null.
    pub shortened_from: Option<String>,
}

/// What the points of `mpps fib-scale` are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scale {
    /// File or prefix the routes come from.
    pub table: String,
    /// How destinations are drawn.
    pub draw: String,
    /// Next hops of the routes, as asked for.
    pub next_hops: u32,
}

/// What is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traffic {
    /// Flows.
    pub flows: u32,
    /// Frames of each flow before a new one begins; null: it never does.
    pub flow_length_frames: Option<u32>,
    /// `udp`, `tcp` or `tcp-stream`.
    pub l4: String,
    /// Null: one, the tester's own address.
    pub destinations: Option<Destinations>,
    /// `ipv4` or `ipv6`.
    pub family: String,
    /// Whether frames go both ways.
    pub bidirectional: bool,
    /// Differentiated services code point (RFC 2474).
    pub dscp: u8,
    /// Management queries each second (RFC 2544 11.2); missing: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries_per_s: Option<u16>,
    /// What everything drawn comes from.
    pub seed: u64,
    /// Frames that the sender hands over at once.
    pub sender_batch_frames: u32,
    /// What carries the frames.
    pub port: String,
    /// Route changes during each trial; missing where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_changes: Option<ReplayedFile>,
}

/// Where frames went beyond the DUT.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Destinations {
    /// File or prefix they were drawn from.
    pub from: String,
    /// Routes that destinations are drawn from.
    pub prefixes: u64,
    /// How they were drawn.
    pub draw: String,
    /// Different destinations; a trial of fewer frames meets fewer of them.
    pub distinct: u64,
    /// Frames after which the order of destinations begins again.
    pub period_frames: u64,
}

/// Routes that were loaded into the DUT.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Routes {
    /// File or prefix they come from.
    pub from: String,
    /// Counted back in the DUT's FIB.
    pub routes: u64,
    /// Different ones, as counted back with the routes. Null in schema 1.
    pub next_hops: Option<u64>,
    /// Whether routes refer to nexthop objects.
    pub nexthop_objects: bool,
    /// Time to load them.
    pub loading_ns: u64,
    /// Time to count them.
    pub counting_ns: u64,
    /// Size of the kernel's IPv4 trie that holds them; null where it did not say, of IPv6, and in older records.
    #[serde(default)]
    pub fib_octets: Option<u64>,
    /// What was not loaded, and why.
    pub left_out: Option<String>,
}

/// How the rate without loss is searched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Search {
    /// `mlr` (RFC 9971) or `bisection`.
    pub search: String,
    /// When a load passes, in words. Null before schema 3.
    pub pass_rule: Option<String>,
    /// Shortest trial a result may stand on.
    pub trial_ns: u64,
    /// Of MLRsearch.
    pub goals: Vec<Goal>,
    /// Trials allowed.
    pub trials_at_most: Option<u32>,
    /// Of a bisection: how closely, as a share of the rate. One of the two is there.
    pub resolution_share: Option<f64>,
    /// Of a bisection: how closely, in steps.
    pub step_fps: Option<f64>,
    /// Of a bisection.
    pub trials_per_load: Option<u32>,
    /// Of a bisection: how the trials at a load decide.
    pub accept: Option<String>,
    /// Traffic before each trial.
    pub warm_up_ns: u64,
    /// Lowest load.
    pub minimum_fps: f64,
    /// Highest load; null: the tester's ceiling.
    pub maximum_fps: Option<f64>,
    /// The link, one direction.
    pub link_bits_per_s: u64,
    /// Who says so: `ports`, `given`, or `notional` (nobody).
    pub link_source: String,
}

/// A goal, by RFC 9971's attributes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Goal {
    /// Its name.
    pub name: String,
    /// Its dense code.
    pub code: String,
    /// Goal Loss Ratio, 0 to 1.
    pub loss_ratio: f64,
    /// Goal Exceed Ratio, 0 to 1.
    pub exceed_ratio: f64,
    /// Goal Initial Trial Duration.
    pub initial_trial_ns: u64,
    /// Goal Final Trial Duration.
    pub final_trial_ns: u64,
    /// Goal Duration Sum.
    pub duration_sum_ns: u64,
    /// Goal Width, 0 to 1.
    pub width_share: f64,
}

/// Loads that are offered without a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FixedLoads {
    /// In words, because `max` is no number.
    pub loads: Vec<String>,
    /// Length of a trial.
    pub time_ns: u64,
    /// Trials of each load.
    pub trials: u32,
}
