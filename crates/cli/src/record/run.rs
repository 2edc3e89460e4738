//! The first line of a run: what was asked for, of what, where.

use super::bed::place;
use super::comparability::{conditions, simulated_conditions};
use super::job::Job;
use crate::record::Clock;
use mpps_lab::bed::Bed;
use mpps_method::simulate::Properties;
use mpps_record::facts::Facts;
use mpps_record::{Comparability, Other, Place, Routes, RunLine};

/// Version of the rules by which trials are judged and rates searched; see "Measurement changes" in
/// CHANGELOG.md.
pub(super) const METHOD_VERSION: u32 = 4;

/// The line of a run that begins now on `bed`, with the routes that were loaded into the DUT.
#[must_use]
pub fn run_line(
    begun: Clock,
    job: &Job<'_>,
    bed: &Bed,
    gathered: &Facts,
    routes: Option<Routes>,
) -> RunLine {
    let comparability = conditions(bed, job, gathered);
    RunLine {
        routes,
        ..line(begun, job, place(bed), gathered, comparability)
    }
}

/// The line of a run whose trials other builds make, from that of the first of them.
#[must_use]
pub fn run_line_by_others(begun: Clock, job: &Job<'_>, first: RunLine) -> RunLine {
    RunLine {
        routes: first.routes,
        ..line(begun, job, first.bed, &first.facts, first.comparability)
    }
}

/// The line of a run that begins now on a simulated pair.
#[must_use]
pub fn simulated_run_line(
    begun: Clock,
    job: &Job<'_>,
    pair: &Properties,
    gathered: &Facts,
) -> RunLine {
    let place = Place::Simulated {
        pair: pair.to_string(),
    };
    line(begun, job, place, gathered, simulated_conditions(pair))
}

fn line(
    begun: Clock,
    job: &Job<'_>,
    bed: Place,
    gathered: &Facts,
    comparability: Comparability,
) -> RunLine {
    let arguments = std::env::args_os().skip(1);
    RunLine {
        begun_utc: begun.utc(),
        job: job.name.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        method_version: METHOD_VERSION,
        arguments: arguments
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        plan: job.plan.clone(),
        bed,
        routes: None,
        facts: gathered.clone(),
        comparability,
        other: Other::new(),
    }
}
