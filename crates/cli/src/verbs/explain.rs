//! `mpps explain`: where the time of a frame goes.

use super::begin::open_record;
use super::contract::{Asked, Measure, Place};
use super::measure::{end, measure};
use crate::args::{ExplainArgs, OutputArgs};
use crate::exit::Exit;
use crate::host::Interrupted;
use crate::plan;
use crate::record::{Job, host_run_line, profile_line, watched_line};
use crate::recorder::Recorder;
use crate::terminal::plan as words;
use anyhow::{Result, bail, ensure};
use mpps_lab::bed::Bed;
use mpps_lab::interrupt;
use mpps_lab::jobs::explain::{self, ExplainPlan, SizeProfile};
use mpps_lab::observe::{CpuSet, Observer};
use mpps_lab::traffic::Traffic;
use mpps_method::Span;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &ExplainArgs) -> Result<Exit> {
    if let Some(cpus) = &args.cpus {
        return watch(cpus, args.look, &args.output);
    }
    let plan = plan::ExplainPlan::new(args)?;
    let asked = Asked::new(&args.output, plan.bed, plan.destinations);
    measure(&asked, Explain(plan.offer))
}

/// Looks at CPUs of this host at its work.
fn watch(cpus: &CpuSet, time: Span, output: &OutputArgs) -> Result<Exit> {
    interrupt::install()?;
    let observer = Observer::new(cpus)?;
    let (begun, mut recorder) = open_record(output)?;
    recorder.step(&format!("record: {}", recorder.record().path().display()));
    let watched = CpuSet::from_iter(observer.cpus().iter().copied());
    recorder.step(&format!("looking at CPU {watched} for {time}"));
    let line = host_run_line(begun, observer.cpus(), observer.netns(), time);
    let written = recorder.write(line);
    let ended = written.and_then(|()| look(&observer, time, &mut recorder));
    end(output, None, &mut recorder, ended.err().as_ref())
}

/// An interrupted look is shown as far as it came.
fn look(observer: &Observer, time: Span, recorder: &mut Recorder) -> Result<()> {
    let observed = observer.observe(time, &mut || !interrupt::requested())?;
    let lack = observed.watched.lacks.first().cloned();
    let lack = lack.filter(|_| observed.cost.is_err());
    recorder.write(watched_line(observer.cpus(), observed))?;
    ensure!(
        !interrupt::requested(),
        Interrupted("interrupted: this is what was seen until then")
    );
    lack.map_or(Ok(()), |lack| bail!("{lack}"))
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
