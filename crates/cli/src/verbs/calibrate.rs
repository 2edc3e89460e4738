//! `mpps calibrate`: plan, bed, record, plant faults and find them, show, lower.

use super::begin;
use super::measure::{self, Head, Outcome};
use crate::args::CalibrateArgs;
use crate::exit::Exit;
use crate::plan::{BedChoice, CalibrationPlan};
use crate::record::{Job, calibration_line, run_line};
use crate::recorder::Recorder;
use crate::terminal::{self, plan as words};
use anyhow::{Error, Result};
use mpps_lab::bed;
use mpps_lab::facts::Facts;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::calibrate::{self, FaultKind, Row};
use mpps_record::CalibrationLine;
use serde::Serialize;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &CalibrateArgs) -> Result<Exit> {
    let plan = CalibrationPlan::new(args)?;
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
    measure::on_bed(&args.output, &plan.bed, |stage| {
        let (bed, recorder) = (&stage.bed, &mut stage.recorder);
        if let BedChoice::Kept(name) = &plan.bed {
            plan.check_bed(name, bed.plan())?;
        }
        let traffic = plan.traffic_on(bed)?;
        let job = Job::Calibrate(&traffic);
        let line = run_line(stage.begun, job, bed, &Facts::gather(), None)?;
        let (rows, error) = match recorder.record.write(&line) {
            Ok(()) => {
                let found = calibrate::calibrate(bed, &traffic, &FaultKind::ALL, recorder);
                (found.rows, found.ended.map(Error::from))
            }
            Err(error) => (Vec::new(), Some(error)),
        };
        Ok(Measured {
            rows,
            error,
            as_json: args.output.json,
        })
    })
}

/// What was calibrated up to the end, and what ended it early.
struct Measured {
    rows: Vec<Row>,
    error: Option<Error>,
    as_json: bool,
}

impl Outcome for Measured {
    fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// Everything found is the meter doing its work; anything not found is the meter failing it; and of what the
    /// machine disturbed nobody knows.
    fn exit(&self) -> Exit {
        let exit = |row: &Row| match (&row.disturbed, row.holds()) {
            (Some(_), _) => Exit::Disturbed,
            (None, true) => Exit::Measured,
            (None, false) => Exit::NotMet,
        };
        self.rows.iter().map(exit).fold(Exit::Measured, Exit::worse)
    }

    fn show(&self, head: Head<'_>, recorder: &Recorder) -> Result<()> {
        if self.as_json {
            terminal::out(&measure::json(&Document::of(head, self))?);
        } else if !self.rows.is_empty() {
            terminal::out(&terminal::fitted(&terminal::calibration(&self.rows)));
            terminal::out(&format!("\nrecord: {}\n", recorder.record.path().display()));
        }
        // Whoever ends with 2 says why, in JSON too.
        let mut disturbed = self.rows.iter().filter_map(|row| row.disturbed.as_ref());
        if let (None, Some(why)) = (&self.error, disturbed.next()) {
            terminal::error(&format!("the calibration is incomplete: {why}"));
        }
        Ok(())
    }
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
        let Measured { rows, error, .. } = measured;
        Self {
            head,
            disturbed: error.as_ref().is_some_and(is_disturbance)
                || rows.iter().any(|row| row.disturbed.is_some()),
            rows: rows.iter().map(calibration_line).collect(),
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
        let exit = |rows, error: Option<Error>| {
            let ended = error.as_ref().map_or(Exit::Measured, crate::verbs::exit_of);
            let measured = Measured {
                rows,
                error,
                as_json: false,
            };
            measured.exit().worse(ended)
        };
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
