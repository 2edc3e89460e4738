//! `mpps throughput`: the highest load without loss, for each frame size.

use super::contract::{Measure, Place, ended};
use super::measure::measure;
use crate::args::ThroughputArgs;
use crate::exit::Exit;
use crate::plan::{Plan, Throughput};
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::throughput::{self, ThroughputPlan};
use mpps_lab::line;
use mpps_lab::traffic::Traffic;
use mpps_record::{ResultLine, Run};

/// Runs the verb.
pub fn run(args: &ThroughputArgs) -> Result<Exit> {
    measure(&args.output, None, Plan::new(args)?)
}

impl Measure for Throughput {
    fn job(&self) -> Job<'_> {
        Job::throughput(&self.measurement, self.expect_min)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.measurement.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.measurement = self.measurement.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let (error, found) = throughput::measure(place, &self.measurement, recorder);
        recorder.found(found);
        ended(error)
    }

    fn not_begun(&self, run: &Run, why: &str) -> Vec<ResultLine> {
        let ThroughputPlan { sizes, search, .. } = &self.measurement;
        let begin = run.begin.as_ref().map(|begin| &begin.bed);
        let simulated = matches!(begin, Some(mpps_record::Place::Simulated { .. }));
        let lines = |frames| line::results_not_measured(frames, search, simulated, why);
        // Each size that was begun has all its lines.
        let told = run.results.len();
        sizes.iter().flat_map(lines).skip(told).collect()
    }
}
