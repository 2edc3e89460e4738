//! `mpps latency`: how long every frame takes at given loads.

use super::contract::{MeasureSizes, Place};
use super::measure::measure_planned;
use crate::args::LatencyArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, latency_line};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::latency::{self, LatencyPlan, SizeLatency};
use mpps_lab::jobs::throughput::ThroughputPlan;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &LatencyArgs) -> Result<Exit> {
    measure_planned(&args.output, plan::LatencyPlan::new(args)?)
}

impl MeasureSizes for LatencyPlan {
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
        Self::searches(self)
    }

    fn noun(&self) -> &'static str {
        "loads"
    }

    fn measure(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<Option<JobError>> {
        let mut found = None;
        let mut results = recorder.with(|size: &SizeLatency, _| {
            found = size.searched;
            vec![latency_line(size, self)]
        });
        let error = latency::measure(place.bed()?, self, &mut results);
        recorder.found(found);
        Ok(error)
    }
}
