//! The first and the last line of a run: what was asked for, where, and how it ended.

use super::bed::BedEntry;
use super::comparability::Comparability;
use super::job::Job;
use super::plan::PlanEntry;
use super::traffic::RoutesEntry;
use crate::record::Clock;
use mpps_lab::bed::Bed;
use mpps_lab::facts::Facts;
use mpps_method::simulate::Properties;
use serde::Serialize;

/// Version of the rules by which trials are judged and rates searched; see "Measurement changes" in
/// CHANGELOG.md.
pub(super) const METHOD_VERSION: u32 = 4;

/// What was asked for, of what, where.
#[derive(Serialize)]
pub struct RunLine {
    begun_utc: String,
    job: &'static str,
    tool_version: &'static str,
    method_version: u32,
    /// As typed after the program's name.
    arguments: Vec<String>,
    plan: PlanEntry,
    bed: PlaceEntry,
    /// Null: the DUT's own, or those its set-up made.
    routes: Option<RoutesEntry>,
    facts: Facts,
    comparability: Comparability,
}

/// Where it ran.
#[derive(Serialize)]
#[serde(untagged)]
enum PlaceEntry {
    Bed(Box<BedEntry>),
    /// Nowhere.
    Simulated {
        kind: &'static str,
        pair: String,
    },
}

/// How a run ended.
#[derive(Serialize)]
pub struct EndLine {
    /// When.
    pub ended_utc: String,
    /// 0 to 2, as the program's.
    pub exit_code: u8,
    /// What ended it early.
    pub error: Option<String>,
    /// Trials run.
    pub trials: u32,
}

impl RunLine {
    /// The line of a run that begins now on `bed`.
    #[must_use]
    pub fn of(begun: Clock, job: Job<'_>, bed: &Bed, facts: &Facts) -> Self {
        let comparability = Comparability::of_bed(bed, job, facts);
        let place = PlaceEntry::Bed(Box::new(BedEntry::of(bed)));
        Self::at(begun, job, place, facts, comparability)
    }

    /// The line of a run that begins now on a simulated pair.
    #[must_use]
    pub fn of_simulated(begun: Clock, job: Job<'_>, pair: &Properties, facts: &Facts) -> Self {
        let place = PlaceEntry::Simulated {
            kind: "simulated",
            pair: pair.to_string(),
        };
        Self::at(begun, job, place, facts, Comparability::of_simulated(pair))
    }

    fn at(
        begun: Clock,
        job: Job<'_>,
        bed: PlaceEntry,
        facts: &Facts,
        comparability: Comparability,
    ) -> Self {
        Self {
            begun_utc: begun.utc(),
            job: job.name(),
            tool_version: env!("CARGO_PKG_VERSION"),
            method_version: METHOD_VERSION,
            arguments: std::env::args_os()
                .skip(1)
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            plan: PlanEntry::of(job),
            bed,
            routes: None,
            facts: facts.clone(),
            comparability,
        }
    }

    /// The same with the routes that were loaded into the DUT.
    #[must_use]
    pub fn with_routes(self, routes: Option<RoutesEntry>) -> Self {
        Self { routes, ..self }
    }

    /// What the run's results may be compared by.
    #[must_use]
    pub const fn comparability(&self) -> &Comparability {
        &self.comparability
    }
}
