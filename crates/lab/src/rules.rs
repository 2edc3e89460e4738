//! The bounds each trial is judged by: fixed by bed and offer before the trial begins, blind to its loss.

use crate::bed::{Bed, Front};
use mpps_method::{Offer, Rules, Span};

/// The veth's own ring, which the napi and softirq fronts receive with (drivers/net/veth.c, VETH_RING_SIZE).
pub const VETH_RING: u32 = 256;
/// What the receive ring of a device of somebody else's is taken to hold: as little as drivers usually have.
pub const DEVICE_RING: u32 = 512;
/// A machine at rest still stalls a millisecond or two; the watch cannot see less than its period.
const STALL_MIN: Span = Span::from_millis(2);
/// The ring is never quite empty when a stall begins.
const RING_SHARE: f64 = 0.9;
/// Above this a CPU was gone, whatever the load.
const STALL_MAX: Span = Span::from_millis(10);

/// The rules for one offer: a stall that alone could fill the ring at this load voids the trial.
#[must_use]
pub fn of(bed: &Bed, offer: &Offer) -> Rules {
    of_ring(ring(bed), offer)
}

/// As [`of`], for receive rings that hold so many frames together.
#[must_use]
pub fn of_ring(ring: u32, offer: &Offer) -> Rules {
    Rules {
        stall_max: stall_max(ring, offer),
        ..Rules::default()
    }
}

/// Frames the DUT's receive rings hold together.
#[must_use]
pub fn ring(bed: &Bed) -> u32 {
    let plan = bed.plan();
    if plan.is_external() {
        return DEVICE_RING;
    }
    let one = if plan.nic == Front::Cpumap {
        plan.rx_ring
    } else {
        VETH_RING
    };
    one.saturating_mul(u32::from(plan.queues))
}

/// Frames of a receive ring of which a quarter may be caught up with at once.
#[must_use]
pub fn ring_caught_up_with(bed: &Bed) -> u32 {
    if bed.plan().is_external() {
        DEVICE_RING
    } else {
        bed.plan().rx_ring
    }
}

fn stall_max(ring: u32, offer: &Offer) -> Span {
    let fills_ring = RING_SHARE * f64::from(ring) / offer.rate.fps().max(1.0);
    Span::from_secs_f64(fills_ring).clamp(STALL_MIN, STALL_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::Rate;

    #[test]
    fn the_bound_follows_the_ring_and_the_load() {
        let offer = |fps: f64| Offer {
            rate: Rate::from_fps(fps),
            duration: Span::from_millis(1000),
        };
        assert_eq!(stall_max(4096, &offer(1_000.0)), STALL_MAX);
        assert_eq!(stall_max(4000, &offer(900_000.0)), Span::from_millis(4));
        assert_eq!(stall_max(256, &offer(1_000_000.0)), STALL_MIN);
    }
}
