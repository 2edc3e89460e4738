//! What a router forwards and what a frame costs it at overload, from many short windows of a few trials.
//!
//! Windows next to each other in one trial see the same moment of the machine. So each trial is a block, and an
//! interval is taken over the blocks' medians. A window is left out where something else had the CPU in it; nobody
//! asks what it forwarded.

use crate::distance::{
    At, Distance, MachineState, is_same_distance, select_of_two_loads, select_one_distance,
};
use crate::interval::Interval;
use crate::limit::BUSY;
use crate::statistics::median;
use crate::units::{Rate, Span};
pub use crate::window::{Busy, Window, ns_per_frame};
use crate::window::{WINDOWS_MIN, undisturbed};

/// A DUT that forwards more than this share of what was sent was not overloaded. A sender that backs off loses little more.
pub const OVERLOADED: f64 = 0.995;
/// Windows that each trial of a pair needs in a state.
pub const PAIR_WINDOWS_MIN: usize = 4;
/// Blocks needed for an interval over their medians. Fewer say nothing of how far trials lie apart.
const BLOCKS_MIN: usize = 3;
/// Other states of the machine are told if they took more than this share of the time at overload.
const OFTEN: f64 = 0.25;
/// They are told only if their rate differs from the maximum by more than this factor.
const STATES_APART: f64 = 1.1;
/// Pairs of blocks needed for a cost: one pair has no interval.
const PAIRS_MIN: usize = 2;
/// The cost of a frame is more than the rate allows by a larger factor only if both are of different moments.
const COST_APART: f64 = 1.1;

/// The windows of one trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Load really sent in the trial, over all directions.
    pub sent: Rate,
    /// Share of its frames that the DUT lost, disturbances aside. A sender that backs off sends hardly more than the DUT takes.
    pub lost: f64,
    /// Busy share of the DUT's busiest CPU over the trial, 0 to 1; `None` where it is unknown.
    pub busiest: Option<f64>,
    /// The same of its forwarding threads alone, without the router's own tasks; `None` where nobody tells them apart.
    pub threads: Option<f64>,
    /// Busy time of all the DUT's CPUs for each frame they took in the trial, ns.
    pub ns_per_frame: Option<f64>,
    /// How far apart the CPUs were.
    pub distance: Distance,
    /// Its windows, in their order.
    pub windows: Vec<Window>,
}

impl Block {
    /// Its windows in this state, where it has enough. What a frame took follows from what they forwarded where the DUT's
    /// CPU was busy in all of the trial, else from what its threads had in each; where nobody accounts for that, it is unknown.
    #[must_use]
    pub fn at(&self, state: &MachineState) -> Option<Self> {
        let holds = |window: &&Window| state.holds(window);
        let windows: Vec<Window> = self.windows.iter().filter(holds).copied().collect();
        let over = |of: fn(&Window) -> Option<u64>| {
            let known = windows.iter().filter_map(of);
            median(&known.map(|ns| ns as f64).collect::<Vec<_>>())
        };
        let at = At {
            round_trip_ns: over(|window| window.round_trip_ns)?,
            work_ns: over(|window| window.work_ns),
        };
        // What disturbances took is in no frame's cost, where windows know their busy time.
        let undisturbed = undisturbed(&self.windows);
        let more = if self.is_saturated() {
            Some(mean_rate(&undisturbed) / mean_rate(&windows))
        } else {
            let both = ns_per_frame(&windows).zip(ns_per_frame(&undisturbed));
            both.map(|(here, all)| here / all)
        };
        (windows.len() >= WINDOWS_MIN).then_some(Self {
            ns_per_frame: (self.ns_per_frame.zip(more))
                .map(|(ns, more)| ns * more)
                .filter(|ns| ns.is_finite()),
            distance: Distance::Steady(at),
            windows,
            ..*self
        })
    }

