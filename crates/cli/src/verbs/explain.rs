//! `mpps explain`: where the time of a frame goes.

use super::contract::{Asked, Measure, Place};
use super::measure::measure;
use crate::args::ExplainArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, profile_line};
use crate::recorder::Recorder;
use crate::terminal::plan as words;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::explain::{self, ExplainPlan, SizeProfile};
use mpps_lab::traffic::Traffic;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &ExplainArgs) -> Result<Exit> {
    if args.sweep.is_some() || args.paper_tables {
        return super::sweep::run(args);
    }
    let plan = plan::ExplainPlan::new(args)?;
    let asked = Asked::new(&args.output, plan.bed, plan.destinations);
    measure(&asked, Explain(plan.offer))
}

/// What to profile.
struct Explain(ExplainPlan);

impl Measure for Explain {
    fn job(&self) -> Job<'_> {
        Job::explain(&self.0)
    }

    fn words(&self, asked: &Asked<'_>) -> String {
        let offer = &self.0.offer;
        words::traffic(&offer.traffic, &offer.sizes)
            + &words::receiver(offer.receiver)
            + &words::destinations(asked.destinations.as_ref())
            + &format!("trials       {}\n", self.job().rule)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.0.offer.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.0.offer = self.0.offer.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let mut results = recorder.with(|size: &SizeProfile, _| vec![profile_line(size)]);
        let error = explain::measure(place.bed()?, &self.0, &mut results);
        error.map_or(Ok(()), |error| Err(error.into()))
    }
}
