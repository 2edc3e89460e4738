//! Trials that earlier runs of the same plan recorded: a resumed run takes them in place of new ones.

use crate::search::saturation::block;
use mpps_method::compare::rate;
use mpps_method::saturation::Block;
use mpps_method::{Span, Trial};
use std::collections::{HashMap, VecDeque};

/// A trial at overload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Its number in the record.
    pub number: u32,
    /// What it forwarded.
    pub overload: Block,
    /// What it forwarded in all of its time, frames/s.
    pub whole_fps: f64,
    /// Whether the router lost nothing: the tester ended first.
    pub lost_nothing: bool,
}

impl Recorded {
    /// What it forwarded undisturbed; where too little was, in all of its time: a bound from below.
    pub(super) fn forwarded(&self) -> f64 {
        rate(&self.overload).unwrap_or(self.whole_fps)
    }
}

/// What a trial forwarded in its undisturbed windows, frames/s; `None` where there are too few.
#[must_use]
pub fn forwarded_undisturbed(trial: &Trial) -> Option<f64> {
    rate(&block(trial.clone()))
}

/// All of them, by the turn that they were.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    turns: HashMap<String, VecDeque<Recorded>>,
    /// Names of those runs.
    pub names: Vec<String>,
    /// How long those runs measured.
    pub spent: Span,
    /// The number of the last of all trials.
    pub told: u32,
}

impl Earlier {
    /// Adds the next trial of a turn.
    pub fn add(&mut self, turn: String, trial: Recorded) {
        self.turns.entry(turn).or_default().push_back(trial);
    }

    /// Whether there is a trial of this turn that was not taken yet.
    pub(super) fn has(&self, turn: &str) -> bool {
        self.turns
            .get(turn)
            .is_some_and(|trials| !trials.is_empty())
    }

    /// The next trial of a turn.
    pub fn take(&mut self, turn: &str) -> Option<Recorded> {
        self.turns.get_mut(turn)?.pop_front()
    }

    /// The next trials of two turns; where one of them is missing the other does not count.
    pub(super) fn take_both(&mut self, turns: &[String; 2]) -> Option<[Recorded; 2]> {
        let [first, second] = turns.each_ref().map(|turn| self.take(turn));
        Some([first?, second?])
    }

    /// All trials of two turns, where there are so many of each.
    pub(super) fn take_all(
        &mut self,
        turns: &[String; 2],
        least: usize,
    ) -> Option<[Vec<Recorded>; 2]> {
        let all = turns
            .each_ref()
            .map(|turn| self.turns.remove(turn).unwrap_or_default());
        let enough = all.iter().all(|trials| trials.len() >= least);
        enough.then(|| all.map(Vec::from))
    }
}
