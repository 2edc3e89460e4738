//! `mpps trial`: given loads, without a search.

use super::contract::{Measure, Place, ended};
use super::measure::measure;
use crate::args::TrialArgs;
use crate::exit::Exit;
use crate::plan::TrialPlan;
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::fixed_load::{self, FixedLoadPlan};
use mpps_lab::traffic::Traffic;

/// Runs the verb.
pub fn run(args: &TrialArgs) -> Result<Exit> {
    measure(&args.run.output, None, TrialPlan::new(args)?)
}

impl Measure for FixedLoadPlan {
    fn job(&self) -> Job<'_> {
        Job::trial(self)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        *self = self.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        ended(fixed_load::measure(place, self, recorder))
    }
}
