//! `mpps throughput`: the highest load without loss, for each frame size.

use super::contract::{Measure, Place, ended};
use super::measure::measure;
use crate::args::ThroughputArgs;
use crate::exit::Exit;
use crate::plan::{Plan, Planned};
use crate::record::{Job, result_lines, results_not_begun};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::SearchedRate;
use mpps_lab::jobs::throughput::{self, SizeResult, ThroughputPlan};
use mpps_lab::traffic::Traffic;
use mpps_method::Rate;
use mpps_record::{ResultLine, Run};

/// Runs the verb.
pub fn run(args: &ThroughputArgs) -> Result<Exit> {
    let plan = Plan::new(args)?;
    let plan = Planned {
        bed: plan.bed,
        offer: Throughput(plan.measurement, plan.expect_min),
        destinations: plan.destinations,
    };
    measure(&args.output, None, plan)
}

/// What to search for, and what every result is expected to reach.
pub struct Throughput(pub ThroughputPlan, pub Option<Rate>);

impl Measure for Throughput {
    fn job(&self) -> Job<'_> {
        Job::throughput(&self.0, self.1)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.0.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.0 = self.0.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let simulated = matches!(place, Place::Simulated(_));
        let mut found = None;
        let mut results = recorder.with(|size: &SizeResult, stands| {
            let findings = size.findings.as_ref().ok();
            found = findings.and_then(|findings| SearchedRate::from_findings(findings).ok());
            result_lines(size, &self.0, &stands, simulated)
        });
        let error = match place {
            Place::Bed(bed) => throughput::measure(bed, &self.0, &mut results),
            Place::Simulated(pair) => throughput::simulate(pair, &self.0, &mut results),
        };
        recorder.found(found);
        ended(error)
    }

    fn not_begun(&self, run: &Run, why: &str) -> Vec<ResultLine> {
        results_not_begun(&self.0, run, why)
    }
}
