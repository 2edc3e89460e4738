use crate::outcome::Outcome;
use crate::terminal::doubts::Doubted;
use crate::terminal::fixture::{doubt, line, run};
use crate::terminal::machine_line;
use mpps_lab::doubt::Weight;
use mpps_record::{
    AtLoad, Destinations, FrameCost, Interval, LoadAboveRate, Other, PointLine, Routes, Run,
    RunLine, Scale, Traffic,
};
use mpps_report::{Described, sentence};

fn fib_scale(points: &[PointLine], begin: RunLine) -> String {
    let mut run = Run::new("run");
    run.add(begin);
    points.to_vec().text(&run, false)
}

fn scale_doubts(points: &[PointLine], verbose: bool) -> String {
    Doubted::new(points).lines(verbose)
}

fn scale(next_hops: u32, search: bool) -> RunLine {
    let mut run = run("");
    run.plan.scale = Some(Scale {
        table: "rib.bz2".to_owned(),
        draw: "per-prefix".to_owned(),
        next_hops,
    });
    run.plan.search = run.plan.search.filter(|_| search);
    run
}

fn around(median: f64) -> Interval<f64> {
    Interval {
        low: median - 10.0,
        median,
        high: median + 20.0,
    }
}

fn point(series: &str, asked_routes: u64, asked_destinations: u64) -> PointLine {
    let drawn = (asked_routes > 0).then(|| Destinations {
        draw: "per-prefix".to_owned(),
        distinct: asked_destinations.min(256),
        ..Destinations::default()
    });
    PointLine {
        series: series.to_owned(),
        asked_routes,
        asked_destinations,
        routes: drawn.as_ref().map(|_| Routes {
            routes: asked_routes,
            ..Routes::default()
        }),
        traffic: Traffic {
            destinations: drawn,
            ..Traffic::default()
        },
        frame: Some("64".to_owned()),
        cost: None,
        max_forwarding_fps: None,
        at_most: None,
        at_little_more: None,
        limited_by: Some("-".to_owned()),
        overload_trials: Vec::new(),
        at_load: None,
        doubts: Vec::new(),
        results: Vec::new(),
        other: Other::new(),
    }
}

fn cost_of(router_ns: f64) -> FrameCost {
    FrameCost {
        bed_ns: around(400.0),
        router_ns: around(router_ns),
        total_ns: around(router_ns + 400.0),
    }
}

/// At overload a frame costs the router so much, and the bed 400 ns.
fn measured(point: PointLine, router_ns: f64, busy: f64, limited_by: &str) -> PointLine {
    let shared = "tester and DUT share a CPU";
    let fps = (1e9 / (router_ns + 400.0)) as u64;
    let forwarding_fps = Interval {
        low: fps - 10,
        median: fps,
        high: fps + 20,
    };
    PointLine {
        cost: Some(cost_of(router_ns)),
        max_forwarding_fps: Some(forwarding_fps),
        at_most: Some(LoadAboveRate {
            offered_fps: forwarding_fps,
            forwarding_fps,
            dut_busiest_cpu_share: Some(busy),
            windows: 100,
            disturbed_windows: 3,
            only_disturbed: Some(false),
            cpu_distance_ns: None,
            work_ns: None,
        }),
        limited_by: Some(limited_by.to_owned()),
        overload_trials: (1..=16).collect(),
        at_load: Some(AtLoad {
            load_fps: 400_000,
            cost: Some(cost_of(router_ns + 100.0)),
            pairs: 6,
            cpu_distance_ns: Some(90.0),
            trials: (17..=28).collect(),
            why: None,
        }),
        doubts: vec![doubt("cpu-shared", Weight::Shifted(0), shared)],
        ..point
    }
}

/// Two points of one series, and one of another that could not be measured.
fn points() -> [PointLine; 3] {
    [
        measured(point("routes", 0, 1), 200.0, 0.8, "tester"),
        measured(point("routes", 1_000, 1_000_000), 600.0, 1.0, "DUT"),
        point("destinations", 1_000, 1),
    ]
}

