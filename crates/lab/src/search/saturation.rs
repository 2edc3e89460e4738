//! Overload: more is offered than the DUT can forward (RFC 2285 3.6.2 and 3.6.3). It tells the maximum forwarding rate,
//! the cost of a frame, and the most that the tester can offer.
//!
//! Trials take turns: a wire in place of the router and the router at the most that the sender can, then both at their
//! lower overload. A CPU that slows down for a while then slows all of them. The cost through the wire, less what the
//! receiver's program takes more there, is the bed's part of a frame's cost.

use super::exit_program::{ExitProgram, corrected};
use super::measurer::Measurer;
use super::{JobError, Judged, Phase, Trials};
use crate::tester::{ReceiverPlace, Tester, TesterError};
use crate::trial;
pub use crate::trial::SENDER_MAX;
use mpps_linux::clock::monotonic_ns;
use mpps_method::distance::{At, Distance, MachineState, is_same_distance};
use mpps_method::interval::{Interval, RUNS_APART};
use mpps_method::saturation::{
    Block, FrameCost, Saturation, Window, blocks_at, blocks_at_distance,
};
use mpps_method::simulate::Properties;
use mpps_method::turns::TurnOrder;
use mpps_method::{Offer, Rate, Span, Trial, Verdict};
use std::borrow::Borrow;

/// Frames of the first burst, which tells how fast the sender is.
pub const FIRST_BURST: u64 = 150_000;
/// Length of a trial at overload: some 22 windows. More windows in a trial do not narrow the result; more trials do.
pub(crate) const TRIAL: Span = Span::from_millis(200);
/// Fewest rounds, unless the time is up. Over fewer blocks the interval is their range.
const ROUNDS_MIN: u32 = 4;
/// Fewest rounds of all. After them router and wire are no longer at the most that the sender can, where the router forwards
/// less there than at the lower overload: the maximum is not there.
const ROUNDS_FEWEST: u32 = 2;
/// Most rounds.
const ROUNDS_MAX: u32 = 10;
/// An interval is narrow if half of it is at most this share of its middle. Runs differ by that, so more rounds hardly narrow
/// the printed interval: it has 4.4 % on each side then, and 3.9 % if the run's own had no width.
const NARROW: f64 = RUNS_APART;
/// The lower overload, as a multiple of the forwarding rate. A sender that backs off has no such pace: it takes this for
/// the rate to expect.
const LITTLE_MORE: f64 = 1.1;

/// That overload of what forwards so many frames/s.
#[must_use]
pub fn little_more(forwarded_fps: f64) -> Rate {
    Rate::from_fps(forwarded_fps * LITTLE_MORE).min(SENDER_MAX)
}

/// What trials at overload told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saturated {
    /// At the highest load the tester offers. `None`: too few windows were undisturbed.
    pub at_most: Option<Saturation>,
    /// At the lower overload: the sender backs off, or offers little more than the DUT forwards.
    pub at_little_more: Option<Saturation>,
    /// In the search's trials that lost frames while the DUT's CPU had no time left. Fewer frames are lost there than at
    /// overload, so a loss slows the router less. `None`: too few such trials were in the state of overload.
    pub at_search: Option<Saturation>,
    /// The cost of a frame: the bed's part and the router's. `None`: no wire can be laid, too few trials tell, or
    /// the rate contradicts them.
    pub cost: Option<FrameCost>,
    /// What a frame cost in all, ns, by trials that the rate contradicts: its parts are withheld.
    pub withheld_ns: Option<f64>,
    /// Trials through a wire in the router's place.
    pub wire_trials: u32,
    /// What a wire in the router's place carried at the most that the sender can.
    pub wire_carries: Option<Rate>,
    /// The receiver's program at the DUT's exit. `None`: there is no such program, or [`time_exit`] could not time it.
    pub exit_program: Option<ExitProgram>,
    /// The highest load the tester can offer and receive.
    pub ceiling: Rate,
    /// Whether the DUT lost frames. If not, the tester was the limit.
    pub overloaded: bool,
    /// Of the frames that its ring took, the share that it lost, 0 to 1; the larger one of both loads.
    pub lost_inside_share: f64,
    /// What it forwarded at the load of the maximum on average over all undisturbed windows of its state, frames/s.
    pub mean_fps: Option<f64>,
}

