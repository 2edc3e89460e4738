use super::*;
use crate::random::Random;

/// A machine with three levels.
fn memory() -> Memory {
    Memory(vec![
        (16e3, 1.5),
        (256e3, 4.0),
        (4e6, 15.0),
        (64e6, 60.0),
        (256e6, 110.0),
    ])
}

fn point(value: f64, routing: f64) -> Measured {
    Measured {
        value,
        parts: vec![300.0, routing],
    }
}

const DECADES: [f64; 7] = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6];

#[test]
fn latency_lies_between_the_sizes_beside_it() {
    let memory = memory();
    assert_eq!(memory.latency_ns(1.0), 1.5);
    assert_eq!(memory.latency_ns(1e12), 110.0);
    assert!((memory.latency_ns((4e6_f64 * 64e6).sqrt()) - 37.5).abs() < 1e-9);
    assert_eq!(Memory::default().latency_ns(5.0), 0.0);
}

#[test]
fn a_look_up_follows_the_memory_it_reads() {
    let memory = memory();
    let cost = |count: f64| 40.0 + 2.0 * memory.latency_ns(128.0 * count);
    let points: Vec<Measured> = DECADES.iter().map(|&n| point(n, cost(n))).collect();
    let (mut fitted, mut held) = (Vec::new(), Vec::new());
    for (place, point) in points.iter().enumerate() {
        match is_held_out(place, points.len()) {
            true => held.push(point),
            false => fitted.push(point.clone()),
        }
    }
    assert_eq!((fitted.len(), held.len()), (4, 3));
    let fit = Fit::new(Axis::Destinations, &fitted, &memory).expect("a fit");
    assert_eq!(fit.item_octets, Some(128.0));
    for point in held {
        let found = fit.at(point.value);
        assert!(
            (found.ns - point.whole()).abs() < 1e-6,
            "{found:?} {point:?}"
        );
    }
    assert!((fit.memory_ns(1e6) - 2.0 * memory.latency_ns(128e6)).abs() < 1e-6);
    assert!((fit.parts[0].0 - 300.0).abs() < 1e-9 && fit.parts[0].1.abs() < 1e-9);
}

/// As measured on a Xeon, with more places: the cost of destinations grows before their memory does.
#[test]
fn a_cost_that_no_item_explains_is_interpolated() {
    let cost = |n: f64| 40.0 + 30.0 * n.log10().powi(2).min(22.0);
    let fitted = [1.0, 100.0, 3e3, 3e4, 3e5, 1e6].map(|n| point(n, cost(n)));
    let fit = Fit::new(Axis::Destinations, &fitted, &memory()).expect("a fit");
    assert!(fit.is_between() && fit.item_octets.is_none(), "{fit:?}");
    for point in &fitted {
        assert!((fit.at(point.value).ns - point.whole()).abs() < 1e-6);
    }
    let held = [10.0, 1e3, 1e4, 1e5].map(|n| (fit.at(n), 300.0 + cost(n)));
    for (found, ns) in held {
        assert!(found.low <= ns && ns <= found.high, "{found:?} {ns}");
        assert!((found.ns / ns - 1.0).abs() < OFF_MAX, "{found:?} {ns}");
    }
    let last = fit.at(1e6).ns;
    assert!(fit.at(1e7).beyond && (fit.at(1e7).ns - last).abs() < 1e-6);
    // All that grows may wait for memory.
    assert!((fit.memory_ns(1e6) - (last - fit.at(1.0).ns)).abs() < 1e-6);
    // Three places have no two with neighbours, and a line over octets needs no other.
    let few = &fitted[..3];
    let few = Fit::new(Axis::Destinations, few, &memory()).expect("a fit");
    let frames = Fit::new(Axis::Frame, &fitted, &memory()).expect("a fit");
    assert!(!few.is_between() && !frames.is_between());
}

#[test]
fn noise_of_a_few_percent_keeps_held_out_points_near() {
    let memory = memory();
    let (mut near, mut covered, mut all) = (0, 0, 0);
    for seed in 0..100 {
        let mut random = Random::from_seed(seed);
        let mut cost = |n: f64| {
            let whole = 340.0 + 3.0 * memory.latency_ns(256.0 * n);
            whole * (1.0 + 0.1 * (random.next_f64() - 0.5)) - 300.0
        };
        let points: Vec<Measured> = DECADES.iter().map(|&n| point(n, cost(n))).collect();
        let held = |place: &usize| is_held_out(*place, points.len());
        let fitted: Vec<Measured> = (0..points.len())
            .filter(|place| !held(place))
            .map(|place| points[place].clone())
            .collect();
        let fit = Fit::new(Axis::Destinations, &fitted, &memory).expect("a fit");
        for place in (0..points.len()).filter(held) {
            let (found, ns) = (fit.at(points[place].value), points[place].whole());
            near += u32::from((found.ns / ns - 1.0).abs() < OFF_MAX);
            covered += u32::from(found.low <= ns && ns <= found.high);
            all += 1;
        }
    }
    assert!(near * 100 >= all * 95, "{near} of {all}");
    assert!(covered * 100 >= all * 90, "{covered} of {all}");
}