    /// A CPU without time left in the trial is busy in each of its windows.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        let busy = self.threads.or(self.busiest);
        busy.is_some_and(|busy| busy >= BUSY)
    }

    /// Whether more was sent than its windows took.
    #[must_use]
    pub fn is_overloaded(&self) -> bool {
        is_overload((self.sent, self.lost), mean_rate(&self.windows))
    }

    /// Two trials in the state in which both were, where it is known what a frame took there, or the DUT's CPU was busy in all
    /// of both; else as they are.
    #[must_use]
    pub fn in_one_state(one: &Self, other: &Self) -> (Self, Self) {
        let are_saturated = one.is_saturated() && other.is_saturated();
        let state = MachineState::from_pair(&one.windows, &other.windows, PAIR_WINDOWS_MIN);
        let at = |state| Some((one.at(&state)?, other.at(&state)?));
        let know = |(one, other): &(Self, Self)| {
            are_saturated || one.ns_per_frame.and(other.ns_per_frame).is_some()
        };
        let found = state.and_then(at).filter(know);
        found.unwrap_or_else(|| (one.clone(), other.clone()))
    }

    /// Forwarding rates of its undisturbed windows, or of all, fps.
    pub(crate) fn rates(&self, all: bool) -> Vec<f64> {
        let wanted = |window: &&Window| window.duration > Span::ZERO && (all || !window.disturbed);
        let windows = self.windows.iter().filter(wanted);
        windows
            .map(|window| window.forwarded as f64 / window.duration.as_secs_f64())
            .collect()
    }

    /// Busy share of the DUT's busiest CPU in the windows that forwarded at this rate. Others may have had the CPU in the
    /// rest of the trial; what a frame costs is the same.
    fn busy_at(&self, rate: f64) -> Option<f64> {
        let mean = mean_rate(&self.windows);
        let busy = self.busiest.filter(|_| mean.is_finite() && mean > 0.0)?;
        Some((busy * rate / mean).min(1.0))
    }
}

/// Frames/s over all windows; no number without one.
fn mean_rate(windows: &[Window]) -> f64 {
    let frames: u64 = windows.iter().map(|window| window.forwarded).sum();
    let time: f64 = windows
        .iter()
        .map(|window| window.duration.as_secs_f64())
        .sum();
    frames as f64 / time
}

/// What a DUT forwards at overload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Saturation {
    /// Load really sent, fps.
    pub offered: Interval,
    /// Forwarding rate at maximum offered load (RFC 2285 3.6.2), fps.
    pub forwarding: Interval,
    /// Busy share of the DUT's busiest CPU, 0 to 1: the median over the trials; `None` where it is unknown.
    pub busy: Option<f64>,
    /// Undisturbed windows, on which this stands.
    pub windows: u32,
    /// Windows left out, for something else had a CPU in them.
    pub disturbed: u32,
    /// Windows left out, for the machine was in another state in them: another distance, or a neighbour on the core.
    pub other_state: u32,
    /// Their share of all undisturbed windows whose state is known, 0 to 1.
    pub other_state_share: f64,
    /// What the median one of these windows forwarded, fps; `None` without any.
    pub other_state_fps: Option<f64>,
    /// The state in which all windows were on which this stands; `None` where it is unknown.
    pub in_state: Option<MachineState>,
    /// A fixed piece of work on the DUT's CPU in them, ns.
    pub work_ns: Option<f64>,
    /// Whether too few windows were undisturbed, and it stands on disturbed ones: then it is a bound from below.
    pub only_disturbed: bool,
    /// How far apart the CPUs were in these trials, ns; `None` where it is unknown.
    pub distance_ns: Option<f64>,
    /// Trials left out, for the CPUs were elsewhere in them.
    pub elsewhere: u32,
    /// Trials on which this stands; 0 of a simulated router.
    pub trials: u32,
}

impl Saturation {
    /// The state of the machine that it holds for; `None` where nobody timed it.
    #[must_use]
    pub fn state(&self) -> Option<At> {
        Some(At {
            round_trip_ns: self.distance_ns?,
            work_ns: self.work_ns,
        })
    }

    /// What it forwarded in other states of the machine, fps, where these are worth a word: they took much of the time, and
    /// its rate differs there.
    #[must_use]
    pub fn rate_in_other_states(&self) -> Option<f64> {
        let fps = self.other_state_fps?;
        let ratio = fps / self.forwarding.middle;
        let is_apart = ratio.max(1.0 / ratio) > STATES_APART;
        (self.other_state_share > OFTEN && is_apart).then_some(fps)
    }

    /// What a frame costs if a CPU that does nothing else forwards so many frames/s; `None` where it had time left. The state
    /// is known where the DUT has one CPU.
    #[must_use]
    pub fn ns_by_rate(&self, fps: f64) -> Option<f64> {
        let busy = self.busy.filter(|busy| *busy >= BUSY)?;
        self.state().map(|_| 1e9 * busy / fps)
    }

