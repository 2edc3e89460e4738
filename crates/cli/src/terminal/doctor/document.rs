//! The examination as one JSON object.

use mpps_lab::doctor::{Examination, Subject};
use mpps_record::facts::{Facts, Reading};
use mpps_record::{Nic, SCHEMA};
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    /// Whether the main job can run: the exit code is 0 then.
    main_job_can_run: bool,
    jobs: Vec<Value>,
    checks: Vec<Value>,
    nics: &'a Reading<Vec<Nic>>,
    facts: &'a Facts,
}

/// What [`super::doctor`] says, and every fact.
///
/// # Errors
/// None that can happen: all of it is text and numbers.
pub fn doctor_json(examination: &Examination) -> serde_json::Result<String> {
    let names =
        |subjects: &[Subject]| -> Vec<&str> { subjects.iter().map(|one| one.name).collect() };
    let document = Document {
        schema: SCHEMA,
        main_job_can_run: examination.main_job_can_run(),
        jobs: examination
            .outlooks()
            .iter()
            .map(|outlook| {
                json!({
                    "job": outlook.job.command,
                    "state": outlook.state.name(),
                    "lacks": names(&outlook.lacks),
                    "costs": names(&outlook.costs),
                })
            })
            .collect(),
        checks: examination
            .checks
            .iter()
            .map(|check| {
                json!({
                    "check": check.subject.name,
                    "state": check.state.name(),
                    "seen": check.seen,
                    "cost": check.subject.cost,
                    "remedy": check.subject.remedy,
                })
            })
            .collect(),
        nics: &examination.nics,
        facts: &examination.facts,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
