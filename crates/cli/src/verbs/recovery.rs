//! `mpps recovery`: for how long frames are lost after an overload.

use super::contract::{Asked, Measure, Place};
use super::measure::measure;
use crate::args::RecoveryArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, recovery_line};
use crate::recorder::Recorder;
use crate::terminal::plan as words;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::recovery::{self, RecoveryPlan, SizeRecovery};
use mpps_lab::traffic::Traffic;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &RecoveryArgs) -> Result<Exit> {
    let plan = plan::RecoveryPlan::new(args)?;
    let asked = Asked::new(&args.output, plan.bed, plan.destinations);
    measure(&asked, Recovery(plan.offer))
}

/// What to offer.
struct Recovery(RecoveryPlan);

impl Measure for Recovery {
    fn job(&self) -> Job<'_> {
        Job::recovery(&self.0)
    }

    fn words(&self, asked: &Asked<'_>) -> String {
        words::measurement(&self.0.measurement)
            + &words::destinations(asked.destinations.as_ref())
            + &format!("trials       {}\n", self.job().rule)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.0.measurement.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.0.measurement = self.0.measurement.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let mut results =
            recorder.with(|size: &SizeRecovery, _| vec![recovery_line(size, &self.0)]);
        let error = recovery::measure(place.bed()?, &self.0, &mut results);
        error.map_or(Ok(()), |error| Err(error.into()))
    }
}
