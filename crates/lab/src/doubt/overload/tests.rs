use super::super::tests::bound_by_loss;
use super::super::{Gated, Surroundings};
use super::*;
use mpps_method::compare::Turn;
use mpps_method::interval::Interval;
use mpps_method::saturation::Window;
use mpps_method::{Counts, Direction, Span, Stability};

#[test]
fn a_rate_that_depends_on_the_load_is_doubted() {
    let at = |offered, forwarded: f64| {
        let around = |middle: f64| Interval {
            low: 0.98 * middle,
            middle,
            high: 1.02 * middle,
        };
        Some(Saturation {
            offered: around(offered),
            forwarding: around(forwarded),
            ..Saturation::default()
        })
    };
    let both = |most| Saturated {
        at_most: at(4.5e6, most),
        at_little_more: at(2.6e6, 1.75e6),
        ..Saturated::default()
    };
    let seen = |most| load_dependent(&both(most)).map(|doubt| doubt.seen);
    assert_eq!(
        seen(2.3e6).as_deref(),
        Some(
            "the router forwarded 2.300 Mfps at 4.500 Mfps offered, but 1.750 Mfps at 2.600 Mfps offered"
        )
    );
    // Within a tenth, and less at the highest load, which is printed as the rate at maximum offered load.
    assert_eq!([1.9e6, 1.2e6].map(seen), [None, None]);
    // In the search it forwards nearly as much.
    let searched = |fps| Saturated {
        at_search: at(fps, fps),
        ..both(2.3e6)
    };
    assert_eq!(load_dependent(&searched(2.2e6)), None);
    assert!(load_dependent(&searched(1.8e6)).is_some());
    // In another state, and of disturbed windows alone.
    let state = |work_ns| Saturation {
        distance_ns: Some(80.0),
        work_ns: Some(work_ns),
        ..at(2.6e6, 1.75e6).expect("a rate")
    };
    let mut moved = both(2.3e6);
    moved.at_most = moved.at_most.map(|most| Saturation {
        distance_ns: Some(80.0),
        work_ns: Some(150.0),
        ..most
    });
    moved.at_little_more = Some(state(150.0));
    assert!(load_dependent(&moved).is_some());
    moved.at_little_more = Some(state(300.0));
    assert_eq!(load_dependent(&moved), None);
    let mut bound = both(2.3e6);
    bound.at_little_more = bound.at_little_more.map(|little| Saturation {
        only_disturbed: true,
        ..little
    });
    assert_eq!(load_dependent(&bound), None);
}

#[test]
fn a_cost_that_is_withheld_is_told() {
    let forwarding = Interval {
        low: 1.64e6,
        middle: 1.71e6,
        high: 1.78e6,
    };
    let maximum = Saturation {
        forwarding,
        busy: Some(0.999),
        distance_ns: Some(68.0),
        ..Saturation::default()
    };
    assert_eq!(
        cost_apart(&maximum, 804.5)
            .map(|doubt| doubt.seen)
            .as_deref(),
        Some(
            "a frame cost 804 ns in the trials that tell its parts, but 584 ns by the rate at overload"
        )
    );
}

#[test]
fn a_load_well_above_the_maximum_is_doubted() {
    let forwarding = Interval {
        low: 2.2e6,
        middle: 2.45e6,
        high: 2.9e6,
    };
    let maximum = Saturation {
        forwarding,
        distance_ns: Some(300.0),
        ..Saturation::default()
    };
    let at = |round_trip_ns| {
        Some(At {
            round_trip_ns,
            work_ns: None,
        })
    };
    let seen = |fps, at| passed_above(Rate::from_fps(fps), &maximum, at).map(|doubt| doubt.seen);
    assert_eq!(
        seen(2.81e6, at(290.0)).as_deref(),
        Some(
            "2.810 Mfps passed without loss, but the maximum forwarding rate is 2.450 Mfps in the median"
        )
    );
    assert_eq!(seen(2.5e6, None), None, "as runs differ");
    assert_eq!(seen(2.81e6, at(100.0)), None, "in another state");
    assert_eq!(seen(3.3e6, None), None, "the sentence tells");
}

