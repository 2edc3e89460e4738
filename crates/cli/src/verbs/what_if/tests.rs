use super::*;
use mpps_record::{PartCost, Watched};

/// A record of one profile.
fn run(limited_by: LimitedBy, watched: Option<Watched>) -> Run {
    let ns = Interval {
        low: 900.0,
        median: 1_000.0,
        high: 1_100.0,
    };
    let mut run = Run::default();
    run.add(ProfileLine {
        frame: "64".to_owned(),
        cpus: vec![1],
        limited_by: Some(limited_by),
        loads: vec![ProfiledLoad {
            frame_ns: ns,
            ..ProfiledLoad::default()
        }],
        watched,
        ..ProfileLine::default()
    });
    run
}

#[test]
fn only_a_saturated_profile_is_trusted() {
    let warned = |run: &Run| basis(&[run], &WhatIf::default()).map(|(_, _, warned)| warned.len());
    let saturated = run(LimitedBy::Dut, None);
    assert_eq!(warned(&saturated).expect("a cost"), 0);
    // Told once, as the doubt of the profile says the same.
    let mut idle = run(LimitedBy::Tester, None);
    idle.profiles[0].doubts = vec![Doubt {
        name: "not-saturated".to_owned(),
        ..Doubt::default()
    }];
    assert_eq!(warned(&idle).expect("a cost"), 1);
    let look = run(LimitedBy::Dut, Some(Watched::default()));
    let error = warned(&look).expect_err("a look").to_string();
    assert!(error.contains("--cpus"), "{error}");
    // It takes no other profile away.
    assert_eq!(
        basis(&[&look, &saturated], &WhatIf::default())
            .expect("a cost")
            .0
            .cores,
        1.0
    );
}

/// A place of a sweep, with this cost.
fn point(value: f64, ns: f64) -> SweepPoint {
    SweepPoint {
        value,
        frame: "64".to_owned(),
        cores: 1,
        limited_by: Some(LimitedBy::Dut),
        load: ProfiledLoad {
            frame_ns: Interval {
                low: ns - 1.0,
                median: ns,
                high: ns + 1.0,
            },
            stages: vec![PartCost {
                part: "routing".to_owned(),
                ns: Interval {
                    low: ns,
                    median: ns,
                    high: ns,
                },
                ..PartCost::default()
            }],
            ..ProfiledLoad::default()
        },
        ..SweepPoint::default()
    }
}

fn sweep(axis: &str, points: Vec<SweepPoint>) -> Run {
    let mut run = Run::default();
    run.add(SweepLine {
        axis: axis.to_owned(),
        points,
        ..SweepLine::default()
    });
    run
}

fn asked(places: &[(Axis, f64)]) -> WhatIf {
    WhatIf {
        hertz: None,
        places: places.to_vec(),
    }
}

#[test]
fn an_axis_that_was_swept_twice_counts_once() {
    let swept = |places: [f64; 3]| sweep("frame", places.map(|at| point(at, at)).to_vec());
    let (old, new) = (
        swept([64.0, 128.0, 256.0]),
        swept([512.0, 1_024.0, 1_518.0]),
    );
    let (basis, ..) = basis(&[&old, &new], &WhatIf::default()).expect("a fit");
    let places: Vec<f64> = basis.fits.iter().map(|(_, at)| *at).collect();
    assert_eq!(places, [512.0]);
}

#[test]
fn each_axis_starts_from_the_measured_point() {
    let point = |flows: u32, frame: &str, value: f64| SweepPoint {
        flows,
        frame: frame.to_owned(),
        ..point(value, 500.0 + value)
    };
    let frames = [64.0, 512.0, 1_518.0];
    let flows = [1.0, 64.0, 4_096.0];
    let fits = |flows_then: u32, frame_then: &str| {
        let points = frames.map(|at| point(flows_then, &at.to_string(), at));
        let by_frame = sweep("frame", points.to_vec());
        let points = flows.map(|at| point(at as u32, frame_then, at));
        let by_flows = sweep("flows", points.to_vec());
        let asked = asked(&[(Axis::Frame, 512.0), (Axis::Flows, 64.0)]);
        let both = [[&by_flows, &by_frame], [&by_frame, &by_flows]];
        both.map(|runs| {
            let (basis, _, warned) = basis(&runs, &asked).expect("a fit");
            (basis.fits[1].1, warned.len())
        })
    };
    assert_eq!(fits(64, "512"), [(64.0, 0), (512.0, 0)]);
    // Nobody knows these places.
    assert_eq!(fits(0, "imix"), [(1.0, 1), (64.0, 1)]);
}