impl Saturated {
    /// The maximum forwarding rate (RFC 2285 3.6.3): the highest at overload, or in the search's lossy trials.
    #[must_use]
    pub fn maximum(&self) -> Option<&Saturation> {
        let (overload, searched) = (self.at_overload(), self.at_search.as_ref());
        let is_more = |searched: &&Saturation| {
            let least = |found: &Saturation| found.forwarding.middle * (1.0 + RUNS_APART);
            overload.is_none_or(|found| searched.forwarding.middle > least(found))
        };
        searched.filter(is_more).or(overload)
    }

    /// What it forwarded at overload, where that is less than in the search.
    #[must_use]
    pub fn lower_at_overload(&self) -> Option<&Saturation> {
        self.at_overload()
            .filter(|found| self.maximum() != Some(found))
    }

    /// The same with what a search's trials forwarded.
    #[must_use]
    pub fn with_search(&self, trials: &[(Trial, Verdict)]) -> Self {
        // Without windows a trial's frames are also those that its ring held at the end.
        let is_lossy = |(trial, verdict): &&(Trial, Verdict)| {
            matches!(verdict, Verdict::Lossy { .. }) && !trial.windows.is_empty()
        };
        let lossy = trials.iter().filter(is_lossy);
        let full = lossy.map(|(trial, _)| block(trial));
        let full: Vec<Block> = full.filter(Block::is_saturated).collect();
        let overload = self.at_overload();
        let found = match overload.and_then(|found| found.in_state) {
            Some(state) => Saturation::at(&full, state),
            None => Saturation::from_blocks(&full),
        };
        let is_alike = |found: &Saturation| {
            let is_one_state = overload.is_none_or(|overload| {
                let both = found.distance_ns.zip(overload.distance_ns);
                found.in_state == overload.in_state
                    && both.is_none_or(|(one, other)| is_same_distance(one, other))
            });
            is_one_state && !found.has_few_trials() && !found.only_disturbed
        };
        Self {
            at_search: found.filter(is_alike),
            ..self.clone()
        }
    }

    /// The highest rate forwarded at overload.
    #[must_use]
    pub fn at_overload(&self) -> Option<&Saturation> {
        // Where nobody timed the windows, loads are compared at the same distance only: fewer trials tell of it.
        let most_ns = self.at_most.as_ref().and_then(|most| most.distance_ns);
        let little = self.at_little_more.as_ref().filter(|little| {
            let both = most_ns.zip(little.distance_ns);
            little.in_state.is_some()
                || both.is_none_or(|(one, other)| is_same_distance(one, other))
        });
        let both = self.at_most.iter().chain(little);
        both.max_by(|a, b| a.forwarding.middle.total_cmp(&b.forwarding.middle))
    }

    /// Whether the router surely forwards less at the most that the sender can than at the lower overload, in one state.
    fn is_slower_at_most(&self) -> bool {
        let both = self.at_most.as_ref().zip(self.at_little_more.as_ref());
        both.is_some_and(|(most, little)| {
            let are_known = !most.only_disturbed && !little.only_disturbed;
            let is_less = most.forwarding.high < little.forwarding.low;
            are_known && At::may_be_same(most.state(), little.state()) && is_less
        })
    }

    /// The highest rate at overload, unless it stands on disturbed windows alone.
    #[must_use]
    pub fn undisturbed_maximum(&self) -> Option<Rate> {
        let undisturbed = self.at_overload().filter(|most| !most.only_disturbed);
        undisturbed.map(|most| Rate::from_fps(most.forwarding.middle))
    }

    /// The forwarding rate at the maximum offered load (RFC 2285 3.6.2).
    #[must_use]
    pub fn forwards_at_ceiling(&self) -> Option<Rate> {
        let most = self.at_most.as_ref();
        most.map(|most| Rate::from_fps(most.forwarding.middle))
    }
}

