//! How every search meets the world: it says which load comes next and learns what the trial said.
//! No search runs a trial itself, so tests drive it without any I/O.

use std::fmt;

use crate::goal::LimitedBy;
use crate::reason::{Invalid, Shortfall, Void};
use crate::units::{Rate, Span};
use crate::verdict::Verdict;

/// A load to offer for a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// The load, over all directions.
    pub rate: Rate,
    /// How long.
    pub duration: Span,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Run a trial at this load and let the search learn its verdict.
    Offer(Offer),
    /// Nothing more.
    Done(Outcome),
}

/// A search as a state machine. `next` may be asked any number of times between two verdicts.
pub trait Search {
    /// The trial to run now, or the end.
    fn next(&mut self) -> Step;
    /// What the trial last offered said. After the end it is ignored.
    fn learn(&mut self, verdict: &Verdict);
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// A load passed.
    Found {
        /// Highest load that passed.
        lossless: Rate,
        /// Lowest load the DUT failed; `None` when tester or link bound the result instead.
        lossy: Option<Rate>,
        /// What keeps the result from being higher.
        limited_by: LimitedBy,
        /// Trials run, voided ones included.
        trials: u32,
        /// Trials voided.
        voided: u32,
    },
    /// The DUT lost frames at every load, down to the lowest.
    NoneLossless {
        /// Lowest load tried.
        lowest: Rate,
        /// Trials run, voided ones included.
        trials: u32,
        /// Trials voided.
        voided: u32,
    },
    /// No answer, and why.
    CouldNotMeasure {
        /// Why.
        why: CouldNotMeasure,
        /// Trials run, voided ones included.
        trials: u32,
        /// Trials voided.
        voided: u32,
    },
}

/// Why a search has no answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CouldNotMeasure {
    /// More than half of the trials were voided, or would be at best; the last one's reason.
    TooManyVoided(Void),
    /// Twice no evidence at one load.
    Invalid {
        /// The load.
        rate: Rate,
        /// The second reason.
        why: Invalid,
    },
    /// The tester could not offer even the lowest load.
    LowestNotOffered {
        /// The load.
        rate: Rate,
        /// The second reason.
        why: Shortfall,
    },
}

impl fmt::Display for CouldNotMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyVoided(last) => write!(
                f,
                "more than half of the trials were disturbed, the last because {last}: \
                 measure when the machine is quieter"
            ),
            Self::Invalid { rate, why } => write!(
                f,
                "two trials at {rate} were no evidence, the last because {why}"
            ),
            Self::LowestNotOffered { rate, why } => {
                write!(f, "the lowest load, {rate}, could not be offered: {why}")
            }
        }
    }
}
