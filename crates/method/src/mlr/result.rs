//! What the trials of a search say of each goal, at its end or at any time before.

use super::database::Bounds;
use super::goal::{SearchGoal, Stage};
use super::selector::{Selector, barrier};
use super::{Mlr, NOT_OFFERED_AT_MOST};
use crate::attempts::Attempts;
use crate::goal::LimitedBy;
use crate::search::{CouldNotMeasure, GoalResult, Irregular, Outcome};
use crate::units::Rate;

impl Mlr {
    /// One for each goal, in their order.
    pub(super) fn results(&self) -> Vec<GoalResult> {
        let of = |selector: &Selector| self.result(selector.goal());
        self.selectors.iter().map(of).collect()
    }

    fn result(&self, goal: &SearchGoal) -> GoalResult {
        let known = self.known(&goal.last_stage());
        let outcome = self.outcome(&known);
        let at = match outcome {
            Outcome::Found { lossless, .. } => self.database.get(lossless),
            Outcome::NoneLossless { lowest, .. } => self.database.get(lowest),
            Outcome::CouldNotMeasure { .. } => None,
        };
        let found = at.filter(|_| known.bounds.lower.is_some());
        let loss_ratio = found.and_then(|load| load.quantile_loss_ratio(&known.stage));
        let passes = at.map(|load| load.passes(goal.loss_ratio, known.stage.trial));
        GoalResult {
            goal: Some(*goal),
            outcome,
            loss_ratio: loss_ratio.unwrap_or_default(),
            final_trial: known.stage.trial,
            passes: passes.unwrap_or_default(),
            irregular: self.irregular(&outcome, &known),
        }
    }

    /// The highest load that passed for this goal, else the one that the trials so far speak for.
    pub(super) fn passed(&self, stage: &Stage) -> Option<Rate> {
        let Bounds { lower, upper } = self.database.bounds(stage);
        lower.or_else(|| self.database.likely(stage, upper))
    }

    /// The goal's bounds; where no load has passed, what the trials so far speak for. Where they speak for none, it is
    /// the lowest load with a trial within the loss ratio.
    fn known(&self, stage: &Stage) -> Known {
        let database = &self.database;
        let bounds = database.bounds(stage);
        if bounds.lower.is_some() {
            return Known {
                bounds,
                confirmed: true,
                stage: *stage,
            };
        }
        let so_far = stage.by_trials_so_far();
        let good = || database.lowest_pass(stage.loss_ratio, bounds.upper);
        let lower = self.passed(stage).or_else(good);
        let longest = lower.and_then(|rate| database.get(rate)?.longest_pass(stage.loss_ratio));
        let trial = longest.map_or(stage.trial, |longest| longest.min(stage.trial));
        Known {
            bounds: Bounds { lower, ..bounds },
            confirmed: false,
            stage: Stage { trial, ..so_far },
        }
    }

    fn outcome(&self, known: &Known) -> Outcome {
        let Attempts { trials, voided, .. } = self.attempts;
        let no_answer = |why| Outcome::CouldNotMeasure {
            why,
            trials,
            voided,
        };
        if let Some(why @ CouldNotMeasure::Invalid { .. }) = self.gave_up {
            return no_answer(why);
        }
        let likely = |above| {
            let so_far = known.stage.by_trials_so_far();
            self.database.lowest_failed(&so_far, above)
        };
        let Bounds { lower, upper } = known.bounds;
        let Some(lossless) = lower else {
            return match upper.or_else(|| likely(None)) {
                Some(lowest) => Outcome::NoneLossless {
                    lowest,
                    trials,
                    voided,
                },
                None => no_answer(self.gave_up.unwrap_or_else(|| self.attempts.no_answer())),
            };
        };
        let (lossy, limited_by) = match self.limited_by(lossless, known) {
            Some(LimitedBy::Dut) => (upper, LimitedBy::Dut),
            Some(other) => (None, other),
            None => {
                let ended = match self.gave_up {
                    Some(CouldNotMeasure::TooManyVoided { .. }) => LimitedBy::Disturbed,
                    _ => LimitedBy::Trials,
                };
                (upper.or_else(|| likely(lower)), ended)
            }
        };
        Outcome::Found {
            lossless,
            lossy,
            limited_by,
            trials,
            voided,
        }
    }

    fn irregular(&self, outcome: &Outcome, known: &Known) -> Option<Irregular> {
        let &Outcome::Found {
            lossless, lossy, ..
        } = outcome
        else {
            let lowest = self.range().minimum;
            return Some(match outcome {
                // The lowest load was not tried, or not decided.
                Outcome::NoneLossless { lowest: failed, .. }
                    if *failed > lowest || known.bounds.upper.is_none() =>
                {
                    Irregular::EndedEarly
                }
                _ => Irregular::NoLowerBound,
            });
        };
        if !known.confirmed {
            return Some(Irregular::Unconfirmed);
        }
        match (self.limited_by(lossless, known), lossy) {
            (None, _) => Some(Irregular::OutOfTrials),
            (Some(LimitedBy::Dut), Some(lossy)) => {
                let width = (lossy.fps() - lossless.fps()) / lossy.fps();
                let wanted = known.stage.width;
                let narrow = known.stage.is_narrow(lossless, lossy);
                (!narrow).then_some(Irregular::TooWide { width, wanted })
            }
            _ => Some(Irregular::NoUpperBound),
        }
    }

    /// What keeps the result from being higher; `None` when the search ended before that was known.
    fn limited_by(&self, lossless: Rate, known: &Known) -> Option<LimitedBy> {
        if !known.confirmed {
            return None;
        }
        let (upper, range) = (known.bounds.upper, self.range());
        // An upper bound above what the tester can offer bounds nothing.
        if upper.is_some() && barrier(known.bounds, &range) == upper {
            return Some(LimitedBy::Dut);
        }
        let Some(limit) = self.database.limit(NOT_OFFERED_AT_MOST) else {
            return (lossless >= range.maximum).then(|| self.plan.maximum.limited_by());
        };
        let near = lossless >= limit.rate || known.stage.is_narrow(lossless, limit.rate);
        let tried_again = limit.not_offered.max(limit.disturbed) > NOT_OFFERED_AT_MOST;
        let whose = || match limit.disturbed > limit.not_offered {
            true => LimitedBy::Disturbed,
            false => self.plan.maximum.not_offered_by(limit.rate),
        };
        (near && tried_again).then(whose)
    }
}

/// What the trials say of one goal.
struct Known {
    bounds: Bounds,
    /// Whether the lower bound had all its trials.
    confirmed: bool,
    /// By which these were found.
    stage: Stage,
}
