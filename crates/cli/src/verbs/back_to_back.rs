//! `mpps back-to-back`: the longest burst that no frame of is lost, and the buffer that it implies.

use super::contract::{MeasureSizes, Place};
use super::measure::measure_planned;
use crate::args::BurstArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, burst_line};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::back_to_back::{self, BurstPlan, SizeBursts};
use mpps_lab::jobs::throughput::ThroughputPlan;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &BurstArgs) -> Result<Exit> {
    measure_planned(&args.output, plan::BurstPlan::new(args)?)
}

impl MeasureSizes for BurstPlan {
    fn job(&self) -> Job<'_> {
        Job::burst(self)
    }

    fn measurement(&self) -> &ThroughputPlan {
        &self.measurement
    }

    fn measurement_mut(&mut self) -> &mut ThroughputPlan {
        &mut self.measurement
    }

    fn noun(&self) -> &'static str {
        "trials"
    }

    fn measure(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<Option<JobError>> {
        let mut results = recorder.with(|size: &SizeBursts, _| vec![burst_line(size)]);
        Ok(match place {
            Place::Bed(bed) => back_to_back::measure(bed, self, &mut results),
            Place::Simulated(pair) => back_to_back::simulate(pair, self, &mut results),
        })
    }
}
