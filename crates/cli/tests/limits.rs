//! `mpps limits`: arithmetic that needs no rights, and this machine's memory.

use crate::program::{mpps, run};
use serde_json::Value;

fn json(words: &[&str]) -> Value {
    let mut command = mpps(&["limits", "--json"]);
    let ended = run(command.args(words));
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(0), ""),
        "{ended:?}"
    );
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

#[test]
fn any_speed_size_bus_and_payload_is_computed() {
    let document = json(&[
        "--link-speed",
        "2.5G,400G",
        "--frame",
        "64,9018",
        "--pcie",
        "5x16",
        "--max-payload",
        "512",
        "--tlp-overhead",
        "20",
        "--descriptor",
        "0",
        "--memory",
        "1600x128",
    ]);
    assert_eq!(document["bus"]["raw_bits_per_s"], 512e9);
    assert_eq!(document["memory"]["octets_per_s"], 51.2e9);
    let links = document["links"].as_array().expect("links");
    assert_eq!(links.len(), 2);
    let small = &links[1]["frames"][0];
    let near = |value: &Value, wanted: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value / wanted - 1.0).abs() < 1e-9, "{value}, not {wanted}");
    };
    near(&small["wire_fps"], 400e9 / 84.0 / 8.0);
    near(
        &small["bus_one_way_fps"],
        512e9 * 128.0 / 130.0 / 8.0 / 80.0,
    );
    near(&small["memory_fps"], 51.2e9 / 128.0);
    assert_eq!(small["binding"], "memory");
    near(&small["binding_fps"], 400e6);
    assert_eq!(links[0]["frames"][1]["binding"], "wire");
}

#[test]
fn measured_memory_becomes_the_budget() {
    let document = json(&["--measure", "--frame", "64", "--link-speed", "10G"]);
    let measured = &document["memory"]["measured"];
    let sets = measured["working_sets"].as_array().expect("working sets");
    let latency = |place: usize| sets[place]["latency_ns"].as_f64().expect("ns");
    assert!(latency(sets.len() - 1) > latency(0), "{measured}");
    let budget = &document["links"][0]["frames"][0]["memory_fps"];
    let moved = document["memory"]["octets_per_s"].as_f64().expect("octets");
    assert!((budget.as_f64().expect("fps") * 128.0 / moved - 1.0).abs() < 1e-9);
}
