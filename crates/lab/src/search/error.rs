//! Why a job has no result.

use crate::fib::FibError;
use crate::tester::{NoExit, TesterError};
use crate::trial::probe::ProbeError;
use mpps_method::destinations::TooFew;
use mpps_method::gate::SILENT;
use mpps_method::goal::GoalError;
use mpps_method::{CouldNotMeasure, Invalid, SearchPlanError, Verdict};
use std::io;

/// Why a job has no result.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The tester.
    #[error(transparent)]
    Tester(#[from] TesterError),
    /// Nothing came through the DUT.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// Nothing comes through the DUT any more.
    #[error(
        "the DUT forwarded frames at overload, but none in {SILENT} trials at a low load since. Look for quotas, full \
        tables and links that are down in it (nft list ruleset, ip -s link)"
    )]
    Silent,
    /// Frames passed by the receiver at the DUT's exit, or came merged.
    #[error("{0}")]
    PastExit(Invalid),
    /// No longest burst.
    #[error("back-to-back: {seen} ({frames} frames)")]
    NoBurst {
        /// The reason.
        seen: &'static str,
        /// Length of the burst.
        frames: u64,
    },
    /// All trials in a row were void.
    #[error("{trials} trials in a row were void: run again when the machine is quieter")]
    AllVoid {
        /// How many.
        trials: u32,
    },
    /// No trial is evidence.
    #[error(
        "none of {trials} trials counts: run again when the machine is quieter (-v shows each trial). The last was \
        {last}"
    )]
    NoEvidence {
        /// How many were run.
        trials: u32,
        /// The verdict of the last.
        last: Verdict,
    },
    /// Pairs of trials lie too far apart.
    #[error(
        "too few of {pairs} pairs count, or they differ too much: run again when the machine is quieter"
    )]
    PairsApart {
        /// How many were run.
        pairs: u32,
    },
    /// No load can be a share of such a rate.
    #[error(
        "the machine disturbed all trials at overload, so no load can be a share of what the router forwards. Run \
        again when the machine is quieter, or give --rate"
    )]
    OnlyDisturbed,
    /// Shares of a throughput that there is none of.
    #[error("every load of the search lost frames, so no load can be a share of its throughput")]
    NoThroughput,
    /// Shares of a throughput that was not found, though a lower load passed or may pass.
    #[error(
        "no load of the search passed, so no load can be a share of its throughput: run again when the machine is quieter"
    )]
    NoThroughputYet,
    /// More frames than there is memory for.
    #[error(
        "an overload of {frames} frames needs {} MiB for a bit each, more than a quarter of the free memory: give --for {} at most",
        frames.div_ceil(8 << 20),
        longest
    )]
    OverloadTooLong {
        /// Frames of both loads.
        frames: u64,
        /// The longest overload that has room.
        longest: mpps_method::Span,
    },
    /// A load that drops within a trial is more than this traffic's sender can do.
    #[error(
        "needs one direction and --port xdp, whose sender can change its pace within a trial: leave out --bidirectional"
    )]
    NoStep,
    /// A reset can be seen only by a receiver that times frames.
    #[error(
        "reset: needs one direction and --port xdp, whose receiver times frames: leave out --bidirectional"
    )]
    NoGap,
    /// The router could not be reset, or not be put back.
    #[error("reset {reset}: {why}")]
    Reset {
        /// Which.
        reset: &'static str,
        /// What was refused.
        why: String,
    },
    /// Every setting was refused or inert; only the placebo is left.
    #[error("no setting to measure: {0}")]
    NoSetting(String),
    /// A setting could not be put back, or the one without effect not be switched.
    #[error("setting {id}: {why}")]
    Setting {
        /// Which.
        id: &'static str,
        /// What was refused.
        why: String,
    },
    /// A job that cannot be simulated.
    #[error("a simulated pair has no bed")]
    NoBed,
    /// No thread of the router's can be sampled.
    #[error(
        "explain: the router of --nic softirq and of --external has no threads of its own to sample: leave that flag out"
    )]
    NoThreads,
    /// A profile without a sample.
    #[error(
        "explain: {trials} trials at saturation gave no sample of the router's threads, so nothing tells where the time goes: does another profiler hold the counters?"
    )]
    NoSamples {
        /// Trials that were sampled.
        trials: usize,
    },
    /// A search without an answer.
    #[error("{0}")]
    CouldNotMeasure(CouldNotMeasure),
    /// Routes could not be loaded or cleared.
    #[error(transparent)]
    Fib(#[from] FibError),
    /// The FIB does not hold all routes after loading.
    #[error(
        "the DUT's FIB held {counted} of {asked} routes after loading, and they were cleared. Load the table on a \
        kept bed to see the refused ones (mpps table load --bed NAME)"
    )]
    NotLoaded {
        /// Routes counted.
        counted: u64,
        /// Routes to be loaded.
        asked: usize,
    },
    /// No destination can be drawn from the routes.
    #[error(transparent)]
    NoDestinations(#[from] TooFew),
    /// The search makes no sense.
    #[error(transparent)]
    Goal(#[from] SearchPlanError),
    /// The record could not be written.
    #[error(
        "write record: {0} (free some space or name another place with --record; the trials before are kept)"
    )]
    Record(io::Error),
}

impl JobError {
    /// Whether the machine's restlessness is to blame: the same job may well have a result later.
    #[must_use]
    pub fn is_disturbance(&self) -> bool {
        matches!(
            self,
            Self::AllVoid { .. }
                | Self::NoEvidence {
                    last: Verdict::NotOffered(_),
                    ..
                }
                | Self::PairsApart { .. }
                | Self::OnlyDisturbed
                | Self::NoThroughputYet
                | Self::CouldNotMeasure(_)
                | Self::NoBurst { .. }
        )
    }

    /// Whether the next frame size may have a result all the same: the machine may be quieter, and a router that lets
    /// no frame of one size through may let others.
    #[must_use]
    pub fn is_of_one_size(&self) -> bool {
        self.is_disturbance()
            || matches!(self, Self::NoThroughput | Self::Reset { .. })
            || (matches!(self, Self::Probe(_)) && !self.is_interrupt())
    }

    /// Whether a receiver at the tester's port would have seen what the one at the DUT's exit did not.
    #[must_use]
    pub fn is_past_exit(&self) -> bool {
        match self {
            Self::Probe(error) => error.is_past_exit(),
            Self::PastExit(_) | Self::Tester(TesterError::NoExit(NoExit::Kernel)) => true,
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

impl From<mpps_linux::Error> for JobError {
    fn from(error: mpps_linux::Error) -> Self {
        TesterError::from(error).into()
    }
}

impl From<GoalError> for JobError {
    fn from(error: GoalError) -> Self {
        Self::Goal(error.into())
    }
}
