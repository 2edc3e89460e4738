//! Variants (testers on beds that stand at once, or builds of mpps) that take turns, A B B A, so that what the machine does
//! meets all of them. What each forwards at most, and then pairs until every comparison has ended.

mod forwards;

use super::compare::Measured;
use crate::clock::{Deadline, monotonic_ns};
pub use forwards::{Forwards, share_loads};
use mpps_method::compare::{Comparison, Rule, ToldBy, Turn};
use mpps_method::saturation::Block;
use mpps_method::turns::TurnOrder;
use mpps_method::{Rate, Span};

/// The fixed load, of what the slowest forwards at most. A restless machine slows a DUT by half for seconds. At 70 % the CPU
/// was full in 287 of 573 pairs there. At 40 % it would be in 13, computed from the cost of a frame in these trials
/// (`bench/runs/2026-11-28-xeon-vm-2cpu/compare-aa`).
pub const FIXED_SHARE: f64 = 0.4;

/// Rounds of turns, while there is time for one more that takes as long as the last one.
#[derive(Debug)]
pub struct Rounds {
    deadline: Deadline,
    begun_ns: Option<u64>,
}

impl Rounds {
    /// None has begun.
    #[must_use]
    pub const fn new(deadline: Deadline) -> Self {
        let begun_ns = None;
        Self { deadline, begun_ns }
    }

    /// Whether there is time for another one, which begins now.
    pub fn begin(&mut self) -> bool {
        let now_ns = monotonic_ns();
        let last_ns = self.begun_ns.replace(now_ns).unwrap_or(now_ns);
        self.deadline.leaves(Span::from_nanos(now_ns - last_ns))
    }
}

/// What is known of one of them.
#[derive(Debug, Default)]
pub struct Progress {
    /// What its turns are called.
    pub name: String,
    /// What it forwards, and so the load of its next turn.
    pub forwards: Forwards,
    turns: Vec<Turn>,
    trials: Vec<[u32; 2]>,
    /// With the first one; `None` for the first one.
    comparison: Option<Comparison>,
}

impl Progress {
    /// No turn yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// What its turns tell.
    #[must_use]
    pub fn end(self) -> Measured {
        Measured {
            name: self.name,
            overload: self.forwards.overload(),
            turns: self.turns,
            trials: self.trials,
            compared: self.comparison.map(Comparison::end),
            ..Measured::default()
        }
    }
}

/// What a trial says of what is forwarded at most.
#[derive(Debug)]
pub struct First {
    /// What was forwarded.
    pub block: Block,
    /// In all of its time, frames/s.
    pub whole_fps: f64,
    /// Whether the router lost no frame.
    pub lost_nothing: bool,
}

/// One that takes turns, with what all of them share.
pub trait TakesTurns<Shared> {
    /// Why a turn failed.
    type Error;
    /// First trials: at least, and at most where all were disturbed.
    const FIRST_TRIALS: (u32, u32);

    /// What is known of it.
    fn progress(&mut self) -> &mut Progress;

    /// A trial at this load; `None`: at all that the sender can.
    ///
    /// # Errors
    /// It failed.
    fn first(&mut self, load: Option<Rate>, shared: &mut Shared) -> Result<First, Self::Error>;

    /// A trial at its overload and one at this load, with their numbers.
    ///
    /// # Errors
    /// One of them failed.
    fn turn(&mut self, fixed: Rate, shared: &mut Shared) -> Result<(Turn, [u32; 2]), Self::Error>;
}

/// What each forwards at most, and what tells them apart: the rate, if all lost frames at the most that the sender can.
///
/// # Errors
/// A trial failed.
pub fn find_rates<S, T: TakesTurns<S>>(all: &mut [T], shared: &mut S) -> Result<ToldBy, T::Error> {
    let (least, most) = T::FIRST_TRIALS;
    let (mut ends_first, mut known) = (false, 0);
    for round in 0..most {
        if round >= least && known >= all.len() {
            break;
        }
        known = 0;
        for one in all.iter_mut() {
            let forwards = one.progress().forwards;
            let load = (forwards.most > 0.0).then(|| forwards.next());
            let first = one.first(load, shared)?;
            ends_first |= load.is_none() && first.lost_nothing;
            let forwards = &mut one.progress().forwards;
            forwards.learn(&first.block, first.whole_fps, ends_first);
            known += usize::from(forwards.is_known);
        }
    }
    share_loads_of(all);
    Ok(match ends_first {
        true => ToldBy::Cost,
        false => ToldBy::Rate,
    })
}

/// Those about as fast as the first one get its load.
fn share_loads_of<S, T: TakesTurns<S>>(all: &mut [T]) {
    share_loads(all.iter_mut().map(|one| &mut one.progress().forwards));
}

/// Turns of all until each comparison with the first one has ended, or the time is spent; where rounds are to be whole, until
/// the time is spent. Returns the load that all carry, and what ended it early.
pub fn compare<S, T: TakesTurns<S>>(
    all: &mut [T],
    rule: Rule,
    (deadline, whole_rounds): (Deadline, bool),
    shared: &mut S,
) -> (Rate, Result<(), T::Error>) {
    let comparisons = comparisons(rule, all.len());
    for (one, comparison) in all.iter_mut().zip(comparisons) {
        one.progress().comparison = comparison;
    }
    let slowest = all.iter_mut().map(|one| one.progress().forwards.most);
    let fixed = Rate::from_fps(slowest.fold(f64::INFINITY, f64::min) * FIXED_SHARE);
    let rounds = (Rounds::new(deadline), whole_rounds);
    (fixed, take(all, fixed, rounds, shared))
}

/// None of the first one, and one of each other one: all of them together hold in 19 of 20 runs.
fn comparisons(rule: Rule, count: usize) -> impl Iterator<Item = Option<Comparison>> {
    let others = count.saturating_sub(1);
    let one = move |place: usize| (place > 0).then(|| Comparison::one_of(rule, others));
    (0..count).map(one)
}

fn take<S, T: TakesTurns<S>>(
    all: &mut [T],
    fixed: Rate,
    (mut rounds, are_whole): (Rounds, bool),
    shared: &mut S,
) -> Result<(), T::Error> {
    for half_round in 0_u64.. {
        let ended = |one: &mut T| {
            let comparison = one.progress().comparison.as_mut();
            comparison.is_some_and(Comparison::is_done)
        };
        let mut wanted: Vec<&mut T> = all.iter_mut().collect();
        // Each looks, whether or not it goes on.
        wanted.retain_mut(|one| !ended(one) || are_whole);
        if wanted.len() < 2 || !rounds.begin() {
            break;
        }
        let order = TurnOrder::from_half_round(half_round);
        order.arrange(&mut wanted);
        for one in &mut wanted {
            let (turn, numbers) = one.turn(fixed, shared)?;
            let progress = one.progress();
            progress.forwards.raise_to(&turn.overload);
            progress.turns.push(turn);
            progress.trials.push(numbers);
        }
        order.arrange(&mut wanted);
        let mut each = wanted.into_iter().map(T::progress);
        let base = each.next().and_then(|first| first.turns.last());
        for one in each {
            let pair = base.zip(one.turns.last());
            if let Some((comparison, (base, turn))) = one.comparison.as_mut().zip(pair) {
                comparison.add(base, turn);
            }
        }
        share_loads_of(all);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
