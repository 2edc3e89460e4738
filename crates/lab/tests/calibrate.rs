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

#[test]
fn every_planted_fault_is_found() {
    assert_found(ReceiverPlace::Port);
}

#[test]
fn every_planted_fault_is_found_at_the_exit() {
    assert_found(ReceiverPlace::Exit);
}

fn assert_found(receiver: ReceiverPlace) {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let traffic = Traffic {
        receiver,
        ..support::traffic()
    };
    // A machine too restless to measure on is no fault of the meter's: it says so, and is asked again.
    let mut attempts = 0;
    let rows = loop {
        attempts += 1;
        let calibrated = calibrate::calibrate(&bed, &traffic, &mut Silent);
        if let Some(error) = calibrated.ended {
            panic!("{error}");
        }
        // The machine's restlessness can plant a fault of its own; one that stays is the meter's.
        if calibrated.rows.iter().all(calibrate::Row::holds) || attempts == 4 {
            break calibrated.rows;
        }
        println!("again: {:?}", calibrated.rows);
    };
    assert_eq!(rows.len(), 7);
    for row in &rows {
        println!("{row:?}");
    }
    for row in &rows {
        assert!(row.planted > 0.0, "{row:?}");
        assert!(row.holds(), "{row:?}");
    }
}
