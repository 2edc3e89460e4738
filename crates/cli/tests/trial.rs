//! `mpps trial` end to end, on a bed of its own: exactly what was asked for is offered, and every frame is accounted
//! for. A restless machine disturbs the verdicts and never the counts, so nothing here is repeated.

use crate::program::{Scratch, assert_gone, has, mpps, privileged, run, staged};
use serde_json::Value;

/// The document of a run; it ends with 0, or with 4 and says what disturbed.
fn document(words: &[&str]) -> Value {
    let scratch = Scratch::new(&format!("trial-{}", words.concat().replace('/', "-")));
    let mut command = mpps(&["trial", "--frame", "64", "--time", "0.3", "--json"]);
    let record = scratch.path("record.jsonl");
    let ended = run(command.args(words).arg("--record").arg(&record));
    assert_gone(ended.bed());
    assert!(matches!(ended.code, Some(0 | 4)), "{ended:?}");
    let document: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    let text = std::fs::read_to_string(&record).expect("a record");
    // A load is in the record before the next one is offered: whoever kills the run keeps it.
    let mut lines = text.lines();
    let is_load = |line: &str| line.contains("\"kind\":\"load\"");
    lines.find(|line| is_load(line)).expect("a load");
    let several = document["results"].as_array().map(Vec::len) > Some(1);
    let next = lines.next().expect("another line");
    assert_eq!(next.contains("\"kind\":\"trial\""), several, "{next}");
    for result in document["results"].as_array().expect("results") {
        for trial in result["trials"].as_array().expect("trials") {
            let number = format!("\"trial\":{},", trial["trial"]["trial"]);
            let recorded = text.lines().find(|line| line.contains(&number));
            assert!(
                recorded.is_some_and(|line| line.contains("\"phase\":\"fixed\"")),
                "{text}"
            );
        }
    }
    document
}

fn count(of: &Value, name: &str) -> u64 {
    of[name]
        .as_u64()
        .unwrap_or_else(|| panic!("no {name}: {of}"))
}

/// Every frame was sent or is told as unsent, and every frame sent is told as received or lost.
fn assert_counted(trial: &Value) {
    let way = &trial["trial"]["directions"][0];
    let sent = count(way, "sent_frames");
    assert_eq!(
        count(way, "intended_frames"),
        sent + count(way, "unsent_frames"),
        "{trial}"
    );
    assert_eq!(
        count(way, "received_frames") + count(way, "lost_frames"),
        sent,
        "{trial}"
    );
    assert!(
        trial["trial"]["latency"]["p999_ns"].as_u64() > Some(0),
        "{trial}"
    );
}

#[test]
fn what_was_asked_for_is_offered_exactly() {
    if !privileged() {
        return;
    }
    for (receiver, rates, counts) in [
        // At the exit each load has trials that time its program.
        ("exit", "100k", &[30_000][..]),
        ("port", "20k,100k", &[6_000, 30_000]),
    ] {
        let document = document(&["--rate", rates, "--receiver", receiver]);
        let results = document["results"].as_array().expect("results");
        assert_eq!(results.len(), counts.len(), "{document}");
        for (result, &frames) in results.iter().zip(counts) {
            assert_eq!(result["receiver"], receiver);
            for trial in [&result["trials"][0], &result["wire"]] {
                assert_counted(trial);
                assert_eq!(
                    count(&trial["trial"]["directions"][0], "intended_frames"),
                    frames
                );
            }
        }
    }
}

/// The kernel's file says that the tester's CPU and the DUT's are threads of one core, as on many a small guest.
#[test]
fn threads_of_one_core_are_doubted() {
    if !privileged() {
        return;
    }
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("Cpus_allowed:"));
    // The last digit of the mask has CPUs 0 to 3.
    let last = mask.and_then(|mask| mask.trim().chars().next_back()?.to_digit(16));
    if last.expect("a mask") & 3 != 3 {
        println!("SKIP: needs CPUs 0 and 1");
        return;
    }
    let scratch = Scratch::new("trial-core");
    let run_on = |siblings: &str| {
        let file = scratch.path("siblings");
        std::fs::write(&file, siblings).expect("a file");
        let stage = "unshare -m sh -ec '
            mount --bind \"$FILE\" /sys/devices/system/cpu/cpu1/topology/thread_siblings_list
            exec \"$MPPS\" \"$@\"' sh \"$@\"";
        let mut command = staged(stage);
        command
            .arg("sh")
            .args(["trial", "--rate", "20k", "--time", "0.05", "--json"]);
        command.args([
            "--receiver",
            "port",
            "--tester-cpus",
            "0",
            "--dut-cpus",
            "1",
        ]);
        let record = scratch.path("record.jsonl");
        let ended = run(command.arg("--record").arg(&record).env("FILE", &file));
        assert!(matches!(ended.code, Some(0 | 4)), "{ended:?}");
        let document: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
        std::fs::remove_file(&record).expect("a record");
        document["results"][0]["doubts"].to_string()
    };
    let told = "CPU 1 (DUT) and CPU 0 (tester) are threads of one core";
    let doubts = run_on("0-1\n");
    assert!(
        doubts.contains("core-shared") && doubts.contains(told),
        "{doubts}"
    );
    let doubts = run_on("1\n");
    assert!(!doubts.contains("core-shared"), "{doubts}");
}

#[test]
fn the_most_is_all_that_the_tester_can() {
    if !privileged() {
        return;
    }
    let document = document(&["--rate", "max"]);
    let trial = &document["results"][0]["trials"][0];
    assert_counted(trial);
    let way = &trial["trial"]["directions"][0];
    assert_eq!(way["unsent_frames"], 0, "a burst has no slots to miss");
    let in_ring = count(&way["ledger"], "lost_nic_ring_frames");
    // Where the tester cannot overload this router, nothing is lost.
    assert!(in_ring > 0 || way["lost_frames"] == 0, "{trial}");
    let text = trial["text"].as_str().expect("a sentence");
    assert_eq!(
        text.contains("in the router's receive ring"),
        in_ring > 0,
        "{text}"
    );
}

#[test]
fn a_planted_drop_is_lost_inside_the_router() {
    if !privileged() || !has("nft") {
        return;
    }
    let scratch = Scratch::new("trial-drop");
    let script = scratch.forward_rule("numgen inc mod 10 0 drop");
    let script = script.to_str().expect("UTF-8");
    // At the exit, trials that time its program would follow, and each would wait for canaries that the rule dropped.
    let words = ["--rate", "20k", "--receiver", "port", "--dut-setup", script];
    let document = document(&words);
    let trial = &document["results"][0]["trials"][0];
    assert_counted(trial);
    let way = &trial["trial"]["directions"][0];
    let [accepted, lost] =
        ["nic_accepted_frames", "lost_in_dut_frames"].map(|name| count(&way["ledger"], name));
    let share = lost as f64 / accepted as f64;
    assert!((share - 0.1).abs() < 0.002, "{trial}");
    let text = trial["text"].as_str().expect("a sentence");
    assert!(text.contains("inside the router"), "{text}");
    let wire = &document["results"][0]["wire"]["trial"]["directions"][0];
    assert_eq!(wire["ledger"]["lost_in_dut_frames"], 0);
}
