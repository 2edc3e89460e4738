//! The bounds each trial is judged by: fixed by bed and offer before the trial begins, blind to its loss.

use crate::bed::{Bed, Front, Side};
use crate::tester::Tester;
use crate::traffic::Traffic;
use crate::trial;
use mpps_method::{Offer, Rules, Span};

/// The veth's own ring, which the napi and softirq fronts receive with (drivers/net/veth.c, VETH_RING_SIZE).
pub const VETH_RING: u32 = 256;
/// What a receive ring of hardware is taken to hold where nobody says: as little as drivers usually have.
pub const DEVICE_RING: u32 = 512;
/// A machine at rest still stalls a millisecond or two; the watch cannot see less than its period.
pub const STALL_MIN: Span = Span::from_millis(2);
/// The ring is never quite empty when a stall begins.
const RING_SHARE: f64 = 0.9;
/// Above this a CPU was gone, whatever the load.
const STALL_MAX: Span = Span::from_millis(10);

/// The rules for one offer: a stall that alone could fill the ring at this load voids the trial, and one of the
/// sender's that alone leaves too much unsent.
#[must_use]
pub fn of(tester: &Tester<'_>, offer: &Offer) -> Rules {
    let bed = tester.bed;
    if !bed.plan().is_external() {
        let sender = bed.plan().cpus.sender();
        return Rules {
            sender_stall_max: Some((sender, sender_stall_max(one_ring(bed), offer))),
            ..of_ring(ring(bed, &tester.traffic), offer)
        };
    }
    let plan = bed.plan().external.as_ref();
    let both = plan.is_some_and(|plan| plan.bidirectional);
    let receiving = [Some(Side::D), both.then_some(Side::A)];
    let rings = receiving.into_iter().flatten().filter_map(|side| {
        let cable = bed.cable(side)?;
        let known = || cable.rx_ring().unwrap_or(DEVICE_RING);
        (!cable.is_veth()).then(known)
    });
    of_device(bed.plan().cpus.sender(), rings.min(), offer)
}

/// Around a device of somebody else's no CPU of ours does its work. A pause of the receiver's CPU may fill the
/// ring of its NIC (`rx_ring`; a veth has none, and the packet socket's own counts what it loses); one of the
/// sender's leaves slots unsent.
fn of_device(sender: usize, rx_ring: Option<u32>, offer: &Offer) -> Rules {
    Rules {
        stall_max: rx_ring.map_or(STALL_MAX, |ring| stall_max(ring, offer)),
        sender_stall_max: Some((sender, sender_stall_max(DEVICE_RING, offer))),
        ..Rules::default()
    }
}

/// What the sender makes up for, before a ring of so many frames, and what may stay unsent: a longer pause than both
/// says nothing of what the tester can do.
fn sender_stall_max(ring: u32, offer: &Offer) -> Span {
    let caught_up_ns = trial::late_max_ns(offer.rate.fps(), ring);
    let unsent_ns = Rules::default().unsent_max * offer.duration.as_nanos() as f64;
    let pause_ns = caught_up_ns.saturating_add(unsent_ns as u64);
    Span::from_nanos(pause_ns).clamp(STALL_MIN, STALL_MAX)
}

/// As [`of`], for receive rings that hold so many frames together.
#[must_use]
pub fn of_ring(ring: u32, offer: &Offer) -> Rules {
    Rules {
        stall_max: stall_max(ring, offer),
        ..Rules::default()
    }
}

/// Frames that those of the DUT's receive rings hold together which this traffic can fill: a flow fills one, in each
/// direction.
#[must_use]
pub fn ring(bed: &Bed, traffic: &Traffic) -> u32 {
    if bed.plan().is_external() {
        return DEVICE_RING;
    }
    one_ring(bed).saturating_mul(filled(bed.plan().queues, traffic))
}

/// Frames that one of the DUT's receive rings holds; a quarter of it may be caught up with at once.
#[must_use]
pub fn one_ring(bed: &Bed) -> u32 {
    let plan = bed.plan();
    if plan.is_external() {
        DEVICE_RING
    } else if plan.nic == Front::Cpumap {
        plan.rx_ring
    } else {
        VETH_RING
    }
}

/// Queues that frames get to, at most: a flow stays on one.
fn filled(queues: u16, traffic: &Traffic) -> u32 {
    let destinations = (traffic.destinations.as_ref()).map_or(1, |drawn| drawn.distinct);
    let flows = u64::from(traffic.flows).saturating_mul(destinations).max(1);
    let of_way = u32::from(queues).min(u32::try_from(flows).unwrap_or(u32::MAX));
    // Each direction has rings of its own, and a load is that of all directions.
    of_way.saturating_mul(u32::try_from(traffic.directions()).unwrap_or(1))
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
    fn the_bound_follows_the_ring_and_the_load() {
        let offer = |fps: f64| Offer {
            rate: Rate::from_fps(fps),
            duration: Span::from_millis(1000),
        };
        assert_eq!(stall_max(4096, &offer(1_000.0)), STALL_MAX);
        assert_eq!(stall_max(4000, &offer(900_000.0)), Span::from_millis(4));
        assert_eq!(stall_max(256, &offer(1_000_000.0)), STALL_MIN);
    }

    #[test]
    fn a_pause_that_alone_leaves_too_much_unsent_is_no_limit_of_the_tester_s() {
        let offer = |fps: f64, millis: u64| Offer {
            rate: Rate::from_fps(fps),
            duration: Span::from_millis(millis),
        };
        // A quarter of the ring and 0.1 % of the trial; 4 ms and that; never over what any CPU may.
        assert_eq!(
            sender_stall_max(4_096, &offer(512_000.0, 1_000)),
            Span::from_millis(3)
        );
        assert_eq!(
            sender_stall_max(4_096, &offer(10_000.0, 1_000)),
            Span::from_millis(5)
        );
        assert_eq!(sender_stall_max(256, &offer(1e6, 1_000)), STALL_MIN);
        assert_eq!(sender_stall_max(4_096, &offer(10_000.0, 60_000)), STALL_MAX);
    }

    #[test]
    fn around_a_device_the_sender_is_bound_by_what_stays_unsent_and_the_others_by_their_ring() {
        let offer = |fps: f64, millis: u64| Offer {
            rate: Rate::from_fps(fps),
            duration: Span::from_millis(millis),
        };
        let of = |ring, fps, millis| of_device(3, ring, &offer(fps, millis));
        let sender = |rules: Rules| rules.sender_stall_max.expect("a bound");
        // A quarter of 512 frames, 1 ms, is caught up with, 0.1 % of 4 s may stay unsent.
        let slow = of(None, 128_000.0, 4_000);
        assert_eq!(sender(slow), (3, Span::from_millis(5)));
        assert_eq!(slow.stall_max, STALL_MAX, "no ring, nothing to fill");
        assert_eq!(
            sender(of(None, 1e6, 1_000)).1,
            STALL_MIN,
            "0.128 ms and 1 ms"
        );
        assert_eq!(sender(of(None, 1e5, 60_000)).1, STALL_MAX);
        assert_eq!(
            of(Some(512), 100_000.0, 1_000).stall_max.as_nanos(),
            4_608_000
        );
    }
}
