//! `mpps recovery`: for how long frames are lost after an overload.

use super::contract::measure_sizes;
use super::measure::measure;
use crate::args::RecoveryArgs;
use crate::exit::Exit;
use crate::plan::{Planned, Sending};
use crate::record::Job;
use anyhow::{Result, ensure};
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::recovery::{self, RecoveryPlan};

/// Runs the verb.
pub fn run(args: &RecoveryArgs) -> Result<Exit> {
    measure(&args.run.output, None, plan(args)?)
}

/// What the arguments mean.
fn plan(args: &RecoveryArgs) -> Result<Planned<RecoveryPlan>> {
    let sending = Sending::new(&args.run.sent, &args.run.place, None)?;
    ensure!(recovery::can_step(&sending.traffic), JobError::NoStep);
    let measurement = sending.searched(Some(args.budget), None)?;
    Ok(sending.planned(RecoveryPlan {
        measurement,
        searched: None,
        overload: args.time,
        after: args.time,
        trials: args.repeat,
    }))
}

fn job(plan: &RecoveryPlan) -> Job<'_> {
    let (measurement, trials) = (&plan.measurement, plan.trials);
    let (overload, after) = (plan.overload, plan.after);
    let rule = format!(
        "{trials} times {overload} of 110 % of the throughput, then {after} of half of that"
    );
    let loads = ["110 % of the throughput", "half of that"].map(str::to_owned);
    let job = Job::new("recovery", measurement, rule).at_loads(loads.to_vec(), overload, trials);
    job.searching(measurement)
}

measure_sizes!(RecoveryPlan, job, |plan, on, recorder| {
    Ok(recovery::measure(on.bed()?, plan, recorder))
});
