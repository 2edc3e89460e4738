//! The jobs: what a person asks for, each on its own page.

pub mod back_to_back;
pub mod calibrate;
pub mod fib_scale;
pub mod fixed_load;
pub mod throughput;

use crate::bed::BedError;
use crate::fib::FibError;
use crate::probe::ProbeError;
use crate::tester::TesterError;
use mpps_method::{FrameSpec, Offer, Trial, Verdict};
use std::fmt;
use std::io;

/// What a trial was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Through a wire in place of the router.
    Wire,
    /// At the highest load, or little more than the DUT forwards.
    Overload,
    /// Through the DUT, far below any load to be searched: does it lose frames for no load?
    Gate,
    /// Through the DUT.
    Search,
    /// A burst through the DUT.
    Burst,
    /// Through the DUT, at a load that was asked for.
    Fixed,
    /// Through the DUT with a planted fault.
    Calibration,
}

impl Phase {
    /// The word in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Overload => "overload",
            Self::Gate => "gate",
            Self::Search => "search",
            Self::Burst => "burst",
            Self::Fixed => "fixed",
            Self::Calibration => "calibration",
        }
    }
}

/// One trial as an observer gets it.
pub struct Report<'a> {
    /// Frame sizes sent.
    pub frames: &'a FrameSpec,
    /// What the trial was for.
    pub phase: Phase,
    /// What was to be offered.
    pub offer: Offer,
    /// What came of it.
    pub trial: &'a Trial,
    /// What it says.
    pub verdict: &'a Verdict,
}

/// Gets each trial as soon as it is over: writes records, shows progress.
pub trait Observer {
    /// A trial has ended. The next begins when this returns.
    ///
    /// # Errors
    /// The record could not be written: the job stops.
    fn trial(&mut self, report: &Report<'_>) -> io::Result<()>;

    /// A calibration knows one more row. Whoever does not calibrate need not listen.
    ///
    /// # Errors
    /// As for a trial.
    fn row(&mut self, _row: &calibrate::Row) -> io::Result<()> {
        Ok(())
    }
}

/// Why a job has no result.
#[derive(Debug)]
pub enum JobError {
    /// The bed.
    Bed(BedError),
    /// The tester.
    Tester(TesterError),
    /// Nothing came through the DUT.
    Probe(ProbeError),
    /// Frames passed by the receiver at the DUT's exit, or came merged.
    PastExit(mpps_method::Invalid),
    /// No longest burst: what was seen, and the length tried.
    NoBurst(&'static str, u64),
    /// So many trials in a row were void.
    Disturbed(u32),
    /// None of so many trials counts; the verdict of the last.
    NoEvidence(u32, Verdict),
    /// So many pairs of trials lie too far apart.
    PairsApart(u32),
    /// A search without an answer.
    CouldNotMeasure(mpps_method::CouldNotMeasure),
    /// Routes could not be loaded or cleared.
    Fib(FibError),
    /// So many routes are in the FIB, of so many.
    NotLoaded(u64, usize),
    /// No destination to be drawn from the routes.
    NoDestinations(String),
    /// What to search for makes no sense.
    Goal(mpps_method::SearchPlanError),
    /// The record could not be written.
    Record(io::Error),
}

impl JobError {
    /// Whether the machine's restlessness is to blame: the same job may well have a result later.
    #[must_use]
    pub fn is_disturbance(&self) -> bool {
        matches!(
            self,
            Self::Disturbed(_)
                | Self::NoEvidence(_, Verdict::NotOffered(_))
                | Self::PairsApart(_)
                | Self::CouldNotMeasure(_)
                | Self::NoBurst(..)
        )
    }

    /// Whether a receiver at the tester's port would have seen what the one at the DUT's exit did not.
    #[must_use]
    pub fn is_past_exit(&self) -> bool {
        match self {
            Self::Probe(error) => error.is_past_exit(),
            Self::PastExit(_) => true,
            _ => false,
        }
    }

    /// Whether Ctrl-C or SIGTERM ended the job.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Tester(TesterError::Interrupted)
                | Self::Fib(FibError::Interrupted(_))
                | Self::Probe(ProbeError::Tester(TesterError::Interrupted))
        )
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bed(error) => error.fmt(f),
            Self::Tester(error) => error.fmt(f),
            Self::Probe(error) => error.fmt(f),
            Self::PastExit(why) => why.fmt(f),
            Self::NoBurst(what, frames) => write!(f, "back-to-back: {what} ({frames} frames)"),
            Self::Disturbed(trials) => {
                write!(
                    f,
                    "{trials} trials in a row were void: run again when the machine is quieter"
                )
            }
            Self::NoEvidence(trials, last) => {
                write!(f, "none of {trials} trials counts, the last was {last}")
            }
            Self::PairsApart(pairs) => write!(
                f,
                "{pairs} pairs lie too far apart to tell a cost: run again when the machine is quieter"
            ),
            Self::CouldNotMeasure(why) => why.fmt(f),
            Self::Fib(error) => error.fmt(f),
            Self::NotLoaded(counted, asked) => write!(
                f,
                "{counted} of {asked} routes are in the DUT's FIB after loading: look at them with `mpps bed shell`"
            ),
            Self::NoDestinations(why) => f.write_str(why),
            Self::Goal(error) => error.fmt(f),
            Self::Record(error) => write!(
                f,
                "write record: {error} (free some space or name another place with --record; the trials before are kept)"
            ),
        }
    }
}

impl std::error::Error for JobError {}

impl From<BedError> for JobError {
    fn from(error: BedError) -> Self {
        Self::Bed(error)
    }
}

impl From<FibError> for JobError {
    fn from(error: FibError) -> Self {
        Self::Fib(error)
    }
}

impl From<TesterError> for JobError {
    fn from(error: TesterError) -> Self {
        Self::Tester(error)
    }
}

impl From<ProbeError> for JobError {
    fn from(error: ProbeError) -> Self {
        Self::Probe(error)
    }
}

impl From<mpps_method::goal::GoalError> for JobError {
    fn from(error: mpps_method::goal::GoalError) -> Self {
        Self::Goal(error.into())
    }
}

impl From<mpps_method::SearchPlanError> for JobError {
    fn from(error: mpps_method::SearchPlanError) -> Self {
        Self::Goal(error)
    }
}
