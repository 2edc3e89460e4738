//! `mpps latency` end to end: a router and its bed, told, recorded and shown again.

use crate::program::{Ended, Scratch, assert_gone, mpps, privileged, run, staged};
use serde_json::Value;

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"))
}

#[test]
fn every_frame_is_timed_through_router_and_bed() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("latency");
    let record = scratch.path("record.jsonl");
    let words = "latency --frame 64 --load 50%,5k --throughput 20k --time 0.5 --record";
    let words: Vec<&str> = words.split(' ').collect();
    let ended = run(mpps(&words).arg(&record));
    assert_gone(ended.bed());
    if ended.code == Some(4) {
        println!("SKIP: too disturbed");
        return;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let text = &ended.stdout;
    assert!(text.contains("64 B: typical "), "{text}");
    assert!(
        text.contains("at 50 % of the given throughput (10.0k frames/s), idle CPUs "),
        "{text}"
    );
    assert!(text.contains(". The bed alone has "), "{text}");
    let table = text
        .lines()
        .filter(|line| line.contains("router  ") || line.contains("bed  "));
    assert_eq!(table.clone().count(), 4, "{text}");
    assert!(table.clone().all(|row| row.chars().count() <= 80), "{text}");

    let shown = run(mpps(&["show"]).arg(&record));
    assert_eq!((shown.code, &shown.stdout), (Some(0), text));
    let document = json(&run(mpps(&["show", "--json"]).arg(&record)));
    let size = &document["results"][0];
    assert_eq!(
        (&size["throughput_fps"], &size["throughput_given"]),
        (&20_000.into(), &true.into())
    );
    assert_eq!(size["cpus_awake"] != true, is_doubted(size), "{size}");
    assert_eq!(document["comparability"]["cpus_awake"], size["cpus_awake"]);
    let loads = size["loads"].as_array().expect("loads");
    assert_eq!(loads.len(), 2);
    for path in loads
        .iter()
        .flat_map(|load| [&load["router"], &load["bed"]])
    {
        let number = |name: &str| path[name].as_u64().expect("a number");
        assert!(number("timed_frames") > 1_000, "{path}");
        let received = number("sent_frames") - number("lost_frames");
        assert_eq!(number("timed_frames"), received, "{path}");
        assert!(number("min_ns") <= number("typical_ns"), "{path}");
        assert!(number("worst_case_ns") <= number("max_ns"), "{path}");
    }
}

/// No sender reaches 10 million frames/s one at a time.
#[test]
fn a_load_beyond_single_frames_is_sent_in_batches() {
    if !privileged() {
        return;
    }
    let words = "latency --frame 64 --load 10M --time 0.3 --json";
    let ended = run(&mut mpps(&words.split(' ').collect::<Vec<_>>()));
    assert_gone(ended.bed());
    let load = &json(&ended)["results"][0]["loads"][0];
    let router = &load["router"];
    if router["left_out_verdict"] == "void" {
        println!("SKIP: a machine that disturbs less: {router}");
        return;
    }
    assert_eq!(router["left_out_verdict"], "not-offered", "{load}");
    assert_eq!(router["trials"], Value::Array(Vec::new()), "{load}");
    // Each size of a batch has three trials at least. Of the 100 frames in 10 us the sender takes 32 at once.
    let trials = |name: &str| router[name].as_array().expect("numbers").len();
    assert!(trials("left_out_trials") >= 3, "{load}");
    assert!(trials("smaller_batch_trials") >= 2 * 3, "{load}");
    assert_eq!(load["batch_frames"], 32, "{load}");
}

/// Whether it says that CPUs may have slept.
fn is_doubted(size: &Value) -> bool {
    let doubts = size["doubts"].as_array().expect("doubts");
    doubts.iter().any(|doubt| doubt["name"] == "cpus-asleep")
}

/// A write to a device that does nothing succeeds.
#[test]
fn a_request_that_has_no_effect_keeps_no_cpu_awake() {
    if !privileged() {
        return;
    }
    let ended = run(&mut staged(
        r#"unshare -m sh -c 'mount --bind /dev/null /dev/cpu_dma_latency &&
            exec "$MPPS" latency --frame 64 --load 5k --time 0.5 --json'"#,
    ));
    assert_gone(ended.bed());
    if ended.code == Some(4) {
        println!("SKIP: too disturbed");
        return;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let size = &json(&ended)["results"][0];
    assert_eq!(size["cpus_awake"], false, "{size}");
    assert!(is_doubted(size), "{size}");
}

#[test]
fn bad_loads_are_refused() {
    for (words, wanted) in [
        ("--load 110%", "give a share above 0% and up to 100%"),
        ("--load 0%", "give a share above 0% and up to 100%"),
        ("--load much", "or a share of the throughput, such as 50%"),
        ("--load 20M", "--load: 20.000 Mfps cannot be offered"),
        (
            "--load 1% --throughput 10 --time 1",
            "1 % of --throughput: 0 fps cannot be offered",
        ),
    ] {
        let words: Vec<&str> = ["latency"].into_iter().chain(words.split(' ')).collect();
        let ended = run(&mut mpps(&words));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.error().contains(wanted), "{wanted}: {ended:?}");
    }
}

#[test]
fn a_pair_cannot_be_simulated() {
    let ended = run(&mut mpps(&["latency", "--simulate", "capacity=1M"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.error().contains("--simulate"), "{ended:?}");
}
