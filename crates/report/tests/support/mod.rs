//! Records for tests.
#![allow(dead_code, reason = "each test takes what it needs")]

use mpps_record::{Body, Run, read, to_line};
use mpps_report::{Raw, Source};
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

/// The golden run: a simulated search of 15 trials.
pub fn golden() -> String {
    let path = file("crates/record/tests/golden/run.jsonl");
    std::fs::read_to_string(path).expect("the golden run")
}

/// As the program reads a file.
pub fn source(name: &str, text: &[u8]) -> Source {
    Source {
        name: name.to_owned(),
        records: Ok(read(text).expect("from memory")),
        raw: Some(Raw::pack(text).expect("from memory")),
    }
}

fn append<T: Body>(text: &mut Vec<u8>, run: &str, body: &T) {
    text.extend(to_line(run, body).expect("a line"));
}

/// The golden run with this many trials of its search, whose loads and losses differ.
pub fn long(trials: u32) -> Vec<u8> {
    let records = read(golden().as_bytes()).expect("from memory");
    let Run {
        name,
        begin,
        trials: known,
        results,
        end,
        ..
    } = &records.runs[0];
    let mut text = Vec::new();
    append(&mut text, name, begin.as_ref().expect("a first line"));
    for number in 1..=trials {
        let mut trial = known[5 + number as usize % 10].clone();
        trial.trial = number;
        trial.offered_fps += f64::from(number * 7919 % 100_000);
        trial.directions[0].lost_frames += u64::from(number * 104_729 % 1_000);
        append(&mut text, name, &trial);
    }
    append(&mut text, name, &results[0]);
    append(&mut text, name, end.as_ref().expect("a last line"));
    text
}
