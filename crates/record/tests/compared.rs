//! Two finished results compared, or refused with the reason.

use mpps_record::{
    Body, ComparisonLine, Difference, Finding, ForwardingLimit, FrameCost, Interval, LatencyLine,
    LoadAboveRate, Pairs, PartCost, PointLine, ProfileLine, ProfiledLoad, ReceiverPlace, Refusal,
    ResultLine, Run, RunLine, Terms, ToldBy, Variant, Watched, check_profiles, compare_points,
    compare_results, read, read_file, to_line,
};
use std::path::Path;

const TERMS: Terms<'_> = Terms {
    within: 0.02,
    alike: 0.005,
    may_differ: &["dut_setup"],
};

fn golden() -> (RunLine, ResultLine) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/run.jsonl");
    let Run { begin, results, .. } = read_file(&path).expect("a record").runs.remove(0);
    (begin.expect("a first line"), results[0].clone())
}

fn around(median: f64, half: f64) -> Interval<f64> {
    Interval {
        low: median - half,
        median,
        high: median + half,
    }
}

/// A result with this rate and this cost of the router's, each within 1 %.
fn result(fps: u64, router_ns: f64) -> ResultLine {
    let mut result = golden().1;
    result.overload.max_forwarding_fps = Some(Interval {
        low: fps / 100 * 99,
        median: fps,
        high: fps / 100 * 101,
    });
    result.overload.cost = Some(FrameCost {
        bed_ns: around(300.0, 3.0),
        router_ns: around(router_ns, router_ns / 100.0),
        total_ns: around(300.0 + router_ns, 3.0 + router_ns / 100.0),
    });
    result
}

#[test]
fn results_alike_in_all_else_are_compared() {
    let run = golden().0;
    let compare = |one: &ResultLine, other: &ResultLine| {
        compare_results((&run, one), (&run, other), TERMS).expect("they compare")
    };
    let (none, rules) = (result(1_600_000, 325.0), result(430_000, 2_025.0));
    let found = compare(&none, &rules);
    assert_eq!(
        (&found.finding, &found.told_by),
        (&Finding::Different, &ToldBy::Rate)
    );
    assert_eq!(
        found.to_string(),
        "1700 ns more a frame for the router (1676 to 1724): 73 % fewer frames/s"
    );
    // As far as both intervals allow: 425.7 of 1616 thousand, and 434.3 of 1584.
    let change = found.rate_change.expect("rates");
    for (end, expected) in [
        (change.low, 425_700.0 / 1_616_000.0),
        (change.median, 430_000.0 / 1_600_000.0),
        (change.high, 434_300.0 / 1_584_000.0),
    ] {
        assert!((end - (expected - 1.0)).abs() < 1e-9, "{change:?}");
    }
    let faster = compare(&rules, &none);
    assert!(
        faster.to_string().contains("1700 ns less a frame"),
        "{faster}"
    );
    // Each within 1 %: two of them may differ by 2 %.
    let same = compare(&none, &result(1_601_000, 325.0));
    assert_eq!(same.finding, Finding::NotDecided, "{same}");
    // The other router's CPU took 16 % longer for the same work: that may be all there is to it.
    let at_work = |fps, router_ns, work_ns| {
        let mut one = result(fps, router_ns);
        one.overload.max_forwarding_work_ns = Some(work_ns);
        one
    };
    let (fast, slow) = (
        at_work(1_600_000, 325.0, 285.0),
        at_work(1_380_000, 420.0, 331.0),
    );
    assert_eq!(compare(&fast, &slow).finding, Finding::NotDecided);
    assert_eq!(compare(&slow, &fast).finding, Finding::NotDecided);
    let steady = at_work(1_380_000, 420.0, 285.0);
    assert_eq!(compare(&fast, &steady).finding, Finding::Different);
    // A slower CPU hides no gain.
    let slow_gain = at_work(1_900_000, 220.0, 331.0);
    assert_eq!(compare(&fast, &slow_gain).finding, Finding::Different);
    // A search that had enough lossy trials found a higher maximum: overload was the same.
    let mut searched = result(1_720_000, 325.0);
    let at = none.overload.max_forwarding_fps.expect("a rate");
    searched.overload.max_forwarding_work_ns = Some(331.0);
    searched.overload.at_overload = Some(LoadAboveRate {
        offered_fps: at,
        forwarding_fps: at,
        dut_busiest_cpu_share: None,
        windows: 40,
        disturbed_windows: 0,
        only_disturbed: Some(false),
        cpu_distance_ns: None,
        work_ns: Some(285.0),
    });
    let same = compare(&fast, &searched);
    assert_eq!(same.rate_change.map(|change| change.median), Some(0.0));
    let mut ends_first = none.clone();
    ends_first.overload.max_forwarding_limited_by = Some(ForwardingLimit::Tester);
    let found = compare(&ends_first, &rules);
    assert_eq!(
        (found.finding, found.told_by),
        (Finding::Different, ToldBy::Cost)
    );
}

