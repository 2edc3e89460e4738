//! The first line of a run: what was asked for, of what, where.

use super::bed::run_bed;
use super::clock::Clock;
use super::comparability::{conditions, host_conditions, simulated_conditions};
use super::job::Job;
use crate::args::typed;
use mpps_lab::bed::Bed;
use mpps_lab::facts;
use mpps_method::simulate::Properties;
use mpps_method::{METHOD_VERSION, Span};
use mpps_record::facts::Facts;
use mpps_record::{Comparability, FixedLoads, Other, Plan, Routes, RunBed, RunLine};

/// The line of a run that begins now on `bed`, with the routes that were loaded into the DUT.
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
        ..line(begun, job.planned(), run_bed(bed), gathered, comparability)
    }
}

/// The line of a run whose trials other builds make, from that of the first of them.
pub fn run_line_by_others(begun: Clock, job: &Job<'_>, first: RunLine) -> RunLine {
    RunLine {
        routes: first.routes,
        ..line(
            begun,
            job.planned(),
            first.bed,
            &first.facts,
            first.comparability,
        )
    }
}

/// The line of a run that begins now on a simulated pair.
pub fn simulated_run_line(
    begun: Clock,
    job: &Job<'_>,
    pair: &Properties,
    gathered: &Facts,
) -> RunLine {
    let place = RunBed::Simulated {
        pair: pair.to_string(),
    };
    line(
        begun,
        job.planned(),
        place,
        gathered,
        simulated_conditions(pair),
    )
}

/// The line of a look at a host that begins now, for so long.
pub fn host_run_line(begun: Clock, cpus: &[usize], netns: u64, time: Span) -> RunLine {
    let gathered = facts::gather();
    let plan = Plan {
        fixed: Some(FixedLoads {
            loads: vec!["of others".to_owned()],
            time_ns: time.as_nanos(),
            trials: 1,
        }),
        ..Plan::default()
    };
    let comparability = host_conditions(cpus, &gathered);
    let place = RunBed::Host { netns };
    line(begun, ("explain", plan), place, &gathered, comparability)
}

fn line(
    begun: Clock,
    (job, plan): (&str, Plan),
    bed: RunBed,
    gathered: &Facts,
    comparability: Comparability,
) -> RunLine {
    RunLine {
        begun_utc: begun.utc(),
        job: job.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        method_version: METHOD_VERSION,
        arguments: typed(),
        plan,
        bed,
        routes: None,
        facts: gathered.clone(),
        comparability,
        other: Other::new(),
    }
}
