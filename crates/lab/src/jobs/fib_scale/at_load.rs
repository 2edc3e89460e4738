//! What a frame costs the router at one load for all points of a frame size. The load is a share of what the first point
//! forwards, so the CPU has time left at each point. Router and a wire in its place have that load in turns.

use crate::clock::Deadline;
use crate::doubt::{fixed_overloaded, is_carried, trials_doubts};
use crate::jobs::turns::{FIXED_SHARE, Rounds};
use crate::jobs::{JobError, Judged, Phase, Trials};
use crate::line;
use crate::search::exit_program;
use crate::search::measurer::Measurer;
use crate::search::saturation::{Saturated, TRIAL, block, through};
use crate::tester::{ReceiverPlace, Tester};
use crate::trial;
use mpps_method::distance::{Distance, select_one_distance};
use mpps_method::saturation::{Block, FrameCost};
use mpps_method::statistics::median;
use mpps_method::turns::TurnOrder;
use mpps_method::{FrameSpec, Offer, Rate, Span, Trial, Verdict};
use mpps_record::doubts::EXIT_UNTIMED;
use mpps_record::{AtLoad, PointLine};
use std::collections::BTreeMap;

/// Pairs that are enough: the median of six has a 95 % interval.
const PAIRS: u32 = 6;
/// Time for them, about, at most.
pub const AT_LOAD_TIME: Span = Span::from_millis(6_000);

/// The load of each frame size, once a point of it is known to forward something.
#[derive(Debug, Default)]
pub(super) struct Loads(BTreeMap<String, Rate>);

impl Loads {
    /// The load of this size. The first point with a maximum forwarding rate sets it for all later ones.
    pub(super) fn of(&mut self, frames: &FrameSpec, saturated: &Saturated) -> Option<Rate> {
        let name = frames.to_string();
        if !self.0.contains_key(&name) {
            let forwards = saturated.maximum()?.forwarding.middle;
            let load = Rate::from_fps((FIXED_SHARE * forwards).round());
            self.0.insert(name.clone(), load);
        }
        self.0.get(&name).copied()
    }
}

/// Measures the cost at this load into the line, with its doubts, as far as it came.
pub(super) fn measure(
    tester: &mut Tester<'_>,
    load: Rate,
    line: &mut PointLine,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    let mut turns = Turns::default();
    let taken = trials.apart(|trials| turns.take(tester, load, trials));
    let measured = taken.and_then(|()| turns.tell(tester, load));
    let (cost, why) = match &measured {
        Ok(Ok(cost)) => (Some(cost), None),
        Ok(Err(why)) => (None, Some(why.clone())),
        Err(error) => (None, Some(error.to_string())),
    };
    line.at_load = Some(AtLoad {
        load_fps: line::whole_fps(load),
        cost: cost.map(line::frame_cost),
        pairs: cost.map_or(0, |cost| cost.pairs),
        cpu_distance_ns: cost.and_then(|_| turns.distance_ns()),
        why,
        trials: turns.numbers.clone(),
    });
    let mut doubts = trials_doubts(&tester.surroundings(), &turns.tried);
    doubts.extend(fixed_overloaded(turns.of_router()));
    let of_overload = std::mem::take(&mut line.doubts).into_iter();
    let of_overload = of_overload.filter(|doubt| doubt.name == EXIT_UNTIMED);
    line.doubts = of_overload.chain(line::doubts(&doubts)).collect();
    measured.map(drop)
}

/// What trials in turns told.
#[derive(Default)]
struct Turns {
    /// Why no wire can be laid.
    lacking: Option<String>,
    /// All trials, in their order.
    numbers: Vec<u32>,
    /// Pairs of which both trials say something: the router's, the wire's.
    pairs: Vec<[Block; 2]>,
    /// The router's trials of these pairs: a wire routes no frame.
    tried: Vec<(Trial, Verdict)>,
}