    /// Whether a frame cannot have cost so much at this rate. Less is no contradiction: the router's own tasks are in busy
    /// time and in no frame's cost.
    #[must_use]
    pub fn contradicts(&self, total_ns: &Interval) -> bool {
        let by_rate = [self.forwarding.low, self.forwarding.middle].map(|fps| self.ns_by_rate(fps));
        let [Some(most), Some(middle)] = by_rate else {
            return false;
        };
        total_ns.low > most && total_ns.middle > COST_APART * middle
    }

    /// Whether its interval is the range of windows, because trials are too few for one.
    #[must_use]
    pub fn has_few_trials(&self) -> bool {
        (1..BLOCKS_MIN as u32).contains(&self.trials)
    }

    /// From the blocks of two loads. Both are taken in one state of the machine if none is slower there. Where states are
    /// unknown, both are taken at one distance. A load that this leaves too little is taken at its own.
    #[must_use]
    pub fn from_two_loads(loads: [&[Block]; 2]) -> [Option<Self>; 2] {
        let states = MachineState::from_each_load(&loads.map(windows_of), BLOCKS_MIN);
        if states.iter().any(Option::is_some) {
            let [most, little] = loads;
            let at = |blocks, state: Option<MachineState>| match state {
                Some(state) => Self::at(blocks, state),
                None => Self::from_all_windows(blocks),
            };
            let [in_most, in_little] = states;
            return [at(most, in_most), at(little, in_little)];
        }
        let distances = loads.map(|blocks| blocks.iter().map(|block| block.distance).collect());
        let at = |blocks: &[Block], here: &[usize]| {
            let kept: Vec<Block> = (here.iter())
                .filter_map(|&at| blocks.get(at).cloned())
                .collect();
            let found = Self::from_blocks(&kept).filter(|found| !found.only_disturbed)?;
            Some(Self {
                elsewhere: found.elsewhere + (blocks.len() - kept.len()) as u32,
                ..found
            })
        };
        let [most, little] = loads;
        let [in_most, in_little] = select_of_two_loads(&distances);
        let from = |blocks, here: &[usize]| at(blocks, here).or_else(|| Self::from_blocks(blocks));
        [from(most, &in_most), from(little, &in_little)]
    }

    /// From the windows in this state of those blocks that have enough of them; from all where none has.
    #[must_use]
    pub fn at(blocks: &[Block], state: MachineState) -> Option<Self> {
        let there = |block: &&Block| state.is_state_of(&block.windows);
        let here: Vec<Block> = (blocks.iter().filter(there))
            .filter_map(|block| block.at(&state))
            .collect();
        let Some(found) = Self::from_all_windows(&here) else {
            return Self::from_all_windows(blocks);
        };
        let works = here
            .iter()
            .filter_map(|block| block.distance.steady()?.work_ns);
        let windows = blocks.iter().flat_map(|block| &block.windows);
        let disturbed = windows.clone().filter(|window| window.disturbed).count() as u32;
        let is_known = |window: &&Window| {
            let is_timed = window.round_trip_ns.is_some() && window.work_ns.is_some();
            is_timed && !window.disturbed
        };
        let known: Vec<Window> = windows.filter(is_known).copied().collect();
        let elsewhere = Block {
            windows: (known.iter().filter(|window| !state.holds(window)))
                .copied()
                .collect(),
            ..Block::default()
        };
        Some(Self {
            disturbed,
            other_state: elsewhere.windows.len() as u32,
            other_state_share: elsewhere.windows.len() as f64 / known.len().max(1) as f64,
            other_state_fps: median(&elsewhere.rates(false)),
            elsewhere: found.elsewhere + (blocks.len() - here.len()) as u32,
            in_state: Some(state),
            work_ns: median(&works.collect::<Vec<_>>()),
            ..found
        })
    }

    /// From the blocks of one load, in one state of the machine; where that is unknown, at one distance. The interval is over
    /// the medians of at least 3 blocks; of fewer it is the whole range of their windows. With fewer than 3 undisturbed
    /// windows it stands on the disturbed ones, and says so; `None` with fewer than 3 windows in all.
    #[must_use]
    pub fn from_blocks(blocks: &[Block]) -> Option<Self> {
        match MachineState::from_loads(&[windows_of(blocks)], BLOCKS_MIN) {
            Some(state) => Self::at(blocks, state),
            None => Self::from_all_windows(blocks),
        }
    }

