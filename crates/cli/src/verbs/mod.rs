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

/// The exit code of an error: whether the host is as it was is what matters first.
#[must_use]
pub fn exit_of(error: &Error) -> Exit {
    match error.downcast_ref::<BedError>() {
        Some(BedError::NotRestored(..)) => Exit::NotRestored,
        _ => Exit::CouldNotMeasure,
    }
}