#[test]
fn cheaper_look_ups_with_more_data_are_noise() {
    let cheaper = [(1.0, 50.0), (1e3, 45.0), (1e6, 40.0)].map(|(n, ns)| point(n, ns));
    let fit = Fit::new(Axis::Routes, &cheaper, &memory()).expect("a fit");
    assert_eq!(fit.at(1.0).ns, fit.at(1e6).ns);
    // All within the first cache but the last, so a steep line would begin below 0.
    let points = [(1.0, 50.0), (16.0, 50.0), (20e3, 900.0)].map(|(n, ns)| point(n, ns));
    let fit = Fit::new(Axis::Flows, &points, &Memory(vec![(16e3, 7.9), (4e5, 8.0)]));
    let fit = fit.expect("a fit");
    assert_eq!(fit.at(1.0).ns, fit.at(20e3).ns);
    // More octets may be cheaper.
    let fit = Fit::new(Axis::Frame, &cheaper, &Memory::default()).expect("a fit");
    assert!(fit.at(1.0).ns > fit.at(1e6).ns);
}

#[test]
fn points_that_say_too_little_are_refused() {
    let memory = memory();
    let fit = |points: &[Measured]| Fit::new(Axis::Frame, points, &memory).expect_err("no fit");
    assert_eq!(fit(&[]), CannotFit::TooFew(0));
    assert_eq!(
        fit(&[point(1.0, 1.0), point(2.0, 1.0)]),
        CannotFit::TooFew(2)
    );
    // A place that is measured again is no other place.
    assert_eq!(
        fit(&[point(1.0, 1.0), point(2.0, 2.0), point(1.0, 3.0)]),
        CannotFit::TooFew(2)
    );
    assert_eq!(
        fit(&[point(1.0, 1.0), point(1.0, 2.0), point(1.0, 3.0)]),
        CannotFit::Alike
    );
    let nan = [point(1.0, f64::NAN), point(2.0, 1.0), point(3.0, 1.0)];
    assert_eq!(fit(&nan), CannotFit::NotANumber);
}

#[test]
fn the_ends_are_never_held_out() {
    for points in 0..12 {
        let held: Vec<usize> = (0..points).filter(|&at| is_held_out(at, points)).collect();
        assert!(!held.contains(&0) && !held.contains(&points.wrapping_sub(1)));
        assert_eq!(held.is_empty(), points < POINTS_MIN, "{points}");
        assert!(
            points < FITTED_MIN || points - held.len() >= FITTED_MIN,
            "{points}: {held:?}"
        );
    }
}

fn check(costs: &[f64], drift: f64) -> Vec<String> {
    let points = costs
        .iter()
        .zip(1..)
        .map(|(&ns, at)| (f64::from(at), ns, None));
    let check = Check {
        points: points.collect(),
        drift: Some(drift),
    };
    check.distrust()
}

#[test]
fn distrust_names_drift_turns_width_and_error() {
    assert!(check(&[100.0, 120.0, 150.0], 0.05).is_empty());
    assert!(check(&[100.0, 102.0, 103.0], -0.05)[0].contains("more than the axis"));
    assert!(check(&[100.0, 150.0, 190.0], -0.11)[0].contains("differed by -11.0 %"));
    assert!(check(&[100.0, 150.0, 110.0], 0.0)[0].contains("not monotone"));
    let predicted = Predicted {
        ns: 100.0,
        low: 10.0,
        high: 190.0,
        beyond: false,
    };
    let wide = Check {
        points: vec![(1.0, 200.0, Some(predicted))],
        drift: None,
    };
    assert_eq!(wide.off(), Some(0.5));
    let told = wide.distrust().join("; ");
    assert!(
        told.contains("90.0 % to one side") && told.contains("off by 50.0 %"),
        "{told}"
    );
}

