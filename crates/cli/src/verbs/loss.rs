//! `mpps loss`: what is lost at each load.

use super::contract::{Place, measure_sizes};
use super::measure::measure;
use crate::args::LossArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::lasting::{self, LastingPlan};
use mpps_lab::jobs::loss::{self, LossPlan};

/// Runs the verb.
pub fn run(args: &LossArgs) -> Result<Exit> {
    let (plan, lasting) = plan::loss(args)?;
    let plot = args.plot.as_deref();
    match lasting {
        Some(lasting) => measure(&args.output, plot, plan.map(|_| lasting)),
        None => measure(&args.output, plot, plan),
    }
}

measure_sizes!(LossPlan, Job::loss, |plan, place, recorder| {
    Ok(loss::measure(place, plan, recorder))
});

measure_sizes!(LastingPlan, Job::lasting, |plan, place, recorder| {
    Ok(lasting::measure(place.bed()?, plan, recorder))
});
