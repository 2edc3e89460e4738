//! `mpps throughput`: plan, bed, record, measure, show, lower.

use crate::args::ThroughputArgs;
use crate::exit::Exit;
use crate::figures::{Figures, Reading};
use crate::plan::{BedChoice, Plan};
use crate::record::{Clock, EndLine, Record, ResultLine, RunLine, default_path};
use crate::recorder::Recorder;
use crate::terminal::progress::Progress;
use crate::terminal::{self, plan as words};
use anyhow::{Context, Error, Result};
use mpps_lab::bed::{self, Bed};
use mpps_lab::doubt::Finding;
use mpps_lab::facts::{self, Facts};
use mpps_lab::interrupt;
use mpps_lab::jobs::throughput::{self, ThroughputPlan};
use serde::Serialize;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &ThroughputArgs) -> Result<Exit> {
    let plan = Plan::of(args)?;
    if args.output.dry_run {
        return describe(&plan);
    }
    facts::check()?;
    interrupt::install()?;
    let begun = Clock::now();
    let record = open_record(args, &begun.run_name())?;
    let progress = Progress::new(args.output.quiet);
    let bed = bed_of(&plan.bed)?;
    progress.step(&format!("record: {}", record.path().display()));
    progress.step(&format!(
        "bed: {}, front {}",
        bed.name(),
        bed.plan().nic.name()
    ));
    let mut recorder = Recorder::new(record, progress);
    let measured = measure(&bed, &plan.measurement, &mut recorder, begun);
    let shown = show(args, &plan.measurement, &measured, recorder);
    if is_own(&plan.bed) {
        bed.lower()?;
    }
    shown
}

/// What was found up to the end, and what ended it early.
struct Measured {
    findings: Vec<(Finding, Figures, ResultLine)>,
    error: Option<Error>,
}

impl Measured {
    fn exit(&self) -> Exit {
        let of = |figures: &Figures| match figures.reading {
            Reading::Is(_) | Reading::AtLeast(_) => Exit::Measured,
            Reading::Below(_) => Exit::NotMet,
            Reading::Nothing => Exit::CouldNotMeasure,
        };
        let worst = self
            .findings
            .iter()
            .fold(Exit::Measured, |worst, (_, figures, _)| {
                worst.worse(of(figures))
            });
        if self.error.is_some() {
            worst.worse(Exit::CouldNotMeasure)
        } else {
            worst
        }
    }
}

/// One frame size after the other, so that a size that fails takes no other's result away.
fn measure(bed: &Bed, plan: &ThroughputPlan, recorder: &mut Recorder, begun: Clock) -> Measured {
    let mut findings = Vec::new();
    let error = measure_all(bed, plan, recorder, begun, &mut findings).err();
    Measured { findings, error }
}

fn measure_all(
    bed: &Bed,
    plan: &ThroughputPlan,
    recorder: &mut Recorder,
    begun: Clock,
    findings: &mut Vec<(Finding, Figures, ResultLine)>,
) -> Result<()> {
    let line = RunLine::of(begun, plan, bed, &Facts::gather());
    recorder
        .record
        .append("run", &line)
        .with_context(|| unwritten(&recorder.record))?;
    let mut disturbed = None;
    for frames in &plan.sizes {
        let one = ThroughputPlan {
            sizes: vec![frames.clone()],
            ..plan.clone()
        };
        let measured = match throughput::measure(bed, &one, recorder) {
            Ok(measured) => measured,
            // The next size may find the machine quieter.
            Err(error) if error.is_disturbance() => {
                disturbed.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        for finding in measured {
            let figures = Figures::of(&finding, plan);
            let line = ResultLine::of(&finding, &figures, recorder.take_stands());
            recorder
                .record
                .append("result", &line)
                .with_context(|| unwritten(&recorder.record))?;
            findings.push((finding, figures, line));
        }
    }
    disturbed.map_or(Ok(()), |error| Err(error.into()))
}

/// Results to stdout, the end to the record, the error to the caller.
fn show(
    args: &ThroughputArgs,
    plan: &ThroughputPlan,
    measured: &Measured,
    mut recorder: Recorder,
) -> Result<Exit> {
    let exit = measured.exit();
    let end = EndLine {
        ended_utc: Clock::now().utc(),
        exit_code: exit.code(),
        error: measured.error.as_ref().map(|error| format!("{error:#}")),
        trials: recorder.trials(),
    };
    let ended = recorder
        .record
        .append("end", &end)
        .with_context(|| unwritten(&recorder.record));
    if args.output.json {
        terminal::out(&json(&recorder, measured)?);
    } else if !measured.findings.is_empty() {
        let rows: Vec<Figures> = measured
            .findings
            .iter()
            .map(|(_, figures, _)| figures.clone())
            .collect();
        let findings: Vec<Finding> = measured
            .findings
            .iter()
            .map(|(finding, ..)| finding.clone())
            .collect();
        terminal::out(&terminal::table(&rows, plan));
        terminal::out(&terminal::doubts(&findings));
        terminal::out(&format!("\nrecord: {}\n", recorder.record.path().display()));
    }
    for (finding, figures, _) in &measured.findings {
        if let mpps_method::Outcome::CouldNotMeasure { why, .. } = finding.outcome {
            terminal::error(&format!("{}: could not measure: {why}", figures.frames));
        }
    }
    // Only the first thing that went wrong is worth a line.
    match &measured.error {
        Some(error) => terminal::error(&format!("{error:#}")),
        None => drop(ended?),
    }
    Ok(exit)
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    run: &'a str,
    record: String,
    exit_code: u8,
    error: Option<String>,
    results: Vec<&'a ResultLine>,
}

fn json(recorder: &Recorder, measured: &Measured) -> Result<String> {
    let document = Document {
        schema: crate::record::SCHEMA,
        run: recorder.record.run(),
        record: recorder.record.path().to_string_lossy().into_owned(),
        exit_code: measured.exit().code(),
        error: measured.error.as_ref().map(|error| format!("{error:#}")),
        results: measured.findings.iter().map(|(.., line)| line).collect(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn describe(plan: &Plan) -> Result<Exit> {
    match &plan.bed {
        BedChoice::Kept(name) => terminal::out(&format!("bed          {name}, kept\n")),
        BedChoice::Own(wish) => terminal::out(&words::bed(&wish.on_this_machine()?)),
    }
    terminal::out(&words::measurement(&plan.measurement));
    Ok(Exit::Measured)
}

fn bed_of(choice: &BedChoice) -> Result<Bed> {
    Ok(match choice {
        BedChoice::Kept(name) => bed::open(name)?,
        BedChoice::Own(wish) => Bed::raise(&wish.on_this_machine()?)?,
    })
}

fn is_own(choice: &BedChoice) -> bool {
    matches!(choice, BedChoice::Own(_))
}

fn open_record(args: &ThroughputArgs, run: &str) -> Result<Record> {
    let path = match &args.output.record {
        Some(path) => path.clone(),
        None => default_path(run)?,
    };
    Record::open(&path, run).with_context(|| {
        format!(
            "open record {} (name another place with --record FILE)",
            path.display()
        )
    })
}

fn unwritten(record: &Record) -> String {
    let path = record.path().display();
    format!(
        "write record {path} (free some space or name another place with --record; the trials before are kept)"
    )
}