#[test]
fn each_point_states_cost_routes_and_destinations() {
    let text = fib_scale(&points(), scale(64, false));
    for wanted in [
        "IPv4 routes of rib.bz2 by 64 next hops, destinations drawn per-prefix, seed 1\n",
        "The bed's part is taken off: 400 ns at overload, 400 ns at one load\n",
        ">=: at 1 of 3 points the router was not at its limit",
        "1 000 routes, 1 destination: not measured: too few undisturbed windows",
        "fewer destinations than asked for",
        "0 routes: the one destination",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let row = |part: &str| {
        let line = text.lines().find(|line| line.contains(part));
        let words: Vec<&str> = line.expect("a row").split_whitespace().collect();
        words.join(" ")
    };
    assert_eq!(
        row(" 600 ("),
        "routes 1 000 256 600 (590 to 620) 700 (690 to 720)"
    );
    assert_eq!(row(" DUT"), "routes 64 1 000 256 1.000M 100 % DUT");
    assert_eq!(row(">= 1"), "routes 64 0 1 >= 1.666M 80 % tester");
    assert_eq!(row("destinations   1"), "destinations 1 000 1 - -");
    assert_eq!(row("destinations  64"), "destinations 64 1 000 1 - - -");
}

/// The tables of a full table's run: of the points in their order.
fn tables(points: &[PointLine]) -> Vec<String> {
    let text = fib_scale(points, scale(64, false));
    let rows = text.lines().filter(|line| {
        let first = line.split("  ").next().unwrap_or_default();
        ["series", "routes", "destinations"].contains(&first)
    });
    rows.map(str::to_owned).collect()
}

#[test]
fn both_tables_fit_in_80_columns() {
    let full = measured(
        point("destinations", 1_097_941, 4_000_000),
        2_570.0,
        1.0,
        "shared CPU",
    );
    let rows = tables(&[
        full.clone(),
        measured(point("routes", 0, 1), 90.0, 0.8, "tester"),
    ]);
    assert_eq!(rows.len(), 2 * 3);
    let widest = rows.iter().map(|row| row.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}: {rows:#?}");
    // A second frame size has a column for it.
    let other = PointLine {
        frame: Some("1518".to_owned()),
        ..full.clone()
    };
    assert!(tables(&[full, other])[0].starts_with("series        frame"));
}

#[test]
fn a_point_without_a_cost_at_its_load_says_why() {
    let mut points = points();
    let why = "in 6 of 6 trials at the fixed load the router lost frames";
    let at_load = points[1].at_load.as_mut().expect("a load");
    (at_load.cost, at_load.pairs, at_load.why) = (None, 0, Some(why.to_owned()));
    let text = fib_scale(&points, scale(64, false));
    let line = format!("1 000 routes, 256 destinations: no cost at one load: {why}\n");
    assert!(text.contains(&line), "{text}");
    assert!(
        text.contains(" 600 (590 to 620)                 -\n"),
        "{text}"
    );
    assert!(text.contains("At one load: 400k frames/s, the same for all points.\n"));
    // An older record has no such load, and no column of it.
    points.iter_mut().for_each(|point| point.at_load = None);
    let text = fib_scale(&points, scale(64, false));
    assert!(!text.contains("one load"), "{text}");
}

#[test]
fn a_maximum_of_a_shared_cpu_is_no_bound() {
    for (limit, is_bound) in [
        ("DUT", false),
        ("shared CPU", false),
        ("tester", true),
        ("disturbed", true),
    ] {
        let points = [measured(point("routes", 1_000, 1), 600.0, 1.0, limit)];
        let text = fib_scale(&points, scale(1, false));
        assert_eq!(text.contains(">= 999"), is_bound, "{limit}: {text}");
    }
}

#[test]
fn a_search_adds_the_rate_without_loss() {
    let mut points = points();
    points[1].results = vec![line()];
    let text = fib_scale(&points, scale(1, true));
    assert!(text.contains("by one next hop,"), "{text}");
    assert!(text.contains("Without loss: ndr: up to"), "{text}");
    let row = text.lines().find(|line| line.contains(" DUT "));
    let words: Vec<&str> = row.expect("a row").split_whitespace().collect();
    assert_eq!(words[6..], ["100", "%", "DUT", "1.38M", "DUT"], "{text}");
}

#[test]
fn the_sentences_stand_above_the_tables() {
    let text = fib_scale(&points(), scale(64, false));
    let sentences = "\n\nA frame costs the router from 200 ns (0 routes, 1 destination) to 600 ns (1 000 routes, 256 \
        destinations), by 3 points.\nAt one load for all points, 400k frames/s, it costs from 300 ns (0 routes, 1 \
        destination) to 700 ns (1 000 routes, 256 destinations).\n\nThe cost of a frame";
    assert!(text.contains(sentences), "{text}");
}

#[test]
fn one_route_is_no_routes() {
    let point = point("routes", 1, 256);
    assert_eq!(sentence::table_size(&point), "1 route, 256 destinations");
}

#[test]
fn a_doubt_stands_once_with_at_how_many_points() {
    let points = points();
    let text = scale_doubts(&points, true);
    assert_eq!(text.matches("why:").count(), 1, "{text}");
    let line = "- tester and DUT share a CPU (in 2 of 3 points)\n";
    assert!(text.contains(line), "{text}");
    let text = scale_doubts(&points, false);
    assert_eq!(text, format!("\nDoubts\n{line}"));
    let text = scale_doubts(&points[2..], false);
    assert!(text.is_empty());
}

#[test]
fn a_search_hides_no_doubt_of_the_point() {
    let mut point = measured(point("routes", 1_000, 1), 600.0, 1.0, "DUT");
    let line = include_str!("../../../../../record/tests/golden/result.json");
    let result: mpps_record::ResultLine = serde_json::from_str(line).expect("a result");
    let doubts = result.doubts.len();
    point.results = vec![result];
    let steal = doubt(
        "stolen-at-one-load",
        Weight::Shifted(7),
        "the hypervisor took 3 % of a CPU",
    );
    point.doubts = vec![steal.clone(), steal];
    let points = [point];
    assert_eq!(PointLine::subjects(&points)[0].1.len(), doubts + 1);
    assert!(scale_doubts(&points, false).contains("the hypervisor took 3 %"));
}

#[test]
fn machine_kernel_date_and_version_are_told() {
    let line = machine_line(&run(""));
    let parts: Vec<&str> = line.split(", ").collect();
    assert!(
        line.contains("ypervisor") && line.contains("Linux "),
        "{line}"
    );
    assert!(parts[parts.len() - 2].ends_with('Z'), "{line}");
    assert!(parts[parts.len() - 1].starts_with("mpps "), "{line}");
}