#[test]
fn what_differs_is_named() {
    let (run, one) = (golden().0, result(1_000_000, 700.0));
    let mut other_run = run.clone();
    other_run.comparability.dut_setup = Some("5f".to_owned());
    let set_up = compare_results((&run, &one), (&other_run, &one), TERMS);
    assert!(set_up.is_ok(), "{set_up:?}");
    // Only latencies depend on it.
    other_run.comparability.cpus_awake = Some(false);
    let sleep = compare_results((&run, &one), (&other_run, &one), TERMS);
    assert!(sleep.is_ok(), "{sleep:?}");
    other_run.comparability.queues = 9;
    other_run.comparability.kernel_release = "1.0".to_owned();
    let mut other = one.clone();
    other.frame = "1518".to_owned();
    other.overload.max_forwarding_cpu_distance_ns = Some(310.0);
    let mut near = one;
    near.overload.max_forwarding_cpu_distance_ns = Some(60.0);
    let refused = compare_results((&run, &near), (&other_run, &other), TERMS);
    let refused = refused.expect_err("they differ").to_string();
    assert_eq!(
        refused,
        "they differ in kernel_release, queues, frame, max_forwarding_cpu_distance_ns"
    );
    // A neighbour on the router's core in one of them.
    let mut full = near.clone();
    full.overload.max_forwarding_work_ns = Some(240.0);
    let mut shared = near.clone();
    shared.overload.max_forwarding_work_ns = Some(450.0);
    let refused = compare_results((&run, &full), (&run, &shared), TERMS).expect_err("two speeds");
    assert_eq!(refused.to_string(), "they differ in max_forwarding_work_ns");
    // A bound says nothing of which is faster.
    other.overload.max_forwarding_limited_by = Some(ForwardingLimit::Unknown);
    let refused = compare_results((&run, &other), (&run, &other), TERMS);
    assert_eq!(refused, Err(Refusal::Lacks("known limit at overload")));
    other.overload.max_forwarding_limited_by = None;
    other.overload.max_forwarding_fps = None;
    let refused = compare_results((&run, &other), (&run, &other), TERMS);
    assert_eq!(refused, Err(Refusal::Lacks("maximum forwarding rate")));
}

#[test]
fn points_in_two_states_are_not_compared() {
    let run = golden().0;
    let point = |round_trip_ns: f64, work_ns: f64| {
        let forwarding_fps = Interval {
            low: 990_000,
            median: 1_000_000,
            high: 1_010_000,
        };
        let load = LoadAboveRate {
            offered_fps: forwarding_fps,
            forwarding_fps,
            dut_busiest_cpu_share: Some(1.0),
            windows: 100,
            disturbed_windows: 0,
            only_disturbed: Some(false),
            cpu_distance_ns: Some(round_trip_ns),
            work_ns: Some(work_ns),
        };
        PointLine {
            max_forwarding_fps: Some(forwarding_fps),
            at_most: Some(load),
            ..PointLine::default()
        }
    };
    let compare =
        |other: &PointLine| compare_points((&run, &point(60.0, 200.0)), (&run, other), TERMS);
    assert!(compare(&point(62.0, 201.0)).is_ok());
    let far = compare(&point(300.0, 200.0)).expect_err("two distances");
    assert_eq!(
        far.to_string(),
        "they differ in max_forwarding_cpu_distance_ns"
    );
    let shared = compare(&point(60.0, 400.0)).expect_err("two speeds");
    assert_eq!(shared.to_string(), "they differ in max_forwarding_work_ns");
}

/// Each line tells of its own frame size.
#[test]
fn conditions_tell_whether_cpus_stayed_awake() {
    let conditions = |sizes: &[bool]| {
        let mut run = Run::new("a-run");
        let mut begin = golden().0;
        begin.comparability.simulated = None;
        run.add(begin);
        for &cpus_awake in sizes {
            run.add(LatencyLine {
                cpus_awake,
                ..LatencyLine::default()
            });
        }
        run.begin.expect("a first line").comparability
    };
    assert_eq!(conditions(&[]).cpus_awake, None);
    let (awake, asleep) = (conditions(&[true, true]), conditions(&[true, false]));
    assert_eq!(awake.cpus_awake, Some(true));
    assert_eq!(asleep.cpus_awake, Some(false));
    assert_eq!(awake.differences(&asleep), ["cpus_awake"]);
    assert_ne!(awake.key, asleep.key);
    assert!(awake.to_string().contains(", idle CPUs awake, "), "{awake}");
}

