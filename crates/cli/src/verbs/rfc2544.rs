//! `mpps rfc2544`: all benchmarks of RFC 2544 section 26 on one bed, into one record.

mod suite;

use super::contract::{Measure, UnderTest};
use super::measure::measure;
use super::throughput::Throughput;
use crate::args::{SearchArgs, SuiteArgs};
use crate::exit::Exit;
use crate::outcome::SUITE;
use crate::plan::{Planned, Sending};
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::{Error, Result, bail, ensure};
use mpps_lab::bed::Bed;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::jobs::{JobError, recovery};
use mpps_lab::traffic::Traffic;
use mpps_method::{FrameSpec, Preset, Span};
use mpps_report::number;
use suite::{FULL, PARTS, Part, QUICK, Suite};

/// Sizes for Ethernet behind the smallest one (RFC 2544 section 9.1, RFC 5180 section 5.1).
const SIZES: &str = "128,256,512,1024,1280,1518";
/// Those of `--quick`.
const QUICK_SIZES: &str = "512,1518";

/// Runs the verb.
pub fn run(args: &SuiteArgs) -> Result<Exit> {
    measure(&args.run.output, None, plan(args)?)
}

/// What the arguments mean.
fn plan(args: &SuiteArgs) -> Result<Planned<Suite>> {
    let mut parts = parts(&args.only, &args.except)?;
    let mut sending = Sending::new(&args.run.sent, &args.run.place, None)?;
    let (preset, usual, sizes) = match args.quick {
        true => (Preset::Quick, QUICK, QUICK_SIZES),
        false => (Preset::Rfc2544, FULL, SIZES),
    };
    if args.run.sent.traffic.frame.is_none() {
        // The first of the usual sizes is the smallest that the family allows.
        let least = &sending.traffic.frames;
        sending.sizes = FrameSpec::parse_list(&format!("{least},{sizes}"))?;
    }
    let steps = recovery::can_step(&sending.traffic);
    let resets = steps && sending.bed.dut().planned().takes_routes();
    ensure!(
        resets || !args.only.iter().any(|part| part == "reset"),
        "--only reset: mpps resets only the router of its own bed, in one direction and with --port xdp"
    );
    parts.retain(|part| resets || part.verb != "reset");
    ensure!(
        steps || !parts.iter().any(|part| part.verb == "recovery"),
        "recovery needs one direction and --port xdp: give --except recovery, or leave out what it lacks"
    );
    let lengths = usual.with(args.time, args.budget);
    let search = SearchArgs {
        preset: Some(preset),
        time: args.time,
        budget: lengths.budget,
        expect_min: args.expect_min,
        ..SearchArgs::default()
    };
    let measurement = ThroughputPlan {
        budget: lengths.budget,
        ..sending.measurement(&search)?
    };
    Ok(sending.planned(Suite {
        search: Throughput {
            measurement,
            expect_min: args.expect_min,
        },
        lengths,
        parts,
    }))
}

/// The parts that were asked for, in the order of the RFC.
fn parts(only: &[String], except: &[String]) -> Result<Vec<&'static Part>> {
    for (flag, names) in [("--only", only), ("--except", except)] {
        let unknown = |name: &&String| PARTS.iter().all(|part| part.verb != **name);
        if let Some(name) = names.iter().find(unknown) {
            let known: Vec<&str> = PARTS.iter().map(|part| part.verb).collect();
            bail!(
                "{flag} {name}: there is no such part: give {}",
                known.join(", ")
            );
        }
    }
    let named = |names: &[String], part: &Part| names.iter().any(|name| name == part.verb);
    let asked = |part: &&Part| (only.is_empty() || named(only, part)) && !named(except, part);
    let parts: Vec<&Part> = PARTS.iter().filter(asked).collect();
    ensure!(
        !parts.is_empty(),
        "--except leaves no part: leave out one of them"
    );
    Ok(parts)
}

impl Measure for Suite {
    fn job(&self) -> Job<'_> {
        let parts = self.parts.iter().map(|part| mpps_record::Part {
            verb: part.verb.to_owned(),
            section: part.section.to_owned(),
            rule: (part.plan)(self, None).job().rule,
            shortened_from: part.shortened_from(&self.lengths).map(str::to_owned),
        });
        let mut job = self.search.job();
        job.plan.parts = parts.collect();
        let rules = job.plan.parts.iter();
        let rules: Vec<String> = rules
            .map(|part| format!("{}: {}", part.verb, part.rule))
            .collect();
        (job.name, job.rule) = (SUITE, rules.join("; "));
        job
    }

    fn more(&self) -> String {
        format!("time         about {}\n", time(self.left(0)))
    }

    fn traffic(&mut self) -> &mut Traffic {
        self.search.traffic()
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.search.resolve(bed)
    }

    /// A part that fails takes nothing from the others; the first error is told. The loop is no job of the lab: each part is
    /// the whole of another verb, and writes lines of that verb's kind.
    fn run(&self, on: UnderTest<'_>, recorder: &mut Recorder) -> Result<()> {
        let (sizes, parts) = (&self.search.measurement.sizes, &self.parts);
        let (all, mut done) = (sizes.len() * parts.len(), 0);
        let mut ended = Ok(());
        for frames in sizes {
            let (suite, mut found) = (self.for_size(frames), None);
            for part in parts {
                let name = format!("{} of {}", part.verb, number::frame(&frames.to_string()));
                let left = time(self.left(done));
                done += 1;
                recorder.part_begins(&format!("{name}, {done} of {all}, about {left} left"));
                let result = (part.plan)(&suite, found).run(on, recorder);
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

#[cfg(test)]
mod tests;