fn basis() -> Basis {
    let memory = memory();
    let cost = |n: f64| 40.0 + 2.0 * memory.latency_ns(128.0 * n);
    let points: Vec<Measured> = DECADES.iter().map(|&n| point(n, cost(n))).collect();
    let fit = Fit::new(Axis::Destinations, &points, &memory).expect("a fit");
    let ns = points[0].whole();
    Basis {
        frame_ns: [ns - 10.0, ns, ns + 10.0],
        cores: 1.0,
        flows: None,
        hertz: Some(2.4e9),
        fits: vec![(fit, 1.0)],
    }
}

fn ask(hertz: Option<f64>, places: &[(Axis, f64)]) -> WhatIf {
    WhatIf {
        hertz,
        places: places.to_vec(),
    }
}

#[test]
fn a_what_if_is_a_range_with_its_assumptions() {
    let basis = basis();
    let far = basis
        .answer(&ask(None, &[(Axis::Destinations, 1e6)]))
        .expect("an answer");
    let wanted = 340.0 + 2.0 * memory().latency_ns(128e6);
    assert!((far.frame_ns[1] - wanted).abs() < 1e-6, "{far:?}");
    assert!(far.frame_ns[0] < far.frame_ns[1] && far.frame_ns[1] < far.frame_ns[2]);
    assert!(far.distrust.is_empty() && far.assumes[0].contains("128 octets"));
    let eight = basis
        .answer(&ask(None, &[(Axis::Cores, 8.0)]))
        .expect("an answer");
    assert!((eight.max_fps[1] - 8e9 / basis.frame_ns[1]).abs() < 1.0);
    assert!(eight.assumes[0].contains("the same on each core"));
    assert!(eight.distrust[0].contains("no sweep over cores"));
    let beyond = basis
        .answer(&ask(None, &[(Axis::Destinations, 1e8)]))
        .expect("an answer");
    assert!(beyond.distrust[0].contains("extrapolation"));
    // No larger memory was measured, so nobody knows how far the cost grows.
    assert!(far.has_interval && !beyond.has_interval, "{beyond:?}");
    // So is a start there.
    let mut basis = basis;
    basis.fits[0].1 = 1e8;
    let from = ask(None, &[(Axis::Destinations, 1e6)]);
    let from = basis.answer(&from).expect("an answer").distrust;
    assert!(from[0].starts_with("destinations=100000000 is"), "{from:?}");
}

#[test]
fn a_flow_keeps_one_core_busy() {
    let two = Basis {
        cores: 2.0,
        flows: Some(1.0),
        ..basis()
    };
    let answer = |asked: &[(Axis, f64)]| {
        let answer = two.answer(&ask(None, asked)).expect("an answer");
        (answer.max_fps[1] * answer.frame_ns[1] / 1e9, answer.assumes)
    };
    let busy = |asked: &[(Axis, f64)]| answer(asked).0.round();
    assert_eq!(busy(&[]), 1.0);
    // Ten destinations are ten flows.
    assert_eq!(busy(&[(Axis::Destinations, 10.0)]), 2.0);
    assert_eq!(
        busy(&[(Axis::Cores, 64.0), (Axis::Destinations, 10.0)]),
        10.0
    );
    assert_eq!(busy(&[(Axis::Cores, 8.0)]), 8.0);
    let told = |asked: &[(Axis, f64)]| answer(asked).1.join(" ");
    assert!(told(&[]).contains("only 1 of the 2 cores"));
    assert!(
        told(&[(Axis::Cores, 8.0)]).contains("enough flows for that are assumed, but 1 measured")
    );
}

#[test]
fn an_item_at_the_end_has_no_octets() {
    let memory = memory();
    let cost = |n: f64| 40.0 + 2.0 * memory.latency_ns(65_536.0 * n);
    let points = [1.0, 1e3, 1e6].map(|n| point(n, cost(n)));
    let mut fit = Fit::new(Axis::Destinations, &points, &memory).expect("a fit");
    assert_eq!(fit.item_octets, ITEM_OCTETS.last().copied());
    // Or so few points would predict nothing.
    fit.off_ns = 1.0;
    let mut basis = basis();
    basis.fits = vec![(fit, 1.0)];
    let far = ask(None, &[(Axis::Destinations, 1e4)]);
    let far = basis.answer(&far).map(|answer| answer.assumes);
    let told = far.unwrap_or_default().join(" ");
    assert!(
        told.contains("waits as the memory did") && !told.contains("octets"),
        "{told}"
    );
}

