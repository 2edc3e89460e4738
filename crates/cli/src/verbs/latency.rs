//! `mpps latency`: how long every frame takes at given loads.

use super::contract::{Asked, BedJob};
use super::measure::measure;
use crate::args::LatencyArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, latency_line};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::latency::{self, LatencyPlan, SizeLatency};
use mpps_lab::jobs::throughput::ThroughputPlan;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &LatencyArgs) -> Result<Exit> {
    let plan = plan::LatencyPlan::new(args)?;
    let asked = Asked::new(&args.output, plan.bed, plan.destinations);
    measure(&asked, plan.offer)
}

impl BedJob for LatencyPlan {
    const RULE: &str = "loads";

    fn job(&self) -> Job<'_> {
        Job::latency(self)
    }

    fn measurement(&self) -> &ThroughputPlan {
        &self.measurement
    }

    fn measurement_mut(&mut self) -> &mut ThroughputPlan {
        &mut self.measurement
    }

    fn searches(&self) -> bool {
        self.searches()
    }

    fn measure(&self, bed: &Bed, recorder: &mut Recorder) -> Option<JobError> {
        let mut results = recorder.with(|size: &SizeLatency, _| vec![latency_line(size, self)]);
        latency::measure(bed, self, &mut results)
    }
}