    /// The same from all windows of the blocks of one distance, in whatever state the machine was: what goes with costs
    /// that only whole trials tell.
    #[must_use]
    pub fn from_all_windows(blocks: &[Block]) -> Option<Self> {
        let distances: Vec<Distance> = blocks.iter().map(|block| block.distance).collect();
        let here = select_one_distance(&distances);
        let elsewhere = (blocks.len() - here.len()) as u32;
        let blocks: Vec<&Block> = here.iter().filter_map(|&place| blocks.get(place)).collect();
        let undisturbed: usize = blocks.iter().map(|block| block.rates(false).len()).sum();
        let only_disturbed = undisturbed < WINDOWS_MIN;
        let mut known: Vec<&Block> = blocks.clone();
        known.retain(|block| !block.rates(only_disturbed).is_empty());
        let rates: Vec<Vec<f64>> = known
            .iter()
            .map(|block| block.rates(only_disturbed))
            .collect();
        let windows: usize = rates.iter().map(Vec::len).sum();
        if windows < WINDOWS_MIN {
            return None;
        }
        let all: usize = blocks.iter().map(|block| block.windows.len()).sum();
        let forwarding = if rates.len() >= BLOCKS_MIN {
            let medians: Vec<f64> = rates.iter().filter_map(|rates| median(rates)).collect();
            Interval::from_samples(&medians)?
        } else {
            Interval::from_range(&rates.concat())?
        };
        let sent: Vec<f64> = known.iter().map(|block| block.sent.fps()).collect();
        let apart: Vec<f64> = known
            .iter()
            .filter_map(|block| Some(block.distance.steady()?.round_trip_ns))
            .collect();
        let busy_in = |(block, rates): (&&Block, &Vec<f64>)| block.busy_at(median(rates)?);
        let busy: Vec<f64> = known.iter().zip(&rates).filter_map(busy_in).collect();
        Some(Self {
            offered: Interval::from_samples(&sent)?,
            forwarding,
            busy: median(&busy),
            windows: windows as u32,
            disturbed: (all - undisturbed) as u32,
            other_state: 0,
            other_state_share: 0.0,
            other_state_fps: None,
            in_state: None,
            work_ns: None,
            only_disturbed,
            distance_ns: median(&apart),
            elsewhere,
            trials: known.len() as u32,
        })
    }
}

fn windows_of(blocks: &[Block]) -> Vec<&[Window]> {
    blocks.iter().map(|block| &block.windows[..]).collect()
}

/// Whether a DUT that forwarded at this rate, fps, took less than was sent, or lost more than chance does.
pub(crate) fn is_overload((sent, lost): (Rate, f64), rate: f64) -> bool {
    lost > 1.0 - OVERLOADED || rate <= OVERLOADED * sent.fps()
}

/// The pairs at this distance, ns, as numbers of their places, by the distance of both trials of each. Where nobody says
/// which: those of one distance.
#[must_use]
pub fn pairs_at(distances: &[Distance], distance_ns: Option<f64>) -> Vec<usize> {
    let Some(wanted) = distance_ns else {
        return select_one_distance(distances);
    };
    let alike = |ns: f64| is_same_distance(ns, wanted);
    let each = distances.iter().enumerate();
    each.filter(
        |(_, distance)| matches!(**distance, Distance::Steady(at) if alike(at.round_trip_ns)),
    )
    .map(|(place, _)| place)
    .collect()
}

/// The blocks' windows in this state, where they are of more than the DUT takes.
#[must_use]
pub fn blocks_at(router: &[Block], state: &MachineState) -> Vec<Block> {
    let there = router.iter().filter_map(|block| block.at(state));
    there.filter(Block::is_overloaded).collect()
}

/// The blocks at this CPU distance, or all where nobody knows it.
#[must_use]
pub fn blocks_at_distance(router: &[Block], distance_ns: Option<f64>) -> Vec<Block> {
    let distances: Vec<Distance> = router.iter().map(|block| block.distance).collect();
    let here = pairs_at(&distances, distance_ns);
    here.iter()
        .filter_map(|&place| router.get(place).cloned())
        .collect()
}

/// What a frame costs the DUT's CPU, in two parts, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameCost {
    /// The bed's part: virtual NIC and receiver, measured with a wire in the router's place ([`FrameCost::moved_to_router`]).
    pub bed_ns: Interval,
    /// The router's part.
    pub router_ns: Interval,
    /// Both.
    pub total_ns: Interval,
    /// Pairs of trials on which it stands.
    pub pairs: u32,
    /// Whether the wire was overloaded in all of them. Else the tester reached its limit first.
    pub wire_overloaded: bool,
    /// How many times as long the DUT's CPU took for the fixed piece of work with the router as with the wire. `None`: both were
    /// in one state.
    pub slower: Option<f64>,
}

