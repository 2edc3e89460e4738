//! The verbs: one file each, from arguments to exit code.

pub mod bed;
mod begin;
pub mod calibrate;
mod destinations;
pub mod doctor;
mod end;
pub mod fib_scale;
pub mod generate;
pub mod limits;
pub mod recover;
pub mod table;
pub mod throughput;
pub mod trial;

use crate::exit::Exit;
use anyhow::Error;
use mpps_lab::bed::BedError;
use mpps_lab::jobs::JobError;

/// The exit code of an error: whether the host is as it was is what matters first.
#[must_use]
pub fn exit_of(error: &Error) -> Exit {
    let bed = error.chain().find_map(|cause| match cause.downcast_ref() {
        Some(JobError::Bed(bed)) => Some(bed),
        _ => cause.downcast_ref(),
    });
    match bed {
        Some(BedError::NotRestored(..)) => Exit::NotRestored,
        _ => Exit::CouldNotMeasure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_restored_is_found_in_any_depth() {
        let why = || BedError::NotRestored("x".to_owned(), std::io::Error::other("why"));
        for error in [
            Error::from(why()),
            Error::from(why()).context("while it ended"),
            Error::from(JobError::Bed(why())),
            Error::from(JobError::Bed(why())).context("while it ended"),
        ] {
            assert_eq!(exit_of(&error), Exit::NotRestored, "{error:#}");
        }
        let other = Error::from(BedError::Interrupted);
        assert_eq!(exit_of(&other), Exit::CouldNotMeasure);
    }
}
