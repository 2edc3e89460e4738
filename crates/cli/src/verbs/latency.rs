//! `mpps latency`: how long every frame takes at given loads.

use super::contract::{Place, measure_sizes};
use super::measure::measure_planned;
use crate::args::LatencyArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, latency_line};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::latency::{self, LatencyPlan, SizeLatency};

/// Runs the verb.
pub fn run(args: &LatencyArgs) -> Result<Exit> {
    measure_planned(&args.output, plan::LatencyPlan::new(args)?)
}

measure_sizes!(
    LatencyPlan,
    Job::latency,
    "loads",
    |plan| plan.searches(),
    |plan, place, recorder| {
        let mut found = None;
        let mut results = recorder.with(|size: &SizeLatency, _| {
            found = size.searched;
            vec![latency_line(size, plan)]
        });
        let error = latency::measure(place.bed()?, plan, &mut results);
        recorder.found(found);
        Ok(error)
    }
);
