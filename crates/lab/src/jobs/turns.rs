//! Some that take turns with the traffic, A B B A, so that what the machine does meets all of them: testers on beds that
//! stand at once, or builds of mpps. What each forwards at most, and then pairs until every comparison has ended.

mod forwards;

use super::compare::Measured;
use crate::clock::{Deadline, monotonic_ns};
pub use forwards::{Forwards, share_loads};
use mpps_method::compare::{Comparison, Measure, Rule, Turn};
use mpps_method::saturation::Block;
use mpps_method::turns::TurnOrder;
use mpps_method::{Rate, Span};

/// The fixed load, of what the slowest forwards at most. A restless machine slows a DUT by half for seconds. At 70 % the CPU
/// was full in 287 of 573 pairs there. At 40 % it would be in 13, computed from the cost of a frame in these trials
/// (`bench/runs/2026-11-28-xeon-vm-2cpu/compare-aa`).
const FIXED_SHARE: f64 = 0.4;

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
pub struct Turned {
    /// What its turns are called.
    pub name: String,
    /// What it forwards, and so the load of its next turn.
    pub forwards: Forwards,
    turns: Vec<Turn>,
    trials: Vec<[u32; 2]>,
    /// With the first one; `None` for the first one.
    comparison: Option<Comparison>,
}

impl Turned {
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
    fn turned(&mut self) -> &mut Turned;

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
pub fn find_rates<S, T: TakesTurns<S>>(all: &mut [T], shared: &mut S) -> Result<Measure, T::Error> {
    let (least, most) = T::FIRST_TRIALS;
    let (mut ends_first, mut known) = (false, 0);
    for round in 0..most {
        if round >= least && known >= all.len() {
            break;
        }
        known = 0;
        for one in all.iter_mut() {
            let forwards = one.turned().forwards;
            let load = (forwards.most > 0.0).then(|| forwards.next());
            let first = one.first(load, shared)?;
            ends_first |= load.is_none() && first.lost_nothing;
            let forwards = &mut one.turned().forwards;
            forwards.learn(&first.block, first.whole_fps, ends_first);
            known += usize::from(forwards.is_known);
        }
    }
    share_loads_of(all);
    Ok(match ends_first {
        true => Measure::Cost,
        false => Measure::Rate,
    })
}

/// Those about as fast as the first one get its load.
fn share_loads_of<S, T: TakesTurns<S>>(all: &mut [T]) {
    share_loads(all.iter_mut().map(|one| &mut one.turned().forwards));
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
        one.turned().comparison = comparison;
    }
    let slowest = all.iter_mut().map(|one| one.turned().forwards.most);
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
            let comparison = one.turned().comparison.as_mut();
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
            let turned = one.turned();
            turned.forwards.raise_to(&turn.overload);
            turned.turns.push(turn);
            turned.trials.push(numbers);
        }
        order.arrange(&mut wanted);
        let mut each = wanted.into_iter().map(T::turned);
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
mod tests {
    use super::*;
    use mpps_method::compare::Finding;
    use mpps_method::saturation::Window;

    #[test]
    fn comparisons_of_a_run_are_told_together() {
        let rule = Rule {
            measure: Measure::Rate,
            within: 0.02,
            alike: 0.01,
        };
        let turn = |forwarded| Turn {
            overload: Block {
                sent: Rate::from_fps(3e6),
                windows: vec![
                    Window {
                        duration: Span::from_millis(10),
                        forwarded,
                        ..Window::default()
                    };
                    20
                ],
                ..Block::default()
            },
            ..Turn::default()
        };
        // With two others each may be wrong half as often, which 8 pairs cannot show.
        for (variants, wanted) in [(2, 8), (3, 12), (8, 12)] {
            let mut all: Vec<_> = comparisons(rule, variants).collect();
            assert!(all[0].is_none() && all.len() == variants);
            let last = all.pop().flatten();
            let mut last = last.expect("a comparison");
            let mut pairs = 0;
            while pairs < 20 && !last.look() {
                last.add(&turn(10_000), &turn(8_000));
                pairs += 1;
            }
            assert_eq!(pairs, wanted, "{variants} variants");
        }
    }

    /// Forwards this rate of what it is offered.
    struct Router {
        turned: Turned,
        fps: f64,
        /// In the first trials it forwards this share of it.
        first: f64,
    }

    impl Router {
        fn new(name: &str, fps: f64) -> Self {
            let turned = Turned::new(name);
            let first = 1.0;
            Self { turned, fps, first }
        }

        fn block(sent: Rate, fps: f64) -> Block {
            let window = Window {
                duration: Span::from_millis(10),
                forwarded: (sent.fps().min(fps) / 100.0) as u64,
                ..Window::default()
            };
            Block {
                sent,
                windows: vec![window; 20],
                ..Block::default()
            }
        }
    }

    /// With the names of those that had turns.
    impl TakesTurns<String> for Router {
        type Error = String;
        const FIRST_TRIALS: (u32, u32) = (2, 3);

