//! `mpps recovery`: for how long frames are lost after an overload.

use super::contract::{MeasureSizes, Place};
use super::measure::measure_planned;
use crate::args::RecoveryArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, recovery_line};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::recovery::{self, RecoveryPlan, SizeRecovery};
use mpps_lab::jobs::throughput::ThroughputPlan;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &RecoveryArgs) -> Result<Exit> {
    measure_planned(&args.output, plan::RecoveryPlan::new(args)?)
}

impl MeasureSizes for RecoveryPlan {
    fn job(&self) -> Job<'_> {
        Job::recovery(self)
    }

    fn measurement(&self) -> &ThroughputPlan {
        &self.measurement
    }

    fn measurement_mut(&mut self) -> &mut ThroughputPlan {
        &mut self.measurement
    }

    fn searches(&self) -> bool {
        true
    }

    fn noun(&self) -> &'static str {
        "trials"
    }

    fn measure(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<Option<JobError>> {
        let mut results = recorder.with(|size: &SizeRecovery, _| vec![recovery_line(size, self)]);
        Ok(recovery::measure(place.bed()?, self, &mut results))
    }
}
