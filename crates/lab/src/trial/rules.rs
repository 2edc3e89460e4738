//! The bounds each trial is judged by: fixed by bed and offer before the trial begins, blind to its loss.

use crate::bed::Bed;
use crate::tester::{Tester, watch};
use crate::traffic::Traffic;
use mpps_method::disturbed::Guard;
use mpps_method::{Offer, Rate, Rules, Span};

/// What a receive ring of hardware is taken to hold where nobody says: as little as drivers usually have.
pub const DEVICE_RING: u32 = 512;
/// The watch sees no shorter pause for certain: its ticks are a period apart.
pub const UNSEEN: Span = Span::from_nanos(watch::STALL_NS - watch::PERIOD_NS);
/// After a pause of its own the sender catches up for as long.
const FACTOR_MIN: f64 = 1.0;
/// A DUT without time to spare drains no ring.
const FACTOR_MAX: f64 = 1e3;

/// The rules for one offer. A disturbance may fill the rings, and it is over when they have drained.
#[must_use]
pub fn of(tester: &Tester<'_>, offer: &Offer) -> Rules {
    of_ring(
        ring(tester.bed, &tester.traffic),
        tester.forwards_at_most,
        offer,
    )
}

/// As [`of`], for receive rings that hold so many frames together before a DUT that forwards so many frames/s at most.
#[must_use]
pub fn of_ring(ring: u32, drains: Option<Rate>, offer: &Offer) -> Rules {
    let rules = Rules::default();
    let drains = drains.filter(|drains| drains.fps() > 0.0);
    Rules {
        guard: drains.map_or(rules.guard, |drains| Guard {
            factor: factor(drains, offer.rate).max(FACTOR_MIN),
            most: full(ring, drains, offer.rate).min(rules.guard.most),
            ..rules.guard
        }),
        ..rules
    }
}

/// What came in a pause drains in so many times its length.
fn factor(drains: Rate, offered: Rate) -> f64 {
    let spare = drains.fps() - offered.fps();
    if spare <= 0.0 {
        return FACTOR_MAX;
    }
    (offered.fps() / spare).min(FACTOR_MAX)
}

/// How long a full ring needs to drain: less than what it stores in the time that it fills.
fn full(ring: u32, drains: Rate, offered: Rate) -> Span {
    let fills = f64::from(ring) / offered.fps().max(1.0);
    Span::from_secs_f64((fills * factor(drains, offered)).min(1.0))
        .max(Rules::default().guard.least)
}

/// Frames that those of the DUT's receive rings hold together which this traffic can fill: a flow fills one, in each
/// direction.
#[must_use]
pub fn ring(bed: &Bed, traffic: &Traffic) -> u32 {
    known_ring(bed, traffic).unwrap_or(DEVICE_RING)
}

/// The same; `None` where nobody says how many.
#[must_use]
pub fn known_ring(bed: &Bed, traffic: &Traffic) -> Option<u32> {
    let one = bed.dut().ring_frames()?;
    Some(one.saturating_mul(filled(bed.plan().queues, traffic)))
}

/// Frames that one of the DUT's receive rings holds; a quarter of it may be caught up with at once.
#[must_use]
pub fn one_ring(bed: &Bed) -> u32 {
    bed.dut().ring_frames().unwrap_or(DEVICE_RING)
}

/// Queues that frames get to, at most: a flow stays on one.
fn filled(queues: u16, traffic: &Traffic) -> u32 {
    let destinations = (traffic.destinations.as_ref()).map_or(1, |drawn| drawn.distinct);
    let flows = u64::from(traffic.flows).saturating_mul(destinations).max(1);
    let of_way = u32::from(queues).min(u32::try_from(flows).unwrap_or(u32::MAX));
    // Each direction has rings of its own, and a load is that of all directions.
    of_way.saturating_mul(u32::try_from(traffic.directions()).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_fills_one_queue() {
        let of = |flows| Traffic {
            flows,
            ..Traffic::default()
        };
        assert_eq!(filled(4, &of(1)), 1);
        assert_eq!(filled(4, &of(3)), 3);
        assert_eq!(filled(4, &of(32)), 4);
        let both_ways = Traffic {
            bidirectional: true,
            ..of(32)
        };
        assert_eq!(filled(4, &both_ways), 8);
    }

    #[test]
    fn the_guard_is_what_the_rings_need_to_drain() {
        let guard = |drains: f64, fps| {
            let offer = Offer {
                rate: Rate::from_fps(fps),
                duration: Span::from_millis(1_000),
            };
            of_ring(2_000, Some(Rate::from_fps(drains)), &offer).guard
        };
        let loaded = guard(1_500_000.0, 1_200_000.0);
        assert!((loaded.factor - 4.0).abs() < 1e-9);
        assert!(
            loaded.most.as_nanos().abs_diff(6_666_667) < 10,
            "{loaded:?}"
        );
        // The sender catches up too.
        let light = guard(1_500_000.0, 1_000.0);
        assert_eq!((light.factor, light.most), (1.0, light.least));
        let most = Rules::default().guard.most;
        for fps in [1_450_000.0, 1_500_000.0, 2_000_000.0] {
            let full = guard(1_500_000.0, fps);
            assert!(full.factor > 20.0);
            assert_eq!(full.most, most);
        }
    }
}
