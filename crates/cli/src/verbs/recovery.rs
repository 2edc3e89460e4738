//! `mpps recovery`: for how long frames are lost after an overload.

use super::contract::{Asked, BedJob};
use super::measure::measure;
use crate::args::RecoveryArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, recovery_line};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::recovery::{self, RecoveryPlan, SizeRecovery};
use mpps_lab::jobs::throughput::ThroughputPlan;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &RecoveryArgs) -> Result<Exit> {
    let plan = plan::RecoveryPlan::new(args)?;
    let asked = Asked::new(&args.output, plan.bed, plan.destinations);
    measure(&asked, plan.offer)
}

impl BedJob for RecoveryPlan {
    fn job(&self) -> Job<'_> {
        Job::recovery(self)
    }

    fn measurement(&self) -> &ThroughputPlan {
        &self.measurement
    }

    fn measurement_mut(&mut self) -> &mut ThroughputPlan {
        &mut self.measurement
    }

    fn measure(&self, bed: &Bed, recorder: &mut Recorder) -> Option<JobError> {
        let mut results = recorder.with(|size: &SizeRecovery, _| vec![recovery_line(size, self)]);
        recovery::measure(bed, self, &mut results)
    }
}
