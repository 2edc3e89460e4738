//! Trials that earlier runs of the same plan recorded: a resumed run takes them in place of new ones.

use mpps_method::Span;
use mpps_method::compare::rate;
use mpps_method::saturation::Block;
use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};

/// A trial at overload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Its number in the record.
    pub number: u32,
    /// Which of the runs of the record it is of.
    pub run: usize,
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

/// All of them, by the turn that they were.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    turns: HashMap<String, VecDeque<Recorded>>,
    /// Names of those runs.
    pub names: Vec<String>,
    /// How long those runs measured.
    pub spent: Span,
    /// The number of the last of all trials.
    pub last_trial: u32,
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

    /// The next trials of two turns of one run. A run that was cut between them has one alone, which does not count.
    pub(super) fn take_both(&mut self, turns: &[String; 2]) -> Option<[Recorded; 2]> {
        let run = |earlier: &Self, turn| Some(earlier.turns.get(turn)?.front()?.run);
        loop {
            // No trial is later than any.
            let runs = turns
                .each_ref()
                .map(|turn| run(self, turn).unwrap_or(usize::MAX));
            match runs[0].cmp(&runs[1]) {
                Ordering::Less => self.take(&turns[0]),
                Ordering::Greater => self.take(&turns[1]),
                Ordering::Equal => return Some([self.take(&turns[0])?, self.take(&turns[1])?]),
            };
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A first run was cut after A, a second one after A B A, a third one after B A B: order changes from pair to pair.
    #[test]
    fn both_trials_of_a_pair_are_of_one_run() {
        let turns = ["gro on", "gro off"].map(str::to_owned);
        let mut earlier = Earlier::default();
        for (number, (run, turn)) in
            (1..).zip([(0, 0), (1, 0), (1, 1), (1, 0), (2, 1), (2, 0), (2, 1)])
        {
            let trial = Recorded {
                number,
                run,
                ..Recorded::default()
            };
            earlier.add(turns[turn].clone(), trial);
        }
        let pairs = std::iter::from_fn(|| earlier.take_both(&turns));
        let numbers: Vec<[u32; 2]> = pairs.map(|pair| pair.map(|trial| trial.number)).collect();
        assert_eq!(numbers, [[2, 3], [6, 5]]);
        assert!(turns.iter().all(|turn| !earlier.has(turn)));
    }
}