/// Trials of one kind, in their order.
#[derive(Default)]
struct Series {
    blocks: Vec<Block>,
    lost_at_ring: u64,
    lost_inside: u64,
    taken: u64,
}

impl Series {
    fn add(&mut self, trial: &Trial) {
        self.lost_at_ring += trial.ledger().lost_nic_ring;
        self.lost_inside += trial.ledger().lost_in_dut;
        self.taken += trial.ledger().nic_accepted;
        self.blocks.push(block(trial));
    }

    fn lost_inside_share(&self) -> f64 {
        self.lost_inside as f64 / self.taken.max(1) as f64
    }

    /// Over the undisturbed windows of this state, or of all.
    fn mean_fps(&self, state: Option<MachineState>) -> Option<f64> {
        let counts =
            |window: &&Window| !window.disturbed && state.is_none_or(|state| state.holds(window));
        let windows = self.blocks.iter().flat_map(|block| &block.windows);
        let (mut frames, mut time_s) = (0_u64, 0.0);
        for window in windows.filter(counts) {
            frames += window.forwarded;
            time_s += window.duration.as_secs_f64();
        }
        (time_s > 0.0).then(|| frames as f64 / time_s)
    }

    const fn lost(&self) -> u64 {
        self.lost_at_ring + self.lost_inside
    }

    fn saturation(&self) -> Option<Saturation> {
        Saturation::from_blocks(&self.blocks)
    }
}

/// What a frame costs at the load of the maximum forwarding rate: of router and wire at little more than each carries, or at
/// most. With too few pairs there, the router's part is that of the other load, and the rest of the cost here is the bed's.
/// At a higher load each frame costs more, with a wire as well: losses take time. In five runs on a Xeon the router's parts of
/// both loads were 14 ns less to 19 ns more apart, and the bed's 28 to 81 ns.
fn cost(found: &Saturated, mut pairs: [(&Series, &Series); 2]) -> Option<FrameCost> {
    let maximum = found.at_overload();
    if maximum == found.at_most.as_ref() {
        pairs.reverse();
    }
    let (state, distance) = (
        maximum.and_then(|one| one.in_state),
        maximum.and_then(|one| one.distance_ns),
    );
    let [(here, _), _] = pairs;
    let each = |cost: &dyn Fn(&Series, &Series) -> Option<FrameCost>, router: &[Block]| {
        let [of_maximum, other] = pairs.map(|(router, wire)| cost(router, wire));
        of_maximum.or_else(|| other?.within(router))
    };
    let of_state = state.and_then(|state| {
        let cost = |router: &Series, wire: &Series| {
            let (router, wire) = (&router.blocks, &wire.blocks);
            let beside_faster = || FrameCost::beside_faster_wire(router, wire, &state);
            FrameCost::at(router, wire, &state).or_else(beside_faster)
        };
        each(&cost, &blocks_at(&here.blocks, &state))
    });
    // Where the tester cannot overload a wire, no window tells its cost: whole trials do.
    let of_trials = || {
        let cost = |router: &Series, wire: &Series| {
            FrameCost::from_blocks(&router.blocks, &wire.blocks, distance)
        };
        let whole = each(&cost, &blocks_at_distance(&here.blocks, distance));
        whole.filter(|cost| state.is_none() || !cost.wire_overloaded)
    };
    of_state.or_else(of_trials)
}

/// The cost, unless the rate contradicts it; else what a frame cost in all, ns.
fn withhold(
    cost: Option<FrameCost>,
    maximum: Option<&Saturation>,
) -> (Option<FrameCost>, Option<f64>) {
    match (cost, maximum) {
        (Some(cost), Some(maximum)) if maximum.contradicts(&cost.total_ns) => {
            (None, Some(cost.total_ns.middle))
        }
        (cost, _) => (cost, None),
    }
}

/// A trial as a block of an interval.
#[must_use]
pub fn block(trial: impl Borrow<Trial>) -> Block {
    let trial = trial.borrow();
    Block {
        sent: taken_by_port(trial),
        lost: trial.loss_ratio().unwrap_or(0.0),
        busiest: trial.busiest_share(),
        threads: trial.busiest_threads_share(),
        ns_per_frame: trial.ns_per_frame(),
        distance: Distance::from_trial(trial),
        windows: windows(trial),
    }
}

