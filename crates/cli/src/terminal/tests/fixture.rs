//! Runs, results and doubts that the tests of several printers show.

use crate::plan::tests::plan;
use crate::record::{Clock, simulated_run_line};
use crate::verbs::contract::Measure;
use mpps_lab::doubt::{self, Weight};
use mpps_lab::{facts, line};
use mpps_method::Rate;
use mpps_method::simulate::Properties;
use mpps_record::{Bed, Doubt, ResultLine, RunBed, RunLine, SetUpScript};

/// A run of the plan with these words, of a simulated pair.
pub(super) fn simulated(words: &str) -> RunLine {
    let search = plan(words).offer;
    let pair = Properties::ideal(Rate::from_fps(1e6));
    simulated_run_line(Clock::now(), &search.job(), &pair, &facts::gather())
}

/// The same on a bed of our own, with a set-up script.
pub(super) fn run(words: &str) -> RunLine {
    let bed = Bed {
        dut_setup: Some("fw.sh".to_owned()),
        dut_setup_script: Some(SetUpScript {
            sha256: "0123456789abcdef".to_owned(),
            text: Some(String::new()),
            output: None,
        }),
        ..Bed::default()
    };
    RunLine {
        bed: RunBed::Namespaces(Box::new(bed)),
        ..simulated(words)
    }
}

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
    let line = include_str!("../../../../record/tests/golden/result.json");
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
