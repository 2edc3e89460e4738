//! MLRsearch (RFC 9971): several goals in one search. Every trial counts for every goal; each goal says which
//! load it wants next, the lowest load wins, and the search ends when no goal wants any.
//!
//! What a load is (lower bound, upper bound, undecided) and what is reported follow the RFC to the letter
//! ([`load`], [`database`]); which load comes next is ours (`selector`).
//!
//! Beside the RFC's own terms, as in every search here:
//!
//! - A void trial is run again; the rule is blind to loss ([`crate::attempts`]).
//!   Where disturbances took too much of a load's trials [`NOT_OFFERED_AT_MOST`] times, it bounds the search as one
//!   that was not offered does.
//! - A load the tester failed to offer [`NOT_OFFERED_AT_MOST`] times bounds the search from above, until a trial at that
//!   load or above it is judged. Before a result is said to be limited by it, the load is tried once more. Within the
//!   bound of the rules an unsent frame is no lost one.
//! - Two trials in a row at a load that are no evidence: no answer.
//! - A search that ends early says what its trials so far speak for.

pub mod database;
pub mod goal;
pub mod load;
pub mod preset;
mod result;
mod selector;

use crate::attempts::Attempts;
use crate::counts::Counts;
use crate::goal::Ceiling;
use crate::reason::{Invalid, Shortfall, Void};
use crate::search::{CouldNotMeasure, GoalResult, Learned, Offer, Search, Step};
use crate::units::{Rate, Span};
use crate::verdict::{Rules, Verdict};
use database::Database;
use goal::{SearchGoal, SearchGoalError, Stage};
use load::TrialResult;
use selector::{Range, Selector};

/// Loads after a search whose trials speak for none. The first is this share of the lowest load tried,
const FIRST_LOWER: f64 = 0.7;
/// each further one that share of the one before.
const FURTHER_LOWER: f64 = 0.5;

/// A slow moment of the tester's CPU is no more its limit than a lossy moment is the DUT's.
pub const NOT_OFFERED_AT_MOST: u32 = 3;
/// After a load that was disturbed for too long comes such a share of it: its disturbances take less time.
const LESS_DISTURBED: f64 = 0.85;
/// No search of a router that answers the same twice needs nearly as many; it bounds what others may cost.
pub const TRIALS_MAX: u32 = 2_000;

