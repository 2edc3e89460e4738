//! `mpps trial`: given loads, without a search.

use super::contract::{Asked, Measure, Place};
use super::measure::measure;
use crate::args::TrialArgs;
use crate::exit::Exit;
use crate::plan::TrialPlan;
use crate::record::{Job, load_line};
use crate::recorder::Recorder;
use crate::terminal;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::fixed_load::{self, FixedLoadPlan, Offered};
use mpps_lab::traffic::Traffic;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &TrialArgs) -> Result<Exit> {
    let plan = TrialPlan::new(args)?;
    let asked = Asked::new(&args.output, plan.bed, plan.destinations);
    measure(&asked, Trial(plan.offer))
}

/// What to offer.
struct Trial(FixedLoadPlan);

impl Measure for Trial {
    fn job(&self) -> Job<'_> {
        Job::trial(&self.0)
    }

    fn words(&self, asked: &Asked<'_>) -> String {
        use terminal::plan as words;
        words::receiver(self.0.receiver)
            + &words::fixed_load(&self.0)
            + &words::destinations(asked.destinations.as_ref())
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.0.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.0 = self.0.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let mut results = recorder.with(|offered: &Offered, _| vec![load_line(offered)]);
        let error = fixed_load::measure(place.bed()?, &self.0, &mut results);
        error.map_or(Ok(()), |error| Err(error.into()))
    }
}
