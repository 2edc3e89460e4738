//! `mpps back-to-back` end to end: the longest burst, told, recorded and shown again.

use crate::door::{Scratch, assert_gone, mpps, privileged, run};
use serde_json::Value;

#[test]
fn the_longest_burst_is_told_and_shown_again() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("burst");
    let record = scratch.path("record.jsonl");
    let words =
        "back-to-back --frame 64 --repeat 2 --time 0.2 --budget 12s --rx-ring 1024 --record";
    let words: Vec<&str> = words.split(' ').collect();
    let ended = run(mpps(&words).arg(&record));
    assert_gone(ended.bed());
    if ended.code == Some(4) {
        println!("SKIP: too disturbed");
        return;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let text = &ended.stdout;
    assert!(text.contains("64 B: "), "{text}");
    let shown = run(mpps(&["show"]).arg(&record));
    assert_eq!((shown.code, &shown.stdout), (Some(0), text));
    let shown = run(mpps(&["show", "--json"]).arg(&record));
    let document: Value = serde_json::from_str(&shown.stdout).expect("one JSON object");
    let size = &document["results"][0];
    assert_eq!(size["own_ring_frames"], 1_024);
    if size["all"].is_null() {
        assert!(text.contains("no burst of up to"), "{text}");
        return;
    }
    assert!(
        text.contains("the bed's own ring of 1 024 frames"),
        "{text}"
    );
    let searches = size["searches"].as_array().expect("searches");
    let longest = searches
        .iter()
        .map(|one| one["longest_frames"].as_u64().expect("frames"));
    let (least, most) = (&size["all"]["least_frames"], &size["all"]["most_frames"]);
    assert_eq!(longest.clone().min(), least.as_u64());
    assert_eq!(longest.max(), most.as_u64());
    assert!(
        size["all"]["implied_buffer_ns"].as_u64() > Some(0),
        "{size}"
    );
}

#[test]
fn a_dry_run_names_searches_and_longest_burst() {
    let ended = run(&mut mpps(&["back-to-back", "--dry-run", "--repeat", "7"]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let wanted = "rule         7 searches, bursts of 2 s at most\n";
    assert!(ended.stdout.contains(wanted), "{ended:?}");
}
