//! The meter finds what a separate program planted on the DUT's path, with the receiver at the tester's port. (With the
//! receiver at the router's exit: a cost and a delay here, copies and swaps in `exit.rs`, all else in cli's own test of
//! `mpps calibrate`.)

use crate::support;
use crate::support::printed::Printed;
use mpps_lab::bed::Bed;
use mpps_lab::destinations::DrawPlan;
use mpps_lab::jobs::calibrate;
use mpps_lab::jobs::calibrate::FaultKind;
use mpps_lab::routes::{self, Origin};
use mpps_lab::tester::ReceiverPlace;
use mpps_lab::traffic::Traffic;
use mpps_method::destinations::Draw;
use mpps_record::CalibrationLine;

/// Fewer pairs than `mpps calibrate` has: they tell a cost from none.
const COST: FaultKind = FaultKind::Cost { pairs: 6 };
/// What a receiver itself tells: its counts, and that its own cost is not the router's. `latency.rs` tests its clock.
const FAULTS: [FaultKind; 4] = [
    FaultKind::Loss,
    FaultKind::Duplicates,
    FaultKind::Reordering,
    COST,
];

#[test]
fn every_planted_fault_is_found() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let traffic = Traffic {
        receiver: ReceiverPlace::Port,
        ..support::traffic()
    };
    for fault in FAULTS {
        assert_found(&bed, &traffic, fault);
    }
}

#[test]
fn a_cost_and_a_delay_are_found_at_the_exit() {
    if !support::can_run() {
        return;
    }
    let traffic = Traffic {
        receiver: ReceiverPlace::Exit,
        ..support::traffic()
    };
    let bed = support::bed();
    for fault in [COST, FaultKind::Delay { pairs: 3 }] {
        assert_found(&bed, &traffic, fault);
    }
}

#[test]
fn reordering_is_found_with_many_destinations() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let networks = Origin::Networks(4).routes(false, false, &mut |_| ());
    let table = networks.expect("networks").table;
    routes::load(&bed, &table, 1, &|_| ()).expect("load");
    let wish = DrawPlan {
        draw: Draw::PerAddress,
        count: 16,
        ipv6: false,
        flows: 1,
        seed: 1,
    };
    let drawn = routes::draw_up_to(&table, "networks", &wish);
    let traffic = Traffic {
        destinations: Some(drawn.expect("destinations")),
        ..support::traffic()
    };
    assert_found(&bed, &traffic, FaultKind::Reordering);
}

/// A restless machine can plant a fault of its own; one that stays is the meter's.
const ATTEMPTS: u32 = 5;

/// A row that the machine disturbed says so and proves nothing; every other has to hold.
fn assert_found(bed: &Bed, traffic: &Traffic, fault: FaultKind) {
    for attempt in 1..=ATTEMPTS {
        let mut found = Printed::<CalibrationLine>::new();
        if let Some(error) = calibrate::calibrate(bed, traffic, &[fault], &mut found) {
            panic!("{fault:?}: {error}");
        }
        let [row] = &found.0[..] else {
            panic!("one fault, one row: {:?}", found.0);
        };
        println!("{row:?}");
        if let Some(why) = &row.disturbed {
            support::skip!("a quieter machine to find {}: {why}", row.fault);
        }
        if row.holds {
            return;
        }
        assert!(attempt < ATTEMPTS, "{row:?}");
    }
}
