//! A wire in the router's place, in turns with it: what it takes of each of the router's stages is the bed's part. Virtual
//! NIC and exit are the bed's, whatever they take.

use super::load::{forwards, load_of};
use super::look::Beside;
use super::paired::parts;
use super::split::Profiled;
use super::{Depth, Explainer, overload_rate};
use crate::jobs::{JobError, Phase, Trials};
use crate::line::interval;
use crate::search::exit_program::{ExitProgram, corrected};
use crate::search::measurer::Measurer as _;
use crate::search::saturation::{SENDER_MAX, TRIAL, block};
use crate::tester::{Tester, TesterError, Wire};
use mpps_method::distance::Distance;
use mpps_method::saturation::{Block, FrameCost, pairs_at};
use mpps_method::stage::{Split, Stage, paired_changes};
use mpps_method::turns::TurnOrder;
use mpps_method::{Offer, Rate, statistics};
use mpps_record::ProfiledWire;

/// Fewer pairs tell nothing.
const PAIRS_MIN: usize = 3;

/// Trials of the router and of a wire beside them: not sampled, and sampled.
#[derive(Default)]
pub(super) struct Turn {
    pub router: [Option<Profiled>; 2],
    pub wire: [Option<Profiled>; 2],
}

/// What all turns say of a wire.
#[derive(Default)]
pub(super) struct Wires {
    /// Why none can be laid.
    lacking: Option<String>,
    /// The most that one was seen to carry, frames/s.
    pub most: f64,
    /// Of each sampled pair: the distance of the CPUs in both, the router's parts, and the wire's trial.
    sampled: Vec<(Distance, Split, Profiled)>,
    /// Those that were not sampled: the router's, the wire's.
    plain: [Vec<Block>; 2],
}

impl Wires {
    /// None so far.
    pub fn new(tester: &Tester<'_>) -> Result<Self, TesterError> {
        let is_laid = Wire::lay(tester.bed, &tester.ways())?.is_some();
        Ok(Self {
            lacking: (!is_laid).then(|| tester.surroundings().why_no_wire()),
            ..Self::default()
        })
    }

    /// Both trials of this turn at this load; beside each one of a wire, where lower loads are asked for.
    pub fn turn(
        &mut self,
        explainer: &mut Explainer<'_>,
        (turn, rate): (u32, Rate),
        trials: &mut Trials<'_>,
    ) -> Result<Turn, JobError> {
        let mut tried = Turn::default();
        let mut order = [(1, true), (1, false), (0, false), (0, true)];
        TurnOrder::new(turn).arrange(&mut order);
        for (looks, is_wire) in order {
            let beside = [Beside::Nothing, Beside::Look][looks];
            if !is_wire {
                let one = explainer.trial(rate, Phase::Overload, beside, trials)?;
                tried.router[looks] = Some(one);
            } else if explainer.depth == Depth::LowerLoads && self.lacking.is_none() {
                tried.wire[looks] = Some(self.trial(explainer, beside, trials)?);
            }
        }
        Ok(tried)
    }

    /// One trial through a wire, at its lower overload. The first one tells that load. None is repeated:
    /// a pair that was disturbed does not count.
    fn trial(
        &mut self,
        explainer: &mut Explainer<'_>,
        beside: Beside,
        trials: &mut Trials<'_>,
    ) -> Result<Profiled, JobError> {
        let mut at = |rate: Rate, beside| {
            let rate = rate.min(SENDER_MAX);
            // What is not sampled tells a sum only.
            let duration = match beside {
                Beside::Nothing => explainer.time.min(TRIAL),
                Beside::Look | Beside::Drops => explainer.time,
            };
            let what = (Phase::Wire, Offer { rate, duration });
            (explainer.look).trial(&mut explainer.tester, what, beside, trials)
        };
        if self.most == 0.0 {
            let first = at(explainer.sends, Beside::Nothing)?;
            self.most = forwards(&first).unwrap_or(0.0);
        }
        let trial = at(overload_rate(self.most, explainer.sends), beside)?;
        self.most = self.most.max(forwards(&trial).unwrap_or(0.0));
        Ok(trial.without_samples())
    }

