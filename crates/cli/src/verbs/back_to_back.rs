//! `mpps back-to-back`: the longest burst that no frame of is lost, and the buffer that it implies.

use super::contract::{CellPlan, cell_of, measure_sizes};
use super::measure::measure;
use crate::args::BurstArgs;
use crate::campaign::OVERLOAD;
use crate::exit::Exit;
use crate::plan::{Planned, Sending};
use crate::record::Job;
use anyhow::Result;
use mpps_lab::jobs::back_to_back::{self, BurstPlan};
use std::ffi::OsString;

/// Runs the verb.
pub fn run(args: &BurstArgs) -> Result<Exit> {
    measure(&args.run.output, None, plan(args)?)
}

/// What a cell of a campaign does with these flags.
pub fn cell(args: &BurstArgs, _typed: &[OsString]) -> Result<CellPlan> {
    let unlimited = args.time.times(args.repeat.into()).plus(OVERLOAD);
    Ok(cell_of(&plan(args)?, args.budget.unwrap_or(unlimited)))
}

/// What the arguments mean.
fn plan(args: &BurstArgs) -> Result<Planned<BurstPlan>> {
    let sending = Sending::new(&args.run.sent, &args.run.place, Some(&args.pair))?;
    let measurement = sending.trials_of(args.time, args.budget, None)?;
    Ok(sending.planned(BurstPlan {
        measurement,
        repeats: args.repeat,
    }))
}

fn job(plan: &BurstPlan) -> Job<'_> {
    let (measurement, repeats) = (&plan.measurement, plan.repeats);
    let longest = measurement.search.final_trial();
    let rule = format!("{repeats} searches, bursts of {longest} at most");
    let loads = vec!["bursts".to_owned()];
    Job::new("back-to-back", measurement, rule).at_loads(loads, longest, repeats)
}

measure_sizes!(BurstPlan, job, |plan, on, recorder| {
    Ok(back_to_back::measure(on, plan, recorder))
});
