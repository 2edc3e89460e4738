//! Load classification, relevant bounds and Conditional Throughput against the PyPI package MLRsearch (FD.io
//! CSIT, by the authors of RFC 9971) over 400 random trial sets. `mlrsearch/write.sh` writes its answers anew; with a
//! seed, those to other trial sets.

use mpps_method::mlr::database::Database;
use mpps_method::mlr::goal::Stage;
use mpps_method::mlr::load::{Bound, TrialResult};
use mpps_method::{Rate, Span};

/// Made by `mlrsearch/write.sh`: `oracle.py 9971 400`.
const ANSWERS: &str = include_str!("mlrsearch/answers.txt");

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
