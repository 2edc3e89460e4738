//! Records for tests.

pub mod lines;

use mpps_record::{Body, CalibrationLine, TrialLine, read, to_line};
use mpps_report::{Gathered, Raw, Source};
use serde_json::{Value, json};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// A file of this repository.
pub fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// The record crate's measured run: 15 trials on a bed.
pub fn measured() -> String {
    let path = file("crates/record/tests/golden/bed.jsonl");
    std::fs::read_to_string(path).expect("the measured run")
}

/// The record crate's campaign: five cells that were measured, three that were not.
pub fn campaign() -> String {
    let path = file("crates/record/tests/golden/campaign.jsonl");
    std::fs::read_to_string(path).expect("the campaign")
}

/// The golden run: a simulated search of 15 trials.
pub fn golden() -> String {
    let path = file("crates/record/tests/golden/run.jsonl");
    std::fs::read_to_string(path).expect("the golden run")
}

/// The page of these files.
pub fn page(sources: Vec<Source>) -> String {
    mpps_report::page(Gathered::new(sources))
}

/// As the program reads a file.
pub fn source(name: &str, text: &[u8]) -> Source {
    Source {
        name: name.to_owned(),
        records: Ok(read(text).expect("from memory")),
        raw: Some(raw(text)),
    }
}

/// A file of this content.
pub fn raw(text: &[u8]) -> Raw {
    let text = text.to_owned();
    Raw::new(move || Ok(Box::new(Cursor::new(text.clone()))))
}

/// All rows.
pub fn csv(all: &Gathered) -> String {
    let mut rows = Vec::new();
    mpps_report::csv(all, &mut rows).expect("to memory");
    String::from_utf8(rows).expect("text")
}

fn append<T: Body>(text: &mut Vec<u8>, run: &str, body: &T) {
    text.extend(to_line(run, body).expect("a line"));
}

/// A measured run of three frame sizes, its 139 trials again and again up to so many. Loads and losses of each differ.
/// It was never a file: unoptimised code takes half a minute to read one of 10 000 trials.
pub fn long(trials: u32) -> Source {
    let path = file("bench/runs/2026-11-24-epyc-vm-2cpu/readme/raw.jsonl");
    let text = std::fs::read(path).expect("the measured run");
    let mut records = read(&*text).expect("from memory");
    let run = &mut records.runs[0];
    let numbered = (1..=trials).zip(run.trials.iter().cycle());
    let differing = |(number, trial): (u32, &TrialLine)| {
        let mut trial = trial.clone();
        trial.trial = number;
        trial.offered_fps += f64::from(number * 7919 % 100_000);
        trial.directions[0].lost_frames += u64::from(number * 104_729 % 1_000);
        trial
    };
    run.trials = numbered.map(differing).collect();
    Source {
        name: "long.jsonl".to_owned(),
        records: Ok(records),
        raw: None,
    }
}

/// Replaces every text but those that say which kind of line, bed or series it is, or what a claim looks at.
fn spoil(value: &mut Value, hostile: &str) {
    match value {
        Value::String(text) => *text = hostile.to_owned(),
        Value::Array(list) => list.iter_mut().for_each(|value| spoil(value, hostile)),
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                if !["kind", "series", "of"].contains(&name.as_str()) {
                    spoil(value, hostile);
                }
            }
            if members.contains_key("net.core.dev_weight") {
                members.insert(hostile.to_owned(), hostile.into());
            }
        }
        _ => {}
    }
}

/// The record with such texts.
pub fn spoilt(text: &str, hostile: &str) -> Vec<u8> {
    let lines = text.lines().map(|line| {
        let mut value = serde_json::from_str(line).expect("JSON");
        spoil(&mut value, hostile);
        format!("{value}\n")
    });
    lines.collect::<String>().into_bytes()
}

/// Planted faults of `mpps calibrate`: one found, one not, one disturbed.
pub fn faults() -> String {
    let mut text = Vec::new();
    for (fault, holds, disturbed) in [
        ("a loss", true, None),
        ("a delay", false, None),
        ("a policer", false, Some("steal")),
    ] {
        let line = CalibrationLine {
            fault: fault.to_owned(),
            unit: "frames".to_owned(),
            planted: Some(1.0),
            found: None,
            tolerance: 0.0,
            holds,
            disturbed: disturbed.map(str::to_owned),
            other: Default::default(),
        };
        append(&mut text, "faults", &line);
    }
    String::from_utf8(text).expect("text")
}

/// A curve of `mpps loss`: nothing lost up to 700 000 frames/s, a quarter above, and one load that could not be measured.
pub fn curve() -> String {
    let point = |load: u64| {
        let (lost, fps) = (if load < 8 { 0 } else { load * 25_000 }, load * 100_000);
        let (verdict, text) = match load {
            9 => ("void", "void: the machine was restless"),
            8.. => ("lossy", "lossy"),
            _ => ("lossless", "lossless"),
        };
        let measured = json!({
            "offered_fps": fps, "forwarding_fps": fps - lost, "sent_frames": fps, "lost_frames": lost,
            "loss_ratio": lost as f64 / fps as f64, "dut_busiest_cpu_share": 0.05 + load as f64 / 10.0
        });
        json!({
            "load_share": load as f64 / 10.0, "load_fps": fps, "verdict": verdict, "verdict_text": text,
            "trial": 1, "void_trials": 0, "measured": if load == 9 { Value::Null } else { measured }
        })
    };
    let loads = [10, 9, 8, 7, 6].map(point);
    let line = json!({
        "schema": 3, "kind": "curve", "run": "r", "frame": "64", "simulated": true, "receiver": null,
        "highest_fps": 1_000_000, "highest_limited_by": "tester", "step_share": 0.1, "trial_ns": 1,
        "loads": loads, "end": "two-lossless", "why": null, "overload_trials": [],
        "doubts": [{ "name": "planted", "seen": "seen", "why": "Because.", "next": "Run.", "weight": 1 }]
    });
    format!("{line}\n")
}
