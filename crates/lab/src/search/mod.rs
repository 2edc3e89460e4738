//! How a load becomes a result: what overload tells, the gate, the loop between a search and its trials, and the
//! observer that gets each trial. Knows no job.

mod error;
pub mod exit_program;
pub mod gate;
pub mod link;
pub mod measurer;
mod observer;
mod run;
pub mod saturation;
pub mod simulated;

pub use error::JobError;
pub use observer::{Judged, Observer, Phase, Report, Trials};
pub(crate) use run::run;
pub use run::{Searched, bisect};
