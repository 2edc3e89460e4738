//! A search goal as RFC 9971 defines it (its section "Search Goal"), and the goals people ask for by name.

use std::fmt;

use crate::units::{Rate, Span};

/// Finest width accepted; below it halving would end in the float's last bits, not in a result.
const WIDTH_MIN: f64 = 1e-6;
/// Coarser stages on the way to a goal that is not reached with its initial trials alone.
const STAGES_BEFORE: u32 = 2;
/// Steps are this much shorter than the width, so that rounding never leaves two loads a bit too far apart.
const STEP_SHARE: f64 = 1.0 - 1e-9;

/// What one load has to be, to be a result. All ratios are from 0 to below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchGoal {
    /// Goal Loss Ratio: a trial that lost a larger share is a high-loss trial.
    pub loss_ratio: f64,
    /// Goal Exceed Ratio: this share of the time at a load may be high-loss trials.
    pub exceed_ratio: f64,
    /// Goal Initial Trial Duration: no shorter trial is run for this goal.
    pub initial_trial: Span,
    /// Goal Final Trial Duration: trials at least this long are full-length.
    pub final_trial: Span,
    /// Goal Duration Sum: so much time in full-length trials decides a load at the latest.
    pub duration_sum: Span,
    /// Goal Width: how far apart the relevant bounds may stay, as a share of the upper one.
    pub width: f64,
}

/// Why a goal, or a set of them, cannot be searched for.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SearchGoalError {
    /// No goal at all.
    #[error("no goal: give one such as ndr")]
    None,
    /// The same goal twice.
    #[error("goal {0} ({code}) is given twice: once is enough", code = .0.code())]
    Twice(SearchGoal),
    /// A loss or exceed ratio that is none: which, and the value.
    #[error("{0} ratio {percent} %: give 0 % to below 100 %", percent = .1 * 100.0)]
    Ratio(&'static str, f64),
    /// Not within 0.000001 to 1.
    #[error("width {percent} % is not within 0.0001 % to 100 %: give one such as 1%", percent = .0 * 100.0)]
    Width(f64),
    /// The initial trial is longer than the final one.
    #[error(
        "a goal's initial trial of {initial} is longer than its final one of {last}: shorten the one or lengthen the other"
    )]
    InitialAboveFinal {
        /// Goal Initial Trial Duration.
        initial: Span,
        /// Goal Final Trial Duration.
        last: Span,
    },
    /// The sum is shorter than one trial.
    #[error(
        "a goal's duration sum of {sum} is shorter than one final trial of {last}: lengthen the sum"
    )]
    SumBelowFinal {
        /// Goal Duration Sum.
        sum: Span,
        /// Goal Final Trial Duration.
        last: Span,
    },
    /// No whole frame fits the shortest trial at the lowest load.
    #[error(
        "no frame is due within {trial} at {minimum}: raise the lowest load or the trial's length"
    )]
    NothingToSend {
        /// The lowest load.
        minimum: Rate,
        /// The trial's length.
        trial: Span,
    },
    /// No load lies from the minimum to the maximum.
    #[error("no load to offer from {minimum} to {maximum}: lower the minimum")]
    EmptyRange {
        /// The lowest load.
        minimum: Rate,
        /// The highest load.
        maximum: Rate,
    },
    /// No trials allowed.
    #[error("0 trials at most: give at least 1")]
    NoTrials,
}

/// `ndr`, or `pdr 0.5 %`.
impl fmt::Display for SearchGoal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.loss_ratio == 0.0 {
            return f.pad("ndr");
        }
        f.pad(&format!("pdr {} %", percent(self.loss_ratio)))
    }
}

/// Percent without the digits that only a float's rounding put there: `0.5`, `33.3333`.
pub(crate) fn percent(ratio: f64) -> f64 {
    (ratio * 1e8).round() / 1e6
}

