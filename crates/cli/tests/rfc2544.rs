//! `mpps rfc2544` end to end: every part of one frame size on one bed, told, recorded, shown and reported.

use crate::program::{Scratch, assert_gone, mpps, privileged, run};
use serde_json::Value;

const PARTS: [(&str, &str); 6] = [
    ("throughput", "results"),
    ("latency", "latencies"),
    ("loss", "curves"),
    ("back-to-back", "bursts"),
    ("recovery", "recoveries"),
    ("reset", "resets"),
];

#[test]
fn all_parts_of_a_size_are_one_record() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("rfc2544");
    let record = scratch.path("record.jsonl");
    let words = "rfc2544 --quick --frame 64 --time 0.1 --budget 3s --rx-ring 1024 --record";
    let words: Vec<&str> = words.split(' ').collect();
    let begun = std::time::Instant::now();
    let ended = run(mpps(&words).arg(&record));
    let took = begun.elapsed().as_secs();
    // A minute, or two on a restless machine. Without the words that make it short it takes hours.
    assert!(took < 600, "{took} s");
    assert_gone(ended.bed());
    // Some part may be disturbed, or every load may lose frames in a pause: the others have their results all the same.
    assert!(matches!(ended.code, Some(0 | 1 | 4)), "{ended:?}");
    let text = &ended.stdout;
    assert!(
        text.contains("RFC 2544 asks for 20 streams of 120 s"),
        "{text}"
    );
    assert!(!text.contains("PARTIAL"), "{text}");
    assert!(
        ended.stderr.contains("latency of 64 B, 2 of 6, about "),
        "{ended:?}"
    );
    let shown = run(mpps(&["show"]).arg(&record));
    assert_eq!((shown.code, &shown.stdout), (Some(0), text));
    let shown = run(mpps(&["show", "--json"]).arg(&record));
    let document: Value = serde_json::from_str(&shown.stdout).expect("one JSON object");
    for (verb, lines) in PARTS {
        let lines = document[lines].as_array().expect(lines);
        // Link and routes.
        let wanted = if verb == "reset" { 2 } else { 1 };
        assert_eq!(lines.len(), wanted, "{lines:?}");
    }
    let rate = &document["results"][0]["rate_fps"];
    let passed_on = &document["latencies"][0];
    // Below a load that failed there is none to pass on.
    let passed = document["results"][0]["rate_is"] != "<";
    if let Some(rate) = rate.as_f64().filter(|_| passed) {
        for line in [passed_on, &document["recoveries"][0]] {
            let asked = line["throughput_fps"].as_f64().expect("a rate");
            // The result has the load that was sent. A trial may leave 0.1 % of its frames unsent.
            assert!((asked - rate).abs() <= 0.001 * asked, "{asked} {rate}");
        }
    }
    assert_burst(text, &document["bursts"][0]);
    assert_trials_are_numbered(&record);
    let page = scratch.path("page.html");
    let reported = run(mpps(&["report"]).arg(&record).arg("--output").arg(&page));
    assert_eq!(reported.code, Some(0), "{reported:?}");
    let page = std::fs::read_to_string(page).expect("a page");
    for (verb, _) in PARTS {
        let heading = format!("<h3>mpps {verb} (RFC 2544 section 26.");
        assert_eq!(page.matches(&heading).count(), 1, "{heading}");
    }
}

/// The longest burst is within those of its searches, and the ring that took it is named.
fn assert_burst(text: &str, size: &Value) {
    assert_eq!(size["own_ring_frames"], 1_024);
    assert!(
        text.contains("the bed's own ring of 1 024 frames"),
        "{text}"
    );
    if size["all"].is_null() {
        return; // each search was disturbed, or the sender is slower than the router
    }
    let searches = size["searches"].as_array().expect("searches");
    let longest = searches.iter();
    let longest = longest.map(|one| one["longest_frames"].as_u64().expect("frames"));
    let (least, most) = (&size["all"]["least_frames"], &size["all"]["most_frames"]);
    assert_eq!(longest.clone().min(), least.as_u64());
    assert_eq!(longest.max(), most.as_u64());
    let buffer = size["all"]["implied_buffer_ns"].as_u64();
    assert!(buffer > Some(0), "{size}");
}

/// No two trials of a record have one number, and none is left out.
fn assert_trials_are_numbered(record: &std::path::Path) {
    let text = std::fs::read_to_string(record).expect("a record");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let trials = lines.filter(|line| line["kind"] == "trial");
    let numbers = trials.map(|line| line["trial"].as_u64().expect("a number"));
    assert!(numbers.eq(1..=text.matches("\"kind\":\"trial\"").count() as u64));
}

#[test]
fn a_dry_run_says_how_long_it_takes() {
    for (words, time) in [
        ("rfc2544 --dry-run", " h\n"),
        ("rfc2544 --quick --dry-run", " min\n"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let ended = run(&mut mpps(&words));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let text = &ended.stdout;
        assert!(text.contains("\ntime         about "), "{text}");
        assert!(text.ends_with(time), "{text}");
        for (verb, _) in PARTS {
            assert!(
                text.contains(&format!("\npart         {verb} (26.")),
                "{text}"
            );
        }
    }
}

#[test]
fn a_part_that_is_none_is_refused() {
    let ended = run(&mut mpps(&["rfc2544", "--only", "latency,speed"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended
            .error()
            .contains("--only speed: there is no such part"),
        "{ended:?}"
    );
}
