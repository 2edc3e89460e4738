//! A cost on the router's path: what a frame costs the router must grow by it.

use super::Ruler;
use crate::jobs::{JobError, Judged, Phase, Trials};
use crate::search::saturation::{self, little_more, through};
use crate::tester::{Fault, PlantedFault, Tester};
use crate::trial;
use mpps_method::distance::Distance;
use mpps_method::interval::Interval;
use mpps_method::limit::BUSY;
use mpps_method::turns::TurnOrder;
use mpps_method::{Rate, statistics};
use mpps_record::CalibrationLine;

/// What the DUT spins for each frame in the two trials of a pair, ns. It spins in both, so that what spinning costs beside
/// its time (readings of the clock, a branch that the CPU foretold wrongly) is in both.
const SPINS_NS: [u64; 2] = [500, 1_000];
/// A cost may be off by this share.
const COST_TOLERANCE: f64 = 0.1;
/// Pairs are added until the half width is this share of the cost.
const NARROW: f64 = 0.05;
/// Pairs whose half width is a larger share say nothing.
const COST_WIDTH_MAX: f64 = 0.1;
/// Pairs needed for an interval that is no mere range.
const PAIRS_MIN: usize = 6;

pub(super) const COST: Ruler = Ruler(
    "a cost on the router's path",
    (SPINS_NS[1] - SPINS_NS[0]) as f64 * COST_TOLERANCE,
    "ns/frame",
);

/// A trial at overload with a spin on the router's path.
struct Spun {
    /// What a frame cost, ns.
    frame_ns: f64,
    /// How long the DUT spun for a frame, by the spinning program's own clock, ns.
    spin_ns: f64,
    /// How far apart the CPUs were.
    distance: Distance,
}

/// The cost of a frame must grow by what the DUT spins longer. The trials of a pair follow each other, so that a CPU that
/// slows down for a while slows both; which comes first changes from pair to pair. The bed's part is the same in both.
pub(super) fn costing(
    tester: &mut Tester<'_>,
    pairs: u32,
    trials: &mut Trials<'_>,
) -> Result<CalibrationLine, JobError> {
    let mut forwards: [Option<Rate>; 2] = [None; 2];
    let (mut planted, mut grown) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        let both = TurnOrder::new(pair)
            .both(|longer| spun(tester, SPINS_NS[longer], &mut forwards[longer], trials))?;
        if let [Some(short), Some(long)] = both
            && short.distance.with(long.distance) != Distance::Changed
        {
            grown.push(long.frame_ns - short.frame_ns);
            planted.push(long.spin_ns - short.spin_ns);
        }
        let is_told = |found| is_narrow(found, NARROW) && !is_open(found, &planted);
        if grown.len() >= PAIRS_MIN && Interval::from_samples(&grown).is_some_and(is_told) {
            break;
        }
    }
    let found = Interval::from_samples(&grown);
    let found =
        found.filter(|&found| is_narrow(found, COST_WIDTH_MAX) && !is_open(found, &planted));
    let found = found.ok_or(JobError::PairsApart { pairs })?;
    let planted = statistics::median(&planted).unwrap_or(f64::NAN);
    let Ruler(fault, _, unit) = COST;
    let ruler = Ruler(fault, planted * COST_TOLERANCE, unit);
    Ok(ruler.row(planted, found.middle))
}

fn is_narrow(found: Interval, share: f64) -> bool {
    half(found) <= found.middle * share
}

/// Whether the cost found is outside the tolerance while its interval reaches into it.
fn is_open(found: Interval, planted: &[f64]) -> bool {
    let planted = statistics::median(planted).unwrap_or(f64::NAN);
    let (tolerance, off) = (planted * COST_TOLERANCE, (found.middle - planted).abs());
    off > tolerance && off - half(found) <= tolerance
}

fn half(interval: Interval) -> f64 {
    (interval.high - interval.low) / 2.0
}

/// One trial, at a load little above what the DUT forwards with this spin, which a burst tells. `None`: the machine
/// disturbed it, it was no overload, or the cost of a frame is unknown.
fn spun(
    tester: &mut Tester<'_>,
    delay_ns: u64,
    forwards: &mut Option<Rate>,
    trials: &mut Trials<'_>,
) -> Result<Option<Spun>, JobError> {
    let fault = Fault::spin(delay_ns);
    let planted = PlantedFault::plant_on_router(fault, tester.bed, tester.ways()[0])?;
    if forwards.is_none() {
        let burst = trial::run_burst(tester, saturation::FIRST_BURST)?;
        *forwards = Rate::from_frames(burst.counts().received, burst.duration);
    }
    let rate = little_more(forwards.unwrap_or_default().fps());
    let (void, before) = (trials.void(), planted.planted()?);
    let offer = saturation::overload(rate);
    let judged = through(tester, Phase::Overload, offer, trials, trial::run_overload)?;
    let Some(Judged { trial, .. }) = judged else {
        return Ok(None);
    };
    *forwards = Rate::from_frames(trial.counts().received, trial.duration);
    let held = planted.planted()?;
    let frames = (held.delayed - before.delayed).max(1);
    let spun = |frame_ns| Spun {
        frame_ns,
        spin_ns: (held.delayed_ns - before.delayed_ns) as f64 / frames as f64,
        distance: Distance::from_trial(&trial),
    };
    // Below overload a frame costs more.
    let is_overload = trial.busiest_share().is_some_and(|busy| busy >= BUSY);
    let counts = trials.void() == void && is_overload;
    Ok(trial.ns_per_frame().filter(|_| counts).map(spun))
}