/// What to search for, and within which loads.
#[derive(Clone, Debug, PartialEq)]
pub struct MlrPlan {
    /// The goals, none twice.
    pub goals: Vec<SearchGoal>,
    /// No load above it is offered.
    pub maximum: Ceiling,
    /// Lowest load offered.
    pub minimum: Rate,
    /// About where the result may lie, such as the DUT's maximum forwarding rate: the first load offered lies a little
    /// below it. `None`: the maximum is offered first.
    pub start: Option<Rate>,
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
    attempts: Attempts,
    now: Option<Offer>,
    gave_up: Option<CouldNotMeasure>,
    /// The last load offered below the lowest of the search.
    lower: Option<Rate>,
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
            attempts: Attempts::default(),
            now: None,
            gave_up: None,
            lower: None,
            plan,
        };
        let range = search.range();
        let start = search.plan.start;
        let of = |goal: &SearchGoal| Selector::new(*goal, &range, start);
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
            limit: self.limit(),
        }
    }

    /// The lowest load the tester proved unable to offer.
    fn limit(&self) -> Option<Rate> {
        let load = self.database.limit(NOT_OFFERED_AT_MOST)?;
        Some(load.rate)
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
        self.now = wanted.min_by(first).or_else(|| self.limit_again());
        let allowed = self.plan.trials_at_most;
        if self.attempts.counted(allowed) >= allowed || self.gave_up.is_some() {
            self.now = None;
        }
    }

    fn last_stages(&self) -> impl Iterator<Item = Stage> {
        self.selectors.iter().map(|one| one.goal().last_stage())
    }

    /// The limit's load once more, where it bounds a result and was not tried again yet.
    fn limit_again(&self) -> Option<Offer> {
        let load = self.database.limit(NOT_OFFERED_AT_MOST)?;
        let mut bounded = self.last_stages().filter(|stage| {
            let upper = self.database.bounds(stage).upper;
            upper.is_none_or(|upper| upper > load.rate)
        });
        let duration = bounded.next()?.trial;
        let rate = load.rate;
        (load.not_offered.max(load.disturbed) == NOT_OFFERED_AT_MOST)
            .then_some(Offer { rate, duration })
    }

    fn take(&mut self, offer: Offer, verdict: &Verdict, counts: &Counts) {
        match *verdict {
            Verdict::Lossless => self.judged(offer, counts, 0),
            Verdict::Lossy { lost } => self.judged(offer, counts, lost),
            Verdict::NotOffered(why) => self.not_offered(offer, why, counts),
            Verdict::Invalid(why) => self.invalid(offer.rate, why),
            Verdict::Void(why) => self.void(offer.rate, why),
        }
    }

    /// A trial that says something of the DUT. Where the tester fell short too, it can fail a load but pass none.
    fn judged(&mut self, offer: Offer, counts: &Counts, lost: u64) {
        let loss_ratio = lost as f64 / counts.sent.max(1) as f64;
        let may_pass = |goal: &SearchGoal| loss_ratio <= goal.loss_ratio;
        if lost > 0
            && let Some(why) = fell_short(counts, lost)
            && self.plan.goals.iter().any(may_pass)
        {
            return self.not_offered(offer, why, counts);
        }
        self.attempts.judged();
        let duration = offer.duration;
        let result = TrialResult {
            duration,
            loss_ratio,
        };
        self.database.add(offer.rate, result);
    }

    fn not_offered(&mut self, offer: Offer, why: Shortfall, counts: &Counts) {
        let rate = offer.rate;
        self.attempts.not_offered();
        let load = self.database.at(rate);
        load.not_offered += 1;
        if counts.intended > 0 {
            // Of the slots that passed: the trial may have been cut short.
            let arrived = (counts.received + counts.unrouted) as f64;
            let carried = Rate::from_fps(rate.fps() * arrived / counts.intended as f64);
            load.carried = load.carried.max(carried);
        }
        if load.not_offered >= NOT_OFFERED_AT_MOST && rate <= self.plan.minimum {
            self.gave_up = Some(CouldNotMeasure::LowestNotOffered { rate, why });
        }
    }

    /// The nearer a load is to what the DUT can do, the longer its rings drain after each disturbance.
    fn void(&mut self, rate: Rate, why: Void) {
        self.gave_up = self.attempts.void(why);
        if matches!(why, Void::Disturbed { .. }) && rate > self.plan.minimum {
            let load = self.database.at(rate);
            load.disturbed += 1;
            let less = Rate::from_fps(rate.fps() * LESS_DISTURBED);
            load.carried = load.carried.max(less);
        }
    }

    fn invalid(&mut self, rate: Rate, why: Invalid) {
        self.attempts.other();
        let load = self.database.at(rate);
        load.invalid += 1;
        if load.invalid >= 2 {
            self.gave_up = Some(CouldNotMeasure::Invalid { rate, why });
        }
    }

    /// The next load below the lowest one judged. A lower load with a void trial is offered again. `None`: the lowest allowed
    /// load was judged.
    fn lower_than_tried(&mut self) -> Option<Rate> {
        let Some(lowest) = self.database.lowest_judged() else {
            return self.database.rates().next();
        };
        let was_judged = self.lower.is_none_or(|lower| lowest.rate <= lower);
        if was_judged {
            let share = self.lower.map_or(FIRST_LOWER, |_| FURTHER_LOWER);
            let lower = Rate::from_fps(share * lowest.rate.fps()).max(self.plan.minimum);
            self.lower = (lower < lowest.rate).then_some(lower);
        }
        self.lower
    }
}

/// How the tester fell short in a trial in which the DUT lost so many frames.
fn fell_short(counts: &Counts, lost: u64) -> Option<Shortfall> {
    let &Counts {
        unsent, intended, ..
    } = counts;
    if unsent as f64 > Rules::default().unsent_max * intended as f64 {
        return Some(Shortfall::UnsentAboveBound { unsent, intended });
    }
    let tester_s = counts.lost.saturating_sub(lost);
    (tester_s > 0).then_some(Shortfall::LostAtReceiver(tester_s))
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
        self.take(offer, verdict, counts);
        self.choose();
    }

    fn found_so_far(&self) -> Vec<GoalResult> {
        self.results()
    }

    fn found_by(&self, trials: &[Learned]) -> Option<Vec<GoalResult>> {
        let mut alone = Self {
            database: Database::default(),
            ..self.clone()
        };
        for one in trials {
            alone.take(one.offer, &one.verdict, &one.counts);
        }
        // The search ran so many trials, and ended as it did.
        (alone.attempts, alone.gave_up) = (self.attempts, self.gave_up);
        Some(alone.results())
    }

    fn speaks_for_none(&self) -> Option<Span> {
        let mut stages = self.last_stages();
        let none = stages.find(|stage| self.passed(stage).is_none())?;
        Some(none.trial)
    }

    fn offer_lower(&mut self) -> Option<Offer> {
        let duration = self.speaks_for_none()?;
        if self.gave_up.is_some() {
            return None;
        }
        let lower = self.lower_than_tried()?;
        self.now = Some(Offer::new(lower, duration));
        self.now
    }
}

#[cfg(test)]
mod tests;