#[test]
fn a_clock_speeds_up_only_what_the_cpu_does() {
    let basis = basis();
    let fast = basis
        .answer(&ask(Some(4.8e9), &[(Axis::Destinations, 1e6)]))
        .expect("an answer");
    let waits = 2.0 * memory().latency_ns(128e6);
    // Half of what is not known to wait is as fast as the clock.
    assert!(
        (fast.frame_ns[1] - (255.0 + waits)).abs() < 1e-6,
        "{fast:?}"
    );
    // From all of it scaled to nothing.
    assert!(fast.frame_ns[0] < 0.52 * (340.0 + waits) && fast.frame_ns[2] >= 340.0 + waits);
}

#[test]
fn what_nobody_measured_is_refused() {
    let basis = basis();
    let why = |asked: WhatIf| basis.answer(&asked).expect_err("refused").to_string();
    assert!(why(ask(None, &[(Axis::Routes, 2e6)])).contains("mpps explain --sweep routes"));
    let no_clock = Basis {
        hertz: None,
        ..basis.clone()
    };
    let refused = no_clock.answer(&ask(Some(1e9), &[]));
    assert_eq!(refused, Err(CannotAnswer::NoClock));
    for frame_ns in [[0.0, 100.0, 150.0], [10.0, 100.0, 201.0]] {
        let wide = Basis {
            frame_ns,
            ..basis.clone()
        };
        let refused = wide.answer(&ask(None, &[]));
        assert_eq!(refused, Err(CannotAnswer::TooWide(None)));
    }
}

#[test]
fn a_place_too_far_is_answered_with_the_farthest() {
    // A line that falls reaches 0 somewhere.
    let points = [1.0, 2.0, 3.0].map(|value| Measured {
        value,
        parts: vec![1_000.0 - 100.0 * value],
    });
    let fit = Fit::new(Axis::Cores, &points, &Memory::default()).expect("a fit");
    let basis = Basis {
        frame_ns: [890.0, 900.0, 910.0],
        cores: 1.0,
        flows: None,
        hertz: None,
        fits: vec![(fit, 1.0)],
    };
    let refused = basis.answer(&ask(None, &[(Axis::Cores, 64.0)]));
    assert_eq!(
        refused,
        Err(CannotAnswer::TooWide(Some((Axis::Cores, 9.0))))
    );
    let told = refused.expect_err("too far").to_string();
    assert!(told.ends_with("or ask for cores=9 at most"), "{told}");
    assert!(basis.answer(&ask(None, &[(Axis::Cores, 9.0)])).is_ok());
}

/// What a router costs with 1 to 4 CPUs, of whose stages two pay for each other CPU.
#[test]
fn four_cores_are_a_line_over_those_beside_the_first() {
    let points = [1.0, 2.0, 3.0, 4.0].map(|cores| Measured {
        value: cores,
        parts: vec![
            400.0 + 20.0 * (cores - 1.0),
            120.0 + 40.0 * (cores - 1.0),
            80.0,
        ],
    });
    let held: Vec<usize> = (0..4).filter(|&at| is_held_out(at, 4)).collect();
    assert_eq!(held, [1]);
    let fitted = [0, 2, 3].map(|at: usize| points[at].clone());
    let fit = Fit::new(Axis::Cores, &fitted, &Memory::default()).expect("a fit");
    let close = |(one, other): (&(f64, f64), &(f64, f64))| {
        (one.0 - other.0).abs() < 1e-6 && (one.1 - other.1).abs() < 1e-6
    };
    let wanted = [(400.0, 20.0), (120.0, 40.0), (80.0, 0.0)];
    assert!(fit.parts.iter().zip(&wanted).all(close), "{:?}", fit.parts);
    assert!((fit.at(2.0).ns - 660.0).abs() < 1e-6 && !fit.at(4.0).beyond);
    // The rate is that of all cores, each of which has the cost of so many.
    let basis = Basis {
        frame_ns: [590.0, 600.0, 610.0],
        cores: 1.0,
        flows: None,
        hertz: None,
        fits: vec![(fit, 1.0)],
    };
    let eight = basis
        .answer(&ask(None, &[(Axis::Cores, 8.0)]))
        .expect("an answer");
    assert!((eight.frame_ns[1] - 1_020.0).abs() < 1e-6, "{eight:?}");
    assert!((eight.max_fps[1] - 8e9 / 1_020.0).abs() < 1.0, "{eight:?}");
    assert!(eight.has_interval);
    assert!(eight.distrust[0].contains("cores=8") && !eight.assumes[0].contains("on each core"));
}
