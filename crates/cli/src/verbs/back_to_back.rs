//! `mpps back-to-back`: the longest burst that no frame of is lost, and the buffer that it implies.

use super::contract::{Asked, Measure, Place};
use super::measure::measure;
use crate::args::BurstArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, burst_line};
use crate::recorder::Recorder;
use crate::terminal::plan as words;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::back_to_back::{self, BurstPlan, SizeBursts};
use mpps_lab::traffic::Traffic;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &BurstArgs) -> Result<Exit> {
    let plan = plan::BurstPlan::new(args)?;
    let asked = Asked::new(&args.output, plan.bed, plan.destinations);
    measure(&asked, Bursts(plan.offer))
}

/// What to offer.
struct Bursts(BurstPlan);

impl Measure for Bursts {
    fn job(&self) -> Job<'_> {
        Job::burst(&self.0)
    }

    fn words(&self, asked: &Asked<'_>) -> String {
        words::sent(&self.0.measurement)
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
        let mut results = recorder.with(|size: &SizeBursts, _| vec![burst_line(size)]);
        let error = back_to_back::measure(place.bed()?, &self.0, &mut results);
        error.map_or(Ok(()), |error| Err(error.into()))
    }
}
