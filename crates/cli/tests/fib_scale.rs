//! `mpps fib-scale`, as typed, on a bed of its own: points are what they say, in record, text and plot, and
//! nothing is left behind.

mod door;

use door::{Ended, Scratch, assert_gone, mpps, privileged, run};
use serde_json::Value;
use std::path::Path;

/// A restless machine may disturb every point of a run; how often a test tries again.
const ATTEMPTS: u32 = 6;
/// 1024 addresses in three routes; others that are never loaded.
const LIST: &str =
    "20.0.0.0/24\n20.0.1.0/24\n30.0.0.0/23\n2a00:1::/118\n2a00:2::/120\n10.0.0.0/8\n0.0.0.0/0\n";
/// Far below what any machine does: what is tried is not how fast it is.
const QUICK: [&str; 7] = [
    "fib-scale",
    "--time",
    "0.1",
    "--min-rate",
    "10k",
    "--max-rate",
    "20k",
];

/// The points of a record; of one that was measured again, the second.
fn points(record: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(record).expect("a record");
    let of = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    let all: Vec<Value> = text
        .lines()
        .map(of)
        .filter(|line| line["kind"] == "point")
        .collect();
    let same = |one: &Value, other: &Value| {
        ["series", "asked_routes", "asked_destinations"]
            .iter()
            .all(|name| one[name] == other[name])
    };
    let (first, again): (Vec<Value>, Vec<Value>) =
        all.into_iter().partition(|point| point["attempt"] == 1);
    // Only what the machine disturbed is measured again, and once.
    for point in &again {
        let before: Vec<_> = first.iter().filter(|one| same(one, point)).collect();
        assert!(before.len() == 1 && point["attempt"] == 2, "{point}");
        assert_ne!(before[0]["results"][0]["outcome"], "found", "{before:?}");
    }
    let last = |point: Value| {
        again
            .iter()
            .find(|one| same(one, &point))
            .cloned()
            .unwrap_or(point)
    };
    first.into_iter().map(last).collect()
}

/// Runs until the machine lets a point be measured; that and the record's points.
fn measured(scratch: &Scratch, words: &[&str]) -> (Ended, Vec<Value>) {
    let list = scratch.path("list");
    std::fs::write(&list, LIST).expect("list");
    for attempt in 0..ATTEMPTS {
        let record = scratch.path(&format!("{attempt}.jsonl"));
        let ended = run(mpps(&QUICK)
            .args(words)
            .arg("--table")
            .arg(&list)
            .arg("--plot")
            .arg(scratch.path("plot.svg"))
            .arg("--record")
            .arg(&record));
        assert_gone(ended.bed());
        assert!(matches!(ended.code, Some(0 | 1 | 4)), "{ended:?}");
        let points = points(&record);
        let any = points.iter().any(|point| {
            let results = point["results"].as_array().expect("results");
            results.iter().any(|result| result["outcome"] == "found")
        });
        if any {
            return (ended, points);
        }
        println!("again: {:?}", points.first().map(|point| &point["why"]));
    }
    panic!("no point was measured in {ATTEMPTS} attempts; the reasons stand above");
}

/// Asked for and there: routes as counted in the FIB, destinations as drawn.
fn counts(point: &Value) -> [Option<u64>; 4] {
    let destinations = &point["traffic"]["destinations"]["distinct"];
    [
        point["asked_routes"].as_u64(),
        point["asked_destinations"].as_u64(),
        point["routes"]["routes"].as_u64(),
        destinations.as_u64(),
    ]
}

