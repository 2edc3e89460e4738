//! `mpps loss`: the series on a simulated pair, and a real bed whose router drops beyond a known rate.

use crate::program::{Ended, Scratch, assert_gone, has, mpps, privileged, run};
use serde_json::Value;

fn loss(scratch: &Scratch, words: &[&str]) -> Ended {
    let mut command = mpps(&["loss", "--record"]);
    command.arg(scratch.path("record.jsonl")).args(words);
    run(&mut command)
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"))
}

#[test]
fn a_curve_is_told_drawn_and_recorded() {
    let scratch = Scratch::new("loss");
    let pair = "capacity=650k,ring=0,tester=1M";
    let words = ["--frame", "64,1518", "--simulate", pair];
    let ended = loss(&scratch, &words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sentence = "64 B: nothing lost up to 60 % (600k frames/s); at 70 % (700k frames/s) 7.14 % lost, 650k forwarded; \
                    at 100 % (1.00M frames/s) 35 % lost, 650k forwarded.\n";
    assert!(ended.stdout.contains(sentence), "{ended:?}");
    let rows = ended.stdout.lines().filter(|line| line.contains("lossy "));
    assert_eq!(rows.clone().count(), 8);
    assert!(rows.clone().all(|row| row.len() <= 80), "{ended:?}");
    let plot = std::fs::read_to_string(scratch.path("record.svg")).expect("a plot");
    // Each frame size in three panels: forwarded, lost, busy.
    assert_eq!(plot.matches("class=\"line\"").count(), 6, "{plot}");
    assert!(plot.contains("simulated: capacity=650000"), "{plot}");
    assert!(!plot.contains("NaN") && !plot.contains("inf"), "{plot}");

    let read = mpps_record::read_file(&scratch.path("record.jsonl")).expect("a record");
    assert_eq!((read.problems.len(), read.runs[0].curves.len()), (0, 2));
    let record = std::fs::read_to_string(scratch.path("record.jsonl")).expect("a record");
    let lines = record
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let lines: Vec<Value> = lines.collect();
    let of_kind = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).count();
    assert_eq!((of_kind("trial"), of_kind("curve")), (12, 2));
    let curve = lines
        .iter()
        .find(|line| line["kind"] == "curve")
        .expect("a curve");
    assert_eq!(
        (&curve["end"], &curve["highest_fps"]),
        (&"two-lossless".into(), &1_000_000.into())
    );
    assert_eq!(curve["loads"][5]["measured"]["lost_frames"], 0);

    let document = json(&loss(&scratch, &[&words[..], &["--json"]].concat()));
    assert_eq!(document["curves"][0]["loads"], curve["loads"]);
    assert_eq!(document["simulated"], true);
}

#[test]
fn a_machine_too_disturbed_is_exit_4() {
    let scratch = Scratch::new("loss-void");
    let pair = "capacity=650k,tester=1M,stalls=600ms@100%";
    let ended = loss(&scratch, &["--frame", "64", "--simulate", pair]);
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(ended.stdout.contains("64 B: not measured"), "{ended:?}");
    assert!(
        ended.stdout.contains("100 %: 4 trials, the last void: "),
        "{ended:?}"
    );
}

#[test]
fn steps_above_10_percent_are_refused() {
    let scratch = Scratch::new("loss-step");
    for step in ["20%", "0%", "10"] {
        let ended = loss(&scratch, &["--step", step, "--simulate", "capacity=1M"]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.error().contains("give 1% to 10%"), "{ended:?}");
    }
}

/// The router's own policer drops all above 20 000 frames/s: that rate is what the curve shows.
#[test]
fn a_policers_rate_is_seen_in_the_curve() {
    if !privileged() || !has("nft") {
        return;
    }
    // On a CPU that it shares the sender is late, and then sends more at once than this bucket holds.
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 2) {
        println!("SKIP: needs two CPUs");
        return;
    }
    let scratch = Scratch::new("loss-policer");
    let script = scratch.forward_rule("limit rate over 20000/second burst 5 packets drop");
    let script = script.to_str().expect("UTF-8");
    let words = "--frame 64 --time 0.3 --max-rate 40k --budget 9s --json --dut-setup";
    let words: Vec<&str> = words.split(' ').chain([script]).collect();
    let ended = loss(&scratch, &words);
    assert_gone(ended.bed());
    if ended.code == Some(4) {
        println!("SKIP: too disturbed");
        return;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let document = json(&ended);
    let curve = &document["curves"][0];
    assert_eq!(
        (&curve["highest_fps"], &curve["highest_limited_by"]),
        (&40_000.into(), &"max-rate".into())
    );
    let loads = curve["loads"].as_array().expect("loads");
    for load in loads.iter().filter(|load| !load["measured"].is_null()) {
        let number = |name: &str| load["measured"][name].as_f64().expect("a number");
        let (offered, forwarded) = (number("offered_fps"), number("forwarding_fps"));
        let expected = offered.min(20_000.0);
        assert!((forwarded - expected).abs() < 0.05 * expected, "{load}");
        let lost = 1.0 - forwarded / offered;
        assert!((number("loss_ratio") - lost).abs() < 0.01, "{load}");
    }
}
