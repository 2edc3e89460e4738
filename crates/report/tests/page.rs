//! Pages of good, damaged and hostile records. `MPPS_WRITE_GOLDEN=1 cargo test -p mpps-report --test page` writes the
//! golden text of the measured run anew.

mod support;

use mpps_record::{CalibrationLine, read_file, to_line};
use mpps_report::{Raw, Source, page};
use serde_json::Value;
use std::time::{Duration, Instant};
use support::{file, golden, long, measured, source};

const HOSTILE: &str = "<script>alert(1)</script>\"'&<img src=x>";

fn page_of(text: &[u8]) -> String {
    page(vec![source("run.jsonl", text)])
}

/// Replaces every text but those that say which kind of line, bed or series it is.
fn spoil(value: &mut Value) {
    match value {
        Value::String(text) => *text = HOSTILE.to_owned(),
        Value::Array(list) => list.iter_mut().for_each(spoil),
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                if name != "kind" && name != "series" {
                    spoil(value);
                }
            }
            if members.contains_key("net.core.dev_weight") {
                members.insert(HOSTILE.to_owned(), HOSTILE.into());
            }
        }
        _ => {}
    }
}

fn spoilt(text: &str) -> Vec<u8> {
    let lines = text.lines().map(|line| {
        let mut value = serde_json::from_str(line).expect("JSON");
        spoil(&mut value);
        format!("{value}\n")
    });
    lines.collect::<String>().into_bytes()
}

#[test]
fn every_text_of_a_record_is_escaped() {
    let scale = file("bench/runs/2026-11-22-epyc-vm-2cpu/fib-scale/raw.jsonl");
    let mut texts = vec![golden(), std::fs::read_to_string(scale).expect("a record")];
    let fault = CalibrationLine {
        fault: "loss".to_owned(),
        unit: "frames".to_owned(),
        planted: Some(1.0),
        found: None,
        tolerance: 0.0,
        holds: false,
        disturbed: Some("steal".to_owned()),
        other: Default::default(),
    };
    let fault = to_line("faults", &fault).expect("a line");
    texts.push(String::from_utf8(fault).expect("text"));
    for text in texts {
        let mut source = source(HOSTILE, &spoilt(&text));
        let records = source.records.as_mut().expect("records");
        assert_eq!(records.runs.len(), 1, "{:?}", records.problems);
        source.raw = None;
        let page = page(vec![source]);
        assert_eq!(page.matches("<script").count(), 1, "the page's own");
        assert_eq!(page.matches("<img").count(), 0);
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;"));
        assert!(!page.contains("</script>\"'"));
    }
}

#[test]
fn a_page_says_what_was_found() {
    let page = page_of(golden().as_bytes());
    for wanted in [
        "The maximum forwarding rate, and the highest load without loss.",
        "Simulated, not measured: The router forwards 1.20 million frames/s (1.18 million to 1.20 million) at \
         overload, and 1.16 million frames/s without loss (an estimate).",
        "At overload the router&#39;s CPU is the limit.",
        "mpps throughput --frame 64 --simulate",
        "the search as it went",
        "All 15 trials",
        "href=\"data:application/gzip;base64,",
    ] {
        let plain = wanted.replace("&#39;", "'");
        assert!(page.contains(wanted) || page.contains(&plain), "{wanted}");
    }
    // The gravest doubt comes first.
    let place = |word: &str| page.find(&format!("<b>{word}</b>")).expect(word);
    assert!(place("simulated") < place("contradiction"));
    assert!(place("contradiction") < place("short-trial"));
}

/// A page as a reader has it: the texts between its tags, a line each, without charts, styles and scripts.
fn texts(page: &str) -> String {
    let mut page = page.to_owned();
    for name in ["style", "script", "svg"] {
        let (open, close) = (format!("<{name}"), format!("</{name}>"));
        while let Some(begin) = page.find(&open) {
            let end = begin + page[begin..].find(&close).expect("its end") + close.len();
            page.replace_range(begin..end, "");
        }
    }
    let texts = page
        .split('<')
        .filter_map(|part| Some(part.split_once('>')?.1.trim()));
    let lines = texts.filter(|text| !text.is_empty());
    lines.map(|text| format!("{text}\n")).collect()
}

#[test]
fn the_measured_run_is_told_as_committed() {
    let page = page_of(measured().as_bytes());
    assert!(page.matches("<svg").count() >= 3, "its charts");
    let found = texts(&page);
    let golden = file("crates/report/tests/golden/bed.txt");
    if std::env::var_os("MPPS_WRITE_GOLDEN").is_some() {
        std::fs::write(&golden, &found).expect("write");
    }
    let committed = std::fs::read_to_string(&golden).expect("committed");
    assert_eq!(found, committed, "see the head of this file");
}