/// The receiver's windows. Where it keeps none, the whole trial is one window.
fn windows(trial: &Trial) -> Vec<Window> {
    if !trial.windows.is_empty() {
        return trial.windows.clone();
    }
    vec![Window {
        duration: trial.duration,
        forwarded: trial.counts().received,
        disturbed: trial.disturbances().next().is_some(),
        round_trip_ns: None,
        work_ns: None,
        busy: None,
    }]
}

/// Frames/s that the sender's port took.
pub(crate) fn taken_by_port(trial: &Trial) -> Rate {
    let counts = trial.counts();
    let taken = counts.sent - trial.ledger().lost_before_nic.min(counts.sent);
    Rate::from_frames(taken, trial.duration).unwrap_or_default()
}

/// Measures overload for at most `time`, but in at least two rounds.
///
/// # Errors
/// The tester or the record failed, or frames bypassed the receiver at the DUT's exit.
pub fn measure(
    tester: &mut Tester<'_>,
    time: Span,
    trials: &mut Trials<'_>,
) -> Result<Saturated, JobError> {
    let end_ns = monotonic_ns().saturating_add(time.as_nanos());
    let first = trial::run_burst(tester, FIRST_BURST)?;
    let mut sends = taken_by_port(&first);
    let (mut wire, mut most, mut little) =
        (Series::default(), Series::default(), Series::default());
    let mut wire_little = Series::default();
    let (mut widest, mut skips_most) = (0.0_f64, false);
    for round in 0..ROUNDS_MAX {
        let by_now = loads(&most, &little);
        let narrow = by_now
            .at_overload()
            .is_some_and(|found| is_narrow(&found.forwarding));
        if round >= ROUNDS_FEWEST && (monotonic_ns() > end_ns || (round >= ROUNDS_MIN && narrow)) {
            break;
        }
        // Once and for all: more trials there would say the same.
        skips_most |= round >= ROUNDS_FEWEST && by_now.is_slower_at_most();
        for at in TurnOrder::new(round).places() {
            if skips_most {
                break;
            }
            let (series, phase) = match at {
                0 => (&mut wire, Phase::Wire),
                _ => (&mut most, Phase::Overload),
            };
            let tried = through(tester, phase, overload(sends), trials, burst)?;
            if let Some(Judged { trial, .. }) = tried {
                widest = widest.max(taken_by_port(&trial).fps());
                series.add(&trial);
            }
        }
        let carried = wire.saturation();
        // Both or neither, where there is a wire: the cost pairs the first of each, and so on.
        let is_pair = carried.is_some() || wire.blocks.is_empty();
        if let Some(found) = most.saturation().filter(|_| most.lost() > 0 && is_pair) {
            let offer = overload(little_more(found.forwarding.middle));
            let tried = through(tester, Phase::Overload, offer, trials, trial::run_overload)?;
            let trial = tried.map(|judged| judged.trial);
            // A load that the router forwards is none.
            let lossy = trial.filter(|trial| block(trial).is_overloaded());
            let is_overload = lossy.is_some();
            lossy.into_iter().for_each(|trial| little.add(&trial));
            if let Some(carried) = carried.filter(|_| is_overload) {
                let offer = overload(little_more(carried.forwarding.middle));
                let tried = through(tester, Phase::Wire, offer, trials, trial::run_overload)?;
                tried
                    .into_iter()
                    .for_each(|judged| wire_little.add(&judged.trial));
            }
        }
        sends = Rate::from_fps(widest).min(SENDER_MAX);
    }
    let pairs = [(&little, &wire_little), (&most, &wire)];
    Ok(conclude(tester.traffic.receiver, pairs, sends))
}