impl Turns {
    /// Takes turns until enough pairs count, or the time is spent. No trial is repeated.
    fn take(
        &mut self,
        tester: &mut Tester<'_>,
        load: Rate,
        trials: &mut Trials<'_>,
    ) -> Result<(), JobError> {
        let mut rounds = Rounds::new(Deadline::after(Some(AT_LOAD_TIME)));
        for turn in 0.. {
            if self.cost().is_some_and(|cost| cost.pairs >= PAIRS) || !rounds.begin() {
                break;
            }
            let pair = TurnOrder::new(turn).both(|at| {
                let phase = [Phase::Fixed, Phase::Wire][at];
                let tried = through(tester, phase, Offer::new(load, TRIAL), trials, trial::run)?;
                self.numbers
                    .extend(tried.as_ref().map(|judged| judged.number));
                Ok::<_, JobError>(tried)
            })?;
            let [Some(router), Some(wire)] = pair else {
                self.lacking = Some(tester.surroundings().why_no_wire());
                break;
            };
            self.add([router, wire]);
        }
        Ok(())
    }

    fn add(&mut self, [router, wire]: [Judged; 2]) {
        if router.verdict.counts() && wire.verdict.counts() {
            let blocks = [block(&router.trial), block(&wire.trial)];
            self.pairs.push(blocks);
            self.tried.push((router.trial, router.verdict));
        }
    }

    fn of_router(&self) -> impl Iterator<Item = &Block> {
        self.pairs.iter().map(|[router, _]| router)
    }

    /// Pairs whose load the router carried.
    fn carried(&self) -> impl Iterator<Item = &[Block; 2]> {
        self.pairs.iter().filter(|[router, _]| is_carried(router))
    }

    /// How far apart the CPUs were in most of them. It is each point's own: a hypervisor moves CPUs between overload and here.
    fn distance_ns(&self) -> Option<f64> {
        let both = |[router, wire]: &[Block; 2]| router.distance.with(wire.distance);
        let distances: Vec<Distance> = self.carried().map(both).collect();
        let here = select_one_distance(&distances).into_iter();
        let here = here.filter_map(|place| distances.get(place)?.steady());
        median(&here.map(|at| at.round_trip_ns).collect::<Vec<_>>())
    }

    /// Of those at this distance, with the bed's part as the wire has it.
    fn cost(&self) -> Option<FrameCost> {
        let (router, wire): (Vec<Block>, Vec<Block>) = self
            .carried()
            .map(|[router, wire]| (router.clone(), wire.clone()))
            .unzip();
        FrameCost::from_blocks(&router, &wire, self.distance_ns())
    }

    /// The cost without what the receiver's program takes more through the wire, or why there is none.
    fn tell(
        &self,
        tester: &mut Tester<'_>,
        load: Rate,
    ) -> Result<Result<FrameCost, String>, JobError> {
        let cost = match self.enough() {
            Ok(cost) if tester.traffic.receiver == ReceiverPlace::Exit => cost,
            told => return Ok(told),
        };
        let program = exit_program::measure(tester, [load; 2], self.distance_ns(), trial::run)?;
        let untimed = || "the receiver's program at the exit could not be timed".to_owned();
        Ok(program
            .map(|program| cost.moved_to_router(program.more_ns))
            .ok_or_else(untimed))
    }

