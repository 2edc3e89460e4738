//! How every search meets the world: it says which load comes next and learns what the trial said.
//! No search runs a trial itself, so tests drive it without any I/O.

use std::fmt;

use crate::counts::Counts;
use crate::goal::LimitedBy;
use crate::mlr::goal::SearchGoal;
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

impl Offer {
    /// So much for so long.
    #[must_use]
    pub const fn new(rate: Rate, duration: Span) -> Self {
        Self { rate, duration }
    }

    /// Frames of it, at least one.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.rate.frames_in(self.duration).max(1)
    }
}

/// A trial as a search learned it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    /// What was offered.
    pub offer: Offer,
    /// What it says.
    pub verdict: Verdict,
    /// What it counted over all directions.
    pub counts: Counts,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Run a trial at this load and let the search learn its verdict.
    Offer(Offer),
    /// Nothing more: what was found, one for each goal, in their order.
    Done(Vec<GoalResult>),
}

/// A search as a state machine. `next` may be asked any number of times between two verdicts.
pub trait Search {
    /// The trial to run now, or the end.
    fn next(&mut self) -> Step;
    /// What the trial last offered said, and what it counted over all directions. After the end it is ignored.
    fn learn(&mut self, verdict: &Verdict, counts: &Counts);
    /// What is known by now, one for each goal, in their order: for a caller whose time is spent. After the end it is
    /// what [`Step::Done`] holds.
    fn found_so_far(&self) -> Vec<GoalResult>;
    /// What these of its trials say alone, one for each goal, in their order. `None`: it cannot tell.
    fn found_by(&self, trials: &[Learned]) -> Option<Vec<GoalResult>> {
        let _unused = trials;
        None
    }
    /// The length of a trial at a lower load, if the trials so far speak for no load for some goal.
    fn speaks_for_none(&self) -> Option<Span> {
        None
    }
    /// Offers less than the lowest load tried, for a caller whose time is spent, and after the end. `None`: the trials speak for
    /// a load for each goal, or no lower load is allowed.
    fn offer_lower(&mut self) -> Option<Offer> {
        None
    }
}

/// What the trials at one load said: "lossless in 3 of 5".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// Trials that lost nothing, or no more than the goal's loss ratio.
    pub lossless: u32,
    /// Trials that say something of the DUT.
    pub judged: u32,
}

impl fmt::Display for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lossless in {} of {}", self.lossless, self.judged)
    }
}

/// What a search found for one goal (RFC 9971, "Goal Result").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoalResult {
    /// The goal; `None` for a bisection, which has a rule of its own.
    pub goal: Option<SearchGoal>,
    /// How it ended. Where the goal allows loss, "lossless" is within the goal, "lossy" is not.
    pub outcome: Outcome,
    /// Loss ratio at the load found, 0 to below 1: that of the trial the result stands on.
    pub loss_ratio: f64,
    /// No shorter trial is evidence for the result. Below the goal's own where the search ended before such trials.
    pub final_trial: Span,
    /// What the trials of at least that length said at the load found, or at the lowest that failed where none was.
    pub passes: Passes,
    /// What a regular result would have and this one has not.
    pub irregular: Option<Irregular>,
}

impl GoalResult {
    /// Whether a load was found that has all its trials, and, where the DUT is the limit, bounds as close as the goal asks.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self.outcome, Outcome::Found { .. })
            && matches!(self.irregular, None | Some(Irregular::NoUpperBound))
    }

    /// RFC 9971's Conditional Throughput: the load found, less what is lost there. For a goal without loss it
    /// is the load. `None` when none was found.
    #[must_use]
    pub fn conditional_throughput(&self) -> Option<Rate> {
        match self.outcome {
            Outcome::Found { lossless, .. } => {
                Some(Rate::from_fps(lossless.fps() * (1.0 - self.loss_ratio)))
            }
            Outcome::NoneLossless { .. } | Outcome::CouldNotMeasure { .. } => None,
        }
    }
}

/// Why a result is irregular (RFC 9971, "Irregular Goal Result").
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Irregular {
    /// The DUT failed at no load: tester or link ended first.
    NoUpperBound,
    /// The trials ended before a load was known to be too high.
    OutOfTrials,
    /// The search ended before the load found had all its trials: those it had speak for it.
    Unconfirmed,
    /// The DUT passed at no load.
    NoLowerBound,
    /// The search ended before a load passed, and before the lowest was known to fail.
    EndedEarly,
    /// The trials ended before the bounds were as close as the goal asks.
    TooWide {
        /// Their distance, as a share of the upper one.
        width: f64,
        /// What the goal asks for.
        wanted: f64,
    },
}

impl fmt::Display for Irregular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUpperBound => write!(f, "no load was too high for the DUT"),
            Self::OutOfTrials => {
                write!(f, "no load was known to be too high by then")
            }
            Self::Unconfirmed => write!(f, "the load found still lacks some of its trials"),
            Self::NoLowerBound => write!(f, "no load was low enough for the DUT"),
            Self::EndedEarly => write!(f, "the search ended before a load passed"),
            Self::TooWide { width, wanted } => write!(
                f,
                "the bounds are {:.1} % apart, the goal asks for {:.1} %",
                width * 100.0,
                wanted * 100.0
            ),
        }
    }
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// A load passed.
    Found {
        /// Highest load that passed (RFC 9971: relevant lower bound). Where the search ended early, the highest that the
        /// trials so far speak for; see [`Irregular::Unconfirmed`].
        lossless: Rate,
        /// Lowest load above it that the DUT failed (relevant upper bound, or what speaks for one so far); `None` when
        /// tester or link bound the result instead.
        lossy: Option<Rate>,
        /// What keeps the result from being higher.
        limited_by: LimitedBy,
        /// Trials run, voided ones included.
        trials: u32,
        /// Trials voided.
        voided: u32,
    },
    /// The DUT lost frames at every load tried.
    NoneLossless {
        /// Lowest load that failed.
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
    /// Trials in a row were void: more than [`crate::attempts::VOIDS_IN_ROW_MAX`], or all that the time was for.
    TooManyVoided {
        /// So many.
        trials: u32,
        /// The last one's reason.
        last: Void,
    },
    /// The trials, or the time for them, ended before any said something of the DUT.
    OutOfTrials {
        /// So many were run.
        trials: u32,
    },
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
            Self::TooManyVoided { trials, last } => write!(
                f,
                "{trials} trials in a row were void: stop what disturbs them, or run again when the machine is \
                 quieter. The last was void because {last}"
            ),
            Self::OutOfTrials { trials } => {
                write!(
                    f,
                    "none of {trials} trials counts for the DUT: allow more trials, or more time"
                )
            }
            Self::Invalid { rate, why } => write!(
                f,
                "two trials at {rate} were invalid, the last because {why}"
            ),
            Self::LowestNotOffered { rate, why } => {
                write!(f, "the lowest load, {rate}, could not be offered: {why}")
            }
        }
    }
}
