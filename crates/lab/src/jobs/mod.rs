//! The jobs: what a person asks for, each on its own page.

pub mod back_to_back;
pub mod calibrate;
pub mod fib_scale;
pub mod fixed_load;
pub mod throughput;

pub use crate::search::{JobError, Judged, Observer, Phase, Report, Trials};

use std::io;

/// Gets each result of a job as soon as it is known, beside its trials.
pub trait ResultObserver<R>: Observer {
    /// A result is known. The job goes on when this returns.
    ///
    /// # Errors
    /// The record could not be written: the job stops.
    fn result(&mut self, result: &R) -> io::Result<()>;
}
