//! Back-to-back as `mpps back-to-back` measures it: on this bed the longest burst fills the virtual NIC's ring.

use crate::support;
use crate::support::printed::Printed;
use mpps_lab::jobs::UnderTest;
use mpps_lab::jobs::back_to_back::{self, BurstPlan};
use mpps_record::BurstLine;

/// The buffer by busy time; the ring row of `mpps calibrate` finds it within 5 % of a slow DUT.
const SHARES: std::ops::Range<f64> = 0.5..1.5;

#[test]
fn the_longest_burst_fills_the_beds_own_ring() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let bed = support::bed();
    let plan = BurstPlan {
        measurement: support::measurement(8_000),
        repeats: 2,
    };
    let mut seen = Printed::<BurstLine>::new();
    let error = back_to_back::measure(UnderTest::Bed(&bed), &plan, &mut seen);
    if error.as_ref().is_some_and(|error| error.is_disturbance()) {
        support::skip!("a quieter machine: {error:?}");
    }
    assert!(error.is_none(), "{error:?}");
    let [size] = &seen.0[..] else {
        panic!("one size: {:?}", seen.0);
    };
    let ring = f64::from(size.own_ring_frames.expect("a ring of the bed"));
    println!("{:?}\n{:?}", size.searches, size.all);
    if size.all_passed_frames.is_some() {
        support::skip!("a sender that is faster than the router");
    }
    let all = size.all.expect("a search");
    assert!(all.implied_buffer_ns > 0 && all.average_frames >= all.least_frames as f64);
    let fits = |share: f64| SHARES.contains(&share);
    assert!(
        size.searches
            .iter()
            .any(|one| fits(one.buffer_frames / ring))
    );
}