#[test]
fn without_an_axis_the_point_costs_what_it_did() {
    let points = [(64.0, 342.0), (512.0, 900.0), (1_518.0, 1_000.0)];
    let points = points.map(|(value, ns)| point(value, ns)).to_vec();
    let run = sweep("frame", points);
    let from = |places: &[(Axis, f64)]| {
        let (basis, from, _) = basis(&[&run], &asked(places)).expect("a fit");
        (basis.frame_ns[1], from)
    };
    let (ns, how) = from(&[(Axis::Cores, 8.0)]);
    assert_eq!((ns, how.as_str()), (342.0, "the measured cost at 64 B"));
    let (ns, how) = from(&[(Axis::Frame, 128.0)]);
    assert!(ns != 342.0 && how.contains("fitted"), "{ns}: {how}");
    let mut idle = run.clone();
    idle.sweeps[0].points[0].limited_by = Some(LimitedBy::Tester);
    let warned = [&run, &idle].map(|run| {
        let (_, _, warned) = basis(&[run], &asked(&[])).expect("a fit");
        warned.len()
    });
    assert_eq!(warned, [0, 1]);
}

/// Four places that no line meets, of which the fit was checked by one.
fn checked() -> Run {
    let points = [
        (64.0, 300.0),
        (512.0, 400.0),
        (1_024.0, 700.0),
        (1_518.0, 650.0),
    ];
    let mut points = points.map(|(value, ns)| SweepPoint {
        frame: value.to_string(),
        ..point(value, ns)
    });
    points[1].held_out = true;
    sweep("frame", points.to_vec())
}

#[test]
fn a_measured_place_is_answered_as_measured() {
    let run = checked();
    let asked = asked(&[(Axis::Frame, 512.0)]);
    let (basis, from, _) = basis(&[&run], &asked).expect("a fit");
    assert_eq!(from, "the measured cost at 512 B");
    let answer = basis.answer(&asked).expect("an answer");
    assert_eq!(answer.frame_ns, [399.0, 400.0, 401.0]);
    let told = in_words(&answer, &basis, &from);
    assert!(
        told.contains(". 400 ns is the measured cost at 512 B."),
        "{told}"
    );
    // Elsewhere all four places count.
    assert_eq!(basis.fits[0].0.points, 4);
}

#[test]
fn a_fitted_start_has_the_fits_interval_once() {
    let run = checked();
    let asked = asked(&[(Axis::Frame, 700.0)]);
    let (basis, ..) = basis(&[&run], &asked).expect("a fit");
    let there = basis.fits[0].0.at(700.0);
    let answer = basis.answer(&asked).expect("an answer").frame_ns;
    let wanted = [there.low, there.ns, there.high];
    let near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-6;
    assert!(
        answer.iter().zip(&wanted).all(near),
        "{answer:?} {wanted:?}"
    );
}

#[test]
fn only_the_sweep_of_the_axis_asked_counts() {
    let flows = [1.0, 64.0, 4_096.0].map(|at| SweepPoint {
        flows: at as u32,
        ..point(at, 350.0)
    });
    let flows = sweep("flows", flows.to_vec());
    let mut later = checked();
    later.sweeps[0].distrust = vec!["it is no line".to_owned()];
    later.sweeps[0].doubts = vec![Doubt {
        seen: "void trials: 1 of 8".to_owned(),
        ..Doubt::default()
    }];
    let told = |places: &[(Axis, f64)]| {
        let (basis, from, warned) = basis(&[&flows, &later], &asked(places)).expect("a fit");
        (basis.frame_ns[1].round(), from, warned)
    };
    let (ns, from, warned) = told(&[(Axis::Flows, 100.0)]);
    assert_eq!(
        (ns, from.as_str()),
        (350.0, "the fitted cost at 1 flow and 64 B")
    );
    assert!(warned.is_empty(), "{warned:?}");
    let (.., warned) = told(&[(Axis::Frame, 700.0)]);
    let wanted = ["it is no line", "void trials: 1 of 8"];
    assert_eq!(
        warned,
        wanted.map(|told| format!("the sweep over frame: {told}"))
    );
    // Of a measured cost no fit is told, but what the measurement lacks.
    let (.., warned) = told(&[(Axis::Frame, 512.0)]);
    assert_eq!(warned, ["the sweep over frame: void trials: 1 of 8"]);
}

