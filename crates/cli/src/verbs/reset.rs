//! `mpps reset`: for how long nothing is forwarded after a reset.

use super::contract::{Measure, Place, ended};
use super::measure::measure;
use crate::args::ResetArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::reset::{self, Part, ResetPlan};
use mpps_lab::traffic::Traffic;

/// Runs the verb.
pub fn run(args: &ResetArgs) -> Result<Exit> {
    let plan = plan::ResetPlan::new(args)?;
    let all = args.reset.is_empty();
    let plan = plan.map(|plan| Reset { plan, all });
    measure(&args.run.output, None, plan)
}

/// What to reset.
pub struct Reset {
    /// The job's own plan.
    pub plan: ResetPlan,
    /// Whether all that the bed has is meant.
    pub all: bool,
}

impl Reset {
    /// The plan with the parts that this bed has, if all are meant.
    fn on(&self, bed: &Bed) -> ResetPlan {
        let mut plan = self.plan.clone();
        if self.all {
            plan.parts = Part::all_of(bed.plan().dut_setup.is_some(), plan.away.process.is_some());
        }
        plan
    }
}

impl Measure for Reset {
    fn job(&self) -> Job<'_> {
        Job::reset(&self.plan)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.plan.measurement.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.plan.measurement = self.plan.measurement.on_bed(bed)?;
        self.plan = self.on(bed);
        plan::check_parts(
            &self.plan.parts,
            bed.plan().dut_setup.is_some(),
            &self.plan.away,
        )
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let bed = place.bed()?;
        let plan = self.on(bed);
        ended(reset::measure(bed, &plan, recorder))
    }
}
