//! `mpps latency`: how long every frame takes at given loads.

use super::contract::{Asked, Measure, Place};
use super::measure::measure;
use crate::args::LatencyArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, latency_line};
use crate::recorder::Recorder;
use crate::terminal::plan as words;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::latency::{self, LatencyPlan, SizeLatency};
use mpps_lab::traffic::Traffic;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &LatencyArgs) -> Result<Exit> {
    let plan = plan::LatencyPlan::new(args)?;
    let asked = Asked::new(&args.output, plan.bed, plan.destinations);
    measure(&asked, Latency(plan.offer))
}

/// What to offer.
struct Latency(LatencyPlan);

impl Measure for Latency {
    fn job(&self) -> Job<'_> {
        Job::latency(&self.0)
    }

    fn words(&self, asked: &Asked<'_>) -> String {
        let searched = if self.0.searches() {
            words::measurement(&self.0.measurement)
        } else {
            words::sent(&self.0.measurement)
        };
        searched
            + &words::destinations(asked.destinations.as_ref())
            + &format!("loads        {}\n", self.job().rule)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.0.measurement.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.0.measurement = self.0.measurement.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let mut results = recorder.with(|size: &SizeLatency, _| vec![latency_line(size, &self.0)]);
        let error = latency::measure(place.bed()?, &self.0, &mut results);
        error.map_or(Ok(()), |error| Err(error.into()))
    }
}
