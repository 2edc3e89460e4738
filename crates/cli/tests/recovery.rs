//! `mpps recovery` end to end: behind a policer the last frame is lost before the load drops.

use crate::program::{Scratch, assert_gone, has, mpps, privileged, run};
use serde_json::Value;

#[test]
fn a_policed_router_recovers_at_the_drop() {
    if !privileged() || !has("nft") {
        return;
    }
    let scratch = Scratch::new("recovery");
    let script = scratch.forward_rule("limit rate over 40000/second burst 50 packets drop");
    let record = scratch.path("record.jsonl");
    let words = "recovery --frame 64 --time 0.5 --repeat 2 --budget 6s --dut-setup";
    let words: Vec<&str> = words.split(' ').collect();
    let mut command = mpps(&words);
    let ended = run(command.arg(&script).arg("--record").arg(&record));
    assert_gone(ended.bed());
    if ended.code == Some(4) {
        println!("SKIP: too disturbed");
        return;
    }
    let text = &ended.stdout;
    println!("{text}");
    let shown = run(mpps(&["show"]).arg(&record));
    assert_eq!(&shown.stdout, text, "{ended:?}");
    let shown = run(mpps(&["show", "--json"]).arg(&record));
    let document: Value = serde_json::from_str(&shown.stdout).expect("one JSON object");
    let size = &document["results"][0];
    if size["throughput_fps"].is_null() {
        println!("SKIP: a restless machine makes bunches that the policer drops at any load");
        return;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let number = |name: &str| size[name].as_u64().expect("a number");
    // Of the throughput; where the search ended early, of what the policer lets by.
    assert!(number("overload_fps") > number("throughput_fps"), "{size}");
    assert!(number("overload_fps") < 50_000, "{size}");
    let trials = size["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 2, "{size}");
    for trial in trials
        .iter()
        .filter(|trial| trial["recovered"] == "recovered")
    {
        assert!(trial["recovery_ns"].as_u64() < Some(450_000_000), "{trial}");
        assert!(trial["lost_frames"].as_u64() > Some(0), "{trial}");
    }
}

#[test]
fn a_sender_that_cannot_slow_down_is_refused() {
    for words in ["recovery --bidirectional", "recovery --port af-packet"] {
        let words: Vec<&str> = words.split(' ').collect();
        let ended = run(&mut mpps(&words));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(
            ended.error().contains("needs one direction and --port xdp"),
            "{ended:?}"
        );
    }
}
