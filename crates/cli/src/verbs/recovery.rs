//! `mpps recovery`: for how long frames are lost after an overload.

use super::contract::{Place, measure_sizes};
use super::measure::measure;
use crate::args::RecoveryArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::recovery::{self, RecoveryPlan};

/// Runs the verb.
pub fn run(args: &RecoveryArgs) -> Result<Exit> {
    measure(&args.run.output, None, plan::RecoveryPlan::new(args)?)
}

measure_sizes!(RecoveryPlan, Job::recovery, |plan, place, recorder| {
    Ok(recovery::measure(place.bed()?, plan, recorder))
});
