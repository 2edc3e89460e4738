//! `mpps fib-scale`, as typed, on a bed of its own: points are what they say, in record, text and plot, and
//! nothing is left behind.

use crate::program::{Ended, Scratch, assert_gone, has, mpps, privileged, run};
use serde_json::Value;

/// 1024 addresses in three routes, and three of IPv6; others that are never loaded.
const LIST: &str = "20.0.0.0/24\n20.0.1.0/24\n30.0.0.0/23\n\
    2a00:1::/118\n2a00:2::/120\n2a00:3::/119\n10.0.0.0/8\n0.0.0.0/0\n";

/// A short search, and with its budget little overload.
const SEARCH: [&str; 8] = [
    "--time",
    "0.1",
    "--budget",
    "4s",
    "--min-rate",
    "10k",
    "--max-rate",
    "20k",
];

/// A run, and its record's lines of a kind.
struct Run {
    ended: Ended,
    lines: Vec<Value>,
    scratch: Scratch,
}

impl Run {
    fn new(name: &str, words: &[&str]) -> Self {
        let scratch = Scratch::new(name);
        let (list, record) = (scratch.path("list"), scratch.path("raw.jsonl"));
        std::fs::write(&list, LIST).expect("list");
        let ended = run(mpps(&["fib-scale", "--table"])
            .arg(&list)
            .args(words)
            .arg("--plot")
            .arg(scratch.path("plot.svg"))
            .arg("--record")
            .arg(&record));
        assert_gone(ended.bed());
        // A disturbed machine may leave points without a figure; each is there all the same.
        assert!(matches!(ended.code, Some(0 | 1 | 4)), "{ended:?}");
        let text = std::fs::read_to_string(record).expect("a record");
        let lines = text.lines();
        let lines = lines.map(|line| serde_json::from_str(line).expect("JSON"));
        Self {
            ended,
            lines: lines.collect(),
            scratch,
        }
    }

    fn of_kind(&self, kind: &str) -> Vec<&Value> {
        let lines = self.lines.iter();
        lines.filter(|line| line["kind"] == kind).collect()
    }
}

/// Asked for and there: routes as counted in the FIB, their next hops, destinations as drawn.
fn counts(point: &Value) -> [Option<u64>; 5] {
    [
        point["asked_routes"].as_u64(),
        point["asked_destinations"].as_u64(),
        point["routes"]["routes"].as_u64(),
        point["routes"]["next_hops"].as_u64(),
        point["traffic"]["destinations"]["distinct"].as_u64(),
    ]
}

#[test]
fn each_point_has_its_routes_and_destinations() {
    if !privileged() {
        return;
    }
    let words = ["--routes", "full", "--destinations", "2k"];
    let run = Run::new("fib-scale", &[&words[..], &SEARCH].concat());
    let points = run.of_kind("point");
    let series: Vec<&Value> = points.iter().map(|point| &point["series"]).collect();
    assert_eq!(series, ["destinations", "routes"]);
    let there: Vec<_> = points.iter().map(|point| counts(point)).collect();
    // Martians and the default route are not loaded; there are no more than 1024 addresses in the three.
    assert_eq!(there[0][..3], [Some(3), Some(2000), Some(3)]);
    assert_eq!(there[0][4], Some(1024));
    // Three routes have as many next hops at most, and the same ones each time.
    assert!(matches!(there[0][3], Some(1..=3)), "{there:?}");
    assert_eq!(there[1], there[0]);
    let fib = &points[0]["routes"]["fib_octets"];
    assert!(fib.as_u64().is_some_and(|octets| octets > 0), "{fib}");
    let loads: Vec<_> = points
        .iter()
        .map(|point| at_one_load(&run, point))
        .collect();
    // The first point with a rate sets the load of all later ones.
    let first = loads.iter().flatten().next();
    let known = loads.iter().skip_while(|load| load.is_none());
    assert!(known.flatten().all(|load| Some(load) == first), "{loads:?}");
    for point in &points {
        overloaded(&run, point);
        // A flag of the search adds the search. It varies below what any machine forwards, so nothing here is the DUT's
        // limit.
        let results = point["results"].as_array().expect("results");
        assert!(
            results.len() == 1 && results[0]["limited_by"] != "DUT",
            "{point}"
        );
    }
    assert!(
        run.ended.stdout.contains("Without loss: ndr"),
        "{:?}",
        run.ended
    );
    text_and_plot(&run, &points);
    if has("nft") {
        rules_raise_the_cost(points.iter().filter_map(|point| router_ns(point)));
    }
}

