//! `mpps throughput`: plan, bed, record, measure, show, lower.

use super::begin::{self, Stage};
use crate::args::ThroughputArgs;
use crate::exit::Exit;
use crate::figures::{Figures, Reading};
use crate::plan::Plan;
use crate::record::{Job, ResultLine, RunLine};
use crate::recorder::Recorder;
use crate::terminal::{self, plan as words};
use anyhow::{Error, Result};
use mpps_lab::doubt::Finding;
use mpps_lab::facts::Facts;
use mpps_lab::jobs::throughput::{self, ThroughputPlan};
use serde::Serialize;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &ThroughputArgs) -> Result<Exit> {
    let plan = Plan::of(args)?;
    if args.output.dry_run {
        begin::describe(&plan.bed)?;
        terminal::out(&words::measurement(&plan.measurement));
        return Ok(Exit::Measured);
    }
    let mut stage = Stage::set(&args.output, &plan.bed)?;
    let measured = measure(&mut stage, &plan.measurement);
    let shown = show(args, &plan.measurement, &measured, stage.recorder);
    begin::leave(stage.bed, &plan.bed)?;
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
fn measure(stage: &mut Stage, plan: &ThroughputPlan) -> Measured {
    let mut findings = Vec::new();
    let error = measure_all(stage, plan, &mut findings).err();
    Measured { findings, error }
}

fn measure_all(
    stage: &mut Stage,
    plan: &ThroughputPlan,
    findings: &mut Vec<(Finding, Figures, ResultLine)>,
) -> Result<()> {
    let Stage {
        begun,
        bed,
        recorder,
    } = stage;
    let line = RunLine::of(*begun, Job::Throughput(plan), bed, &Facts::gather());
    recorder.record.write("run", &line)?;
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
                // Its trials stand for no result of the next.
                recorder.take_stands();
                disturbed.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        for finding in measured {
            let figures = Figures::of(&finding, plan);
            let line = ResultLine::of(&finding, &figures, recorder.take_stands());
            recorder.record.write("result", &line)?;
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
    let ended = begin::end(&mut recorder, exit.code(), measured.error.as_ref());
    if args.output.json {
        terminal::out(&json(&recorder, plan, measured)?);
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
        None => ended?,
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
    /// When a load has passed: `any of 3`.
    lossless_trials: String,
    results: Vec<&'a ResultLine>,
}

fn json(recorder: &Recorder, plan: &ThroughputPlan, measured: &Measured) -> Result<String> {
    let document = Document {
        schema: crate::record::SCHEMA,
        run: recorder.record.run(),
        record: recorder.record.path().to_string_lossy().into_owned(),
        exit_code: measured.exit().code(),
        error: measured.error.as_ref().map(|error| format!("{error:#}")),
        lossless_trials: terminal::rule(plan),
        results: measured.findings.iter().map(|(.., line)| line).collect(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
