//! What this machine has and lacks for each job. Some of it is read; the rest is tried.
//!
//! Trying means that the programs that measure are loaded, attached and run. They run on beds of their own, which are
//! journalled and lowered as every bed. So a check cannot pass where a job fails. Without root only what can be read is
//! checked, and the other checks say that they were not tried.

mod job;
mod look;
mod settings;
mod subject;
mod tried;
mod watched;

pub use job::{JOBS, Job, JobState, Outlook};
pub use subject::{Check, State, Subject};

use crate::bed::BedError;
use crate::facts::{self, Root, nic};
use mpps_record::Nic;
use mpps_record::facts::{Facts, Reading};

/// All that was found.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The machine.
    pub facts: Facts,
    /// One check a subject, in the order of the subjects.
    pub checks: Vec<Check>,
    /// Network interfaces with a device behind them.
    pub nics: Reading<Vec<Nic>>,
}

impl Examination {
    /// What became of this subject.
    #[must_use]
    pub fn check(&self, subject: Subject) -> Option<&Check> {
        self.checks.iter().find(|check| check.subject == subject)
    }

    /// What each job can hope for.
    #[must_use]
    pub fn outlooks(&self) -> Vec<Outlook> {
        JOBS.iter().map(|job| job.outlook(&self.checks)).collect()
    }

    /// Whether the main job can run: `mpps throughput` as it is without flags.
    #[must_use]
    pub fn main_job_can_run(&self) -> bool {
        JOBS.iter()
            .take(1)
            .all(|job| job.outlook(&self.checks).state == JobState::CanRun)
    }
}

/// Examines the machine: about three seconds as root, none without.
///
/// # Errors
/// Only that a bed raised here could not be lowered; every other failure is a finding.
pub fn examine() -> Result<Examination, BedError> {
    // What the loader has to say goes into our findings, not to stderr.
    libbpf_rs::set_print(None);
    let root = Root::here();
    let facts = facts::gather();
    let mut checks = look::all(&root, &facts);
    checks.extend(settings::all(&facts));
    let rights = checks.iter().find(|check| check.subject == Subject::RIGHTS);
    let has_rights = rights.is_some_and(|rights| rights.state == State::Good);
    if has_rights {
        checks.extend(tried::all()?);
        checks.extend(watched::with_programs());
    } else {
        checks.extend(watched::without_programs());
    }
    let nics =
        nic::names(&root).map(|names| names.iter().map(|name| nic::read(&root, name)).collect());
    Ok(Examination {
        facts,
        checks: in_order(&checks, has_rights),
        nics,
    })
}

/// One check a subject, in their order. A part of the tester without a check was not tried: it needs rights, then a bed.
fn in_order(checks: &[Check], has_rights: bool) -> Vec<Check> {
    let why = match has_rights {
        true => "not tried: no bed",
        false => "not tried: rights are missing",
    };
    let check = |&subject: &Subject| {
        let made = checks.iter().find(|check| check.subject == subject);
        made.map_or_else(|| Check::new(subject, Err(why.to_owned())), Check::clone)
    };
    Subject::ALL.iter().map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_subject_is_told_once_in_order() {
        let good = |subject| Check::new(subject, subject::good(""));
        let (memory, rights) = (good(Subject::MEMORY), good(Subject::RIGHTS));
        let checks = in_order(&[memory, rights], true);
        let subjects = checks.iter().map(|check| check.subject);
        assert!(subjects.eq(Subject::ALL.iter().copied()));
        let is_good = |check: &&Check| check.state == State::Good;
        assert_eq!(checks.iter().filter(is_good).count(), 2);
        let why = |has_rights| in_order(&[], has_rights)[4].seen.clone();
        assert_eq!(Subject::ALL[4], Subject::BED);
        assert_eq!(why(true), "not tried: no bed");
        assert_eq!(why(false), "not tried: rights are missing");
    }

    #[test]
    fn subjects_have_names_of_their_own() {
        let mut names: Vec<_> = Subject::ALL.iter().map(|one| one.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Subject::ALL.len());
    }
}
