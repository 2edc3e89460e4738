//! `mpps calibrate`: plan, bed, record, plant faults and find them, show, lower.

use super::begin::{self, Stage};
use crate::args::CalibrateArgs;
use crate::exit::Exit;
use crate::plan::{BedChoice, CalibrationPlan};
use crate::record::{CalibrationLine, Job, RunLine, SCHEMA};
use crate::recorder::Recorder;
use crate::terminal::{self, plan as words};
use anyhow::{Error, Result};
use mpps_lab::facts::Facts;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::calibrate::{self, Row};
use serde::Serialize;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &CalibrateArgs) -> Result<Exit> {
    let plan = CalibrationPlan::of(args)?;
    if args.output.dry_run {
        begin::describe(&plan.bed)?;
        terminal::out(&words::calibration(&plan.traffic));
        return Ok(Exit::Measured);
    }
    let mut stage = Stage::set(&args.output, &plan.bed)?;
    if let BedChoice::Kept(name) = &plan.bed {
        plan.check_bed(name, stage.bed.plan())?;
    }
    let measured = measure(&mut stage, &plan);
    let shown = show(args.output.json, &measured, stage.recorder);
    begin::leave(stage.bed, &plan.bed)?;
    shown
}

fn measure(stage: &mut Stage, plan: &CalibrationPlan) -> Result<Vec<Row>> {
    let Stage {
        begun,
        bed,
        recorder,
    } = stage;
    let line = RunLine::of(*begun, Job::Calibrate(&plan.traffic), bed, &Facts::gather());
    recorder.record.write("run", &line)?;
    let rows = calibrate::calibrate(bed, &plan.traffic, recorder)?;
    for row in &rows {
        recorder
            .record
            .write("calibration", &CalibrationLine::of(row))?;
    }
    Ok(rows)
}

/// Everything found is the meter doing its work; anything not found is the meter failing it.
fn exit(measured: &Result<Vec<Row>>) -> Exit {
    match measured {
        Ok(rows) if rows.iter().all(Row::holds) => Exit::Measured,
        Ok(_) => Exit::NotMet,
        Err(_) => Exit::CouldNotMeasure,
    }
}

/// Results to stdout, the end to the record, the error to stderr.
fn show(as_json: bool, measured: &Result<Vec<Row>>, mut recorder: Recorder) -> Result<Exit> {
    let exit = exit(measured);
    let ended = begin::end(&mut recorder, exit.code(), measured.as_ref().err());
    if as_json {
        terminal::out(&json(&recorder, measured, exit)?);
    } else if let Ok(rows) = measured {
        terminal::out(&terminal::calibration(rows));
        terminal::out(&format!("\nrecord: {}\n", recorder.record.path().display()));
    }
    // Only the first thing that went wrong is worth a line.
    match measured {
        Err(error) => terminal::error(&format!("{error:#}")),
        Ok(_) => ended?,
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
    /// Whether the machine was too restless: the same command may well succeed later.
    disturbed: bool,
    rows: Vec<CalibrationLine>,
}

fn json(recorder: &Recorder, measured: &Result<Vec<Row>>, exit: Exit) -> Result<String> {
    let error = measured.as_ref().err();
    let document = Document {
        schema: SCHEMA,
        run: recorder.record.run(),
        record: recorder.record.path().to_string_lossy().into_owned(),
        exit_code: exit.code(),
        error: error.map(|error| format!("{error:#}")),
        disturbed: error.is_some_and(is_disturbance),
        rows: measured
            .as_ref()
            .map(|rows| rows.iter().map(CalibrationLine::of).collect())
            .unwrap_or_default(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn is_disturbance(error: &Error) -> bool {
    error
        .downcast_ref::<JobError>()
        .is_some_and(JobError::is_disturbance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_says_whether_every_fault_was_found() {
        let row = |found| Row {
            fault: "a delay",
            planted: 20_000.0,
            found,
            tolerance: 5_000.0,
            unit: "ns",
        };
        assert_eq!(exit(&Ok(vec![row(21_000.0)])), Exit::Measured);
        assert_eq!(exit(&Ok(vec![row(21_000.0), row(0.0)])), Exit::NotMet);
        let disturbed = Error::from(JobError::Disturbed(10));
        assert!(is_disturbance(&disturbed));
        assert_eq!(exit(&Err(disturbed)), Exit::CouldNotMeasure);
    }
}
