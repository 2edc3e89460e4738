//! Results and doubts that the tests of several printers show.

use crate::record;
use mpps_lab::doubt::{self, Weight};
use mpps_method::Rate;
use mpps_record::{
    Claim, Doubt, ForwardingLimit, FrameCost, Interval, LimitedBy, Overload, RateIs, ResultLine,
};

/// A doubt with a cause and an advice that no test reads.
pub(super) fn doubt(name: &'static str, weight: Weight, seen: &str) -> Doubt {
    record::doubt(&doubt::Doubt {
        name,
        weight,
        seen: seen.to_owned(),
        why: "it matters",
        next: "run again",
    })
}

fn interval(low: f64, median: f64, high: f64) -> Interval<f64> {
    Interval { low, median, high }
}

/// A router that forwards 1.52 million frames/s, 1.38 million of them without loss.
pub(super) fn line() -> ResultLine {
    ResultLine {
        frame: "64".to_owned(),
        rate_is: Some(RateIs::Equal),
        rate_fps: Some(1_380_000),
        lossy_fps: Some(1_410_000),
        claim: Some(Claim::Estimate),
        limited_by: Some(LimitedBy::Dut),
        receiver: Some(mpps_record::ReceiverPlace::Exit),
        lossless_trials: Some(3),
        judged_trials: Some(3),
        trials: 9,
        overload: Overload {
            max_forwarding_fps: Some(Interval {
                low: 1_461_000,
                median: 1_523_000,
                high: 1_574_000,
            }),
            max_forwarding_busy_share: Some(0.98),
            max_forwarding_limited_by: Some(ForwardingLimit::RouterCpu),
            cost: Some(FrameCost {
                bed_ns: interval(424.0, 430.4, 436.0),
                router_ns: interval(219.0, 225.3, 230.0),
                total_ns: interval(648.0, 655.7, 664.0),
            }),
            exit_program_ns: Some(41.4),
            ..Overload::default()
        },
        ..ResultLine::default()
    }
}

/// The same router, which loses frames at a load far below.
pub(super) fn unstable() -> ResultLine {
    let unstable = mpps_method::Instability {
        rate: Rate::from_fps(75_000.0),
        lossy: 2,
        trials: 5,
        lost: 9,
        sent: 75_000,
        pattern: None,
    };
    ResultLine {
        unstable: Some(unstable.to_string()),
        ..line()
    }
}

#[test]
fn the_record_and_the_words_name_one_doubt() {
    assert_eq!(mpps_report::LOST_DISTURBED, doubt::LOST_DISTURBED);
}
