//! A delay: the median latency must grow by it.

use super::{FRAMES_MAX, Ruler, with_fault};
use crate::bed::Bed;
use crate::jobs::{JobError, Trials};
use crate::tester::{Fault, ReceiverMode, Tester};
use crate::traffic::Traffic;
use mpps_method::{Offer, Rate, Span, Trial, statistics};
use mpps_record::CalibrationLine;

/// A fifth of the DUT's time at this load.
const DELAY_NS: u64 = 100_000;
const LATENCY_FPS: f64 = 2_000.0;
const LATENCY_TIME: Span = Span::from_millis(250);
/// Latency may be off by this, ns.
const LATENCY_TOLERANCE_NS: f64 = 5_000.0;

pub(super) const DELAY: Ruler = Ruler("a delay", LATENCY_TOLERANCE_NS, "ns");

/// The median latency must grow by what the DUT spins.
pub(super) fn delayed(
    bed: &Bed,
    traffic: &Traffic,
    pairs: u32,
    trials: &mut Trials<'_>,
) -> Result<CalibrationLine, JobError> {
    let traffic = Traffic {
        batch: 1,
        all_timed: true,
        ..traffic.clone()
    };
    let mut tester = Tester::raise(bed, &traffic, FRAMES_MAX, ReceiverMode::Interrupt)?;
    let offer = Offer::new(Rate::from_fps(LATENCY_FPS), LATENCY_TIME);
    let median = |trial: &Trial| {
        trial
            .latency
            .quantile(0.5)
            .map_or(f64::NAN, |span| span.as_nanos() as f64)
    };
    // In pairs, for a restless machine's latency wanders by more than the fault from one second to the next.
    let slow = Fault::spin(DELAY_NS);
    let mut grown = Vec::new();
    for _ in 0..pairs {
        let (_, without) = with_fault(&mut tester, Fault::NONE, offer, trials)?;
        let (_, with) = with_fault(&mut tester, slow, offer, trials)?;
        grown.push(median(&with) - median(&without));
    }
    let found = statistics::median(&grown).unwrap_or(f64::NAN);
    Ok(DELAY.row(DELAY_NS as f64, found))
}