    /// Adds the pairs of a turn that count.
    pub fn add(&mut self, turn: &mut Turn) {
        let whole =
            |one: &Option<Profiled>| one.as_ref().is_some_and(|one| one.judged.verdict.counts());
        for (looks, wire) in turn.wire.iter_mut().enumerate() {
            let router = turn.router.get(looks).filter(|router| whole(router));
            let wire = wire.take_if(|wire| wire.judged.verdict.counts());
            let Some((router, wire)) = router.and_then(Option::as_ref).zip(wire) else {
                continue;
            };
            let both = [router, &wire].map(|one| block(&one.judged.trial));
            let distance = both[0].distance.with(both[1].distance);
            match (looks, router.split.clone()) {
                (0, _) => (self.plain.iter_mut().zip(both)).for_each(|(of, block)| of.push(block)),
                (_, Some(split)) if wire.split.is_some() => {
                    self.sampled.push((distance, split, wire));
                }
                _ => {}
            }
        }
    }

    /// Whether there are enough pairs to tell anything.
    pub fn has_pairs(&self) -> bool {
        self.sampled.len() >= PAIRS_MIN
    }

    /// What they say at the distance of these trials of the router. Else why not.
    pub fn tell(
        self,
        router: &[Profiled],
        exit: Option<ExitProgram>,
    ) -> Result<ProfiledWire, String> {
        if let Some(why) = self.lacking {
            return Err(why);
        }
        let steady = router
            .iter()
            .filter_map(|one| Distance::from_trial(&one.judged.trial).steady());
        let steady: Vec<f64> = steady.map(|at| at.round_trip_ns).collect();
        let distance_ns = statistics::median(&steady);
        let distances: Vec<Distance> = self.sampled.iter().map(|(at, ..)| *at).collect();
        let here = pairs_at(&distances, distance_ns);
        let (mut routers, mut wires) = (Vec::new(), Vec::new());
        for (place, (_, split, wire)) in self.sampled.into_iter().enumerate() {
            if here.contains(&place) {
                routers.push(split);
                wires.push(wire);
            }
        }
        let few = || {
            format!(
                "pairs of trials that count, of the router and of a wire: {} ({PAIRS_MIN} are needed)",
                wires.len()
            )
        };
        let splits = wires.iter().filter_map(|wire| wire.split.as_ref());
        let splits: Vec<(&Split, &Split)> = splits.zip(&routers).collect();
        // Both are of one bed, so nothing but chance is in a difference.
        let more = splits.iter();
        let more = more.map(|(wire, router)| router.router_ns() - wire.router_ns());
        let more = paired_changes(&[more.collect()], 0.0).ok_or_else(few)?;
        let more = more.first().ok_or_else(few)?;
        let names = Stage::ALL.iter().map(|stage| stage.to_string());
        let stages = parts(names, &splits, |split| &split.stages, 0.0).ok_or_else(few)?;
        let routers = Stage::ALL.iter().map(|stage| stage.is_routers());
        let stages = stages.into_iter().zip(routers);
        let [plain_router, plain_wire] = &self.plain;
        let unsampled = FrameCost::from_blocks(plain_router, plain_wire, distance_ns);
        let unsampled = unsampled.map(|cost| corrected(cost, exit.as_ref()));
        Ok(ProfiledWire {
            load: load_of(&wires).ok_or_else(few)?,
            pairs: wires.len() as u32,
            router_ns: [more.low, more.ns, more.high].into(),
            stages: stages.filter(|(_, is)| *is).map(|(part, _)| part).collect(),
            unsampled_router_ns: unsampled.map(|cost| interval(cost.router_ns)),
        })
    }
}
