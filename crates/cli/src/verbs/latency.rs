//! `mpps latency`: how long every frame takes at given loads.

use super::contract::{Place, measure_sizes};
use super::measure::measure;
use crate::args::LatencyArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::latency::{self, LatencyPlan};

/// Runs the verb.
pub fn run(args: &LatencyArgs) -> Result<Exit> {
    measure(&args.run.output, None, plan::LatencyPlan::new(args)?)
}

measure_sizes!(LatencyPlan, Job::latency, |plan, place, recorder| {
    let (error, found) = latency::measure(place.bed()?, plan, recorder);
    recorder.found(found);
    Ok(error)
});
