//! `mpps rfc2544`: all benchmarks of RFC 2544 section 26 on one bed, into one record.

use super::contract::{Measure, Place};
use super::measure::measure;
use super::reset::Reset;
use crate::args::SuiteArgs;
use crate::exit::Exit;
use crate::plan::{self, PartPlan, Suite, Throughput};
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::{Error, Result};
use mpps_lab::bed::Bed;
use mpps_lab::jobs::JobError;
use mpps_lab::traffic::Traffic;
use mpps_method::Span;
use mpps_record::Part;
use mpps_report::number;

/// Runs the verb.
pub fn run(args: &SuiteArgs) -> Result<Exit> {
    measure(&args.run.output, None, plan::suite(args)?)
}

impl Measure for Suite {
    fn job(&self) -> Job<'_> {
        let parts = self.parts.iter().map(|part| Part {
            verb: part.verb.to_owned(),
            section: part.section.to_owned(),
            rule: measured((part.plan)(self, None)).job().rule,
            shortened_from: part.shortened_from(&self.lengths).map(str::to_owned),
        });
        Job::suite(&self.measurement, self.expect_min, parts.collect())
    }

    fn more(&self) -> String {
        format!("time         about {}\n", time(self.left(0)))
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.measurement.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.measurement = self.measurement.on_bed(bed)?;
        Ok(())
    }

    /// A part that fails takes nothing from the others; the first error is told.
    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let (sizes, parts) = (&self.measurement.sizes, &self.parts);
        let (all, mut done) = (sizes.len() * parts.len(), 0);
        let mut ended = Ok(());
        for frames in sizes {
            let (suite, mut found) = (self.for_size(frames), None);
            for part in parts {
                let name = format!("{} of {}", part.verb, number::frame(&frames.to_string()));
                let left = time(self.left(done));
                done += 1;
                recorder.part_begins(&format!("{name}, {done} of {all}, about {left} left"));
                let result = measured((part.plan)(&suite, found)).run(place, recorder);
                found = found.or(recorder.take_found());
                if let Err(error) = result {
                    if ends_all(&error) {
                        return Err(error);
                    }
                    ended = ended.and(Err(error.context(name)));
                }
            }
        }
        ended
    }
}

/// A part as its verb measures it.
fn measured(plan: PartPlan) -> Box<dyn Measure> {
    match plan {
        PartPlan::Throughput(measurement) => Box::new(Throughput {
            measurement,
            expect_min: None,
        }),
        PartPlan::Latency(plan) => Box::new(plan),
        PartPlan::Loss(plan) => Box::new(plan),
        PartPlan::Burst(plan) => Box::new(plan),
        PartPlan::Recovery(plan) => Box::new(plan),
        PartPlan::Reset(plan) => Box::new(Reset { plan, all: true }),
    }
}

/// Whether an error leaves nothing to go on with.
fn ends_all(error: &Error) -> bool {
    let error = error.downcast_ref::<JobError>();
    error.is_none_or(|error| error.is_interrupt() || matches!(error, JobError::Record(_)))
}

/// Whole minutes, or hours.
fn time(span: Span) -> String {
    let minutes = span.as_nanos().div_ceil(60_000_000_000);
    match minutes {
        0..120 => format!("{minutes} min"),
        _ => format!("{} h", minutes.div_ceil(60)),
    }
}