#[test]
fn a_router_that_drops_itself_is_doubted() {
    let share = |lost_inside_share, overloaded| {
        let saturated = Saturated {
            overloaded,
            lost_inside_share,
            ..Saturated::default()
        };
        dropped_inside(&saturated).map(|doubt| doubt.seen)
    };
    assert_eq!(
        share(0.48, true).as_deref(),
        Some("at overload the router dropped 48 % of the frames that its ring took")
    );
    assert_eq!(share(0.02, true), None);
    assert_eq!(share(0.48, false), None);
}

/// 489 kfps were offered, of which all but 1 % came.
#[test]
fn a_router_that_became_slower_is_doubted() {
    let seen = |overload: f64, busy: f64, came: u64| {
        let mut searched = bound_by_loss(busy);
        let (mut trial, verdict) = searched.trials[0].clone();
        let counts = Counts {
            intended: 489_100,
            sent: 489_100,
            received: came,
            lost: 489_100 - came,
            ..Counts::default()
        };
        trial.directions = vec![Direction {
            counts,
            ..Direction::default()
        }];
        searched.trials = [(trial, verdict)].into();
        let forwarding = Interval::from_value(overload);
        let saturated = Saturated {
            at_most: Some(Saturation {
                forwarding,
                ..Saturation::default()
            }),
            ..Saturated::default()
        };
        let weighed = Weighed {
            around: &Surroundings::default(),
            saturated: &saturated,
            gated: &Gated {
                stability: Stability::Stable,
                trials: Vec::new(),
            },
            searched: &searched,
            why_lost: None,
            limited_by: None,
        };
        slower_later(&weighed).map(|doubt| doubt.seen)
    };
    assert_eq!(
        seen(1e6, 0.99, 484_000).as_deref(),
        Some(
            "in the search the router forwarded 484.0 kfps with its CPU 99 % busy, but 1.000 Mfps at overload"
        )
    );
    assert_eq!(seen(1e6, 0.9, 484_000), None, "it had time left");
    assert_eq!(seen(520e3, 0.99, 484_000), None, "about the same");
    assert_eq!(seen(600e3, 0.99, 440_000), None, "losses slow a router too");
}

#[test]
fn a_maximum_of_few_trials_is_doubted() {
    let of = |trials| {
        let interval = Interval::from_samples(&[1e6]).expect("a number");
        few_overloads(&Saturation {
            forwarding: interval,
            trials,
            ..Saturation::default()
        })
    };
    assert!(of(1).is_some_and(|doubt| doubt.seen.ends_with("stands on 1 trial")));
    assert!(of(2).is_some_and(|doubt| doubt.seen.ends_with("stands on 2 trials")));
    assert_eq!((of(0), of(3)), (None, None));
}

#[test]
fn a_mean_below_the_median_is_doubted() {
    let maximum = Saturation {
        forwarding: Interval::from_value(2.56e6),
        ..Saturation::default()
    };
    let seen = |mean| below_median(&maximum, mean).map(|doubt| doubt.seen);
    assert_eq!(
        seen(2.29e6).as_deref(),
        Some(
            "at overload the router forwarded 2.290 Mfps on average, but 2.560 Mfps in the median window"
        )
    );
    assert_eq!(seen(2.5e6), None);
}

#[test]
fn a_fixed_load_that_overloads_is_doubted() {
    let window = |disturbed| Window {
        duration: Span::from_millis(10),
        forwarded: 1_000,
        disturbed,
        round_trip_ns: None,
        work_ns: None,
        busy: None,
    };
    let turn = |lost, busy| Turn {
        fixed: Block {
            lost,
            busiest: Some(busy),
            windows: vec![window(false); 30],
            ..Block::default()
        },
        ..Turn::default()
    };
    let doubted = |turns: &[Turn]| fixed_overloaded(turns.iter().map(|turn| &turn.fixed));
    let carried = [turn(0.0, 0.8), turn(0.004, 0.9)];
    assert_eq!(doubted(&carried), None);
    let doubt = doubted(&[turn(0.03, 0.8), turn(0.0, 0.99), carried[0].clone()]);
    let seen = doubt.expect("a doubt").seen;
    assert!(
        seen.starts_with("in 2 of 3 trials at the fixed load"),
        "{seen}"
    );
    // Disturbed throughout.
    let mut disturbed = turn(0.0, 1.0);
    disturbed.fixed.windows = vec![window(true); 30];
    assert_eq!(doubted(&[disturbed]), None);
}
