//! `mpps calibrate`: plan, bed, record, plant faults and find them, show, lower.

use super::begin;
use super::measure::{self, Head, Outcome, View};
use crate::args::CalibrateArgs;
use crate::exit::Exit;
use crate::plan::{BedChoice, CalibrationPlan};
use crate::record::{Job, run_line};
use crate::terminal::{self, plan as words};
use anyhow::{Error, Result};
use mpps_lab::bed;
use mpps_lab::facts;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::calibrate::{self, FaultKind};
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
        let line = run_line(stage.begun, job, bed, &facts::gather(), None);
        let (rows, error) = match recorder.record.write(&line) {
            Ok(()) => {
                let found = calibrate::calibrate(bed, &traffic, &FaultKind::ALL, recorder);
                (found.rows, found.ended.map(Error::from))
            }
            Err(error) => (Vec::new(), Some(error)),
        };
        Ok(Measured { rows, error, args })
    })
}

/// What was calibrated up to the end, and what ended it early.
struct Measured<'a> {
    args: &'a CalibrateArgs,
    rows: Vec<CalibrationLine>,
    error: Option<Error>,
}

impl Outcome for Measured<'_> {
    fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    fn exit(&self) -> Exit {
        exit(&self.rows)
    }

    fn show(&self, head: Head<'_>) -> Result<()> {
        let disturbed = self.error.as_ref().is_some_and(is_disturbance);
        show(View::new(head, &self.args.output), &self.rows, disturbed)
    }
}

/// Everything found is the meter doing its work; anything not found is the meter failing it; and of what the machine
/// disturbed nobody knows.
fn exit(rows: &[CalibrationLine]) -> Exit {
    let exit = |row: &CalibrationLine| match (&row.disturbed, row.holds) {
        (Some(_), _) => Exit::Disturbed,
        (None, true) => Exit::Measured,
        (None, false) => Exit::NotMet,
    };
    rows.iter().map(exit).fold(Exit::Measured, Exit::worse)
}

/// Puts a calibration on stdout. `disturbed` says whether the machine ended it.
///
/// # Errors
/// The result could not be written.
pub fn show(view: View<'_>, rows: &[CalibrationLine], disturbed: bool) -> Result<()> {
    let is_whole = view.head.error.is_none();
    let mut reasons = rows.iter().filter_map(|row| row.disturbed.as_ref());
    let reason = reasons.next();
    if view.json {
        terminal::out(&measure::json(&Document {
            head: view.head,
            disturbed: disturbed || reason.is_some(),
            rows,
        })?);
    } else if !rows.is_empty() {
        terminal::out(&terminal::fitted(&terminal::calibration(rows)));
        terminal::out(&format!("\nrecord: {}\n", view.head.record));
    }
    // Whoever ends with 2 says why, in JSON too.
    if let (true, Some(why)) = (is_whole, reason) {
        terminal::error(&format!("could not calibrate all of it: {why}"));
    }
    Ok(())
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    /// Whether the machine was too restless: the same command may well succeed later.
    disturbed: bool,
    rows: &'a [CalibrationLine],
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
        let row = |found: f64| CalibrationLine {
            disturbed: found.is_nan().then(|| "a restless machine".to_owned()),
            ..CalibrationLine::new("a delay", "ns", 5_000.0, 20_000.0, found)
        };
        let exit = |rows: Vec<CalibrationLine>, error: Option<Error>| {
            let ended = error.as_ref().map_or(Exit::Measured, crate::verbs::exit_of);
            exit(&rows).worse(ended)
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
