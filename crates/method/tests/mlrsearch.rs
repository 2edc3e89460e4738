//! Load classification, relevant bounds and Conditional Throughput against the PyPI package MLRsearch (FD.io
//! CSIT, by the authors of RFC 9971) over random trial sets: its answers to 400 as committed, and to fresh ones
//! where the package is installed (`cargo xtask test` and `cargo xtask oracle` install it below `target/`).

use mpps_method::mlr::database::Database;
use mpps_method::mlr::goal::Stage;
use mpps_method::mlr::load::{Bound, TrialResult};
use mpps_method::{Rate, Span};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Made by `oracle.py 9971 400`.
const ANSWERS: &str = include_str!("mlrsearch/answers.txt");
/// Cases drawn anew where the package is there.
const LIVE_CASES: u32 = 2_000;

fn number(word: &str) -> f64 {
    word.parse().unwrap_or_else(|_| panic!("no number: {word}"))
}

fn millis(word: &str) -> Span {
    Span::from_millis(
        word.parse()
            .unwrap_or_else(|_| panic!("no number of ms: {word}")),
    )
}

/// `-` where there is none.
fn rate(word: &str) -> Option<f64> {
    (word != "-").then(|| number(word))
}

fn trial(text: &str) -> TrialResult {
    let [ms, sent, lost] = text.split(':').collect::<Vec<_>>()[..] else {
        panic!("no trial: {text}")
    };
    TrialResult {
        duration: millis(ms),
        loss_ratio: number(lost) / number(sent),
    }
}

fn class(bound: Bound) -> &'static str {
    match bound {
        Bound::Lower => "L",
        Bound::Upper => "U",
        Bound::Undecided => "?",
    }
}

/// Holds one line of the oracle against our own code.
fn assert_agrees(line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let ["goal", last, sum, loss, exceed, rest @ ..] = &words[..] else {
        panic!("no goal: {line}")
    };
    let goal = Stage {
        trial: millis(last),
        duration_sum: millis(sum),
        loss_ratio: number(loss),
        exceed_ratio: number(exceed),
        width: 0.005,
    };
    let (loads, bounds) = rest.split_at(rest.len() - 4);
    let mut database = Database::default();
    for load in loads.chunks(5) {
        let ["load", fps, trials, kind, quantile] = load else {
            panic!("no load: {line}")
        };
        let at = Rate::from_fps(number(fps));
        trials
            .split(',')
            .for_each(|text| database.add(at, trial(text)));
        let load = database.get(at).expect("just added");
        assert_eq!(class(load.classify(&goal)), *kind, "{fps} of {line}");
        assert_eq!(
            load.quantile_loss_ratio(&goal),
            Some(number(quantile)),
            "{fps} of {line}"
        );
    }
    let ["bounds", lower, upper, throughput] = bounds else {
        panic!("no bounds: {line}")
    };
    let found = database.bounds(&goal);
    assert_eq!(found.lower.map(Rate::fps), rate(lower), "{line}");
    assert_eq!(found.upper.map(Rate::fps), rate(upper), "{line}");
    let ours = found.lower.map(|lower| {
        let ratio = database
            .get(lower)
            .and_then(|load| load.quantile_loss_ratio(&goal));
        lower.fps() * (1.0 - ratio.expect("it has trials"))
    });
    assert_eq!(ours, rate(throughput), "{line}");
}

#[test]
fn committed_answers_of_the_package_are_ours() {
    let mut classes = [0_u32; 3];
    for line in ANSWERS.lines() {
        assert_agrees(line);
        for (place, kind) in [" L ", " U ", " ? "].iter().enumerate() {
            classes[place] += u32::try_from(line.matches(kind).count()).expect("few");
        }
    }
    assert_eq!(ANSWERS.lines().count(), 400);
    assert!(
        classes.iter().all(|&count| count > 150),
        "one-sided: {classes:?}"
    );
}

#[test]
fn fresh_answers_of_the_package_are_ours() {
    let Some(python) = python() else {
        println!(
            "SKIP: needs the Python package MLRsearch (cargo xtask oracle says what keeps it from being installed)"
        );
        return;
    };
    let seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mlrsearch/oracle.py");
    let output = Command::new(&python)
        .arg(&script)
        .args([seed.to_string(), LIVE_CASES.to_string()])
        .output()
        .unwrap_or_else(|error| panic!("start {}: {error}", python.display()));
    assert!(
        output.status.success(),
        "seed {seed}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let answers = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(answers.lines().count(), LIVE_CASES as usize);
    println!("seed {seed}");
    answers.lines().for_each(assert_agrees);
}

/// A Python that has the package: where `cargo xtask oracle` says, or where it puts it.
fn python() -> Option<PathBuf> {
    let named = std::env::var_os("MPPS_MLRSEARCH_PYTHON").map(PathBuf::from);
    let usual =
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mlrsearch-venv/bin/python");
    named.or_else(|| Some(usual()).filter(|path| path.exists()))
}
