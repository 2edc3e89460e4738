//! MLRsearch (RFC 9971): several goals in one search. Every trial counts for every goal; each goal says which
//! load it wants next, the lowest load wins, and the search ends when no goal wants any.
//!
//! What a load is (lower bound, upper bound, undecided) and what is reported follow the RFC to the letter
//! ([`load`], [`database`]); which load comes next is ours ([`selector`]).
//!
//! Beside the RFC's own terms, as in every search here:
//!
//! - A void trial is run again; the rule is blind to loss ([`crate::attempts`]).
//! - A load the tester failed to offer [`NOT_OFFERED_AT_MOST`] times in a row bounds the search from above as the
//!   *tester's* limit. Within the bound of the rules an unsent frame is no lost one. What it did not offer takes
//!   none of the trials that a search is allowed ([`Attempts::counted`]).
//! - Two trials in a row at a load that are no evidence: no answer.

pub mod database;
pub mod goal;
pub mod load;
pub mod preset;
mod selector;

use crate::attempts::{self, Attempts, WHOLE};
use crate::goal::{Ceiling, LimitedBy};
use crate::reason::{Invalid, Shortfall};
use crate::search::{CouldNotMeasure, GoalResult, Irregular, Offer, Outcome, Search, Step};
use crate::trial::Counts;
use crate::units::Rate;
use crate::verdict::Verdict;
use database::Database;
use goal::{SearchGoal, SearchGoalError, Stage};
use load::TrialResult;
use selector::{Range, Selector, barrier};

/// A slow moment of the tester's CPU is no more its limit than a lossy moment is the DUT's. So many whole trials
/// ([`crate::attempts`]).
pub const NOT_OFFERED_AT_MOST: u32 = 3;
/// No search of a router that answers the same twice needs nearly as many; it bounds what others may cost.
pub const TRIALS_MAX: u32 = 2_000;

/// What to search for, and within which loads.
#[derive(Clone, Debug, PartialEq)]
pub struct MlrPlan {
    /// The goals, none twice.
    pub goals: Vec<SearchGoal>,
    /// First load offered; none above it.
    pub maximum: Ceiling,
    /// Lowest load offered.
    pub minimum: Rate,
    /// Trials that nothing disturbed and that the tester could offer, at most; [`TRIALS_MAX`] where nobody says less.
    pub trials_at_most: u32,
}

impl MlrPlan {
    /// Checks that a search can begin and will end.
    ///
    /// # Errors
    /// The first thing that makes no sense.
    pub fn check(&self) -> Result<(), SearchGoalError> {
        if self.goals.is_empty() {
            return Err(SearchGoalError::None);
        }
        if self.trials_at_most == 0 {
            return Err(SearchGoalError::NoTrials);
        }
        let (minimum, maximum) = (self.minimum, self.maximum.rate());
        if minimum > maximum || maximum.fps() <= 0.0 {
            return Err(SearchGoalError::EmptyRange { minimum, maximum });
        }
        for (place, goal) in self.goals.iter().enumerate() {
            goal.check()?;
            let trial = goal.initial_trial;
            if minimum.frames_in(trial) == 0 {
                return Err(SearchGoalError::NothingToSend { minimum, trial });
            }
            if self.goals.iter().take(place).any(|other| other == goal) {
                return Err(SearchGoalError::Twice(*goal));
            }
        }
        Ok(())
    }
}

/// The search's state.
#[derive(Clone, Debug)]
pub struct Mlr {
    plan: MlrPlan,
    selectors: Vec<Selector>,
    database: Database,
    limit: Option<Rate>,
    attempts: Attempts,
    now: Option<Offer>,
    gave_up: Option<CouldNotMeasure>,
}

impl Mlr {
    /// A search by this plan.
    ///
    /// # Errors
    /// The plan makes no sense; see [`MlrPlan::check`].
    pub fn new(plan: MlrPlan) -> Result<Self, SearchGoalError> {
        plan.check()?;
        let mut search = Self {
            selectors: Vec::new(),
            database: Database::default(),
            limit: None,
            attempts: Attempts::default(),
            now: None,
            gave_up: None,
            plan,
        };
        let range = search.range();
        let of = |goal: &SearchGoal| Selector::new(*goal, &range);
        search.selectors = search.plan.goals.iter().map(of).collect();
        search.choose();
        Ok(search)
    }

    /// All loads tried so far, with their trials.
    #[must_use]
    pub const fn database(&self) -> &Database {
        &self.database
    }

    fn range(&self) -> Range {
        Range {
            minimum: self.plan.minimum,
            maximum: self.plan.maximum.rate(),
            limit: self.limit,
        }
    }

    /// The next trial: of what the goals want the lowest load, for an upper bound found late may take away a
    /// lower bound above it; of two trials there the longer one, which counts for both.
    fn choose(&mut self) {
        let range = self.range();
        let database = &self.database;
        let wanted = self
            .selectors
            .iter_mut()
            .filter_map(|selector| selector.nominate(database, &range));
        let first = |one: &Offer, other: &Offer| {
            let by_load = one.rate.fps().total_cmp(&other.rate.fps());
            by_load.then(other.duration.cmp(&one.duration))
        };
        self.now = wanted.min_by(first);
        let allowed = self.plan.trials_at_most;
        if self.attempts.counted(allowed) >= allowed || self.gave_up.is_some() {
            self.now = None;
        }
    }

