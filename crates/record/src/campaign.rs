//! A campaign: cells of a plan, each a run of its own in the same file, and what came of the claims that they test.

use crate::other::Other;
use serde::{Deserialize, Serialize};

/// What a campaign runs: first of its lines (`mpps campaign run`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CampaignLine {
    /// Name of the plan.
    pub name: String,
    /// What it is about, in a sentence.
    pub title: String,
    /// The published work that it repeats, where it repeats one.
    pub source: Option<String>,
    /// SHA-256 of the plan's file: another plan cannot go on with this record.
    pub plan_sha256: String,
    /// Text of the plan's file.
    #[serde(default)]
    pub plan: String,
    /// Whether its short form was asked for.
    pub quick: bool,
    /// How many cells its plan has.
    pub cells: u32,
    /// When it began.
    pub begun_utc: String,
    /// Version of the program.
    pub tool_version: String,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// A cell, after its run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellLine {
    /// Its id in the plan.
    pub cell: String,
    /// What it is, in words.
    pub title: String,
    /// Verb and flags as `mpps` was called; empty where it was not run.
    pub arguments: Vec<String>,
    /// Name of its run, whose lines are in the same file.
    pub measured_run: Option<String>,
    /// Exit code of that run.
    pub exit_code: Option<u8>,
    /// What it said last, where it measured nothing.
    #[serde(default)]
    pub error: Option<String>,
    /// How long it took.
    pub took_ns: u64,
    /// Why it was not run.
    pub not_run: Option<String>,
    /// Factors whose levels its variants combine; none of other cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<Factor>,
    /// Published figures of the same scenario.
    pub published: Vec<Published>,
    /// The claim that it tests.
    pub claim: Option<Statement>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// A factor of a comparison. A variant is called by a level of each factor, with `+` between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// Its levels, the first one to compare with.
    pub levels: Vec<Level>,
}

/// A level of a factor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Level {
    /// Its name.
    pub name: String,
    /// Why variants with it were not run; null where they were.
    pub not_run: Option<String>,
}

/// A published figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Published {
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// The rate.
    pub frames_per_s: f64,
    /// Section or table, and what else it was measured with.
    pub told: String,
}

/// A claim of a published work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statement {
    /// Its id.
    pub id: String,
    /// What it states.
    pub statement: String,
    /// The published effect.
    pub published: String,
    /// What is looked at, and where it has to lie for the claim to hold; null where it is not tested.
    pub check: Option<Check>,
    /// What else has to hold for it. Missing where nothing is, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Check>,
    /// The part of it that nothing looks at. Missing where all of it is looked at, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_tested: Option<String>,
    /// Why it is true on this bed, however the router is built. Then it is not tested.
    #[serde(default)]
    pub by_construction: Option<String>,
}

/// What a claim's run is held against.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// What is looked at.
    pub of: Looked,
    /// Least value with which the claim holds; none: there is no lower bound.
    pub least: Option<f64>,
    /// Greatest value with which the claim holds; none: there is no upper bound.
    pub most: Option<f64>,
    /// The two levels of a setting, or the first variant and another one, that the claim is about; none: whichever were
    /// measured, or the last variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<[String; 2]>,
    /// The cell whose results tell the bed's share of a frame's cost. Missing where none does, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bed_of: Option<String>,
}

/// A number of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Looked {
    /// `mpps compare`: change of frames/s of its last variant against the first, as a share.
    #[default]
    RateChange,
    /// `mpps compare` of all combinations of changes: the rate of all changes together against what fewer of them predict,
    /// less 1.
    Interaction,
    /// `mpps throughput`: the smallest maximum forwarding rate of its frame sizes divided by the greatest.
    RateEvenness,
    /// `mpps explain --sweep`: cost of this stage at the greatest place of the axis divided by that at the
    /// least.
    StageGrowth(String),
    /// The same of every stage of the router but this one: the stage that is furthest out of bounds decides.
    StagesGrowth(String),
    /// `mpps explain`: share of this cause in the cost of a frame, the bed's part included.
    CauseShare(String),
    /// Any run with a table: octets of the FIB for each route.
    FibOctetsPerRoute,
    /// `mpps loss --overload`: the rate under overload divided by the maximum forwarding rate.
    OverloadShare,
    /// `mpps tune measure`: change of frames/s from this setting's first level to its second, as a share.
    SettingChange(String),
}
