//! `mpps loss`: what is lost at each load, or in a lasting overload.

use super::contract::{CellPlan, Place, cell_of, measure_sizes};
use super::measure::measure;
use crate::args::LossArgs;
use crate::campaign::OVERLOAD;
use crate::exit::Exit;
use crate::plan::{Planned, Sending};
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::{Result, ensure};
use mpps_lab::jobs::lasting::{self, LastingPlan, Overload};
use mpps_lab::jobs::loss::{self, LossPlan};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::jobs::{JobError, recovery};
use mpps_lab::search::saturation::SENDER_MAX;
use mpps_method::Rate;
use mpps_report::number::percent_or_under as percent;
use std::ffi::OsString;

/// Runs the verb.
pub fn run(args: &LossArgs) -> Result<Exit> {
    let (plan, lasting) = plan(args)?;
    let plot = args.plot.as_deref();
    match lasting {
        Some(lasting) => measure(&args.output, plot, plan.map(|_| lasting)),
        None => measure(&args.output, plot, plan),
    }
}

/// What a cell of a campaign does with these flags.
pub fn cell(args: &LossArgs, _typed: &[OsString]) -> Result<CellPlan> {
    let (plan, lasting) = plan(args)?;
    let loads = args.time.times(plan.offer.shares().count() as u64);
    let each = match lasting {
        Some(lasting) => lasting.lasts.plus(lasting.after()).plus(OVERLOAD),
        None => args.budget.unwrap_or(loads),
    };
    Ok(cell_of(&plan, each))
}

/// What the arguments mean; a lasting overload, where that is asked for instead.
fn plan(args: &LossArgs) -> Result<(Planned<LossPlan>, Option<LastingPlan>)> {
    if let Some(rate) = args.max_rate {
        let lowest = Rate::from_fps(rate.fps() * args.step);
        ensure!(
            rate <= SENDER_MAX && lowest.frames_in(args.time) > 0,
            "--max-rate {rate}: give at most {SENDER_MAX}, and at least one frame in {} at the lowest load",
            args.time
        );
    }
    ensure!(
        args.overload.is_none() || args.pair.simulate.is_none(),
        "--overload with --simulate: a simulated pair counts frames of a whole trial, so there are no seconds to \
        watch; leave out one of them"
    );
    let sending = Sending::new(&args.sent, &args.place, Some(&args.pair))?;
    let measurement = ThroughputPlan {
        minimum: Rate::ZERO,
        maximum: args.max_rate,
        ..sending.trials_of(args.time, args.budget, args.warm_up)?
    };
    let can_step = recovery::can_step(&measurement.traffic);
    ensure!(args.overload.is_none() || can_step, JobError::NoStep);
    let lasting = args.overload.map(|overload| LastingPlan {
        measurement: measurement.clone(),
        overload,
        lasts: args.lasts,
    });
    let offer = LossPlan {
        measurement,
        step: args.step,
        passed: None,
    };
    Ok((sending.planned(offer), lasting))
}

fn job(plan: &LossPlan) -> Job<'_> {
    let (time, step) = (plan.time(), percent(plan.step));
    let rule =
        format!("trials of {time}, down in steps of {step} until two loads in a row lose nothing");
    let loads = plan.shares().map(percent).collect();
    Job::new("loss", &plan.measurement, rule).at_loads(loads, time, 1)
}

measure_sizes!(LossPlan, job, |plan, place, recorder| {
    Ok(loss::measure(place, plan, recorder))
});

fn lasting_job(plan: &LastingPlan) -> Job<'_> {
    let (lasts, after) = (plan.lasts, plan.after());
    let load = match plan.overload {
        Overload::Times(factor) => format!("{factor} times the maximum forwarding rate"),
        Overload::Max => "all that the tester can offer".to_owned(),
    };
    let rule = format!("{lasts} of {load}, then {after} of half of its maximum");
    Job::new("loss", &plan.measurement, rule).at_loads(vec![load], lasts, 1)
}

measure_sizes!(LastingPlan, lasting_job, |plan, place, recorder| {
    Ok(lasting::measure(place.bed()?, plan, recorder))
});
