//! The rules that judge each trial. Bed and offer fix them before the trial begins, so loss cannot change them.

use crate::bed::Bed;
use crate::tester::{Tester, watch};
use crate::traffic::Traffic;
use mpps_method::disturbed::Guard;
use mpps_method::{Offer, Rate, Rules, Span};

/// Assumed size of a hardware receive ring whose size is unknown: the smallest usual default of drivers.
pub const DEVICE_RING: u32 = 512;
/// The watch can miss pauses that are shorter than this, because its ticks are a period apart.
pub const UNSEEN: Span = Span::from_nanos(watch::STALL_NS - watch::PERIOD_NS);
/// Smallest factor: after a pause of its own the sender catches up for as long as the pause.
const FACTOR_MIN: f64 = 1.0;
/// Largest factor: a DUT without spare time never drains its ring.
const FACTOR_MAX: f64 = 1e3;

/// The rules for one offer. A disturbance may fill the rings. Its guard ends when they have drained.
#[must_use]
pub fn choose(tester: &Tester<'_>, offer: &Offer) -> Rules {
    choose_for_ring(
        ring(tester.bed, &tester.traffic),
        tester.forwards_at_most,
        offer,
    )
}

/// The rules for receive rings of `ring` frames together, and a DUT that forwards at most `drains` frames/s.
#[must_use]
pub fn choose_for_ring(ring: u32, drains: Option<Rate>, offer: &Offer) -> Rules {
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

/// The frames that arrive during a pause drain in this many times its length.
fn factor(drains: Rate, offered: Rate) -> f64 {
    let spare = drains.fps() - offered.fps();
    if spare <= 0.0 {
        return FACTOR_MAX;
    }
    (offered.fps() / spare).min(FACTOR_MAX)
}

/// The time in which a full ring drains.
fn full(ring: u32, drains: Rate, offered: Rate) -> Span {
    let fills = f64::from(ring) / offered.fps().max(1.0);
    Span::from_secs_f64((fills * factor(drains, offered)).min(1.0))
        .max(Rules::default().guard.least)
}

/// Frames that the DUT's receive rings hold together, as far as this traffic can fill them. A flow fills one ring in
/// each direction.
#[must_use]
pub fn ring(bed: &Bed, traffic: &Traffic) -> u32 {
    known_ring(bed, traffic).unwrap_or(DEVICE_RING)
}

/// The same. `None`: the size of the rings is not known.
#[must_use]
pub fn known_ring(bed: &Bed, traffic: &Traffic) -> Option<u32> {
    let one = bed.dut().ring_frames()?;
    let queues = bed.plan().queues_on(traffic.dut_cpus);
    Some(one.saturating_mul(filled(queues, traffic)))
}

/// Frames that one of the DUT's receive rings holds.
#[must_use]
pub fn one_ring(bed: &Bed) -> u32 {
    bed.dut().ring_frames().unwrap_or(DEVICE_RING)
}

/// Most queues that this traffic can fill, over all directions. A flow stays on one queue.
fn filled(queues: u16, traffic: &Traffic) -> u32 {
    let destinations = (traffic.destinations.as_ref()).map_or(1, |drawn| drawn.distinct);
    let flows = u64::from(traffic.flows).saturating_mul(destinations).max(1);
    let per_way = u32::from(queues).min(u32::try_from(flows).unwrap_or(u32::MAX));
    // Each direction has rings of its own, and a load is that of all directions.
    per_way.saturating_mul(u32::try_from(traffic.directions()).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_fills_one_queue() {
        let traffic = |flows| Traffic {
            flows,
            ..Traffic::default()
        };
        assert_eq!(filled(4, &traffic(1)), 1);
        assert_eq!(filled(4, &traffic(3)), 3);
        assert_eq!(filled(4, &traffic(32)), 4);
        let both_ways = Traffic {
            bidirectional: true,
            ..traffic(32)
        };
        assert_eq!(filled(4, &both_ways), 8);
    }

    #[test]
    fn the_guard_is_what_the_rings_need_to_drain() {
        let guard = |drains: f64, fps| {
            let offer = Offer::new(Rate::from_fps(fps), Span::from_millis(1_000));
            choose_for_ring(2_000, Some(Rate::from_fps(drains)), &offer).guard
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
