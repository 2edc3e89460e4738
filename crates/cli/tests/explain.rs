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
        ("explain --simulate capacity=1M", "--simulate"),
        ("explain --cpus 0,1023", "watch CPU 1023: this machine has"),
        ("explain --cpus 5-2", "give CPUs such as"),
        ("explain --cpus 0 --for 0.1", "500 ms to 300 s"),
        ("explain --cpus 0 --flows 8", "cannot be used with"),
        ("explain --cpus 0 --nic napi", "cannot be used with"),
        ("explain --for 3", "--cpus"),
    ] {
        let ended = run(&mut mpps(&words.split(' ').collect::<Vec<_>>()));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.error().contains(why), "{ended:?}");
    }
}

/// Looks at all CPUs while a bed is measured: to the look, its packets are of other namespaces.
fn look_at_the_bed() {
    let scratch = Scratch::new("explain-look");
    let record = scratch.path("look.jsonl");
    let words = ["explain", "--cpus", "all", "--for", "3", "--json"];
    let ended = run(mpps(&words).arg("--record").arg(&record));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let document: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    let look = &document["results"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    let of_others = number(&look["watched"]["foreign_packets"]);
    assert!(of_others > 1_000.0, "{look}");
    for cpu in look["watched"]["cpus"].as_array().expect("CPUs") {
        let ledger = cpu["ledger"].as_object().expect("a ledger");
        let shares = ledger.iter().filter(|(name, _)| name.ends_with("_share"));
        let sum: f64 = shares.map(|(_, share)| number(share)).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{cpu}");
    }
    let load = &look["loads"][0];
    let stages = load["stages"].as_array().expect("stages");
    let sum: f64 = stages
        .iter()
        .map(|part| number(&part["ns"]["median"]))
        .sum();
    let whole = number(&load["frame_ns"]["median"]);
    assert!(whole > 0.0 && (sum / whole - 1.0).abs() < 0.01, "{load}");
    let shown = run(mpps(&["show"]).arg(&record));
    for part in ["network namespaces", "prerouting", "network %"] {
        assert!(shown.stdout.contains(part), "{part}: {shown:?}");
    }
    let once = run(&mut mpps(&["top", "--once", "--interval", "0.5"]));
    assert_eq!(once.code, Some(0), "{once:?}");
    for part in ["ns a frame", "most in", "stage"] {
        assert!(once.stdout.contains(part), "{part}: {once:?}");
    }
    let folded = run(mpps(&["report", "--format", "folded"]).arg(&record));
    assert!(folded.stdout.contains("ip_"), "{folded:?}");
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
    let looking = std::thread::spawn(look_at_the_bed);
    let ended = run(mpps(&words).arg("--record").arg(&record));
    looking.join().expect("a look at the host");
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