#[test]
fn a_curve_has_its_answer_and_its_doubts() {
    let verdict = |load: u64| if load < 8 { "lossless" } else { "lossy" };
    let point = |load: u64| {
        serde_json::json!({
            "load_share": load as f64 / 10.0, "load_fps": load * 100_000, "verdict": verdict(load),
            "verdict_text": "", "trial": 1, "void_trials": 0,
            "measured": {
                "offered_fps": load * 100_000, "forwarding_fps": 1, "sent_frames": 1, "lost_frames": 0,
                "loss_ratio": 0.0, "dut_busiest_cpu_share": null
            }
        })
    };
    let loads = [10, 9, 8, 7, 6].map(point);
    let line = serde_json::json!({
        "schema": 3, "kind": "curve", "run": "r", "frame": "64", "simulated": true, "receiver": null,
        "highest_fps": 1_000_000, "highest_limited_by": "tester", "step_share": 0.1, "trial_ns": 1,
        "loads": loads, "end": "two-lossless", "why": null, "overload_trials": [],
        "doubts": [{ "name": "planted", "seen": "seen", "why": "Because.", "next": "Run.", "weight": 1 }]
    });
    let page = page_of(format!("{line}\n").as_bytes());
    assert!(page.contains("Simulated: 64 B: nothing was lost up to 700 thousand frames/s"));
    assert!(page.contains("planted") && !page.contains("The record has none."));
    assert!(page.contains("Why: Because. Next: Run."), "one full stop");
}

#[test]
fn a_torn_record_shows_what_is_whole() {
    let text = golden();
    let torn = &text.as_bytes()[..text.len() * 2 / 3];
    let page = page_of(torn);
    assert!(page.contains("run.jsonl: line 11: torn"), "its problem");
    assert!(page.contains("There is no result: the record ends after 9 trials"));
    assert!(page.contains("All 9 trials"));
}

#[test]
fn a_newer_schema_is_said_and_shown() {
    let text = golden().replace("\"schema\":3", "\"schema\":9");
    let page = page_of(text.as_bytes());
    assert!(page.contains("has schema 9, newer than 3"));
    assert!(page.contains("1.16 million frames/s without loss"));
}

#[test]
fn a_record_without_its_first_line_is_shown() {
    let text = golden();
    let rest = text.split_once('\n').expect("lines").1;
    let page = page_of(rest.as_bytes());
    assert!(page.contains("its plan, bed and facts are unknown"));
    assert!(page.contains("1.16 million frames/s without loss"));
}

#[test]
fn runs_that_are_there_twice_are_shown_once() {
    let text = golden();
    let all = |second: &str| {
        page(vec![
            source("one.jsonl", text.as_bytes()),
            source("two.jsonl", second.as_bytes()),
        ])
    };
    let page = all(&text);
    assert!(page.contains("is in one.jsonl and in two.jsonl: it is shown once."));
    assert_eq!(page.matches("<section id=").count(), 1);
    let shorter = text.rsplit_once("{\"schema\"").expect("lines").0;
    let page = all(shorter);
    assert!(page.contains("with different lines: both are shown."));
    assert_eq!(page.matches("<section id=").count(), 2);
    let page = page_of(format!("{text}{text}").as_bytes());
    assert!(page.contains("holds 16 lines twice: each is shown once."));
    assert!(page.contains("All 15 trials"));
}

#[test]
fn an_unreadable_file_hides_no_other() {
    let unreadable = Source {
        name: "notes.txt".to_owned(),
        records: Err("read notes.txt: no line of a record in it".to_owned()),
        raw: None,
    };
    let page = page(vec![
        unreadable.clone(),
        source("run.jsonl", golden().as_bytes()),
    ]);
    assert!(page.contains("no line of a record in it"));
    assert!(page.contains("All 15 trials"));
    assert!(mpps_report::page(vec![unreadable]).contains("There is no run to show."));
}

#[test]
fn ten_thousand_trials_are_quick_and_small() {
    let text = long(10_000);
    let begun = Instant::now();
    let page = page_of(&text);
    let took = begun.elapsed();
    assert!(page.contains("All 10\u{202f}000 trials"));
    assert!(page.matches("more below it</title>").count() > 500);
    assert!(page.len() < 5_000_000, "{} octets", page.len());
    // Unoptimised code is ten times as slow.
    let most = if cfg!(debug_assertions) { 30 } else { 2 };
    assert!(took < Duration::from_secs(most), "{took:?}");
}

#[test]
fn a_raw_file_too_large_for_the_page_is_said() {
    // Noise does not pack.
    let mut seed = 1_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 56) as u8
    })
    .take(6 << 20)
    .collect();
    let mut source = source("run.jsonl", golden().as_bytes());
    source.raw = Some(Raw::pack(noise.as_slice()).expect("from memory"));
    let page = page(vec![source]);
    assert!(page.contains("is too large for this page") && page.len() < 1_000_000);
}

#[test]
fn every_record_of_the_benches_has_a_page() {
    let mut folders = vec![file("bench/runs")];
    let mut pages = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl")
                && let Ok(records) = read_file(&path)
            {
                let name = path.display().to_string();
                let runs = records.runs.len();
                let page = page(vec![Source {
                    name,
                    records: Ok(records),
                    raw: None,
                }]);
                let page = page.split("<script").next().expect("the page");
                let shown = page.matches("<section id=").count();
                assert!(shown == runs, "{}: {shown} of {runs}", path.display());
                for odd in ["NaN", ">inf", "\"inf", "-inf"] {
                    assert!(!page.contains(odd), "{}: {odd}", path.display());
                }
                pages += 1;
            }
        }
    }
    assert!(pages >= 10, "{pages} pages");
}
