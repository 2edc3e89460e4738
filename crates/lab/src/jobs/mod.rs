//! The jobs: what a person asks for, each on its own page.

pub mod back_to_back;
pub mod calibrate;
pub mod compare;
pub mod explain;
pub mod fib_scale;
pub mod fixed_load;
pub mod lasting;
pub mod latency;
pub mod loss;
pub mod recovery;
pub mod reset;
pub mod settings;
mod sizes;
pub mod throughput;
pub mod turns;

pub use sizes::SearchedRate;

pub use crate::search::{JobError, Judged, Observer, Phase, Report, Trials};

use crate::bed::Bed;
use crate::tester::{PortKind, TesterError};
use crate::traffic::Traffic;
use mpps_method::FrameSpec;
use mpps_method::simulate::Properties;
use std::io;
use std::ops::ControlFlow;

/// What a job measures.
#[derive(Clone, Copy)]
pub enum UnderTest<'a> {
    /// The router of a bed.
    Bed(&'a Bed),
    /// A simulated pair of router and tester, whose trials take no time.
    Simulated(Properties),
}

impl<'a> UnderTest<'a> {
    /// The bed, for a job that cannot be simulated.
    ///
    /// # Errors
    /// There is none.
    pub const fn bed(self) -> Result<&'a Bed, JobError> {
        match self {
            Self::Bed(bed) => Ok(bed),
            Self::Simulated(_) => Err(JobError::NoBed),
        }
    }

    /// Whether nothing is measured.
    const fn is_simulated(self) -> bool {
        matches!(self, Self::Simulated(_))
    }
}

/// Gets the line of each result of a job as soon as it is known, beside its trials.
pub trait ResultObserver<L>: Observer {
    /// A result is known. The job goes on when this returns.
    ///
    /// # Errors
    /// The record could not be written: the job stops.
    fn result(&mut self, line: &L) -> io::Result<()>;
}

/// Keeps the error that a job ends with: the one that left nothing to go on with, else the first of one size. Breaks
/// where nothing more can be measured.
fn keep(kept: &mut Option<JobError>, error: JobError) -> ControlFlow<()> {
    if error.is_of_one_size() {
        kept.get_or_insert(error);
        return ControlFlow::Continue(());
    }
    *kept = Some(error);
    ControlFlow::Break(())
}

/// The traffic with what carries its frames on this bed: as the user said, or what both ports around a device can.
fn on_ports(
    bed: &Bed,
    traffic: &Traffic,
    asked: Option<PortKind>,
    sizes: &[FrameSpec],
) -> Result<Traffic, TesterError> {
    let port = match asked {
        None if bed.plan().dut.planned().asks_ports() => PortKind::choose(bed, sizes)?,
        _ => traffic.port,
    };
    Ok(Traffic {
        port,
        ..traffic.clone()
    })
}