/// What a frame costs the router at the load of the point, where enough pairs of trials count.
fn router_ns(point: &Value) -> Option<f64> {
    point["at_load"]["cost"]["router_ns"]["median"].as_f64()
}

/// A router that looks through 200 rules takes longer for a frame at one load than it took without.
fn rules_raise_the_cost(plain: impl Iterator<Item = f64>) {
    let most = plain.reduce(f64::max);
    let words = ["--coupled", "--routes", "full", "--filters", "200"];
    for _ in 0..most.map_or(0, |_| 2) {
        let run = Run::new("fib-scale-rules", &[&words[..], &SEARCH].concat());
        let points = run.of_kind("point");
        at_one_load(&run, points[0]);
        if let Some((plain, rules)) = most.zip(router_ns(points[0])) {
            assert!(rules > plain, "{plain} ns, with rules {rules} ns");
            return;
        }
    }
    println!("SKIP: too disturbed, too few pairs count");
}

/// Trials through the router and through a wire; every destination had its frame.
fn overloaded(run: &Run, point: &Value) {
    let numbers = point["overload_trials"].as_array().expect("trials");
    let phase = |number: &Value| {
        let trials = run.of_kind("trial");
        let trial = trials.iter().find(|trial| trial["trial"] == *number);
        trial.expect("a trial")["phase"].clone()
    };
    let phases: Vec<Value> = numbers.iter().map(phase).collect();
    for wanted in ["wire", "overload"] {
        assert!(phases.iter().any(|phase| phase == wanted), "{phases:?}");
    }
    let doubts = point["doubts"].as_array().expect("doubts");
    for absent in ["part-of-destinations", "not-routed"] {
        let raised = doubts.iter().find(|doubt| doubt["name"] == absent);
        assert_eq!(raised, None);
    }
    for interval in [&point["cost"]["router_ns"], &point["max_forwarding_fps"]] {
        let at = |name: &str| interval[name].as_f64();
        let (low, median, high) = (at("low"), at("median"), at("high"));
        assert!(low <= median && median <= high, "{point}");
        assert_eq!(median.is_none(), interval.is_null(), "{point}");
    }
}

/// Trials of router and wire in turns, all at the load of the point, which is returned; they are of no other kind.
fn at_one_load(run: &Run, point: &Value) -> Option<u64> {
    let at_load = &point["at_load"];
    if at_load.is_null() {
        assert!(point["max_forwarding_fps"].is_null(), "{point}");
        return None;
    }
    let load = at_load["load_fps"].as_u64().expect("a load");
    let numbers = at_load["trials"].as_array().expect("trials");
    let places = ["fixed", "wire", "wire", "fixed"].iter().cycle();
    assert!(!numbers.is_empty(), "{point}");
    for (number, place) in numbers.iter().zip(places) {
        let trials = run.of_kind("trial");
        let trial = trials.iter().find(|trial| trial["trial"] == *number);
        let trial = trial.expect("a trial");
        assert_eq!(trial["phase"], *place, "{trial}");
        assert_eq!(trial["offered_fps"].as_f64(), Some(load as f64), "{trial}");
    }
    let result = &point["results"][0];
    let others = [
        &point["overload_trials"],
        &result["overload_trials"],
        &result["search_trials"],
    ];
    let mut others = others.into_iter().filter_map(Value::as_array).flatten();
    assert!(others.all(|number| !numbers.contains(number)), "{point}");
    // Either a cost of a few pairs, or a reason.
    let (cost, why) = (&at_load["cost"], &at_load["why"]);
    assert_ne!(cost.is_null(), why.is_null(), "{at_load}");
    let pairs = at_load["pairs"].as_u64().expect("pairs");
    assert_eq!(pairs >= 3, !cost.is_null(), "{at_load}");
    Some(load)
}

