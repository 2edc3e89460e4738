//! `mpps rfc2544`: all benchmarks of RFC 2544 section 26 on one bed, into one record.

use super::contract::{Asked, Measure, Place};
use super::measure::measure;
use crate::args::SuiteArgs;
use crate::exit::Exit;
use crate::plan::SuitePlan;
use crate::record::Job;
use crate::recorder::Recorder;
use crate::suite::Suite;
use crate::terminal::plan as words;
use anyhow::{Error, Result};
use mpps_lab::bed::Bed;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::traffic::Traffic;
use mpps_method::Span;
use mpps_report::{number, sentence};

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &SuiteArgs) -> Result<Exit> {
    let plan = SuitePlan::new(args)?;
    let asked = Asked::new(&args.output, plan.bed, plan.destinations);
    measure(&asked, Rfc2544(plan.suite))
}

/// What to do.
struct Rfc2544(Suite);

impl Measure for Rfc2544 {
    fn job(&self) -> Job<'_> {
        Job::suite(&self.0)
    }

    fn words(&self, asked: &Asked<'_>) -> String {
        let parts = self.0.planned();
        let parts = parts
            .iter()
            .map(|part| format!("part         {}\n", sentence::part(part)));
        let search = ThroughputPlan {
            budget: None,
            ..self.0.measurement.clone()
        };
        let budget = self
            .0
            .lengths
            .budget
            .map(|budget| format!("budget       {budget} for each part of each frame size\n"));
        words::measurement(&search)
            + &words::destinations(asked.destinations.as_ref())
            + &parts.collect::<String>()
            + &budget.unwrap_or_default()
            + &format!("time         about {}\n", time(self.0.left(0)))
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.0.measurement.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.0.measurement = self.0.measurement.on_bed(bed)?;
        Ok(())
    }

    /// A part that fails takes nothing from the others; the first error is told.
    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let (suite, bed) = (&self.0, place.bed()?);
        let (sizes, parts) = (&suite.measurement.sizes, &suite.parts);
        let mut first: Option<Error> = None;
        for (size, frames) in sizes.iter().enumerate() {
            let (suite, mut found) = (suite.for_size(frames), None);
            for (at, part) in parts.iter().enumerate() {
                let done = size * parts.len() + at;
                let name = format!("{} of {}", part.verb, number::frame(&frames.to_string()));
                let (number, all) = (done + 1, sizes.len() * parts.len());
                let left = time(self.0.left(done));
                recorder.part_begins(&format!("{name}, {number} of {all}, about {left} left"));
                let Some(error) = (part.run)(&suite, bed, recorder, &mut found) else {
                    continue;
                };
                if error.is_interrupt() || matches!(error, JobError::Record(_)) {
                    return Err(error.into());
                }
                first.get_or_insert_with(|| Error::from(error).context(name));
            }
        }
        first.map_or(Ok(()), Err)
    }
}

/// Whole minutes, or hours.
fn time(span: Span) -> String {
    let minutes = span.as_nanos().div_ceil(60_000_000_000);
    match minutes {
        0..120 => format!("{minutes} min"),
        _ => format!("{} h", minutes.div_ceil(60)),
    }
}
