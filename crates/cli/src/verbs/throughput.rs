//! `mpps throughput`: the highest load without loss, for each frame size.

use super::contract::{Measure, Place, ended};
use super::measure::measure;
use crate::args::ThroughputArgs;
use crate::exit::Exit;
use crate::plan::{Plan, Throughput};
use crate::record::{Job, result_lines, results_not_begun};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::SearchedRate;
use mpps_lab::jobs::throughput::{self, SizeResult};
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
        let simulated = matches!(place, Place::Simulated(_));
        let mut found = None;
        let mut results = recorder.with(|size: &SizeResult, stands| {
            let findings = size.findings.as_ref().ok();
            found = findings.and_then(|findings| SearchedRate::from_findings(findings).ok());
            result_lines(size, &self.measurement, &stands, simulated)
        });
        let error = match place {
            Place::Bed(bed) => throughput::measure(bed, &self.measurement, &mut results),
            Place::Simulated(pair) => throughput::simulate(pair, &self.measurement, &mut results),
        };
        recorder.found(found);
        ended(error)
    }

    fn not_begun(&self, run: &Run, why: &str) -> Vec<ResultLine> {
        results_not_begun(&self.measurement, run, why)
    }
}
