//! A page of many trials is small, in one run or in several.

use crate::support::{lines, long, page, source};
use mpps_record::{Phase, ResultLine, Run};
use mpps_report::Source;

#[test]
fn ten_thousand_trials_make_a_small_page() {
    let drawn = |long| {
        let page = page(vec![long]);
        assert!(page.contains("All 10\u{202f}000 trials"));
        assert!(page.len() < 5_000_000, "{} octets", page.len());
        page
    };
    // Points that lie on one another are drawn once.
    let whole = drawn(long(10_000));
    assert!(whole.matches("more below it</title>").count() > 50);
    // Each size has plots of its own.
    for sizes in [7, 12] {
        drawn(of_sizes(long(10_000), sizes));
    }
}

/// The same with the trials of so many frame sizes.
fn of_sizes(mut source: Source, sizes: u32) -> Source {
    let records = source.records.as_mut().expect("records");
    let run = &mut records.runs[0];
    let name = |size: u32| (64 + 100 * size).to_string();
    for trial in &mut run.trials {
        trial.frame = name(trial.trial % sizes);
    }
    let result = run.results[0].clone();
    run.results = (0..sizes)
        .map(|size| ResultLine {
            frame: name(size),
            ..result.clone()
        })
        .collect();
    source
}

#[test]
fn a_page_has_room_for_ten_thousand_trials() {
    let page = page(vec![long(10_001)]);
    assert!(page.contains("The first 10\u{202f}000 of 10\u{202f}001 trials"));
    assert!(page.contains("mpps report --format csv"));
    let table = page.split("sortable trials").nth(1).expect("the table");
    let table = table.split("</table>").next().expect("its end");
    assert_eq!(table.matches("<tr").count(), 10_000 + 1, "and its head");
}

/// Nobody is sent to a page of its own from that page.
#[test]
fn a_run_alone_has_no_other_page() {
    const ADVICE: &str = "A page of this run alone has more.";
    assert!(page(runs(60, 130, |_| ())).contains(ADVICE));
    let alone = page(runs(1, 20_000, |_| ()));
    assert!(alone.len() < 5_000_000 && !alone.contains(ADVICE));
}

/// So many runs of so many trials.
fn runs(count: u32, trials: u32, kind: impl Fn(&mut Run)) -> Vec<Source> {
    let long = long(trials);
    let numbered = |number| {
        let mut source = long.clone();
        let run = &mut source.records.as_mut().expect("records").runs[0];
        run.name = format!("run-{number}");
        kind(run);
        source
    };
    (0..count).map(numbered).collect()
}

/// As a run of `mpps rfc2544`: its trials are those of several parts, by turns.
fn to_suite(run: &mut Run) {
    let suite = source("suite.jsonl", lines::suite().as_bytes());
    let suite = suite.records.expect("records").runs.remove(0);
    let phases = [Phase::Search, Phase::Latency, Phase::Loss, Phase::Burst];
    for (trial, phase) in run.trials.iter_mut().zip(phases.iter().cycle()) {
        trial.phase = phase.clone();
    }
    let trials = std::mem::take(&mut run.trials);
    let name = std::mem::take(&mut run.name);
    *run = Run {
        trials,
        name,
        ..suite
    };
}

/// Each has its answer, and its first plots where there are fewer runs. What has no room is said.
#[test]
fn a_page_of_many_runs_is_small() {
    let cases = [
        (60, runs(60, 130, |_| ())),
        (10, runs(10, 1_030, to_suite)),
        (200, runs(200, 50, |_| ())),
    ];
    for (count, sources) in cases {
        let page = page(sources);
        println!("{count} runs: {} octets", page.len());
        assert!(page.len() < 5_000_000, "{count} runs: {}", page.len());
        assert!(page.len() > 4_000_000, "{count} runs leave room");
        let sections: Vec<&str> = page.split("<section id=\"run-").skip(1).collect();
        assert_eq!(sections.len(), count);
        for section in sections {
            let number = section.split('"').next();
            let has = |text: &str| section.contains(text);
            assert!(has("<dt>Answer</dt>"), "{number:?}");
            assert!(count > 60 || has("<figure"), "{number:?}");
            let is_told = has("no more room for") || has("The first ");
            assert!(is_told && has("--format csv"), "{number:?}");
        }
    }
}

/// A small run beside a large one costs that nothing.
#[test]
fn a_small_run_takes_a_small_share() {
    let mut sources = runs(2, 9_000, |_| ());
    let small = sources[0].records.as_mut().expect("records");
    small.runs[0].trials.truncate(15);
    let page = page(sources);
    assert!(page.len() < 5_000_000, "{} octets", page.len());
    for wanted in ["All 15 trials", "All 9\u{202f}000 trials"] {
        assert!(page.contains(wanted), "{wanted}");
    }
    assert!(!page.contains("no more room for"));
}

/// A plot's table has more rows where the page has room.
#[test]
fn tables_of_plots_are_whole_where_there_is_room() {
    let alone = page(vec![long(390)]);
    assert!(!alone.contains("Table of this plot: 1 in"));
    let several = page(runs(24, 390, |_| ()));
    assert!(several.contains("Table of this plot: 1 in"));
}