        fn turned(&mut self) -> &mut Turned {
            &mut self.turned
        }

        fn first(&mut self, load: Option<Rate>, _: &mut String) -> Result<First, String> {
            let load = load.unwrap_or(Rate::from_fps(3e6));
            Ok(First {
                block: Self::block(load, self.first * self.fps),
                whole_fps: self.fps,
                lost_nothing: self.fps >= load.fps(),
            })
        }

        fn turn(&mut self, fixed: Rate, names: &mut String) -> Result<(Turn, [u32; 2]), String> {
            names.push_str(&self.turned.name);
            if names.len() == 30 {
                return Err(names.clone());
            }
            let overload = Self::block(self.turned.forwards.overload(), self.fps);
            let fixed = Self::block(fixed, self.fps);
            Ok((Turn { overload, fixed }, [names.len() as u32; 2]))
        }
    }

    fn found(
        routers: &[(&str, f64)],
        whole_rounds: bool,
    ) -> (Vec<Measured>, String, Result<Rate, String>) {
        let mut all: Vec<Router> = routers
            .iter()
            .map(|(n, fps)| Router::new(n, *fps))
            .collect();
        let mut names = String::new();
        let measure = find_rates(&mut all, &mut names).expect("rates");
        let rule = Rule {
            measure,
            within: 0.02,
            alike: 0.01,
        };
        let (fixed, ended) = compare(&mut all, rule, (Deadline::NEVER, whole_rounds), &mut names);
        let measured = all.into_iter().map(|one| one.turned.end());
        (measured.collect(), names, ended.map(|()| fixed))
    }

    #[test]
    fn turns_are_a_b_b_a_until_a_finding() {
        let (measured, names, ended) = found(&[("a", 1e6), ("b", 0.8e6)], false);
        assert_eq!(names, "abbabaababbabaab", "a pair a round, 8 of them");
        assert_eq!(ended, Ok(Rate::from_fps(0.8e6 * FIXED_SHARE)));
        let compared = measured[1].compared.expect("a comparison");
        assert_eq!(compared.finding, Finding::Different);
        let rate = compared.rate.expect("an interval").middle;
        assert!(
            (rate + 0.2).abs() < 0.001 && measured[0].compared.is_none(),
            "{rate}"
        );
        // Their numbers are those of their own turns.
        assert_eq!(measured[0].trials[..2], [[1; 2], [4; 2]]);
        assert_eq!(measured[1].trials[..2], [[2; 2], [3; 2]]);
    }

    #[test]
    fn whole_rounds_go_on_after_a_finding() {
        let (measured, names, ended) = found(&[("a", 1e6), ("b", 0.8e6)], true);
        assert_eq!(names.len(), 30, "until a turn fails");
        assert_eq!(ended, Err(names));
        let turns = [0, 1].map(|at: usize| measured[at].turns.len());
        assert_eq!(turns, [14, 15]);
        // The finding is that of the eight pairs that told it.
        assert_eq!(measured[1].compared.expect("a comparison").pairs, 8);
    }

    #[test]
    fn a_turn_that_fails_keeps_those_before_it() {
        let (measured, names, ended) = found(&[("a", 1e6), ("b", 1e6), ("c", 0.99e6)], false);
        assert_eq!(ended, Err(names.clone()));
        let turns: usize = measured.iter().map(|one| one.turns.len()).sum();
        assert_eq!(turns, 29, "{names}");
        // Those about as fast as the first one get its load.
        assert!(
            measured
                .iter()
                .all(|one| one.overload == measured[0].overload)
        );
    }

    #[test]
    fn what_a_turn_forwards_raises_the_load() {
        let slow = |name, fps| Router {
            first: 0.8,
            ..Router::new(name, fps)
        };
        let rule = Rule {
            measure: Measure::Rate,
            within: 0.02,
            alike: 0.01,
        };
        let (mut all, mut names) = ([slow("a", 1e6), slow("b", 0.99e6)], String::new());
        find_rates(&mut all, &mut names).expect("rates");
        let most = |all: &[Router; 2]| all.each_ref().map(|one| one.turned.forwards.most);
        assert_eq!(most(&all), [0.8e6; 2], "one load overloads both");
        let (_, ended) = compare(&mut all, rule, (Deadline::NEVER, false), &mut names);
        assert!(ended.is_ok(), "{ended:?}");
        assert_eq!(most(&all), [1e6; 2]);
    }

    #[test]
    fn no_round_begins_after_the_deadline() {
        let spent = Deadline::after(Some(Span::ZERO)).earlier(Span::from_millis(1));
        let mut all = [Router::new("a", 1e6), Router::new("b", 1e6)];
        let rule = Rule {
            measure: Measure::Rate,
            within: 0.02,
            alike: 0.01,
        };
        let mut names = String::new();
        let (_, ended) = compare(&mut all, rule, (spent, false), &mut names);
        assert!(ended.is_ok() && names.is_empty(), "{names}");
    }
}
