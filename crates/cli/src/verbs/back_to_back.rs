//! `mpps back-to-back`: the longest burst that no frame of is lost, and the buffer that it implies.

use super::contract::{Place, measure_sizes};
use super::measure::measure;
use crate::args::BurstArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::back_to_back::{self, BurstPlan};

/// Runs the verb.
pub fn run(args: &BurstArgs) -> Result<Exit> {
    measure(&args.run.output, None, plan::BurstPlan::new(args)?)
}

measure_sizes!(BurstPlan, Job::burst, |plan, place, recorder| {
    Ok(back_to_back::measure(place, plan, recorder))
});
