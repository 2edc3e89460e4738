//! `mpps back-to-back`: the longest burst that no frame of is lost, and the buffer that it implies.

use super::contract::{Asked, BedJob};
use super::measure::measure;
use crate::args::BurstArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, burst_line};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::back_to_back::{self, BurstPlan, SizeBursts};
use mpps_lab::jobs::throughput::ThroughputPlan;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &BurstArgs) -> Result<Exit> {
    let plan = plan::BurstPlan::new(args)?;
    let asked = Asked::new(&args.output, plan.bed, plan.destinations);
    measure(&asked, plan.offer)
}

impl BedJob for BurstPlan {
    fn job(&self) -> Job<'_> {
        Job::burst(self)
    }

    fn measurement(&self) -> &ThroughputPlan {
        &self.measurement
    }

    fn measurement_mut(&mut self) -> &mut ThroughputPlan {
        &mut self.measurement
    }

    fn searches(&self) -> bool {
        false
    }

    fn measure(&self, bed: &Bed, recorder: &mut Recorder) -> Option<JobError> {
        let mut results = recorder.with(|size: &SizeBursts, _| vec![burst_line(size)]);
        back_to_back::measure(bed, self, &mut results)
    }
}
