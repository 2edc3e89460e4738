//! The first line of a run: what was asked for, of what, where.

use super::bed::place;
use super::comparability::{conditions, simulated_conditions};
use super::facts::facts;
use super::job::Job;
use crate::record::Clock;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::facts::Facts;
use mpps_method::simulate::Properties;
use mpps_record::{Comparability, Other, Place, Routes, RunLine};

/// Version of the rules by which trials are judged and rates searched; see "Measurement changes" in
/// CHANGELOG.md.
pub(super) const METHOD_VERSION: u32 = 4;

/// The line of a run that begins now on `bed`, with the routes that were loaded into the DUT.
///
/// # Errors
/// None that can happen: facts are text and numbers.
pub fn run_line(
    begun: Clock,
    job: &Job<'_>,
    bed: &Bed,
    gathered: &Facts,
    routes: Option<Routes>,
) -> Result<RunLine> {
    let comparability = conditions(bed, job, gathered);
    let line = line(begun, job, place(bed)?, gathered, comparability)?;
    Ok(RunLine { routes, ..line })
}

/// The line of a run that begins now on a simulated pair.
///
/// # Errors
/// None that can happen: facts are text and numbers.
pub fn simulated_run_line(
    begun: Clock,
    job: &Job<'_>,
    pair: &Properties,
    gathered: &Facts,
) -> Result<RunLine> {
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
) -> Result<RunLine> {
    let arguments = std::env::args_os().skip(1);
    Ok(RunLine {
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
        facts: facts(gathered)?,
        comparability,
        other: Other::new(),
    })
}