fn text_and_plot(run: &Run, points: &[&Value]) {
    for wanted in [
        "by 64 next hops, destinations drawn per-prefix, seed 1",
        "The cost of a frame for the router, ns (",
        "The maximum forwarding rate\n",
        "fewer destinations than asked for",
        ", mpps ",
    ] {
        assert!(
            run.ended.stdout.contains(wanted),
            "{wanted}: {:?}",
            run.ended
        );
    }
    let plot = std::fs::read_to_string(run.scratch.path("plot.svg")).expect("a plot");
    // Each point in each panel.
    let titles = plot.matches("<title>").count();
    let panels = if plot.contains("at one load") { 3 } else { 2 };
    assert_eq!(titles, panels * points.len(), "{plot}");
    let has_load = points.iter().any(|point| !point["at_load"].is_null());
    assert_eq!(panels == 3, has_load, "{plot}");
    let begun = run.of_kind("run")[0]["begun_utc"].as_str().expect("a date");
    for wanted in ["Linux ", "ypervisor", begun, ", mpps ", "Bars: "] {
        assert!(plot.contains(wanted), "{wanted}: {plot}");
    }
}

/// Without a flag of the search there is none.
#[test]
fn a_point_replays_changes_of_its_own_routes() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("fib-scale-changed");
    let changes = scratch.path("changes");
    // The last one is in no table.
    let text = "A 2a00:1::/118\nW 2a00:2::/120\nA 2a00:2::/120\nA 2a00:9::/32\n";
    std::fs::write(&changes, text).expect("changes");
    let changes = format!("{},speed=100/s", changes.display());
    let words = [
        "-6",
        "--coupled",
        "--routes",
        "0,full",
        "--draw",
        "sequential",
        "--route-changes",
        &changes,
    ];
    // Without a budget, the overload of a point takes longer than the changes need.
    let run = Run::new("fib-scale-changes", &words);
    let points = run.of_kind("point");
    let there: Vec<_> = points.iter().map(|point| counts(point)).collect();
    // Without a route nothing changes. No frame goes to the one that is withdrawn.
    assert_eq!(there[1], [Some(0), Some(1), None, None, None]);
    overloaded(&run, points[1]);
    let own = "0 routes: the one destination is the tester's own address";
    assert!(run.ended.stdout.contains(own), "{:?}", run.ended);
    assert_eq!(there[0], [3, 3, 3, 1, 3].map(Some));
    overloaded(&run, points[0]);
    let traffic = &points[0]["traffic"];
    assert_eq!(traffic["destinations"]["prefixes"], 2, "{traffic}");
    assert_eq!(traffic["destinations"]["draw"], "sequential");
    let changed = |point: &Value| !point["traffic"]["route_changes"].is_null();
    assert!(changed(points[0]) && !changed(points[1]), "{points:#?}");
    let made = &run.of_kind("end")[0]["route_changes"];
    assert!(
        made["replaced"].as_u64().is_some_and(|made| made > 0),
        "{made}"
    );
    let counted = run.ended.stderr.contains("routes after the changes: ");
    assert!(counted, "{:?}", run.ended);
    for point in points {
        assert_eq!(point["series"], "coupled");
        assert_eq!(
            point["results"].as_array().map(Vec::len),
            Some(0),
            "{point}"
        );
    }
    let text = &run.ended.stdout;
    assert!(!text.contains("Without loss"), "{:?}", run.ended);
    for wanted in ["IPv6 routes of", "by one next hop"] {
        assert!(text.contains(wanted), "{wanted}: {:?}", run.ended);
    }
}
