use super::*;
use serde_json::{Value, json};

fn latency_line(loads: &Value) -> LatencyLine {
    let line = json!({
        "frame": "64", "receiver": null, "throughput_fps": 1_200_000, "throughput_given": false, "loads": loads,
        "why": "interrupted", "doubts": []
    });
    serde_json::from_value(line).expect("a line")
}

/// Of 20 000 frames most took `ns`, 30 took four times as long.
fn path(ns: u64) -> Value {
    let times = LatencyTimes::from(mpps_record::Histogram(vec![(ns, 19_970), (4 * ns, 30)]));
    let path = mpps_record::PathLatency {
        times,
        ..mpps_record::PathLatency::default()
    };
    serde_json::to_value(path).expect("a path")
}

#[test]
fn a_latency_has_its_wire_beside_it() {
    let load = |share: f64, ns| {
        let fps = (share * 1.2e6) as u64;
        json!({ "load_share": share, "load_fps": fps, "router": path(ns), "bed": path(ns / 2) })
    };
    let line = latency_line(&json!([
        load(1.0, 20_000),
        load(0.5, 9_000),
        load(0.1, 8_000)
    ]));
    assert_eq!(
        latency(&line),
        "64 B: at 10 % (120 thousand frames/s) typically 8.00 µs, at worst 32.0 µs (through a wire 4.00 µs and \
         16.0 µs); at 100 % (1.20 million frames/s) typically 20.0 µs, at worst 80.0 µs (through a wire 10.0 µs and \
         40.0 µs)"
    );
    assert_eq!(
        latency(&latency_line(&json!([]))),
        "64 B: not measured: interrupted"
    );
    let few = LatencyTimes::from(mpps_record::Histogram(vec![(50, 100)]));
    assert_eq!(typical_and_worst(&few).1, "50.0 ns by too few frames");
}

#[test]
fn a_burst_says_what_it_stands_on() {
    let line = |all: Value, passed: Value| {
        let line = json!({
            "frame": "64", "receiver": null, "max_forwarding_fps": 1, "searches": [
                { "longest_frames": 4_000, "lossy_frames": 4_100, "burst_fps": 1, "buffer_frames": 1.0 }
            ],
            "all": all, "all_passed_frames": passed, "own_ring_frames": 4_096, "why": null, "doubts": []
        });
        burst(&serde_json::from_value(line).expect("a line"))
    };
    let all = json!({
        "average_frames": 4_000.4, "least_frames": 3_990, "most_frames": 4_010, "deviation_frames": null,
        "burst_fps": 5_000_000, "implied_buffer_ns": 800_000, "corrected_buffer_ns": 600_000
    });
    assert_eq!(
        line(all, Value::Null),
        "64 B: 4\u{202f}000 frames back to back without loss (3\u{202f}990 to 4\u{202f}010 in 1 search); the buffer \
         holds 800 µs of them, 600 µs corrected; the bed's own rings hold 4\u{202f}096 frames"
    );
    let passed = line(Value::Null, json!(9_000));
    assert_eq!(
        passed,
        "64 B: no burst was too long, up to 9\u{202f}000 frames back to back"
    );
    assert_eq!(
        line(Value::Null, Value::Null),
        "64 B: not measured: the run ended before"
    );
}

#[test]
fn a_recovery_is_a_mean_or_a_count() {
    let line = |times: &[Option<u64>], average: Option<u64>| {
        let trial = |ns: &Option<u64>| {
            json!({
                "trial": 1, "void_trials": 0, "verdict": "lossy", "verdict_text": "lossy", "lost_frames": 9,
                "recovered": if ns.is_some() { "recovered" } else { "not-recovered" }, "recovery_ns": ns
            })
        };
        let trials: Vec<Value> = times.iter().map(trial).collect();
        let line = json!({
            "frame": "imix", "receiver": null, "throughput_fps": 1, "overload_fps": 1_320_000,
            "overload_ns": 1, "after_ns": 1, "trials": trials, "average_ns": average, "why": null, "doubts": []
        });
        recovery(&serde_json::from_value(line).expect("a line"))
    };
    let both = [Some(10_000_000), Some(14_000_000)];
    assert_eq!(
        line(&both, Some(12_000_000)),
        "imix: the last lost frame left 12.0 ms after the drop from 1.32 million frames/s (10.0 ms to 14.0 ms in 2 \
         trials)"
    );
    let one = line(&[Some(10_000_000), None], None);
    assert!(one.ends_with("frames/s in 1 of 2 trials"), "{one}");
    assert_eq!(line(&[], None), "imix: not measured: the run ended before");
}

#[test]
fn a_comparison_has_a_sentence_a_variant() {
    let mut line = ComparisonLine {
        frame: "64".to_owned(),
        why: Some("interrupted".to_owned()),
        ..ComparisonLine::default()
    };
    assert_eq!(comparison(&line), ["64 B: not measured: interrupted"]);
    for (name, difference) in [("none", None), ("rules", Some(Default::default()))] {
        line.variants.push(mpps_record::Variant {
            name: name.to_owned(),
            difference,
            ..Default::default()
        });
    }
    let wanted = ["64 B, rules against none: not decided: too few pairs count"];
    assert_eq!(comparison(&line), wanted);
}
