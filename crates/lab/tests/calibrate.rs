//! The meter finds what a separate program planted on the DUT's path.

mod support;

use mpps_lab::jobs::{Observer, Report, calibrate};
use mpps_lab::tester::ReceiverPlace;
use mpps_lab::traffic::Traffic;

struct Silent;

impl Observer for Silent {
    fn trial(&mut self, report: &Report<'_>) -> std::io::Result<()> {
        println!(
            "{} {} {}: {}, latency {:?}, {:?}",
            report.phase.name(),
            report.offer.rate,
            report.offer.duration,
            report.verdict,
            report.trial.latency.quantile(0.5),
            report.trial.counts()
        );
        Ok(())
    }
}

/// One receiver after the other: side by side they would disturb each other.
#[test]
fn every_planted_fault_is_found() {
    if !support::can_run() {
        return;
    }
    for receiver in [ReceiverPlace::Exit, ReceiverPlace::Port] {
        assert_found(receiver);
    }
}

/// Unit of the row of a planted cost.
const COST_UNIT: &str = "ns/frame";

/// A row that the machine disturbed says so and proves nothing; every other has to hold.
fn assert_found(receiver: ReceiverPlace) {
    let bed = support::bed();
    let traffic = Traffic {
        receiver,
        ..support::traffic()
    };
    let told =
        |row: &calibrate::Row| row.disturbed.is_some() || row.unit == COST_UNIT || row.holds();
    let mut attempts = 0;
    let rows = loop {
        attempts += 1;
        let calibrated = calibrate::calibrate(&bed, &traffic, &mut Silent);
        if let Some(error) = calibrated.ended {
            panic!("{error}");
        }
        // The machine's restlessness can plant a fault of its own; one that stays is the meter's.
        if calibrated.rows.iter().all(told) || attempts == 3 {
            break calibrated.rows;
        }
        println!("again: {:?}", calibrated.rows);
    };
    assert_eq!(rows.len(), 7);
    for row in &rows {
        println!("{receiver:?}: {row:?}");
    }
    for row in &rows {
        if let Some(why) = &row.disturbed {
            println!("SKIP: {} needs a quieter machine: {why}", row.fault);
            continue;
        }
        assert!(row.planted > 0.0, "{row:?}");
        if row.unit == COST_UNIT {
            // A machine whose CPUs wander finds it within its own unrest; the row itself says whether it holds.
            let share = row.found / row.planted;
            assert!((0.5..2.0).contains(&share), "{row:?}");
            continue;
        }
        assert!(row.holds(), "{row:?}");
    }
}