#[test]
fn each_point_has_the_routes_and_destinations_it_names() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("fib-scale");
    let (ended, points) = measured(
        &scratch,
        &["--routes", "0,1,full", "--destinations", "5,2k"],
    );
    let series: Vec<&Value> = points.iter().map(|point| &point["series"]).collect();
    assert_eq!(
        series,
        ["routes", "routes", "routes", "destinations", "destinations"]
    );
    let there: Vec<_> = points.iter().map(counts).collect();
    // Martians and the default route are not loaded; there are no more than 1024 addresses in the three.
    assert_eq!(there[0], [Some(0), Some(2000), None, None]);
    assert_eq!(there[1][2], Some(1));
    assert!(matches!(there[1][3], Some(256 | 512)), "{there:?}");
    assert_eq!(there[2], [Some(3), Some(2000), Some(3), Some(1024)]);
    assert_eq!(there[3], [Some(3), Some(5), Some(3), Some(5)]);
    assert_eq!(there[4], there[2]);
    for point in &points {
        let result = &point["results"][0];
        // Nothing here is the DUT's limit, and no point may say so.
        assert_ne!(result["limited_by"], "DUT", "{point}");
        assert_eq!(point["why"].is_null(), result.is_object(), "{point}");
        if point["asked_routes"] != 0 {
            assert_eq!(point["traffic"]["destinations"]["draw"], "per-prefix");
        }
    }
    one_ceiling(&points);
    text_and_plot(&ended, &points, &scratch);
}

/// The first point finds the tester's ceiling. No result comes near it, so no later point finds its own, and says so:
/// unless the machine was too slow for a load, or for the first point.
fn one_ceiling(points: &[Value]) {
    let result = |point: &Value| point["results"][0].clone();
    let doubts = |result: &Value, name: &str| {
        let doubts = result["doubts"].as_array().expect("doubts");
        doubts.iter().any(|doubt| doubt["name"] == name)
    };
    for point in points.iter().skip(1) {
        let result = result(point);
        if point["attempt"] != 1 || result["outcome"] != "found" || doubts(&result, "not-offered") {
            continue;
        }
        let own = !result["ceiling_trials"]
            .as_array()
            .expect("trials")
            .is_empty();
        let first = points.iter().find(|point| !point["results"][0].is_null());
        assert!(!own || first == Some(point), "{point}");
        assert_eq!(doubts(&result, "ceiling-reused"), !own, "{point}");
    }
}

fn text_and_plot(ended: &Ended, points: &[Value], scratch: &Scratch) {
    for wanted in [
        "destinations drawn per-prefix, seed 1",
        "0 routes: one destination, the tester's own address",
        "fewer destinations than asked for",
        "something else ended before the DUT (limited by)",
    ] {
        assert!(ended.stdout.contains(wanted), "{wanted}: {ended:?}");
    }
    let row = |line: &&str| line.contains("  >= ") && line.ends_with("max-rate");
    let bounds = ended.stdout.lines().filter(row).count();
    let found = |point: &&Value| point["results"][0]["outcome"] == "found";
    assert_eq!(bounds, points.iter().filter(found).count(), "{ended:?}");
    let plot = std::fs::read_to_string(scratch.path("plot.svg")).expect("a plot");
    // Each point in both panels, hollow or a cross: nothing here is the DUT's.
    let titles = plot.matches("<title>").count();
    assert_eq!(titles, 2 * points.len(), "{plot}");
    assert!(plot.contains("hollow: something else than the DUT ended first"));
    assert!(!plot.contains("limited by DUT"), "{plot}");
}

#[test]
fn coupled_destinations_grow_with_the_routes_of_ipv6_too() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("fib-scale-6");
    let words = ["-6", "--coupled", "--routes", "1,2", "--draw", "sequential"];
    let (ended, points) = measured(&scratch, &words);
    let there: Vec<_> = points.iter().map(counts).collect();
    assert_eq!(there, [[Some(1); 4], [Some(2); 4]]);
    assert!(
        points.iter().all(|point| point["series"] == "coupled"
            && point["traffic"]["destinations"]["draw"] == "sequential"),
        "{points:?}"
    );
    assert!(ended.stdout.contains("IPv6 routes of"), "{ended:?}");
}
