//! Which load one goal wants next. RFC 9971 leaves this to the implementation; what follows is ours:
//!
//! - The goal is approached in stages, from short trials and a wide interval to its own.
//! - Each stage has a *guess*: first a little below the rate that the search starts from, or the highest load; then, once that has failed, what came back of it
//!   (FRMOL, RFC 2285 3.6.2); in later stages the middle of what the stage before has found.
//! - From the guess the search gallops, in steps that double, until it has a bound on either side; where a
//!   step would pass the middle of two bounds the middle is taken. Later stages know where to look, so
//!   they take three single steps upwards before they double them.
//! - Intervals are split into pieces of at most one width each, the smaller number of them below: lower
//!   loads pass more often, and a load that passes costs fewer trials than one that fails.

use super::database::{Bounds, Database};
use super::goal::{SearchGoal, Stage};
use crate::search::Offer;
use crate::units::Rate;

/// Loads closer than this share of a step are taken to be the same, so that trials add up.
const SAME_SHARE: f64 = 0.25;

/// The first load as a share of the rate that a search starts from. At its forwarding rate under overload a DUT loses
/// frames by definition. Simulated searches that began 0.5 to 4 % below it took the same number of trials.
pub(super) const START_SHARE: f64 = 0.99;

/// The loads that may be offered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lowest.
    pub minimum: Rate,
    /// Highest.
    pub maximum: Rate,
    /// Lowest load the tester proved unable to offer, if any.
    pub limit: Option<Rate>,
}

/// One goal's way.
#[derive(Clone, Debug)]
pub struct Selector {
    goal: SearchGoal,
    stages: Vec<Stage>,
    at: usize,
    guess: Rate,
}

impl Selector {
    /// A selector at its first stage. Its first load lies a little below `start`, or is the maximum without one.
    #[must_use]
    pub fn new(goal: SearchGoal, range: &Range, start: Option<Rate>) -> Self {
        let guess = start.map_or(range.maximum, |start| {
            Rate::from_fps(start.fps() * START_SHARE).min(range.maximum)
        });
        let mut stages = goal.stages();
        if start.is_some() {
            // Who knows where to look needs no coarse steps: each stage has the width of the next.
            let widths: Vec<f64> = stages.iter().skip(1).map(|stage| stage.width).collect();
            let finer = stages.iter_mut().zip(widths);
            finer.for_each(|(stage, width)| stage.width = width);
        }
        Self {
            goal,
            stages,
            at: 0,
            guess: guess.max(range.minimum),
        }
    }

    /// The goal.
    #[must_use]
    pub const fn goal(&self) -> &SearchGoal {
        &self.goal
    }

    /// The trial this goal wants next; `None` when it is reached, or cannot be.
    pub fn nominate(&mut self, database: &Database, range: &Range) -> Option<Offer> {
        loop {
            let stage = *self.stages.get(self.at)?;
            let bounds = database.bounds(&stage);
            if let Some(rate) = self.wanted(&stage, bounds, database, range) {
                let duration = stage.trial;
                return Some(Offer { rate, duration });
            }
            // The last stage is never left: a trial for another goal may move its bounds yet.
            if self.at + 1 >= self.stages.len() {
                return None;
            }
            self.at += 1;
            // A stage that is no finer confirms what was found.
            let finer = self.stages.get(self.at)?.width < stage.width;
            let found = bounds.lower.filter(|_| !finer);
            self.guess = found.unwrap_or_else(|| middle_of(bounds, range));
        }
    }

    fn wanted(
        &mut self,
        stage: &Stage,
        bounds: Bounds,
        database: &Database,
        range: &Range,
    ) -> Option<Rate> {
        let lower = bounds.lower;
        let upper = barrier(bounds, range);
        match (lower, upper) {
            (Some(low), None) if low >= range.maximum => return None,
            (None, Some(high)) if high <= range.minimum => return None,
            (Some(low), Some(high)) if low >= high || stage.is_narrow(low, high) => return None,
            _ => {}
        }
        let step = stage.log_step();
        self.learn_guess(step, upper, database);
        let load = self.between(step, lower, upper, range);
        Some(near(database, load, step, lower, upper))
    }

