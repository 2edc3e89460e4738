//! Results and doubts that the tests of several printers show.

use mpps_lab::doubt::{self, Weight};
use mpps_lab::line;
use mpps_method::Rate;
use mpps_record::{Doubt, ResultLine};

/// A doubt with a cause and an advice that no test reads.
pub(super) fn doubt(name: &'static str, weight: Weight, seen: &str) -> Doubt {
    line::doubt(&doubt::Doubt {
        name,
        weight,
        seen: seen.to_owned(),
        why: "it matters",
        next: "run again",
    })
}

/// A router that forwards 1.52 million frames/s, 1.38 million of them without loss.
pub(super) fn line() -> ResultLine {
    let line = include_str!("../../../record/tests/golden/result.json");
    serde_json::from_str(line).expect("a result")
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