/// What the trials through router and wire tell, at the lower overload and at the most that the sender can, which was so much.
fn conclude(receiver: ReceiverPlace, pairs: [(&Series, &Series); 2], sends: Rate) -> Saturated {
    let [(little, wire_little), (most, wire)] = pairs;
    let found = loads(most, little);
    let cost = cost(&found, pairs);
    let (cost, withheld_ns) = withhold(cost, found.at_overload());
    let carried = wire
        .saturation()
        .map(|found| Rate::from_fps(found.forwarding.middle));
    let offered = found
        .at_most
        .map(|found| Rate::from_fps(found.offered.middle));
    let ceiling = match receiver {
        ReceiverPlace::Exit => offered,
        ReceiverPlace::Port => carried.or(offered),
    };
    Saturated {
        wire_trials: (wire.blocks.len() + wire_little.blocks.len()) as u32,
        cost,
        withheld_ns,
        wire_carries: carried,
        ceiling: ceiling.unwrap_or(sends).min(SENDER_MAX),
        overloaded: most.lost() > 0,
        ..found
    }
}

/// What the router forwarded at both overloads.
fn loads(most: &Series, little: &Series) -> Saturated {
    let [at_most, at_little_more] = Saturation::from_two_loads([&most.blocks, &little.blocks]);
    let found = Saturated {
        at_most,
        at_little_more,
        ..Saturated::default()
    };
    let of_maximum = match found.at_overload() == found.at_most.as_ref() {
        true => most,
        false => little,
    };
    Saturated {
        mean_fps: of_maximum.mean_fps(found.at_overload().and_then(|found| found.in_state)),
        lost_inside_share: most.lost_inside_share().max(little.lost_inside_share()),
        ..found
    }
}

/// Times the receiver's program at the exit a little above what router and wire carry, in the state of the maximum. The parts
/// of a frame's cost need it. It takes a second or more, so only jobs that tell a cost do it.
///
/// # Errors
/// The tester failed.
pub fn time_exit(measurer: &mut dyn Measurer, found: Saturated) -> Result<Saturated, TesterError> {
    let carried = found.wire_carries.filter(|_| found.cost.is_some());
    let exit_program = match found.at_overload().zip(carried) {
        Some((maximum, carried)) => {
            let loads = [maximum.forwarding.middle, carried.fps()].map(little_more);
            measurer.exit_program(loads, maximum.distance_ns, trial::run_overload)?
        }
        None => None,
    };
    Ok(Saturated {
        cost: (found.cost).map(|cost| corrected(cost, exit_program.as_ref())),
        exit_program,
        ..found
    })
}

fn is_narrow(interval: &Interval) -> bool {
    interval.high - interval.low <= 2.0 * NARROW * interval.middle
}

/// What a trial at overload offers at this load.
pub(crate) fn overload(load: Rate) -> Offer {
    Offer::new(load.min(SENDER_MAX), TRIAL)
}

/// As many frames as the offer has, as fast as the sender can.
pub(crate) fn burst(tester: &mut Tester<'_>, offer: &Offer) -> Result<Trial, TesterError> {
    trial::run_burst(tester, offer.frames())
}

