//! How to search, before it is known between which loads: what a person chooses.

use crate::bisection::Bisection;
use crate::goal::{Accept, Ceiling, Goal, GoalError, Resolution};
use crate::mlr::goal::{SearchGoal, SearchGoalError};
use crate::mlr::{Mlr, MlrPlan};
use crate::search::Search;
use crate::units::{Rate, Span};

/// A search to be begun.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchPlan {
    /// MLRsearch (RFC 9971).
    Mlr {
        /// The goals, none twice.
        goals: Vec<SearchGoal>,
        /// Trials at most; void and not offered ones do not count.
        trials_at_most: u32,
    },
    /// Bisection (RFC 2544 26.1).
    Bisection {
        /// Length of each trial.
        trial: Span,
        /// How closely to find the rate.
        resolution: Resolution,
        /// Trials at each load.
        trials_per_load: u32,
        /// How these decide.
        accept: Accept,
    },
}

/// Why a search cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SearchPlanError {
    /// A bisection's goal.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// A goal of MLRsearch.
    #[error(transparent)]
    SearchGoal(#[from] SearchGoalError),
}

impl SearchPlan {
    /// Highest load offered below this maximum.
    #[must_use]
    pub fn highest(&self, maximum: Rate) -> Rate {
        match self {
            Self::Mlr { .. } => maximum,
            Self::Bisection { resolution, .. } => resolution.highest(maximum),
        }
    }

    /// The search, between these loads. MLRsearch begins a little below `start`, such as the DUT's maximum forwarding
    /// rate, where that is known. A bisection always begins at the maximum.
    ///
    /// # Errors
    /// Goals or range make no sense.
    pub fn begin(
        &self,
        minimum: Rate,
        maximum: Ceiling,
        start: Option<Rate>,
    ) -> Result<Box<dyn Search>, SearchPlanError> {
        Ok(match self {
            Self::Mlr {
                goals,
                trials_at_most,
            } => Box::new(Mlr::new(MlrPlan {
                goals: goals.clone(),
                maximum,
                minimum,
                start,
                trials_at_most: *trials_at_most,
            })?),
            &Self::Bisection {
                trial,
                resolution,
                trials_per_load,
                accept,
            } => Box::new(Bisection::new(Goal {
                trial,
                resolution,
                trials_per_load,
                accept,
                maximum,
                minimum,
            })?),
        })
    }

    /// The longest trial it may ask for.
    #[must_use]
    pub fn longest_trial(&self) -> Span {
        match self {
            Self::Mlr { goals, .. } => {
                let each = goals.iter().map(|goal| goal.final_trial);
                each.max().unwrap_or_default()
            }
            Self::Bisection { trial, .. } => *trial,
        }
    }

    /// The shortest trial a result may stand on, over all goals.
    #[must_use]
    pub fn final_trial(&self) -> Span {
        match self {
            Self::Mlr { goals, .. } => {
                let each = goals.iter().map(|goal| goal.final_trial);
                each.min().unwrap_or_default()
            }
            Self::Bisection { trial, .. } => *trial,
        }
    }
}
