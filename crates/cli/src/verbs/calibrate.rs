//! `mpps calibrate`: plan, bed, record, plant faults and find them, show, lower.

use super::begin::{self, Stage};
use super::end::{self, Head};
use crate::args::CalibrateArgs;
use crate::exit::Exit;
use crate::plan::{BedChoice, CalibrationPlan};
use crate::record::{CalibrationLine, Job, RunLine};
use crate::recorder::Recorder;
use crate::terminal::{self, plan as words};
use anyhow::{Error, Result};
use mpps_lab::bed;
use mpps_lab::facts::Facts;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::calibrate::{self, Calibrated, FaultKind, Row};
use serde::Serialize;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &CalibrateArgs) -> Result<Exit> {
    let plan = CalibrationPlan::of(args)?;
    if args.output.dry_run {
        if let BedChoice::Kept(name) = &plan.bed {
            // Without rights nobody knows which beds there are.
            let beds = bed::list().unwrap_or_default();
            let found = beds.into_iter().find(|bed| bed.name == *name);
            if let Some(bed) = found.and_then(|bed| bed.plan) {
                plan.check_bed(name, &bed)?;
            }
        }
        let words = words::calibration(&plan.traffic) + &words::receiver(plan.receiver);
        return begin::dry_run(
            &args.output,
            &plan.bed,
            Job::Calibrate(&plan.traffic),
            &[],
            &words,
        );
    }
    let mut stage = Stage::set(&args.output, &plan.bed)?;
    if let BedChoice::Kept(name) = &plan.bed {
        plan.check_bed(name, stage.bed.plan())?;
    }
    let measured = measure(&mut stage, &plan);
    let record = stage.recorder.record.path().to_owned();
    let shown = show(args.output.json, &measured, stage.recorder);
    begin::leave(stage.bed, &plan.bed, &shown, &record)?;
    shown
}

/// What was calibrated up to the end, and what ended it early.
struct Measured {
    rows: Vec<Row>,
    error: Option<Error>,
}

fn measure(stage: &mut Stage, plan: &CalibrationPlan) -> Measured {
    match calibrated(stage, plan) {
        Ok(Calibrated { rows, ended }) => Measured {
            rows,
            error: ended.map(Error::from),
        },
        Err(error) => Measured {
            rows: Vec::new(),
            error: Some(error),
        },
    }
}

fn calibrated(stage: &mut Stage, plan: &CalibrationPlan) -> Result<Calibrated> {
    let Stage {
        begun,
        bed,
        recorder,
        ..
    } = stage;
    let traffic = plan.traffic_on(bed)?;
    let line = RunLine::of(*begun, Job::Calibrate(&traffic), bed, &Facts::gather());
    recorder.record.write("run", &line)?;
    Ok(calibrate::calibrate(
        bed,
        &traffic,
        &FaultKind::ALL,
        recorder,
    ))
}

/// Everything found is the meter doing its work; anything not found is the meter failing it; and of what the
/// machine disturbed nobody knows.
fn exit(measured: &Measured) -> Exit {
    let of = |row: &Row| match (&row.disturbed, row.holds()) {
        (Some(_), _) => Exit::Disturbed,
        (None, true) => Exit::Measured,
        (None, false) => Exit::NotMet,
    };
    let ended = measured.error.as_ref().map(super::exit_of);
    let all = measured.rows.iter().map(of).chain(ended);
    all.fold(Exit::Measured, Exit::worse)
}

fn show(as_json: bool, measured: &Measured, recorder: Recorder) -> Result<Exit> {
    let (exit, error) = (exit(measured), measured.error.as_ref());
    end::finish(recorder, exit, error, |recorder| {
        if as_json {
            let head = Head::of(recorder, exit, error);
            terminal::out(&end::json(&Document::of(head, measured))?);
        } else if !measured.rows.is_empty() {
            terminal::out(&terminal::fitted(&terminal::calibration(&measured.rows)));
            terminal::out(&format!("\nrecord: {}\n", recorder.record.path().display()));
        }
        // Whoever ends with 2 says why, in JSON too.
        let disturbed = measured
            .rows
            .iter()
            .filter_map(|row| row.disturbed.as_ref());
        if let (None, Some(why)) = (error, disturbed.into_iter().next()) {
            terminal::error(&format!("could not calibrate all of it: {why}"));
        }
        Ok(())
    })
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    /// Whether the machine was too restless: the same command may well succeed later.
    disturbed: bool,
    rows: Vec<CalibrationLine>,
}

impl<'a> Document<'a> {
    fn of(head: Head<'a>, measured: &Measured) -> Self {
        let Measured { rows, error } = measured;
        Self {
            head,
            disturbed: error.as_ref().is_some_and(is_disturbance)
                || rows.iter().any(|row| row.disturbed.is_some()),
            rows: rows.iter().map(CalibrationLine::of).collect(),
        }
    }
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
        let row = |found: f64| Row {
            fault: "a delay",
            planted: 20_000.0,
            found,
            tolerance: 5_000.0,
            unit: "ns",
            disturbed: found.is_nan().then(|| "a restless machine".to_owned()),
        };
        let exit = |rows, error| exit(&Measured { rows, error });
        assert_eq!(exit(vec![row(21_000.0)], None), Exit::Measured);
        assert_eq!(exit(vec![row(21_000.0), row(0.0)], None), Exit::NotMet);
        // A fault that was not found counts, however much of the rest was disturbed.
        assert_eq!(exit(vec![row(0.0), row(f64::NAN)], None), Exit::NotMet);
        assert_eq!(
            exit(vec![row(21_000.0), row(f64::NAN)], None),
            Exit::Disturbed
        );
        let disturbed = Error::from(JobError::AllVoid { trials: 10 });
        assert!(is_disturbance(&disturbed));
        assert_eq!(exit(vec![row(21_000.0)], Some(disturbed)), Exit::Disturbed);
    }
}