    fn judged(&mut self, offer: Offer, counts: &Counts, lost: u64) {
        let result = TrialResult {
            duration: offer.duration,
            loss_ratio: lost as f64 / counts.sent.max(1) as f64,
        };
        self.database.add(offer.rate, result);
    }

    fn not_offered(&mut self, offer: Offer, why: Shortfall, counts: &Counts) {
        let rate = offer.rate;
        self.attempts.not_offered(&offer, counts);
        let load = self.database.at(rate);
        load.not_offered += attempts::weight(&offer, counts);
        if counts.intended > 0 {
            // Of the slots that passed: the trial may have been cut short.
            let arrived = (counts.received + counts.unrouted) as f64;
            let carried = Rate::from_fps(rate.fps() * arrived / counts.intended as f64);
            load.carried = load.carried.max(carried);
        }
        if load.not_offered < NOT_OFFERED_AT_MOST * WHOLE {
            return;
        }
        self.limit = Some(self.limit.map_or(rate, |limit| limit.min(rate)));
        if rate <= self.plan.minimum {
            self.gave_up = Some(CouldNotMeasure::LowestNotOffered { rate, why });
        }
    }

    fn invalid(&mut self, rate: Rate, why: Invalid) {
        let load = self.database.at(rate);
        load.invalid += 1;
        if load.invalid >= 2 {
            self.gave_up = Some(CouldNotMeasure::Invalid { rate, why });
        }
    }

    /// One for each goal, in their order.
    fn results(&self) -> Vec<GoalResult> {
        let of = |selector: &Selector| self.result(selector.goal());
        self.selectors.iter().map(of).collect()
    }

    fn result(&self, goal: &SearchGoal) -> GoalResult {
        let stage = goal.last_stage();
        let bounds = self.database.bounds(&stage);
        let loss_ratio = bounds
            .lower
            .and_then(|rate| self.database.get(rate)?.quantile_loss_ratio(&stage))
            .unwrap_or_default();
        let outcome = self.outcome(&stage, bounds);
        let irregular = match outcome {
            Outcome::Found {
                lossless,
                lossy: Some(lossy),
                ..
            } => {
                let width = (lossy.fps() - lossless.fps()) / lossy.fps();
                let wanted = stage.width;
                (!stage.is_narrow(lossless, lossy)).then_some(Irregular::TooWide { width, wanted })
            }
            Outcome::Found {
                limited_by: LimitedBy::Trials,
                ..
            } => Some(Irregular::OutOfTrials),
            Outcome::Found { lossy: None, .. } => Some(Irregular::NoUpperBound),
            Outcome::NoneLossless { .. } | Outcome::CouldNotMeasure { .. } => {
                Some(Irregular::NoLowerBound)
            }
        };
        GoalResult {
            goal: Some(*goal),
            final_trial: goal.final_trial,
            outcome,
            loss_ratio,
            irregular,
        }
    }

    fn outcome(&self, stage: &Stage, bounds: database::Bounds) -> Outcome {
        let Attempts { trials, voided, .. } = self.attempts;
        let no_answer = |why| Outcome::CouldNotMeasure {
            why,
            trials,
            voided,
        };
        if let Some(why) = self.gave_up.or_else(|| self.attempts.disturbed()) {
            return no_answer(why);
        }
        match (bounds.lower, bounds.upper) {
            (Some(lossless), upper) => {
                // An upper bound above what the tester can offer bounds nothing.
                let barrier = barrier(bounds, &self.range());
                let lossy = upper.filter(|_| barrier == upper);
                let limited_by = match (lossy, self.limit) {
                    (Some(_), _) => LimitedBy::Dut,
                    (None, Some(limit))
                        if lossless >= limit || stage.is_narrow(lossless, limit) =>
                    {
                        LimitedBy::Tester
                    }
                    (None, None) if lossless >= self.plan.maximum.rate() => {
                        self.plan.maximum.limited_by()
                    }
                    (None, _) => LimitedBy::Trials,
                };
                Outcome::Found {
                    lossless,
                    lossy,
                    limited_by,
                    trials,
                    voided,
                }
            }
            (None, Some(lowest)) => Outcome::NoneLossless {
                lowest,
                trials,
                voided,
            },
            (None, None) => no_answer(CouldNotMeasure::OutOfTrials { trials }),
        }
    }
}

impl Search for Mlr {
    fn next(&mut self) -> Step {
        match self.now {
            Some(offer) => Step::Offer(offer),
            None => Step::Done(self.results()),
        }
    }

    fn learn(&mut self, verdict: &Verdict, counts: &Counts) {
        let Some(offer) = self.now else {
            return;
        };
        self.attempts.count();
        match *verdict {
            Verdict::Lossless => self.judged(offer, counts, 0),
            Verdict::Lossy { lost } => self.judged(offer, counts, lost),
            Verdict::NotOffered(why) => self.not_offered(offer, why, counts),
            Verdict::Invalid(why) => self.invalid(offer.rate, why),
            Verdict::Void(why) => {
                let weight = attempts::weight(&offer, counts);
                self.gave_up = self.attempts.void(why, weight);
            }
        }
        self.choose();
    }
}

#[cfg(test)]
mod tests;
