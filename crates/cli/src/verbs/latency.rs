//! `mpps latency`: how long every frame takes at given loads.

use super::contract::{CellPlan, cell_of, measure_sizes};
use super::measure::measure;
use crate::args::LatencyArgs;
use crate::exit::Exit;
use crate::plan::{Planned, Sending, check_load};
use crate::record::Job;
use anyhow::Result;
use mpps_lab::jobs::latency::{self, LatencyLoad, LatencyPlan};
use mpps_method::Rate;
use mpps_report::number::percent_given;
use std::ffi::OsString;

/// Runs the verb.
pub fn run(args: &LatencyArgs) -> Result<Exit> {
    measure(&args.run.output, None, plan(args)?)
}

/// What a cell of a campaign does with these flags.
pub fn cell(args: &LatencyArgs, _typed: &[OsString]) -> Result<CellPlan> {
    let plan = plan(args)?;
    let search = Some(args.budget).filter(|_| plan.offer.searches());
    // Through the router and through a wire.
    let loads = args.time.times(2 * args.load.len() as u64);
    Ok(cell_of(&plan, loads.plus(search.unwrap_or_default())))
}

/// What the arguments mean.
fn plan(args: &LatencyArgs) -> Result<Planned<LatencyPlan>> {
    let at = |load: &LatencyLoad| match (load, args.throughput) {
        (LatencyLoad::At(rate), _) => Some(("--load".to_owned(), *rate)),
        (LatencyLoad::Share(share), most) => most.map(|most| {
            let rate = Rate::from_fps(most.fps() * share);
            (format!("{} of --throughput", percent_given(*share)), rate)
        }),
    };
    for (which, rate) in args.load.iter().filter_map(at) {
        check_load(&which, rate, args.time)?;
    }
    let sending = Sending::new(&args.run.sent, &args.run.place, None)?;
    let measurement = sending.searched(Some(args.budget), args.warm_up)?;
    Ok(sending.planned(LatencyPlan {
        measurement,
        throughput: args.throughput,
        searched: None,
        loads: args.load.clone(),
        time: args.time,
        may_sleep: args.sleep,
    }))
}

fn job(plan: &LatencyPlan) -> Job<'_> {
    let (measurement, time) = (&plan.measurement, plan.time);
    let loads = plan.loads.iter().map(|load| match load {
        LatencyLoad::Share(share) => percent_given(*share),
        LatencyLoad::At(rate) => rate.to_string(),
    });
    let loads: Vec<String> = loads.collect();
    let sleep = match plan.may_sleep {
        true => "idle CPUs may sleep",
        false => "all CPUs kept awake",
    };
    let listed = loads.join(", ");
    let rule = format!("{listed}, {time} each through router and wire, {sleep}");
    let mut job = Job::new("latency", measurement, rule).at_loads(loads, time, 1);
    if plan.searches() {
        return job.searching(measurement);
    }
    job.budget = None;
    job
}

measure_sizes!(LatencyPlan, job, |plan, on, recorder| {
    let (error, found) = latency::measure(on.bed()?, plan, recorder);
    recorder.found(found);
    Ok(error)
});
