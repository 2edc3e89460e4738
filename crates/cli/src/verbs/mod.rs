//! The verbs: one file each, from arguments to exit code.

pub mod bed;
mod begin;
pub mod calibrate;
pub mod compare;
mod compare_records;
mod contract;
mod destinations;
pub mod doctor;
pub mod fib_scale;
pub mod generate;
pub mod limits;
pub mod loss;
mod measure;
pub mod recover;
pub mod report;
pub mod show;
pub mod table;
pub mod throughput;
pub mod trial;

use crate::exit::{Exit, Interrupted};
use anyhow::Error;
use mpps_lab::bed::BedError;
use mpps_lab::fib::FibError;
use mpps_lab::jobs::JobError;
use mpps_lab::tester::TesterError;

/// The exit code of an error: the gravest of all that led to it.
#[must_use]
pub fn exit_of(error: &Error) -> Exit {
    let causes = error.chain().map(|cause| {
        match (
            cause.downcast_ref::<BedError>(),
            cause.downcast_ref::<JobError>(),
        ) {
            (Some(bed), _) => of_bed(bed),
            (_, Some(job)) if job.is_interrupt() => Exit::Interrupted,
            (_, Some(job)) if job.is_disturbance() => Exit::Disturbed,
            _ if is_interrupt(cause) => Exit::Interrupted,
            _ => Exit::Failed,
        }
    });
    let known = causes.filter(|&exit| exit != Exit::Failed);
    known.max().unwrap_or(Exit::Failed)
}

const fn of_bed(error: &BedError) -> Exit {
    match error {
        BedError::NotRestored(..) => Exit::NotRestored,
        BedError::Interrupted => Exit::Interrupted,
        _ => Exit::Failed,
    }
}

fn is_interrupt(cause: &(dyn std::error::Error + 'static)) -> bool {
    let tester = cause.downcast_ref::<TesterError>();
    let fib = cause.downcast_ref::<FibError>();
    cause.is::<Interrupted>()
        || matches!(tester, Some(TesterError::Interrupted))
        || matches!(fib, Some(FibError::Interrupted(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_exit_code() {
        let not_restored = || BedError::NotRestored("x".to_owned(), "why".into());
        for (error, exit) in [
            (Error::from(not_restored()), Exit::NotRestored),
            (BedError::Interrupted.into(), Exit::Interrupted),
            (
                JobError::Tester(TesterError::Interrupted).into(),
                Exit::Interrupted,
            ),
            (FibError::Interrupted(7).into(), Exit::Interrupted),
            (Interrupted("early").into(), Exit::Interrupted),
            (JobError::AllVoid { trials: 9 }.into(), Exit::Disturbed),
            (Error::msg("bad input"), Exit::Failed),
        ] {
            assert_eq!(exit_of(&error.context("while it ran")), exit);
        }
    }
}
