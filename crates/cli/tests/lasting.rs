//! `mpps loss --overload` end to end: seconds, answers of the management path, and the return.

use crate::program::{Scratch, assert_gone, mpps, privileged, run};
use serde_json::Value;

/// Two seconds of overload. Returns the text and the line.
fn overloaded(scratch: &Scratch) -> Option<(String, Value)> {
    let record = scratch.path("record.jsonl");
    let words = "loss --overload 5x --for 2s --frame 64 --budget 6s --record";
    let words: Vec<&str> = words.split(' ').collect();
    let ended = run(mpps(&words).arg(&record));
    assert_gone(ended.bed());
    println!("{}{}", ended.stdout, ended.stderr);
    let shown = run(mpps(&["show"]).arg(&record));
    // Only the run itself tells where its plot is.
    assert!(ended.stdout.starts_with(&shown.stdout), "{ended:?}");
    let shown = run(mpps(&["show", "--json"]).arg(&record));
    let document: Value = serde_json::from_str(&shown.stdout).expect("one JSON object");
    let line = document["results"][0].clone();
    // Less is offered then than was meant to be.
    let counts = |second: &Value| second["disturbed_share"].as_f64() <= Some(0.02);
    let mut seconds = line["seconds"].as_array().into_iter().flatten();
    if !seconds.any(counts) {
        println!("SKIP: too disturbed");
        return None;
    }
    assert!(matches!(ended.code, Some(0 | 4)), "{ended:?}");
    Some((ended.stdout, line))
}

fn number(value: &Value, name: &str) -> u64 {
    value[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name}: {value}"))
}

#[test]
fn an_overload_is_told_by_second() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("lasting");
    let Some((text, line)) = overloaded(&scratch) else {
        return;
    };
    let seconds = line["seconds"].as_array().expect("seconds");
    let lengths = seconds.iter().map(|second| number(second, "length_ns"));
    let lasted: u64 = lengths.sum();
    assert!((1_000_000_000..2_500_000_000).contains(&lasted), "{line}");
    assert!(seconds.len() <= 3, "{line}");
    for second in seconds {
        assert!(number(second, "forwarding_fps") > 0, "{second}");
        // A reading comes a moment after the frames that it counts.
        let offered = number(second, "offered_fps") as f64;
        assert!(
            number(second, "forwarding_fps") as f64 <= offered * 1.1,
            "{second}"
        );
    }
    let path = &line["management"];
    assert!(number(path, "asked") >= 10, "{path}");
    assert!(
        number(path, "answered") * 2 > number(path, "asked"),
        "{path}"
    );
    assert!(number(path, "before_answered") > 0, "{path}");
    assert!(number(path, "answering_ns") > 0, "{path}");
    assert!(path["back_ns"].is_u64(), "{path}");
    let sums = seconds.iter().map(|second| number(second, "asked"));
    assert_eq!(sums.sum::<u64>(), number(path, "asked"), "{line}");
    let afterwards = number(&line, "max_forwarding_afterwards_fps");
    assert!(afterwards > 0, "{line}");
    assert!(number(&line, "forwarding_at_most_fps") > 0, "{line}");
    assert!(text.contains("Asked every "), "{text}");
    assert!(text.contains("Its maximum afterwards was "), "{text}");
    let plot = std::fs::read_to_string(scratch.path("record.svg")).expect("a plot");
    assert!(plot.contains("Management path under overload"), "{plot}");
}

#[test]
fn overloads_that_cannot_be_are_refused() {
    for (words, wanted) in [
        ("loss --overload 0.5x", "1.1x to 1000x"),
        ("loss --overload 5", "1.1x to 1000x"),
        ("loss --overload 5x --step 5%", "cannot be used with"),
        ("loss --for 10s", "--overload"),
        ("loss --overload max --for 5h", "at most"),
        (
            "loss --overload max --bidirectional",
            "needs one direction and --port xdp",
        ),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let ended = run(&mut mpps(&words));
        assert_eq!(ended.code, Some(2), "{words:?}: {ended:?}");
        assert!(ended.stderr.contains(wanted), "{words:?}: {ended:?}");
    }
}