impl SearchGoal {
    /// The goal in RFC 9971's dense code (its appendix "Example Goals"): `60f120d0l50e` is final trials of
    /// 60 s, a duration sum of 120 s, 0 % loss, 50 % exceeding.
    #[must_use]
    pub fn code(&self) -> String {
        format!(
            "{}f{}d{}l{}e",
            self.final_trial.as_secs_f64(),
            self.duration_sum.as_secs_f64(),
            percent(self.loss_ratio),
            percent(self.exceed_ratio)
        )
    }

    /// Whether a result of this goal may be RFC 2544's throughput as far as loss goes: nothing lost,
    /// nothing tolerated.
    #[must_use]
    pub fn tolerates_nothing(&self) -> bool {
        self.loss_ratio == 0.0 && self.exceed_ratio == 0.0
    }

    /// Checks that the goal contradicts neither itself nor arithmetic.
    ///
    /// # Errors
    /// The first attribute that makes no sense.
    pub fn check(&self) -> Result<(), SearchGoalError> {
        for (which, ratio) in [("loss", self.loss_ratio), ("exceed", self.exceed_ratio)] {
            if !(0.0..1.0).contains(&ratio) {
                return Err(SearchGoalError::Ratio(which, ratio));
            }
        }
        if !(WIDTH_MIN..1.0).contains(&self.width) {
            return Err(SearchGoalError::Width(self.width));
        }
        let (initial, last, sum) = (self.initial_trial, self.final_trial, self.duration_sum);
        if initial > last {
            return Err(SearchGoalError::InitialAboveFinal { initial, last });
        }
        if sum < last {
            return Err(SearchGoalError::SumBelowFinal { sum, last });
        }
        Ok(())
    }

    /// The stages on the way to this goal, coarse to fine; the last is the goal itself. Each has half the
    /// width of the one before; trials and their sum grow from the initial trial to the goal's own.
    #[must_use]
    pub fn stages(&self) -> Vec<Stage> {
        let (shortest, sum) = (
            self.initial_trial.as_secs_f64(),
            self.duration_sum.as_secs_f64(),
        );
        let before = if shortest < sum { STAGES_BEFORE } else { 0 };
        let stage = |place: u32| {
            // The last stage is the goal, to the last bit.
            if place == before {
                return self.last_stage();
            }
            let left = before - place;
            let share = f64::from(left) / f64::from(STAGES_BEFORE);
            let sum = Span::from_secs_f64(sum * (shortest / sum).powf(share));
            Stage {
                trial: self.final_trial.min(sum),
                duration_sum: sum,
                loss_ratio: self.loss_ratio,
                exceed_ratio: self.exceed_ratio,
                width: 1.0 - (1.0 - self.width).powi(1 << left),
            }
        };
        (0..=before).map(stage).collect()
    }

    /// The goal itself: the last of its stages.
    #[must_use]
    pub const fn last_stage(&self) -> Stage {
        Stage {
            trial: self.final_trial,
            duration_sum: self.duration_sum,
            loss_ratio: self.loss_ratio,
            exceed_ratio: self.exceed_ratio,
            width: self.width,
        }
    }
}

impl Stage {
    /// The same for a search that ends early: a load is judged by the trials it had, however few.
    #[must_use]
    pub const fn by_trials_so_far(&self) -> Self {
        Self {
            duration_sum: Span::ZERO,
            ..*self
        }
    }
}

/// One step on the way to a goal: what a load has to be by then, and how closely the bounds must stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Length of its trials.
    pub trial: Span,
    /// Time at a load that decides it.
    pub duration_sum: Span,
    /// The goal's.
    pub loss_ratio: f64,
    /// The goal's.
    pub exceed_ratio: f64,
    /// Largest distance of its bounds, as a share of the upper one.
    pub width: f64,
}

impl Stage {
    /// Whether two loads are close enough for this stage.
    #[must_use]
    pub fn is_narrow(&self, lower: Rate, upper: Rate) -> bool {
        upper.fps() - lower.fps() <= self.width * upper.fps()
    }

    /// Its smallest step: the natural logarithm of a load over one a width below it.
    #[must_use]
    pub fn log_step(&self) -> f64 {
        -(-self.width).ln_1p() * STEP_SHARE
    }
}
