//! `mpps throughput`: the highest load without loss, for each frame size.

use super::contract::{CellPlan, Measure, UnderTest, cell_of, ended};
use super::measure::measure;
use crate::args::ThroughputArgs;
use crate::exit::Exit;
use crate::plan::{Planned, Sending};
use crate::record::Job;
use crate::recorder::Recorder;
use crate::words::rule;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::throughput::{self, ThroughputPlan};
use mpps_lab::line::{self, whole_fps};
use mpps_lab::traffic::Traffic;
use mpps_method::Rate;
use mpps_record::{ResultLine, Run};
use std::ffi::OsString;

/// Trials of a search whose time is not limited, about.
const SEARCH_TRIALS: u64 = 12;

/// Runs the verb.
pub fn run(args: &ThroughputArgs) -> Result<Exit> {
    measure(&args.output, None, plan(args)?)
}

/// What a cell of a campaign does with these flags.
pub fn cell(args: &ThroughputArgs, _typed: &[OsString]) -> Result<CellPlan> {
    let plan = plan(args)?;
    let measured = &plan.offer.measurement;
    let unlimited = measured.search.final_trial().times(SEARCH_TRIALS);
    Ok(cell_of(&plan, measured.budget.unwrap_or(unlimited)))
}

/// What the arguments mean.
pub fn plan(args: &ThroughputArgs) -> Result<Planned<Throughput>> {
    let sending = Sending::new(&args.sent, &args.place, Some(&args.pair))?;
    let offer = Throughput {
        measurement: sending.measurement(&args.search)?,
        expect_min: args.search.expect_min,
    };
    Ok(sending.planned(offer))
}

/// A search for the throughput, and the rate it is expected to reach.
#[derive(Clone, Debug)]
pub struct Throughput {
    /// How it is searched.
    pub measurement: ThroughputPlan,
    /// What every result is expected to reach.
    pub expect_min: Option<Rate>,
}

impl Measure for Throughput {
    fn job(&self) -> Job<'_> {
        let plan = &self.measurement;
        let mut job = Job::new("throughput", plan, rule(&plan.search)).searching(plan);
        job.plan.expected_min_fps = self.expect_min.map(whole_fps);
        job
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.measurement.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.measurement = self.measurement.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, on: UnderTest<'_>, recorder: &mut Recorder) -> Result<()> {
        let (error, found) = throughput::measure(on, &self.measurement, recorder);
        recorder.found(found);
        ended(error)
    }

    fn not_begun(&self, run: &Run, why: &str) -> Vec<ResultLine> {
        let ThroughputPlan { sizes, search, .. } = &self.measurement;
        let simulated = run.is_simulated();
        let lines = |frames| line::results_not_measured(frames, search, simulated, why);
        // Each size that was begun has all its lines.
        let told = run.results.len();
        sizes.iter().flat_map(lines).skip(told).collect()
    }
}
