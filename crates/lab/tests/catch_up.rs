//! A sender that was away makes up for no more at once than a quarter of the ring that really receives: the virtual NIC's
//! own with `cpumap`, the veth's 256 slots with the other fronts.

use crate::support;
use crate::support::planted::PlantedPauses;
use crate::support::trials::{assert_ledger, run, tester};
use mpps_lab::bed::{Bed, BedPlan, Front};
use mpps_lab::dut::VETH_RING;

/// Twice the veth's. A quarter of either is due within less than the bound in time at this load.
const RX_RING: u32 = 2 * VETH_RING;
const FPS: f64 = 200_000.0;
/// Longer than any of the bounds.
const PAUSE_NS: u64 = 3_000_000;
/// The histogram of lateness says the upper end of a bucket.
const BUCKET: f64 = 1.07;
/// Others may take the sender's CPU just when the pauses end.
const ATTEMPTS: u32 = 10;

#[test]
fn catching_up_is_bounded_by_the_ring_of_the_front() {
    if !support::can_run() {
        return;
    }
    for (nic, ring) in [
        (Front::Cpumap, RX_RING),
        (Front::Napi, VETH_RING),
        (Front::Softirq, VETH_RING),
    ] {
        let plan = BedPlan {
            nic,
            rx_ring: RX_RING,
            ..support::plan()
        };
        let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("{nic:?}: {error}"));
        let mut tester = tester(&bed, &support::traffic(), 1 << 20);
        let bound_ns = f64::from(ring) / 4.0 / FPS * 1e9;
        let mut seen = Vec::new();
        let reached = (0..ATTEMPTS).any(|_| {
            let sender = bed.plan().cpus.sender();
            let pauses = PlantedPauses::plant(sender, 100_000_000, PAUSE_NS).expect("plant");
            let trial = run(&mut tester, FPS, 500);
            drop(pauses);
            assert_ledger(&trial, nic.name());
            let latest = trial.lateness.quantile(1.0).expect("a paced trial");
            let latest_ns = latest.as_nanos() as f64;
            assert!(
                latest_ns <= BUCKET * bound_ns,
                "{nic:?}: {latest} late, the bound is {bound_ns} ns"
            );
            seen.push(latest);
            latest_ns >= 0.9 * bound_ns
        });
        assert!(reached, "{nic:?}: the bound is {bound_ns} ns: {seen:?}");
    }
}
