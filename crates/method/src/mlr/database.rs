//! All loads that were tried, in order, with their trials; and the relevant bounds they give a goal.

use super::goal::Stage;
use super::load::{Bound, Load, TrialResult};
use crate::search::Passes;
use crate::units::{Rate, Span};

/// The loads.
#[derive(Clone, Debug, Default)]
pub struct Database {
    loads: Vec<Load>,
}

/// Relevant bounds (RFC 9971, "Result Terms"): the lowest load that is an upper bound, and the highest lower
/// bound below it. Without an upper bound the highest lower bound stands in, as the "effective" one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Relevant lower bound.
    pub lower: Option<Rate>,
    /// Relevant upper bound.
    pub upper: Option<Rate>,
}

impl Database {
    /// The load, with a place made for it where it is new.
    pub fn at(&mut self, rate: Rate) -> &mut Load {
        let place = self.loads.partition_point(|load| load.rate < rate);
        if self.get(rate).is_none() {
            self.loads.insert(place, Load::new(rate));
        }
        // Just found, or just made.
        #[allow(clippy::indexing_slicing, reason = "place is below the length by now")]
        &mut self.loads[place]
    }

    /// The load, if it was tried.
    #[must_use]
    pub fn get(&self, rate: Rate) -> Option<&Load> {
        self.loads.iter().find(|load| load.rate == rate)
    }

    /// The loads tried, low to high.
    pub fn rates(&self) -> impl Iterator<Item = Rate> {
        self.loads.iter().map(|load| load.rate)
    }

    /// The lowest load with a trial that says something of the DUT.
    #[must_use]
    pub fn lowest_judged(&self) -> Option<&Load> {
        self.loads.iter().find(|load| load.is_judged())
    }

    /// The highest load below `failed` that the trials so far speak for. Its own trials pass this stage. More trials passed at
    /// it or above than failed at it or below: one early failure outweighs no later passes, and one lucky pass no failure.
    #[must_use]
    pub fn likely(&self, stage: &Stage, failed: Option<Rate>) -> Option<Rate> {
        let so_far = stage.by_trials_so_far();
        let below = |load: &&Load| failed.is_none_or(|failed| load.rate < failed);
        let loads: Vec<(&Load, Passes)> = (self.loads.iter().filter(below))
            .map(|load| (load, load.passes(stage.loss_ratio, Span::ZERO)))
            .collect();
        let failures = |passes: &Passes| passes.judged - passes.lossless;
        let mut passed_from_here = 0;
        let mut failed_to_here: u32 = loads.iter().map(|(_, passes)| failures(passes)).sum();
        let mut highest_first = loads.iter().rev();
        let found = highest_first.find(|(load, passes)| {
            passed_from_here += passes.lossless;
            let speaks = passed_from_here > failed_to_here;
            failed_to_here -= failures(passes);
            speaks && load.classify(&so_far) == Bound::Lower
        });
        found.map(|(load, _)| load.rate)
    }

    /// Adds a trial that says something of the DUT. The tester can offer this load, so it can offer those below it.
    pub fn add(&mut self, rate: Rate, result: TrialResult) {
        self.at(rate).add(result);
        let below = self.loads.iter_mut().filter(|load| load.rate < rate);
        below.for_each(|load| (load.not_offered, load.disturbed) = (0, 0));
    }

    /// The lowest load that the tester failed to offer, or that was disturbed, so many times; `None` where there is none.
    #[must_use]
    pub fn limit(&self, times: u32) -> Option<&Load> {
        let failed = |load: &&Load| load.not_offered.max(load.disturbed) >= times;
        self.loads.iter().find(failed)
    }

    /// The lowest load with a trial within this loss ratio, below a load that failed.
    #[must_use]
    pub fn lowest_pass(&self, loss_ratio: f64, failed: Option<Rate>) -> Option<Rate> {
        let below = |load: &&Load| failed.is_none_or(|failed| load.rate < failed);
        let passed = |load: &&Load| load.longest_pass(loss_ratio).is_some();
        let mut loads = self.loads.iter().filter(below);
        Some(loads.find(passed)?.rate)
    }

    /// The lowest load above this one that fails the stage.
    #[must_use]
    pub fn lowest_failed(&self, stage: &Stage, above: Option<Rate>) -> Option<Rate> {
        let above = |load: &&Load| above.is_none_or(|above| load.rate > above);
        let mut loads = self.loads.iter().filter(above);
        let failed = loads.find(|load| load.classify(stage) == Bound::Upper)?;
        Some(failed.rate)
    }

    /// The relevant bounds. From low loads to high ones, so that a lower bound above an upper one (loss
    /// inversion) is taken for the fluke.
    #[must_use]
    pub fn bounds(&self, stage: &Stage) -> Bounds {
        let mut lower = None;
        for load in &self.loads {
            match load.classify(stage) {
                Bound::Undecided => {}
                Bound::Lower => lower = Some(load.rate),
                Bound::Upper => {
                    let upper = Some(load.rate);
                    return Bounds { lower, upper };
                }
            }
        }
        Bounds { lower, upper: None }
    }
}