impl FrameCost {
    /// Whether its intervals are the ranges of too few pairs to show how far these lie apart.
    #[must_use]
    pub const fn has_few_pairs(&self) -> bool {
        self.pairs < BLOCKS_MIN as u32
    }

    /// The same from the windows that were in this state, in blocks of more than the DUT and the wire take there.
    #[must_use]
    pub fn at(router: &[Block], wire: &[Block], state: &MachineState) -> Option<Self> {
        Self::at_both(router, wire, [state, state])
    }

    /// The same with the wire in a state in which the CPU works faster. A router that waits for memory all the time, as with
    /// a full table, slows its own CPU down, and no window of the wire's is in that state.
    #[must_use]
    pub fn beside_faster_wire(
        router: &[Block],
        wire: &[Block],
        state: &MachineState,
    ) -> Option<Self> {
        let faster = state.or_faster();
        let work_ns = |state: &MachineState, blocks: &[Block]| {
            let windows = blocks.iter().map(|block| block.windows.as_slice());
            state.median(windows)?.work_ns
        };
        let cost = Self::at_both(router, wire, [state, &faster])?;
        let slower = work_ns(state, router)? / work_ns(&faster, wire)?;
        Some(Self {
            slower: Some(slower),
            ..cost
        })
    }

    fn at_both(router: &[Block], wire: &[Block], states: [&MachineState; 2]) -> Option<Self> {
        let [of_router, of_wire] = states;
        let pairs = router.iter().zip(wire);
        let there = pairs.filter_map(|(router, wire)| router.at(of_router).zip(wire.at(of_wire)));
        let are_overloaded =
            |(router, wire): &(Block, Block)| router.is_overloaded() && wire.is_overloaded();
        let (router, wire): (Vec<Block>, Vec<Block>) = there.filter(are_overloaded).unzip();
        Self::from_blocks(&router, &wire, None)
    }

    /// From blocks of the router and of a wire in its place, measured in turns: the first of each is a pair, and so
    /// on. The router's part is the difference within each pair, so that a CPU that slows down for a while slows both.
    /// `None` with fewer than 2 pairs whose busy time is known.
    /// With a `distance_ns` only pairs at that CPU distance count: the distance at which the rate was measured.
    #[must_use]
    pub fn from_blocks(router: &[Block], wire: &[Block], distance_ns: Option<f64>) -> Option<Self> {
        let pairs: Vec<(&Block, &Block)> = router.iter().zip(wire).collect();
        let distance = |(router, wire): &(&Block, &Block)| router.distance.with(wire.distance);
        let distances: Vec<Distance> = pairs.iter().map(distance).collect();
        let mut here: Vec<&(&Block, &Block)> = pairs_at(&distances, distance_ns)
            .iter()
            .filter_map(|&place| pairs.get(place))
            .collect();
        here.retain(|(router, wire)| router.ns_per_frame.and(wire.ns_per_frame).is_some());
        let costs = here
            .iter()
            .filter_map(|(router, wire)| router.ns_per_frame.zip(wire.ns_per_frame));
        let costs: Vec<(f64, f64)> = costs.collect();
        if costs.len() < PAIRS_MIN {
            return None;
        }
        let interval = |cost: fn(&(f64, f64)) -> f64| {
            let samples: Vec<f64> = costs.iter().map(cost).collect();
            Interval::from_samples(&samples)
        };
        Some(Self {
            bed_ns: interval(|pair| pair.1)?,
            router_ns: interval(|pair| pair.0 - pair.1)?,
            total_ns: interval(|pair| pair.0)?,
            pairs: costs.len() as u32,
            wire_overloaded: here.iter().all(|(_, wire)| wire.is_overloaded()),
            slower: None,
        })
    }

    /// With the router's part of these blocks' cost, and the rest of it the bed's. They are of the router at another load.
    /// `None` with fewer than 2 of them, or where nothing is left for the bed.
    #[must_use]
    pub fn within(self, router: &[Block]) -> Option<Self> {
        let costs = router.iter().filter_map(|block| block.ns_per_frame);
        let costs: Vec<f64> = costs.collect();
        if costs.len() < PAIRS_MIN {
            return None;
        }
        let (total, part) = (Interval::from_samples(&costs)?, self.router_ns);
        (total.middle > part.middle).then_some(Self {
            bed_ns: Interval {
                low: total.low - part.high,
                middle: total.middle - part.middle,
                high: total.high - part.low,
            },
            total_ns: total,
            pairs: self.pairs.min(costs.len() as u32),
            ..self
        })
    }