    /// In the first stage what came back of a load that failed is where the truth may lie, if that is further
    /// away than the next step would go. Later ones know better than one trial in which something happened.
    fn learn_guess(&mut self, step: f64, upper: Option<Rate>, database: &Database) {
        let Some(high) = upper.filter(|&high| self.at == 0 && high <= self.guess) else {
            return;
        };
        let Some(load) = database.get(high) else {
            return;
        };
        let hint = load.hint(self.goal.loss_ratio);
        let gallop = (self.guess.fps() / high.fps()).ln().max(step);
        if hint.fps() < high.fps() * (-gallop).exp() {
            self.guess = hint;
        }
    }

    /// The load to try: always within the range, and between the bounds there are.
    fn between(&self, step: f64, lower: Option<Rate>, upper: Option<Rate>, range: &Range) -> Rate {
        let (floor, top) = (range.minimum.fps().ln(), range.maximum.fps().ln());
        let guess = self.guess.max(range.minimum).fps().ln();
        let low = lower.map(|rate| rate.fps().ln());
        let high = upper.map(|rate| rate.fps().ln());
        let middle = low.zip(high).map(|(low, high)| split(step, low, high));
        // A guess closer to a bound than half a step would say nothing new.
        let load = match (low, high) {
            (Some(low), _) if guess < low + step / 2.0 => {
                let single = if self.at == 0 { 0.0 } else { step };
                let up = low + (low - guess - single).max(step);
                middle.map_or(up, |middle| up.min(middle))
            }
            (_, Some(high)) if guess > high - step / 2.0 => {
                let down = high - (guess - high).max(step);
                middle.map_or(down, |middle| down.max(middle))
            }
            _ => return self.guess.max(range.minimum),
        };
        // Next to an end of the range the end itself is worth more.
        if lower.is_none() && load <= floor + step / 2.0 {
            return range.minimum;
        }
        if upper.is_none() && load >= top - step / 2.0 {
            return range.maximum;
        }
        Rate::from_fps(load.exp())
    }
}

/// The upper bound, or what the tester cannot offer where that is lower.
pub fn barrier(bounds: Bounds, range: &Range) -> Option<Rate> {
    match (bounds.upper, range.limit) {
        (Some(upper), Some(limit)) => Some(upper.min(limit)),
        (upper, limit) => upper.or(limit),
    }
}

/// The next stage's guess.
fn middle_of(bounds: Bounds, range: &Range) -> Rate {
    match (bounds.lower, barrier(bounds, range)) {
        (Some(low), Some(high)) => Rate::from_fps((low.fps() * high.fps()).sqrt()),
        (Some(low), None) => low,
        (None, Some(high)) => high.min(range.maximum),
        (None, None) => range.maximum,
    }
}

/// Splits an interval of loads (as logarithms) into pieces of a step at most; the load above the lower half
/// of them.
fn split(step: f64, low: f64, high: f64) -> f64 {
    let pieces = ((high - low) / step).ceil().max(2.0);
    low + (high - low) * (pieces / 2.0).floor() / pieces
}

/// A load already tried between the same bounds and so close that it says the same, else the load itself.
fn near(
    database: &Database,
    load: Rate,
    step: f64,
    lower: Option<Rate>,
    upper: Option<Rate>,
) -> Rate {
    let inside =
        |rate: &Rate| lower.is_none_or(|low| *rate > low) && upper.is_none_or(|high| *rate < high);
    let distance = |rate: &Rate| (rate.fps() / load.fps()).ln().abs();
    database
        .rates()
        .filter(inside)
        .filter(|rate| distance(rate) <= step * SAME_SHARE)
        .min_by(|one, other| distance(one).total_cmp(&distance(other)))
        .unwrap_or(load)
}