    fn enough(&self) -> Result<FrameCost, String> {
        if let Some(why) = &self.lacking {
            return Err(why.clone());
        }
        let few = || {
            let overloaded = fixed_overloaded(self.of_router());
            overloaded.map_or_else(
                || {
                    let pairs = self.numbers.len() / 2;
                    format!("of {pairs} pairs of trials, of the router and of a wire, fewer than 3 count")
                },
                |doubt| doubt.seen,
            )
        };
        let known = self.cost().filter(|cost| !cost.has_few_pairs());
        known.ok_or_else(few)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::saturation::simulate;
    use mpps_method::Window;
    use mpps_method::simulate::Properties;

    #[test]
    fn the_first_rate_sets_the_load_of_its_size() {
        let sizes = FrameSpec::parse_list("64,1518").expect("sizes");
        let forwards = |fps| simulate(&Properties::ideal(Rate::from_fps(fps)));
        let mut loads = Loads::default();
        let mut load = |size: usize, found: &Saturated| loads.of(&sizes[size], found);
        assert_eq!(load(0, &Saturated::default()), None);
        let first = Some(Rate::from_fps(400_000.0));
        assert_eq!(load(0, &forwards(1e6)), first);
        // A later point forwards more, less, or nobody knows.
        for later in [forwards(3e6), forwards(1e5), Saturated::default()] {
            assert_eq!(load(0, &later), first);
        }
        let other = Some(Rate::from_fps(200_000.0));
        assert_eq!(load(1, &forwards(5e5)), other);
        assert_eq!(load(0, &forwards(1e6)), first);
    }

    /// A trial at 400 kfps in which each frame took so long.
    fn block_of(ns: f64) -> Block {
        let window = Window {
            duration: Span::from_millis(8),
            forwarded: 3_200,
            ..Window::default()
        };
        Block {
            sent: Rate::from_fps(4e5),
            busiest: Some((4e5 * ns / 1e9).min(1.0)),
            ns_per_frame: Some(ns),
            windows: vec![window; 20],
            ..Block::default()
        }
    }

    fn turns(router_ns: &[f64]) -> Turns {
        let pair = |&ns: &f64| [block_of(ns), block_of(500.0)];
        Turns {
            pairs: router_ns.iter().map(pair).collect(),
            numbers: (1..=2 * router_ns.len() as u32).collect(),
            ..Turns::default()
        }
    }

    #[test]
    fn a_cost_is_the_difference_within_pairs() {
        let cost = turns(&[700.0, 720.0, 710.0]).enough().expect("a cost");
        let router = [
            cost.router_ns.low,
            cost.router_ns.middle,
            cost.router_ns.high,
        ];
        assert_eq!((router, cost.pairs), ([200.0, 210.0, 220.0], 3));
        assert_eq!(cost.bed_ns.middle, 500.0);
    }

    #[test]
    fn pairs_of_two_distances_are_no_cost() {
        let few = turns(&[700.0, 720.0]).enough();
        let why = few.expect_err("two pairs");
        assert!(why.starts_with("of 2 pairs of trials"), "{why}");
        let mut moved = turns(&[700.0, 720.0, 710.0, 900.0, 900.0]);
        let places = [300.0, 300.0, 310.0, 60.0, 60.0].map(Distance::at);
        for (pair, at) in moved.pairs.iter_mut().zip(places) {
            pair.iter_mut().for_each(|block| block.distance = at);
        }
        let cost = moved.enough().expect("three pairs at one distance");
        assert_eq!((cost.pairs, cost.router_ns.middle), (3, 210.0));
        assert_eq!(moved.distance_ns(), Some(300.0));
        moved.pairs.remove(0);
        assert!(moved.enough().is_err());
        let lacking = Turns {
            lacking: Some("no hook".to_owned()),
            ..turns(&[700.0; 6])
        };
        assert_eq!(lacking.enough(), Err("no hook".to_owned()));
    }

    #[test]
    fn a_router_that_cannot_carry_it_has_no_cost() {
        // 2500 ns at 400 kfps are all of a CPU.
        let why = turns(&[2_500.0; 6]).enough().expect_err("no time left");
        assert!(
            why.starts_with("in 6 of 6 trials at the fixed load"),
            "{why}"
        );
        // Some trials in a slow state of the machine do not count, and the doubt tells of them.
        let some = turns(&[700.0, 2_500.0, 700.0, 700.0]);
        assert_eq!(some.enough().expect("a cost").pairs, 3);
        assert!(fixed_overloaded(some.of_router()).is_some());
        let mut lossy = turns(&[700.0; 6]);
        lossy.pairs[..4]
            .iter_mut()
            .for_each(|[router, _]| router.lost = 0.006);
        let why = lossy.enough().expect_err("frames lost");
        assert!(why.starts_with("in 4 of 6 trials"), "{why}");
    }
}
