//! A cost on the router's path: what a frame costs the router must grow by it.

use super::Ruler;
use crate::jobs::{JobError, Trials};
use crate::search::saturation;
use crate::tester::{Fault, PlantedFault, Tester};
use mpps_method::saturation::Interval;
use mpps_method::{Span, statistics};
use mpps_record::CalibrationLine;

/// Planted on the router's path, ns a frame.
const COST_NS: u64 = 500;
/// Time for each overload.
const COST_TIME: Span = Span::from_millis(4_000);
/// An overload with more than half of its trials disturbed is repeated so often.
const COST_REPEATS: u32 = 2;
/// A cost may be off by this share, beside the half width of what the pairs say.
const COST_TOLERANCE: f64 = 0.1;
/// Pairs whose half width is a larger share say nothing.
const COST_WIDTH_MAX: f64 = 0.4;

pub(super) const COST: Ruler = Ruler(
    "a cost on the router's path",
    COST_NS as f64 * COST_TOLERANCE,
    "ns/frame",
);

/// The router's part of a frame's cost must grow by what the DUT spins on the router's path, by the spinning program's own
/// clock. It spins in both of a pair, so that what spinning costs beside its time (readings of the clock, a branch that
/// the CPU foretold wrongly) is in both.
pub(super) fn costing(
    tester: &mut Tester<'_>,
    pairs: u32,
    trials: &mut Trials<'_>,
) -> Result<CalibrationLine, JobError> {
    let spin = |delay_ns| Fault {
        delay_ns,
        ..Fault::NONE
    };
    let (mut planted, mut grown) = (Vec::new(), Vec::new());
    for _ in 0..pairs {
        let (without, short) = router_cost(tester, spin(COST_NS), trials)?;
        let (with, long) = router_cost(tester, spin(2 * COST_NS), trials)?;
        grown.push(with - without);
        planted.push(long - short);
    }
    let planted = statistics::median(&planted).unwrap_or(f64::NAN);
    let grown = Interval::from_samples(&grown).ok_or(JobError::PairsApart { pairs })?;
    let half = (grown.high - grown.low) / 2.0;
    if half > planted * COST_WIDTH_MAX {
        return Err(JobError::PairsApart { pairs });
    }
    let Ruler(fault, _, unit) = COST;
    let ruler = Ruler(fault, planted * COST_TOLERANCE + half, unit);
    Ok(ruler.row(planted, grown.middle))
}

/// The router's part of a frame's cost at overload with this delay on its path, and the delay as it was, ns.
fn router_cost(
    tester: &mut Tester<'_>,
    fault: Fault,
    trials: &mut Trials<'_>,
) -> Result<(f64, f64), JobError> {
    for _ in 0..COST_REPEATS {
        let planted = PlantedFault::plant_on_router(fault, tester.bed, tester.ways()[0])?;
        let (told, void) = (trials.told(), trials.void());
        let saturated = saturation::measure(tester, COST_TIME, trials)?;
        let undisturbed = 2 * (trials.void() - void) <= trials.told() - told;
        if let Some(cost) = saturated.cost.filter(|_| undisturbed) {
            let held = planted.planted()?;
            let delay = held.delayed_ns as f64 / held.delayed.max(1) as f64;
            return Ok((cost.router_ns.middle, delay));
        }
    }
    Err(JobError::MostVoid {
        overloads: COST_REPEATS,
    })
}
