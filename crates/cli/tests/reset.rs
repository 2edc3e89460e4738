//! `mpps reset` end to end: what was held down for a known time is told by both methods, and bad input in one line.

mod door;

use door::{Scratch, assert_gone, mpps, privileged, run};
use serde_json::Value;

const HELD_NS: u64 = 100_000_000;

#[test]
fn a_link_and_routes_that_were_held_are_told() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("reset");
    let record = scratch.path("record.jsonl");
    let words = "reset --frame 64 --rate 50k --time 0.6 --hold 100ms --repeat 2";
    let words: Vec<&str> = words.split(' ').collect();
    let ended = run(mpps(&words).arg("--record").arg(&record));
    assert_gone(ended.bed());
    println!("{}", ended.stdout);
    let shown = run(mpps(&["show"]).arg(&record));
    assert_eq!(shown.stdout, ended.stdout, "{ended:?}");
    let shown = run(mpps(&["show", "--json"]).arg(&record));
    let document: Value = serde_json::from_str(&shown.stdout).expect("one JSON object");
    let results = document["results"].as_array().expect("results");
    let names: Vec<&str> = results
        .iter()
        .filter_map(|line| line["reset"].as_str())
        .collect();
    assert_eq!(
        names,
        ["link", "routes"],
        "without a script there is no set-up"
    );
    if ended.code == Some(4) {
        println!("SKIP: too disturbed");
        return;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for line in results {
        let trials = line["trials"].as_array().expect("trials");
        assert_eq!(trials.len(), 2, "{line}");
        for trial in trials
            .iter()
            .filter(|trial| trial["recovered"] == "recovered")
        {
            let number = |name: &str| trial[name].as_u64().unwrap_or(0);
            assert!(number("took_ns") >= HELD_NS, "{trial}");
            assert!(number("time_stamp_ns") >= HELD_NS, "{trial}");
            let lost_for = number("recovery_ns") + number("resolution_ns");
            assert!(lost_for >= HELD_NS, "{trial}");
        }
    }
}

#[test]
fn what_cannot_be_reset_is_refused_in_one_line() {
    for (words, wanted) in [
        ("reset --reset cable", "give link, routes, set-up"),
        (
            "reset --reset set-up --dry-run",
            "give one with --dut-setup",
        ),
        (
            "reset --bidirectional",
            "needs one direction and --port xdp",
        ),
        ("reset --hold soon", "give a time such as 200ms or 1"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let ended = run(&mut mpps(&words));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.error().contains(wanted), "{ended:?}");
    }
}
