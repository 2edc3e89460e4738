//! The first and the last line of a run: what was asked for, where, and how it ended.

use crate::comparability::Comparability;
use crate::facts::Facts;
use crate::other::Other;
use crate::plan::{Plan, Routes};
use crate::trial::Queries;
use crate::{RouteChanges, RunBed};
use serde::{Deserialize, Serialize};

/// What was asked for, of what, where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunLine {
    /// When it began.
    pub begun_utc: String,
    /// The verb: `throughput`, `trial`, `fib-scale`, `calibrate`.
    pub job: String,
    /// Version of the program.
    pub tool_version: String,
    /// Version of the rules by which trials are judged and rates searched ("Measurement changes" in CHANGELOG.md).
    pub method_version: u32,
    /// As typed after the program's name.
    pub arguments: Vec<String>,
    /// What is sent, and how it is searched.
    pub plan: Plan,
    /// Where.
    pub bed: RunBed,
    /// Routes loaded into the DUT; null: its own, or those of its set-up script.
    pub routes: Option<Routes>,
    /// The machine.
    pub facts: Facts,
    /// What results may be compared by.
    pub comparability: Comparability,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// How routes of `--networks` are called, behind their number.
pub const NETWORKS: &str = "networks (RFC 2544 section 12)";

/// A modifier of the tests (RFC 2544 sections 11 and 12).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modifier {
    /// In words.
    pub words: String,
    /// The flag that asks for it, with its value.
    pub flag: String,
}

impl RunLine {
    /// The modifiers that it was measured with.
    #[must_use]
    pub fn modifiers(&self) -> Vec<Modifier> {
        let modifier = |words: String, flag: String| Modifier { words, flag };
        let filters = self.bed.bed().and_then(|bed| bed.filters);
        let filters = filters.map(|count| {
            let words = format!("{count} filter(s) (RFC 2544 section 11.4)");
            modifier(words, format!("--filters {count}"))
        });
        let drawn = self.plan.traffic.destinations.iter();
        let drawn = drawn.map(|drawn| &drawn.from);
        let mut from = drawn.chain(self.plan.scale.iter().map(|scale| &scale.table));
        let networks = from.find_map(|from| {
            let count = from.strip_suffix(NETWORKS)?.trim_end();
            let flag = format!("--networks {count}");
            Some(modifier(format!("destinations in {from}"), flag))
        });
        let queries = self.plan.traffic.queries_per_s.map(|per_s| {
            let words = format!("{per_s} management queries a second (RFC 2544 section 11.2)");
            modifier(words, format!("--management-traffic {per_s}"))
        });
        filters.into_iter().chain(queries).chain(networks).collect()
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndLine {
    /// When.
    pub ended_utc: String,
    /// The program's (docs/records.md, "Exit codes").
    pub exit_code: u8,
    /// What ended it early.
    pub error: Option<String>,
    /// Trials run.
    pub trials: u32,
    /// Management queries of all trials together; missing where none were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<Queries>,
    /// Route changes of all trials together; missing where none were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_changes: Option<RouteChanges>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}
