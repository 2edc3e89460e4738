//! `mpps reset`: for how long nothing is forwarded after a reset.

use super::contract::{Asked, BedJob};
use super::measure::measure;
use crate::args::ResetArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, reset_lines};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::reset::{self, ResetPlan, SizeResets};
use mpps_lab::jobs::throughput::ThroughputPlan;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &ResetArgs) -> Result<Exit> {
    let plan = plan::ResetPlan::new(args)?;
    let asked = Asked::new(&args.output, plan.bed, plan.destinations);
    measure(&asked, plan.offer)
}

impl BedJob for ResetPlan {
    const RULE: &str = "resets";

    fn job(&self) -> Job<'_> {
        Job::reset(self)
    }

    fn measurement(&self) -> &ThroughputPlan {
        &self.measurement
    }

    fn measurement_mut(&mut self) -> &mut ThroughputPlan {
        &mut self.measurement
    }

    fn complete(&mut self, bed: &Bed) -> Result<()> {
        plan::choose_parts(&mut self.parts, bed.plan().dut_setup.is_some())
    }

    fn measure(&self, bed: &Bed, recorder: &mut Recorder) -> Option<JobError> {
        let mut results = recorder.with(|size: &SizeResets, _| reset_lines(size, self));
        reset::measure(bed, self, &mut results)
    }
}