    /// With so much of the bed's part in the router's: what the receiver's program at the exit takes more through a wire,
    /// because there it is the first to read the frame's headers. Behind the router the router is.
    #[must_use]
    pub fn moved_to_router(self, more_ns: Interval) -> Self {
        let (bed, router) = (self.bed_ns, self.router_ns);
        Self {
            bed_ns: Interval {
                low: bed.low - more_ns.high,
                middle: bed.middle - more_ns.middle,
                high: bed.high - more_ns.low,
            },
            router_ns: Interval {
                low: router.low + more_ns.low,
                middle: router.middle + more_ns.middle,
                high: router.high + more_ns.high,
            },
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, middle: f64, high: f64) -> Interval {
        Interval { low, middle, high }
    }

    /// A block of windows of 50 ms, each frame of the first at a cost of `ns`.
    fn block(frames: &[u64], ns: u64) -> Block {
        let window = |&forwarded: &u64| Window {
            duration: Span::from_millis(50),
            forwarded,
            disturbed: false,
            round_trip_ns: None,
            work_ns: None,
            busy: None,
        };
        let busy = Some(frames[0] as f64 * ns as f64 / 5e7);
        Block {
            sent: Rate::from_fps(3e6),
            lost: 0.0,
            busiest: busy,
            threads: None,
            ns_per_frame: Some(ns as f64),
            distance: Distance::Unknown,
            windows: frames.iter().map(window).collect(),
        }
    }

    /// The sender sends no more than the DUT takes, but each refusal is a loss.
    #[test]
    fn losses_tell_an_overload_too() {
        let at = |lost| Block {
            sent: Rate::from_fps(1.2e6),
            lost,
            ..block(&[60_000; 4], 500)
        };
        let found = [0.0, 0.004, 0.014].map(|lost| at(lost).is_overloaded());
        assert_eq!(found, [false, false, true]);
    }

    #[test]
    fn neighbouring_windows_are_one_sample() {
        // Three trials, each steady within: 100, 200, 300 windows would make the interval look narrow.
        let blocks = [60_000, 70_000, 80_000].map(|frames| block(&[frames; 20], 500));
        let found = Saturation::from_blocks(&blocks).unwrap();
        assert_eq!(found.forwarding, interval(1.2e6, 1.4e6, 1.6e6));
        assert_eq!(found.offered, interval(3e6, 3e6, 3e6));
        assert_eq!((found.windows, found.disturbed), (60, 0));
        assert!((found.busy.unwrap() - 0.7).abs() < 1e-9);
    }

    #[test]
    fn one_block_shows_the_range_of_its_windows() {
        let found = Saturation::from_blocks(&[block(&[50_000, 60_000, 55_000], 500)]).unwrap();
        assert_eq!(found.forwarding, interval(1e6, 1.1e6, 1.2e6));
    }

    #[test]
    fn disturbed_windows_are_left_out() {
        let mut blocks = [block(&[60_000; 4], 500), block(&[60_000; 4], 500)];
        for window in blocks[0].windows.iter_mut().skip(1) {
            *window = Window {
                forwarded: 1_000,
                round_trip_ns: None,
                work_ns: None,
                disturbed: true,
                ..*window
            };
        }
        let found = Saturation::from_blocks(&blocks).unwrap();
        assert_eq!(found.forwarding, interval(1.2e6, 1.2e6, 1.2e6));
        assert_eq!((found.windows, found.disturbed), (5, 3));
        // The CPU was busy for the whole of the time in which no other program had it.
        blocks[1].windows.truncate(1);
        let found = Saturation::from_blocks(&blocks).unwrap();
        assert!(found.only_disturbed, "two windows say too little");
        assert_eq!((found.windows, found.disturbed), (5, 3));
        blocks[0].windows.truncate(1);
        assert_eq!(Saturation::from_blocks(&blocks), None);
    }

    #[test]
    fn blocks_of_one_distance_are_kept() {
        let (near, far) = (Distance::at(58.0), Distance::at(310.0));
        let mut blocks = [60_000, 61_000, 62_000, 90_000].map(|frames| block(&[frames; 5], 500));
        for block in &mut blocks {
            block.distance = far;
        }
        blocks[3].distance = near;
        let found = Saturation::from_blocks(&blocks).unwrap();
        assert_eq!(found.forwarding, interval(1.2e6, 1.22e6, 1.24e6));
        assert_eq!((found.distance_ns, found.elsewhere), (Some(310.0), 1));
        assert_eq!((found.windows, found.disturbed), (15, 0));
    }

    #[test]
    fn two_loads_stand_on_one_distance() {
        let at = |frames: u64, ns: f64| Block {
            distance: Distance::at(ns),
            ..block(&[frames; 5], 500)
        };
        let (near, far) = (60.0, 310.0);
        let most = [at(60_000, near), at(61_000, near), at(62_000, near)];
        // By itself the second load would stand on its far trial.
        let little = [at(45_000, far), at(63_000, near)];
        assert_eq!(
            Saturation::from_blocks(&little).unwrap().distance_ns,
            Some(far)
        );
        let [first, second] = Saturation::from_two_loads([&most, &little]).map(Option::unwrap);
        assert_eq!((first.distance_ns, first.elsewhere), (Some(near), 0));
        assert_eq!((second.distance_ns, second.elsewhere), (Some(near), 1));
        assert!(second.has_few_trials() && !first.has_few_trials());
        assert_eq!(second.forwarding, interval(1.26e6, 1.26e6, 1.26e6));
        // Where nothing of a load is left, it stands on its own.
        let [_, second] = Saturation::from_two_loads([&most, &little[..1]]);
        assert_eq!(second.unwrap().distance_ns, Some(far));
        assert_eq!(Saturation::from_two_loads([&most, &[]])[1], None);
    }

    #[test]
    fn busy_time_may_be_unknown() {
        let mut blocks = [block(&[60_000; 3], 500)];
        blocks[0].ns_per_frame = None;
        blocks[0].busiest = None;
        assert_eq!(Saturation::from_blocks(&blocks).unwrap().busy, None);
        assert_eq!(FrameCost::from_blocks(&blocks, &blocks, None), None);
    }

    #[test]
    fn a_cost_may_contradict_the_rate() {
        let within = |middle: f64, share: f64| {
            interval((1.0 - share) * middle, middle, (1.0 + share) * middle)
        };
        let maximum = Saturation {
            forwarding: within(1.71e6, 0.04),
            busy: Some(0.999),
            distance_ns: Some(68.0),
            ..Saturation::default()
        };
        assert!(maximum.contradicts(&within(804.5, 0.18)));
        // Less, intervals that meet, and hardly more.
        for (total, share) in [(450.0, 0.05), (804.5, 0.3), (620.0, 0.01)] {
            assert!(!maximum.contradicts(&within(total, share)), "{total}");
        }
        // A CPU with time left, and several CPUs.
        let idle = Saturation {
            busy: Some(0.9),
            ..maximum
        };
        let several = Saturation {
            distance_ns: None,
            ..maximum
        };
        assert!(
            ![idle, several]
                .iter()
                .any(|of| of.contradicts(&within(804.5, 0.18)))
        );
    }

    #[test]
    fn a_routers_part_stands_within_another_total() {
        let blocks =
            |all: &[u64]| -> Vec<Block> { all.iter().map(|&ns| block(&[1_000; 3], ns)).collect() };
        let cost = FrameCost::from_blocks(&blocks(&[480, 490]), &blocks(&[420, 430]), None);
        let cost = cost.expect("two pairs");
        let here = cost.within(&blocks(&[350, 360, 380])).expect("a cost");
        assert_eq!((here.router_ns, here.pairs), (cost.router_ns, 2));
        assert_eq!((here.total_ns.middle, here.bed_ns.middle), (360.0, 300.0));
        assert_eq!((here.bed_ns.low, here.bed_ns.high), (290.0, 320.0));
        // Too few, and less than the router's part.
        assert_eq!(cost.within(&blocks(&[350])), None);
        assert_eq!(cost.within(&blocks(&[50, 55])), None);
    }

    #[test]
    fn blocks_of_another_distance_are_no_total() {
        let at = |ns, distance| Block {
            distance: Distance::at(distance),
            ..block(&[1_000; 3], ns)
        };
        let all = [at(500, 60.0), at(900, 310.0), at(510, 60.0), at(900, 310.0)];
        let costs = |distance| -> Vec<Option<f64>> {
            let here = blocks_at_distance(&all, distance);
            here.iter().map(|block| block.ns_per_frame).collect()
        };
        assert_eq!(costs(Some(60.0)), [Some(500.0), Some(510.0)]);
        assert_eq!(costs(None).len(), 2, "those of one distance");
    }

    #[test]
    fn cost_is_the_difference_within_each_pair() {
        // The CPU becomes slower from pair to pair; the router's part stays 200 ns.
        let router = [600, 700, 800].map(|ns| block(&[60_000; 3], ns));
        let wire = [400, 500, 600].map(|ns| block(&[60_000; 3], ns));
        let cost = FrameCost::from_blocks(&router, &wire, None).unwrap();
        assert_eq!(cost.router_ns, interval(200.0, 200.0, 200.0));
        assert_eq!(cost.bed_ns, interval(400.0, 500.0, 600.0));
        assert_eq!(cost.total_ns, interval(600.0, 700.0, 800.0));
        assert!(!cost.has_few_pairs() && cost.wire_overloaded);
        let idle = wire.clone().map(|mut wire| {
            wire.sent = Rate::from_fps(1.2e6);
            wire
        });
        let below = FrameCost::from_blocks(&router, &idle, None).unwrap();
        assert!(!below.wire_overloaded, "it took all that was sent");
        // Through the wire the receiver waits 100 ns for a frame's headers, for which the router waits behind it.
        let parts = cost.moved_to_router(interval(90.0, 100.0, 110.0));
        assert_eq!(parts.router_ns, interval(290.0, 300.0, 310.0));
        assert_eq!(parts.bed_ns, interval(290.0, 400.0, 510.0));
        assert_eq!(parts.total_ns, cost.total_ns);
        assert_eq!(FrameCost::from_blocks(&router[..1], &wire, None), None);
        // Of two distances the one that is asked for.
        let (mut router, mut wire) = (router, wire);
        for (blocks, ns) in [(0..2, 60.0), (2..3, 310.0)] {
            for place in blocks {
                router[place].distance = Distance::at(ns);
                wire[place].distance = Distance::at(ns);
            }
        }
        let near = FrameCost::from_blocks(&router, &wire, Some(62.0)).unwrap();
        assert_eq!(near.total_ns, interval(600.0, 650.0, 700.0));
        assert!(near.has_few_pairs(), "{near:?}");
        assert_eq!(FrameCost::from_blocks(&router, &wire, Some(310.0)), None);
    }

    /// Windows of a load below saturation in two states: a frame takes 600 ns in one, 900 in the other.
    fn two_states() -> Block {
        let window = |ns: u64, round_trip_ns: u64| Window {
            duration: Span::from_millis(8),
            forwarded: 4_000,
            round_trip_ns: Some(round_trip_ns),
            work_ns: Some(240),
            busy: Some(Busy {
                time: Span::from_nanos(4_000 * ns),
                wakes: 400,
            }),
            ..Window::default()
        };
        Block {
            sent: Rate::from_fps(5e5),
            lost: 0.0,
            busiest: Some(0.375),
            threads: None,
            // By another account, a hundredth larger.
            ns_per_frame: Some(757.5),
            distance: Distance::Changed,
            windows: [
                vec![window(600, 80); 10],
                vec![window(900, 400); 10],
                // In no frame's cost.
                vec![Window {
                    disturbed: true,
                    ..window(5_000, 80)
                }],
            ]
            .concat(),
        }
    }

    /// A frame's cost follows from the rate only where nothing but its forwarding filled the CPU.
    #[test]
    fn the_routers_own_tasks_saturate_no_block() {
        let of = |threads| Block {
            busiest: Some(1.0),
            threads,
            ..Block::default()
        };
        assert!(of(None).is_saturated());
        assert!(of(Some(0.96)).is_saturated());
        assert!(!of(Some(0.4)).is_saturated());
    }

    #[test]
    fn a_state_has_its_own_cost_below_saturation() {
        let block = two_states();
        let state = MachineState::from_pair(&block.windows[..10], &block.windows[..10], 6)
            .expect("a state");
        let near = block.at(&state).expect("windows there");
        let ns = near.ns_per_frame.expect("a cost");
        assert!((ns - 606.0).abs() < 1e-6, "{ns}");
        let mut unknown = block;
        unknown.windows.iter_mut().for_each(|one| one.busy = None);
        assert_eq!(unknown.at(&state).expect("windows").ns_per_frame, None);
    }

    #[test]
    fn pairs_below_saturation_meet_in_one_state() {
        let (one, other) = (two_states(), two_states());
        let (near, same) = Block::in_one_state(&one, &other);
        assert_eq!((near.windows.len(), same.windows.len()), (10, 10));
        assert_ne!(near.distance, Distance::Changed);
        let mut unknown = two_states();
        unknown.windows.iter_mut().for_each(|one| one.busy = None);
        let (whole, _) = Block::in_one_state(&unknown, &other);
        assert_eq!(whole, unknown);
    }
}
