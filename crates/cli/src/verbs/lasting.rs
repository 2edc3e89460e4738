//! `mpps loss --overload`: what the router does in a lasting overload.

use super::contract::{CellPlan, cell_of, measure_sizes};
use crate::args::LossArgs;
use crate::campaign::OVERLOAD;
use crate::plan::{Planned, Sending};
use crate::record::Job;
use anyhow::{Result, ensure};
use mpps_lab::jobs::lasting::{self, LastingPlan, Overload};
use mpps_lab::jobs::{JobError, recovery};

/// What a cell of a campaign does with these flags.
pub fn cell(args: &LossArgs, overload: Overload) -> Result<CellPlan> {
    let plan = plan(args, overload)?;
    let lasting = &plan.offer;
    let each = lasting.lasts.plus(lasting.after()).plus(OVERLOAD);
    Ok(cell_of(&plan, each))
}

/// What the arguments mean.
pub fn plan(args: &LossArgs, overload: Overload) -> Result<Planned<LastingPlan>> {
    ensure!(
        args.pair.simulate.is_none(),
        "--overload with --simulate: a simulated pair counts frames of a whole trial, so there are no seconds to \
        watch; leave out one of them"
    );
    let sending = Sending::new(&args.run.sent, &args.run.place, None)?;
    ensure!(recovery::can_step(&sending.traffic), JobError::NoStep);
    let measurement = sending.trials_of(args.time, args.budget, None)?;
    Ok(sending.planned(LastingPlan {
        measurement,
        overload,
        lasts: args.lasting.lasts,
    }))
}

fn job(plan: &LastingPlan) -> Job<'_> {
    let (lasts, after) = (plan.lasts, plan.after());
    let load = match plan.overload {
        Overload::Times(factor) => format!("{factor} times the maximum forwarding rate"),
        Overload::Max => "all that the tester can offer".to_owned(),
    };
    let rule = format!("{lasts} of {load}, then {after} of half of its maximum");
    Job::new("loss", &plan.measurement, rule).at_loads(vec![load], lasts, 1)
}

measure_sizes!(LastingPlan, job, |plan, on, recorder| {
    Ok(lasting::measure(on.bed()?, plan, recorder))
});