#[test]
fn a_measured_range_does_not_hide_trials_and_drift() {
    let mut run = checked();
    run.sweeps[0].drift_ratio = Some(0.033);
    run.sweeps[0].points[0].load.trials = vec![1, 2];
    run.sweeps[0].points[0].limited_by = Some(LimitedBy::Tester);
    let warned = |places: &[(Axis, f64)]| basis(&[&run], &asked(places)).expect("a fit").2;
    let told = warned(&[(Axis::Cores, 8.0)]).join("; ");
    for part in [
        "was not the limit",
        "that of 2 trials",
        "differed by +3.3 %",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // The start of a fit is a measured point too, whose limit counts.
    assert_eq!(warned(&[(Axis::Frame, 700.0)]).len(), 1);
}

#[test]
fn a_model_that_contradicts_the_cost_is_told() {
    let told = |measured_fps: f64| {
        let mut run = run(LimitedBy::Dut, None);
        run.profiles[0].model = Some(CostModel {
            predicted_fps: 1e6,
            measured_fps,
            ..CostModel::default()
        });
        basis(&[&run], &asked(&[])).expect("a cost").2.join("; ")
    };
    assert_eq!(told(1.05e6), "");
    assert!(told(0.7e6).contains("whose loads took turns forwarded 700 thousand frames/s"));
}

#[test]
fn flows_are_of_all_destinations_and_directions() {
    let mut traffic = Traffic {
        flows: 4,
        bidirectional: true,
        ..Traffic::default()
    };
    assert_eq!(flows(&traffic), Some(8.0));
    traffic.flows = 0;
    assert_eq!(flows(&traffic), None);
    let swept = SweepPoint {
        flows: 4,
        destinations: 100,
        ..point(64.0, 500.0)
    };
    let points = [swept, point(512.0, 500.0), point(1_518.0, 500.0)];
    let run = sweep("frame", points.to_vec());
    let (basis, ..) = basis(&[&run], &asked(&[])).expect("a fit");
    assert_eq!(basis.flows, Some(400.0));
}

#[test]
fn an_answer_in_json_has_the_schemas_version() {
    let asked = WhatIf::default();
    let (basis, from, _) = basis(&[&run(LimitedBy::Dut, None)], &asked).expect("a cost");
    let answer = basis.answer(&asked).expect("an answer");
    let members: serde_json::Value = serde_json::from_str(&in_json(&answer, &from)).expect("JSON");
    assert_eq!(members["schema"], mpps_record::SCHEMA);
    assert_eq!(members["frame_ns"]["median"], 1_000.0);
    assert_eq!(members["frame_ns"]["low"], 900.0);
    let open = Answer {
        has_interval: false,
        ..answer
    };
    let members: serde_json::Value = serde_json::from_str(&in_json(&open, &from)).expect("JSON");
    assert!(members["frame_ns"]["low"].is_null() && members["frame_ns"]["median"] == 1_000.0);
    assert!(in_words(&open, &basis, &from).starts_with("A frame would cost about 1000 ns, so"));
}

#[test]
fn a_point_is_named_by_its_place_and_frame() {
    assert_eq!(place(Axis::Destinations, 1.0), "1 destination and ");
    assert_eq!(place(Axis::Cores, 2.0), "2 cores and ");
    assert_eq!(place(Axis::Frame, 64.0), "");
}

#[test]
fn a_sum_over_axes_is_assumed() {
    let (mut basis, ..) = basis(&[&run(LimitedBy::Dut, None)], &WhatIf::default()).expect("a cost");
    let assumed =
        |basis: &Basis, places: &[(Axis, f64)]| !assumed(&asked(places), basis).is_empty();
    let both = [(Axis::Routes, 1e6), (Axis::Frame, 512.0)];
    assert!(!assumed(&basis, &both));
    let points = [64.0, 512.0, 1_518.0].map(|value| Measured {
        value,
        parts: vec![1_000.0 + value],
    });
    for axis in [Axis::Routes, Axis::Frame] {
        let fit = Fit::new(axis, &points, &Memory::default()).expect("a fit");
        basis.fits.push((fit, 64.0));
    }
    assert!(assumed(&basis, &both));
}
