//! The examination as one JSON object.

use crate::terminal::document::document;
use mpps_lab::doctor::{Check, Examination, Outlook, Subject};
use serde_json::{Value, json};

/// What [`super::doctor`] says, and every fact.
pub fn doctor_json(examination: &Examination) -> String {
    let jobs = examination.outlooks();
    document(json!({
        "main_job_can_run": examination.main_job_can_run(),
        "jobs": jobs.iter().map(job_json).collect::<Value>(),
        "checks": examination.checks.iter().map(check_json).collect::<Value>(),
        "nics": examination.nics,
        "facts": examination.facts,
    }))
}

fn job_json(outlook: &Outlook) -> Value {
    let names = |subjects: &[Subject]| subjects.iter().map(|one| one.name).collect::<Vec<_>>();
    json!({
        "job": outlook.job.command,
        "state": outlook.state.name(),
        "lacks": names(&outlook.lacks),
        "costs": names(&outlook.costs),
    })
}

fn check_json(check: &Check) -> Value {
    json!({
        "check": check.subject.name,
        "state": check.state.name(),
        "seen": check.seen,
        "cost": check.subject.cost,
        "remedy": check.subject.remedy,
    })
}
