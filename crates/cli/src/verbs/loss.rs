//! `mpps loss`: what is lost at each load. `lasting` has its `--overload`.

use super::contract::{CellPlan, cell_of, measure_sizes};
use super::lasting;
use super::measure::measure;
use crate::args::LossArgs;
use crate::exit::Exit;
use crate::plan::{Planned, Sending, check_load};
use crate::record::Job;
use anyhow::Result;
use mpps_lab::jobs::loss::{self, LossPlan};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_method::Rate;
use mpps_report::number::percent_or_under as percent;
use std::ffi::OsString;

/// Runs the verb.
pub fn run(args: &LossArgs) -> Result<Exit> {
    let plot = args.plot.as_deref();
    match args.lasting.overload {
        Some(overload) => measure(&args.run.output, plot, lasting::plan(args, overload)?),
        None => measure(&args.run.output, plot, plan(args)?),
    }
}

/// What a cell of a campaign does with these flags.
pub fn cell(args: &LossArgs, _typed: &[OsString]) -> Result<CellPlan> {
    if let Some(overload) = args.lasting.overload {
        return lasting::cell(args, overload);
    }
    let plan = plan(args)?;
    let loads = args.time.times(plan.offer.shares().count() as u64);
    Ok(cell_of(&plan, args.budget.unwrap_or(loads)))
}

/// What the arguments mean.
fn plan(args: &LossArgs) -> Result<Planned<LossPlan>> {
    if let Some(rate) = args.max_rate {
        let lowest = Rate::from_fps(rate.fps() * args.step);
        check_load("--max-rate", rate, args.time)?;
        check_load(
            "the lowest load of --max-rate and --step",
            lowest,
            args.time,
        )?;
    }
    let sending = Sending::new(&args.run.sent, &args.run.place, Some(&args.pair))?;
    let measurement = ThroughputPlan {
        maximum: args.max_rate,
        ..sending.trials_of(args.time, args.budget, args.warm_up)?
    };
    Ok(sending.planned(LossPlan {
        measurement,
        step: args.step,
        passed: None,
    }))
}

fn job(plan: &LossPlan) -> Job<'_> {
    let (time, step) = (plan.measurement.search.final_trial(), percent(plan.step));
    let rule =
        format!("trials of {time}, down in steps of {step} until two loads in a row lose nothing");
    let loads = plan.shares().map(percent).collect();
    Job::new("loss", &plan.measurement, rule).at_loads(loads, time, 1)
}

measure_sizes!(LossPlan, job, |plan, on, recorder| {
    Ok(loss::measure(on, plan, recorder))
});