/// A run begins at the exit, and falls back to the port where frames pass that by.
#[test]
fn conditions_have_the_receiver_after_a_fall_back() {
    let conditions = |began: Option<&str>, received: &[ReceiverPlace]| {
        let (mut begin, result) = golden();
        begin.comparability.simulated = None;
        begin.comparability.receiver = began.map(str::to_owned);
        begin.comparability = begin.comparability.keyed();
        let mut run = Run::new("a-run");
        run.add(begin);
        for receiver in received {
            run.add(ResultLine {
                receiver: Some(receiver.clone()),
                ..result.clone()
            });
        }
        run.begin.expect("a first line").comparability
    };
    let (exit, port) = (ReceiverPlace::Exit, ReceiverPlace::Port);
    let stayed = conditions(Some("exit"), std::slice::from_ref(&exit));
    assert_eq!(stayed, conditions(Some("exit"), &[]));
    let fell_back = conditions(Some("exit"), &[exit, port.clone()]);
    assert_eq!(
        fell_back,
        conditions(Some("port"), std::slice::from_ref(&port))
    );
    assert_ne!(fell_back.key, stayed.key);
    // A record that did not say keeps its key.
    assert_eq!(conditions(None, &[port]), conditions(None, &[]));
}

#[test]
fn a_point_of_fib_scale_tells_of_a_fall_back_too() {
    let (mut begin, result) = golden();
    begin.comparability.receiver = Some("exit".to_owned());
    let mut run = Run::new("a-run");
    run.add(begin);
    run.add(PointLine {
        results: vec![ResultLine {
            receiver: Some(ReceiverPlace::Port),
            ..result
        }],
        ..PointLine::default()
    });
    let conditions = run.begin.expect("a first line").comparability;
    assert_eq!(conditions.receiver.as_deref(), Some("port"));
}

#[test]
fn a_comparison_reads_back() {
    let difference = Difference {
        finding: Finding::Different,
        told_by: ToldBy::Rate,
        cost_ns: Some(around(231.0, 25.0)),
        pairs: Some(Pairs {
            counted: 8,
            looks: 1,
            disturbed: 3,
            ..Pairs::default()
        }),
        ..Difference::default()
    };
    let variant = |name: &str, difference| Variant {
        name: name.to_owned(),
        overload_trials: vec![1, 3],
        difference,
        ..Variant::default()
    };
    let line = ComparisonLine {
        frame: "64".to_owned(),
        variants: vec![variant("a", None), variant("conntrack", Some(difference))],
        ..ComparisonLine::default()
    };
    assert_eq!(ComparisonLine::KIND, "comparison");
    let text = to_line("9a1b", &line).expect("a line");
    let records = read(&text[..]).expect("lines");
    assert_eq!(records.runs[0].comparisons, [line]);
}

#[test]
fn looks_at_traffic_of_others_are_not_compared() {
    let run = golden().0;
    let profile = |watched: Option<Watched>| ProfileLine {
        loads: vec![ProfiledLoad {
            stages: vec![PartCost::default()],
            ..ProfiledLoad::default()
        }],
        watched,
        ..ProfileLine::default()
    };
    let check = |line: &ProfileLine| check_profiles((&run, line), (&run, line), TERMS);
    assert_eq!(check(&profile(None)), Ok(()));
    let refused = Err(Refusal::Lacks("load that saturates the router"));
    assert_eq!(check(&profile(Some(Watched::default()))), refused);
}

#[test]
fn profiles_of_few_trials_are_not_compared() {
    let run = golden().0;
    let check = |trials: &[u32]| {
        let line = ProfileLine {
            loads: vec![ProfiledLoad {
                stages: vec![PartCost::default()],
                trials: trials.to_vec(),
                ..ProfiledLoad::default()
            }],
            ..ProfileLine::default()
        };
        check_profiles((&run, &line), (&run, &line), TERMS)
    };
    assert_eq!(check(&[1, 2, 3]), Ok(()));
    for few in [&[1][..], &[1, 2]] {
        let Err(Refusal::Lacks(what)) = check(few) else {
            panic!("{few:?} was compared");
        };
        assert!(what.starts_with("interval over trials"), "{what}");
    }
}