/// Runs and judges a trial through the router, or through a wire in the wire's phase. `None`: no wire can be laid.
pub(crate) fn through(
    tester: &mut Tester<'_>,
    phase: Phase,
    offer: Offer,
    trials: &mut Trials<'_>,
    run: impl FnOnce(&mut Tester<'_>, &Offer) -> Result<Trial, TesterError>,
) -> Result<Option<Judged>, JobError> {
    if phase == Phase::Wire && !tester.lay_wire()? {
        return Ok(None);
    }
    let trial = run(tester, &offer);
    tester.wire = None;
    let trial = trial?;
    // The load of a burst is known only afterwards.
    let offer = if trial.offered == Rate::ZERO {
        Offer::new(taken_by_port(&trial), trial.duration)
    } else {
        offer
    };
    let judged = tester.judge(phase, offer, trial, trials)?;
    // Windows do not show which frames the receiver missed.
    judged.trial.check_exit().map_err(JobError::PastExit)?;
    Ok(Some(judged))
}

/// The overload of a simulated router, from its properties.
#[must_use]
pub fn simulate(router: &Properties) -> Saturated {
    let ceiling = router.tester_ceiling.unwrap_or(SENDER_MAX);
    let forwarded = router.capacity.min(ceiling).fps();
    let at_most = Saturation {
        offered: Interval::from_value(ceiling.fps()),
        forwarding: Interval {
            low: forwarded * (1.0 - router.noise),
            ..Interval::from_value(forwarded)
        },
        busy: Some(forwarded / router.capacity.fps().max(1.0)),
        ..Saturation::default()
    };
    Saturated {
        at_most: Some(at_most),
        ceiling,
        overloaded: router.capacity < ceiling,
        ..Saturated::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::{CpuBusy, CpuExchange};

    /// What was forwarded with the CPUs so far apart.
    fn forwarded(fps: f64, distance_ns: Option<f64>) -> Saturation {
        let router = Properties::ideal(Rate::from_fps(fps));
        let found = simulate(&router).at_most.expect("it forwards");
        Saturation {
            distance_ns,
            ..found
        }
    }

    /// The maximum of these two loads.
    fn maximum(most: Option<Saturation>, little: Option<Saturation>) -> Option<f64> {
        let saturated = Saturated {
            at_most: most,
            at_little_more: little,
            ..Saturated::default()
        };
        saturated.at_overload().map(|found| found.forwarding.middle)
    }

    #[test]
    fn loads_of_alike_distance_are_compared() {
        let near = |fps| Some(forwarded(fps, Some(60.0)));
        let far = |fps| Some(forwarded(fps, Some(310.0)));
        let unknown = |fps| Some(forwarded(fps, None));
        // Overload slows this DUT down.
        assert_eq!(maximum(near(1.2e6), near(1.5e6)), Some(1.5e6));
        assert_eq!(maximum(near(1.5e6), near(1.2e6)), Some(1.5e6));
        // A core apart the same DUT is slower, whatever the load: nothing to compare, and the first load stands.
        assert_eq!(maximum(far(1.2e6), near(1.5e6)), Some(1.2e6));
        assert_eq!(maximum(near(1.2e6), far(1.5e6)), Some(1.2e6));
        // Twice as far is alike; a little more is not.
        let at = |fps, ns| Some(forwarded(fps, Some(ns)));
        assert_eq!(maximum(at(1.2e6, 60.0), at(1.5e6, 120.0)), Some(1.5e6));
        assert_eq!(maximum(at(1.2e6, 60.0), at(1.5e6, 120.1)), Some(1.2e6));
        // Where nobody knows, nothing says that they differ.
        assert_eq!(maximum(unknown(1.2e6), near(1.5e6)), Some(1.5e6));
        assert_eq!(maximum(far(1.2e6), unknown(1.5e6)), Some(1.5e6));
    }

    #[test]
    fn the_most_is_left_out_only_where_it_surely_slows() {
        let is_slower = |most: f64, little: Option<f64>| {
            let of = |fps| forwarded(fps, None);
            let saturated = Saturated {
                at_most: Some(of(most)),
                at_little_more: little.map(of),
                ..Saturated::default()
            };
            saturated.is_slower_at_most()
        };
        assert!(is_slower(2.2e6, Some(2.9e6)));
        assert!(!is_slower(2.9e6, Some(2.9e6)));
        assert!(!is_slower(2.9e6, Some(2.2e6)));
        assert!(!is_slower(2.9e6, None));
        // In another state of the machine, or of disturbed windows alone.
        let with = |change: fn(&mut Saturation)| {
            let mut most = forwarded(2.2e6, Some(60.0));
            change(&mut most);
            Saturated {
                at_most: Some(most),
                at_little_more: Some(forwarded(2.9e6, Some(60.0))),
                ..Saturated::default()
            }
        };
        assert!(with(|_| ()).is_slower_at_most());
        assert!(!with(|most| most.distance_ns = Some(310.0)).is_slower_at_most());
        assert!(!with(|most| most.only_disturbed = true).is_slower_at_most());
    }

    /// Trials of a search, each so long in one state that it has windows of it: what they forwarded, and what the judge said.
    fn searched(each: &[(f64, Verdict)], busy: f64, work_ns: u64) -> Vec<(Trial, Verdict)> {
        let length = Span::from_millis(10);
        let trial = |&(forwarded, verdict): &(f64, Verdict)| {
            let window = Window {
                duration: length,
                forwarded: (forwarded * length.as_secs_f64()) as u64,
                disturbed: false,
                round_trip_ns: Some(80),
                work_ns: Some(work_ns),
                busy: None,
            };
            let busy = CpuBusy {
                run_ns: (busy * 1e9) as u64,
                ..CpuBusy::default()
            };
            let trial = Trial {
                duration: Span::from_millis(1_000),
                windows: vec![window; 100],
                busy: vec![busy],
                ..Trial::default()
            };
            (trial, verdict)
        };
        each.iter().map(trial).collect()
    }

    /// Overload slows this router: it forwards more in the search.
    #[test]
    fn the_searchs_lossy_trials_may_be_the_maximum() {
        let overload = Saturated {
            at_most: series(2e6, 1.36e6, 735.0).saturation(),
            ..Saturated::default()
        };
        let lossy = Verdict::Lossy { lost: 9 };
        let more = [1.45e6, 1.46e6, 1.47e6].map(|fps| (fps, lossy));
        let of = |each: &[(f64, Verdict)], busy, work_ns| {
            let found = overload.with_search(&searched(each, busy, work_ns));
            assert_eq!(found.at_overload(), overload.maximum());
            let maximum = found.maximum().map(|found| found.forwarding.middle);
            (maximum, found.lower_at_overload().is_some())
        };
        assert_eq!(of(&more, 1.0, 200), (Some(1.46e6), true));
        let no_more = (Some(1.36e6), false);
        assert_eq!(of(&more[1..], 1.0, 200), no_more, "two trials");
        assert_eq!(of(&more, 0.9, 200), no_more, "time left");
        assert_eq!(of(&more, 1.0, 300), no_more, "another state");
        let passed = more.map(|(fps, _)| (fps, Verdict::Lossless));
        assert_eq!(of(&passed, 1.0, 200), no_more, "no overload");
        // Where nobody timed the windows, at the CPU distance of overload alone.
        let untimed = |at_ns| {
            let mut trials = searched(&more, 1.0, 200);
            for (trial, _) in &mut trials {
                let windows = trial.windows.iter_mut();
                windows.for_each(|window| (window.round_trip_ns, window.work_ns) = (None, None));
                let took = Span::from_nanos(80);
                trial.exchange = Some(CpuExchange {
                    before: took,
                    after: took,
                });
            }
            let overload = Saturated {
                at_most: Some(forwarded(1.36e6, Some(at_ns))),
                ..Saturated::default()
            };
            overload.with_search(&trials).at_search.is_some()
        };
        assert_eq!([80.0, 340.0].map(untimed), [true, false]);
        let less = more.map(|(fps, lossy)| (fps - 8e4, lossy));
        assert_eq!(of(&less, 1.0, 200), no_more, "as runs differ");
    }

    /// Four trials in one known state, each of which took all of its CPU's time or `ns` for each frame.
    fn series(sent: f64, forwarded: f64, ns: f64) -> Series {
        let length = Span::from_millis(10);
        let window = Window {
            duration: length,
            forwarded: (forwarded * length.as_secs_f64()) as u64,
            disturbed: false,
            round_trip_ns: Some(80),
            work_ns: Some(200),
            busy: None,
        };
        let block = Block {
            sent: Rate::from_fps(sent),
            lost: 0.0,
            busiest: Some((forwarded * ns / 1e9).min(1.0)),
            threads: None,
            ns_per_frame: Some(ns),
            distance: Distance::at(80.0),
            windows: vec![window; 30],
        };
        Series {
            blocks: vec![block; 4],
            lost_at_ring: 1,
            lost_inside: 0,
            taken: 1,
        }
    }

    #[test]
    fn a_wire_that_is_not_overloaded_has_a_cost() {
        let (router, none) = (series(2e6, 0.5e6, 2_000.0), Series::default());
        let found = Saturated {
            at_most: router.saturation(),
            ..Saturated::default()
        };
        assert!(found.at_most.is_some_and(|most| most.in_state.is_some()));
        let cost = |wire: &Series| cost(&found, [(&none, &none), (&router, wire)]);
        // The tester can send no more than 70 % of what the wire takes.
        let idle = cost(&series(1.6e6, 1.6e6, 440.0)).expect("a cost");
        assert_eq!(
            (idle.router_ns.middle, idle.wire_overloaded),
            (1_560.0, false)
        );
        let full = cost(&series(3e6, 2e6, 500.0)).expect("a cost");
        assert_eq!(
            (full.router_ns.middle.round(), full.wire_overloaded),
            (1_500.0, true)
        );
    }

    #[test]
    fn a_cost_is_at_the_load_of_the_maximum() {
        let (little, none) = (series(1.2e6, 1e6, 1_000.0), Series::default());
        let (most, wire) = (series(2e6, 0.9e6, 1_111.0), series(3e6, 2e6, 500.0));
        let found = loads(&most, &little);
        assert_eq!(found.at_overload(), found.at_little_more.as_ref());
        let cost = cost(&found, [(&little, &none), (&most, &wire)]).expect("a cost");
        let parts = [cost.router_ns, cost.bed_ns, cost.total_ns].map(|part| part.middle.round());
        assert_eq!(parts, [611.0, 389.0, 1_000.0]);
        // At a million frames/s a frame cannot have cost more.
        let dear = FrameCost {
            total_ns: Interval::from_value(1_200.0),
            ..cost
        };
        let maximum = found.at_overload();
        assert_eq!(withhold(Some(cost), maximum), (Some(cost), None));
        assert_eq!(withhold(Some(dear), maximum), (None, Some(1_200.0)));
    }

    /// A full table: the router waits for memory, and the fixed piece of work takes longer in its trials alone.
    #[test]
    fn a_router_that_slows_its_cpu_has_a_cost() {
        let (mut router, none) = (series(2e6, 0.8e6, 1_250.0), Series::default());
        for window in router
            .blocks
            .iter_mut()
            .flat_map(|block| &mut block.windows)
        {
            window.work_ns = Some(230);
        }
        let found = Saturated {
            at_most: router.saturation(),
            ..Saturated::default()
        };
        let wire = series(3e6, 2e6, 500.0);
        let cost = |found: &Saturated, router: &Series, wire: &Series| {
            cost(found, [(&none, &none), (router, wire)])
        };
        let full = cost(&found, &router, &wire).expect("a cost");
        assert_eq!(full.router_ns.middle.round(), 750.0);
        assert_eq!(full.slower, Some(1.15));
        // A wire that is slower than the router was on a slower machine.
        let fast = series(2e6, 0.8e6, 1_250.0);
        let mut slow = series(3e6, 2e6, 500.0);
        for window in slow.blocks.iter_mut().flat_map(|block| &mut block.windows) {
            window.work_ns = Some(230);
        }
        let found = Saturated {
            at_most: fast.saturation(),
            ..Saturated::default()
        };
        assert_eq!(cost(&found, &fast, &slow), None);
        let same = cost(&found, &fast, &wire).expect("a cost");
        assert_eq!(same.slower, None);
    }

    /// More rounds could not make the result of one run hold for others.
    #[test]
    fn rounds_end_where_runs_differ_by_more() {
        let half = |half: f64| Interval {
            low: 1e6 * (1.0 - half),
            middle: 1e6,
            high: 1e6 * (1.0 + half),
        };
        assert!(is_narrow(&half(0.0199)) && !is_narrow(&half(0.021)));
        let widened = |own: f64| {
            let runs = half(own).widen_to_runs();
            runs.high - runs.low
        };
        assert!(widened(NARROW) < 1.15 * widened(0.0));
    }

    #[test]
    fn one_load_alone_is_the_maximum() {
        let near = |fps| Some(forwarded(fps, Some(60.0)));
        assert_eq!(maximum(near(1.2e6), None), Some(1.2e6));
        assert_eq!(maximum(None, near(1.5e6)), Some(1.5e6));
        assert_eq!(maximum(None, None), None);
    }
}
