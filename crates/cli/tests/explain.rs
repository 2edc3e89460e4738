//! `mpps explain` from the command line: its plan, what it refuses, and a profile that `mpps show` shows again.

mod door;

use door::{Scratch, assert_gone, mpps, privileged, run};
use serde_json::Value;

#[test]
fn a_plan_says_what_will_be_profiled() {
    let words = "explain --frame 64 --time 0.5 --trials 4 --burn 500 --dry-run";
    let ended = run(&mut mpps(&words.split(' ').collect::<Vec<_>>()));
    if ended.code == Some(2) && !privileged() {
        return;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for part in [
        "frame sizes  64",
        "4 trials of 500 ms at saturation",
        "500 ns burnt",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {ended:?}");
    }
}

#[test]
fn what_cannot_be_profiled_is_refused() {
    for (words, why) in [
        (
            "explain --nic softirq",
            "needs a router that works in threads",
        ),
        ("explain --trials 2", "--trials"),
        ("explain --burn 0", "--burn"),
        ("explain --sweep frame=64,128,256", "at least 4"),
        ("explain --sweep cores", "give --flows"),
        (
            "explain --sweep routes --networks 4",
            "leave out --destinations",
        ),
        ("explain --simulate capacity=1M", "--simulate"),
    ] {
        let ended = run(&mut mpps(&words.split(' ').collect::<Vec<_>>()));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.error().contains(why), "{ended:?}");
    }
}

#[test]
fn a_profile_is_shown_again_from_its_record() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("explain");
    let record = scratch.path("record.jsonl");
    let words = "explain --frame 64 --time 0.3 --trials 3";
    let words: Vec<&str> = words.split(' ').collect();
    let ended = run(mpps(&words).arg("--record").arg(&record));
    assert_gone(ended.bed());
    if ended.code == Some(4) {
        println!("SKIP: needs a quieter machine");
        return;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let text = &ended.stdout;
    println!("{text}");
    for part in [
        "a frame costs",
        "prerouting",
        "virtual NIC *",
        "scheduler",
        "wake-ups a frame",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let shown = run(mpps(&["show"]).arg(&record));
    assert_eq!(&shown.stdout, text, "{ended:?}");
    let shown = run(mpps(&["show", "--json"]).arg(&record));
    let document: Value = serde_json::from_str(&shown.stdout).expect("one JSON object");
    let load = &document["results"][0]["loads"][0];
    let stages = load["stages"].as_array().expect("stages");
    let ns = |part: &Value| part["ns"]["median"].as_f64().expect("a time");
    let sum: f64 = stages.iter().map(ns).sum();
    let whole = load["frame_ns"]["median"].as_f64().expect("a time");
    assert!((sum / whole - 1.0).abs() < 0.01, "{load}");
}
