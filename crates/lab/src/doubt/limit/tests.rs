use super::super::tests::{bound_by_loss, bound_by_these, found_by, result};
use super::*;
use mpps_method::interval::Interval;
use mpps_method::saturation::{Saturation, Window};
use mpps_method::{Accept, CouldNotMeasure, Preset, Resolution, Shortfall, Span};

const LOWEST: Rate = Rate::from_fps(10_000.0);
const NONE: Outcome = Outcome::NoneLossless {
    lowest: LOWEST,
    trials: 2,
    voided: 0,
};

fn shared() -> Surroundings {
    Surroundings {
        cpus_shared: true,
        ..Surroundings::default()
    }
}

/// What limits a search that ended so, without the loss of any trial.
fn limit_of(around: &Surroundings, outcome: Outcome, allowed: Option<f64>) -> Option<LimitedBy> {
    let searched = Searched {
        stands_on: None,
        result: result(outcome),
        evidence: None,
        trials: Vec::new().into(),
        left_out: [].into(),
        elsewhere: 0,
    };
    limited_by(
        around,
        &Saturated::default(),
        &searched,
        None,
        allowed.map(Rate::from_fps),
    )
}

#[test]
fn a_dut_short_of_a_shared_cpu_is_no_limit() {
    let limit = |busy| {
        limited_by(
            &shared(),
            &Saturated::default(),
            &bound_by_loss(busy),
            None,
            None,
        )
    };
    assert_eq!(limit(0.33), Some(LimitedBy::SharedCpu));
    assert_eq!(limit(0.97), Some(LimitedBy::Dut));
    assert_eq!(limit_of(&shared(), NONE, None), Some(LimitedBy::SharedCpu));
}

#[test]
fn a_search_that_ended_early_tells_no_limit() {
    let mut searched = bound_by_loss(0.97);
    searched.result = GoalResult {
        irregular: Some(Irregular::EndedEarly),
        ..result(NONE)
    };
    let limit = |searched: &Searched| {
        let around = Surroundings::default();
        limited_by(&around, &Saturated::default(), searched, None, None)
    };
    assert_eq!(limit(&searched), Some(LimitedBy::Trials));
    searched.result.outcome = Outcome::NoneLossless {
        lowest: LOWEST,
        trials: 7,
        voided: 6,
    };
    assert_eq!(limit(&searched), Some(LimitedBy::Disturbed));
    searched.result.irregular = Some(Irregular::NoLowerBound);
    assert_eq!(limit(&searched), Some(LimitedBy::Dut));
}

#[test]
fn a_pause_of_an_idle_dut_is_no_limit() {
    let limit = |searched: Searched| {
        limited_by(
            &Surroundings::default(),
            &Saturated::default(),
            &searched,
            None,
            None,
        )
    };
    let stall = |busy| bound_by_these(30_000..30_500, 500, busy);
    let (pause, dut) = (Some(LimitedBy::Pause), Some(LimitedBy::Dut));
    assert_eq!(limit(stall(0.6)), pause);
    assert_eq!(limit(stall(0.96)), dut, "no time left");
    for at_ring in [3, 0] {
        let scarce = bound_by_these(30_000..30_003, at_ring, 0.6);
        assert_eq!(limit(scarce), pause, "{at_ring}");
    }
    let to_the_end = bound_by_these(30_000..64_000, 0, 0.6);
    assert_eq!(limit(to_the_end), dut);
    // An external device, whose busy time is unknown.
    let mut untold = stall(0.6);
    let (mut trial, verdict) = untold.trials[0].clone();
    trial.busy.clear();
    untold.trials = [(trial, verdict)].into();
    assert_eq!(limit(untold), pause);
    // The receiver does not know which frames came.
    assert_eq!(limit(bound_by_loss(0.6)), pause);
    assert_eq!(limit(bound_by_loss(0.95)), dut);
}

/// The search failed at 489 kfps, with 40 % of the DUT's time left.
#[test]
fn as_much_as_the_maximum_is_no_pause() {
    let searched = bound_by_these(30_000..30_500, 500, 0.6);
    let limit = |saturated: &Saturated| {
        limited_by(&Surroundings::default(), saturated, &searched, None, None)
    };
    let with = |low: f64, middle: f64| {
        let mut found = saturated(2e6, 0.99);
        let most = found.at_most.as_mut().expect("an overload");
        most.forwarding = Interval {
            low,
            middle,
            high: 1.1 * middle,
        };
        found
    };
    let (pause, dut) = (Some(LimitedBy::Pause), Some(LimitedBy::Dut));
    assert_eq!(limit(&with(485_000.0, 500_000.0)), dut);
    assert_eq!(
        limit(&with(490_000.0, 500_000.0)),
        pause,
        "less than the maximum"
    );
    assert_eq!(
        limit(&with(400_000.0, 520_000.0)),
        pause,
        "a wide interval says nothing"
    );
    let mut no_overload = with(485_000.0, 500_000.0);
    no_overload.overloaded = false;
    assert_eq!(limit(&no_overload), pause);
    let mut disturbed = with(485_000.0, 500_000.0);
    let most = disturbed.at_most.as_mut().expect("an overload");
    most.only_disturbed = true;
    assert_eq!(limit(&disturbed), pause);
    // In another state of the machine.
    let mut elsewhere = with(485_000.0, 500_000.0);
    let most = elsewhere.at_most.as_mut().expect("an overload");
    (most.distance_ns, most.work_ns) = (Some(380.0), None);
    let mut near = searched.clone();
    let (mut trial, verdict) = near.trials[0].clone();
    trial.windows = vec![Window {
        round_trip_ns: Some(100),
        ..Window::default()
    }];
    near.trials = [(trial, verdict)].into();
    let found = limited_by(&Surroundings::default(), &elsewhere, &near, None, None);
    assert_eq!(found, pause);
}

#[test]
fn a_pause_at_the_lowest_load_is_named() {
    let limit = |busy| {
        let searched = Searched {
            stands_on: None,
            result: result(NONE),
            ..bound_by_these(32_000..32_320, 320, busy)
        };
        let why = WhyLost::from_trials(&searched.trials, None, 4_096);
        limited_by(
            &Surroundings::default(),
            &Saturated::default(),
            &searched,
            why.as_ref(),
            None,
        )
    };
    assert_eq!(limit(0.5), Some(LimitedBy::Pause));
    assert_eq!(limit(0.99), Some(LimitedBy::Dut));
}

#[test]
fn a_maximum_of_the_users_is_named() {
    let limit = |allowed| {
        let found = found_by(LimitedBy::Tester, Rate::from_fps(1e6), None);
        limit_of(&Surroundings::default(), found, allowed)
    };
    assert_eq!(limit(Some(1e6)), Some(LimitedBy::MaxRate));
    // Between the load found and the maximum the tester could not offer any.
    assert_eq!(limit(Some(1.02e6)), Some(LimitedBy::Tester));
    assert_eq!(limit(None), Some(LimitedBy::Tester));
}

#[test]
fn the_last_step_below_a_maximum_is_allowed() {
    let by_steps = SearchPlan::Bisection {
        trial: Span::from_millis(1_000),
        resolution: Resolution::StepFps(50_000.0),
        trials_per_load: 1,
        accept: Accept::Any,
    };
    let fps = Rate::from_fps;
    let allowed = |maximum| highest_allowed(maximum, fps(2e6), &by_steps);
    assert_eq!(allowed(Some(fps(1_049_000.0))), Some(fps(1e6)));
    assert_eq!(allowed(Some(fps(2.1e6))), None, "above the ceiling");
    assert_eq!(allowed(None), None);
}

#[test]
fn only_a_dut_that_limits_has_its_rate_found() {
    let rate = Rate::from_fps(1e6);
    let found = found_by(LimitedBy::Dut, rate, None);
    let why = CouldNotMeasure::LowestNotOffered {
        rate,
        why: Shortfall::LostBeforeNic(3),
    };
    let nothing = Outcome::CouldNotMeasure {
        why,
        trials: 2,
        voided: 0,
    };
    for (outcome, limited_by, reading) in [
        (found, Some(LimitedBy::Dut), Reading::Is(rate)),
        (found, Some(LimitedBy::Pause), Reading::AtLeast(rate)),
        (found, Some(LimitedBy::SharedCpu), Reading::AtLeast(rate)),
        (found, Some(LimitedBy::MaxRate), Reading::AtLeast(rate)),
        (NONE, Some(LimitedBy::Dut), Reading::Below(LOWEST)),
        (nothing, None, Reading::Nothing),
    ] {
        let result = result(outcome);
        assert_eq!(Reading::new(&result, limited_by, None), reading);
    }
    // What ended the search does not confirm it.
    let early = GoalResult {
        irregular: Some(Irregular::Unconfirmed),
        ..result(found)
    };
    for limited_by in [LimitedBy::Trials, LimitedBy::Disturbed] {
        let reading = Reading::new(&early, Some(limited_by), None);
        assert_eq!(reading, Reading::Unconfirmed(rate));
    }
    assert_eq!(limit_of(&shared(), nothing, None), None);
}

/// Overload at this load with the DUT's CPU so busy; 1 Mfps are forwarded.
fn saturated(offered: f64, busy: f64) -> Saturated {
    let interval = |middle: f64| Interval {
        low: 0.9 * middle,
        middle,
        high: 1.1 * middle,
    };
    Saturated {
        overloaded: offered > 1e6,
        at_most: Some(Saturation {
            offered: interval(offered),
            forwarding: interval(1e6),
            busy: Some(busy),
            windows: 9,
            ..Saturation::default()
        }),
        ..Saturated::default()
    }
}

#[test]
fn the_router_limits_only_where_that_was_seen() {
    let limit = |offered: f64, busy: f64, limited_by| {
        let saturated = saturated(offered, busy);
        let limit = |shared| forwarding_limit(shared, &saturated, Some(limited_by));
        (
            limit(false).expect("a limit"),
            limit(true).expect("a limit"),
        )
    };
    let shared = ForwardingLimit::SharedCpu;
    for (offered, busy, limited_by, alone) in [
        (2e6, 0.95, LimitedBy::Pause, ForwardingLimit::RouterCpu),
        (2e6, 0.94, LimitedBy::Dut, ForwardingLimit::Router),
        (2e6, 0.94, LimitedBy::Pause, ForwardingLimit::Unknown),
        (1.01e6, 0.94, LimitedBy::Pause, ForwardingLimit::Unknown),
        (1.004e6, 0.94, LimitedBy::Pause, ForwardingLimit::Tester),
    ] {
        assert_eq!(limit(offered, busy, limited_by), (alone, shared));
    }
    let tester = ForwardingLimit::Tester;
    assert_eq!(limit(1e6, 1.0, LimitedBy::Tester), (tester, tester));
    for busy in [0.6, 1.0] {
        let policed = Saturated {
            lost_inside_share: 0.48,
            ..saturated(2e6, busy)
        };
        let limit = forwarding_limit(false, &policed, Some(LimitedBy::Pause));
        assert_eq!(limit, Some(ForwardingLimit::Router));
    }
    // The same at the lower overload, whose trials lost enough.
    let mut backed_off = saturated(1.004e6, 0.94);
    backed_off.at_little_more = backed_off.at_most.take();
    let limit = forwarding_limit(false, &backed_off, Some(LimitedBy::Pause));
    assert_eq!(limit, Some(ForwardingLimit::Unknown));
    let unmeasured = forwarding_limit(false, &Saturated::default(), Some(LimitedBy::Dut));
    assert_eq!(unmeasured, None);
}

#[test]
fn overload_alone_tells_a_limit_by_busy_time() {
    let limit = |offered, busy| overload_limit(false, &saturated(offered, busy), None);
    assert_eq!(limit(2e6, 0.95), Some(LimitedBy::Dut));
    assert_eq!(limit(2e6, 0.94), Some(LimitedBy::Disturbed));
    assert_eq!(limit(1e6, 1.0), Some(LimitedBy::Tester));
    let shared = overload_limit(true, &saturated(2e6, 0.95), None);
    assert_eq!(shared, Some(LimitedBy::SharedCpu));
    assert_eq!(overload_limit(false, &Saturated::default(), None), None);
    // Nobody saw how busy it was. On disturbed windows alone nothing is known.
    let mut unseen = saturated(2e6, 0.95);
    let at_most = unseen.at_most.as_mut().expect("overload");
    at_most.busy = None;
    assert_eq!(overload_limit(false, &unseen, None), Some(LimitedBy::Dut));
    let at_most = unseen.at_most.as_mut().expect("overload");
    at_most.only_disturbed = true;
    assert_eq!(
        overload_limit(false, &unseen, None),
        Some(LimitedBy::Disturbed)
    );
}

/// Three of the five seconds that the goal asks for lost frames in the state of the trial that passed.
#[test]
fn only_a_load_that_failed_there_is_an_upper_bound() {
    let (near, far) = (Some(100), Some(380));
    let at = |round_trip_ns, trial: Trial| Trial {
        windows: vec![Window {
            round_trip_ns,
            ..Window::default()
        }],
        ..trial
    };
    let fails = |busy: f64, states: &[Option<u64>], limited_by| {
        let mut searched = bound_by_loss(busy);
        let (trial, verdict) = searched.trials[0].clone();
        searched.result.goal = Some(Preset::Quick.goal(0.0));
        searched.result.irregular = Some(Irregular::Unconfirmed);
        searched.evidence = Some(at(near, Trial::default()));
        let lossy = states
            .iter()
            .map(|&state| (at(state, trial.clone()), verdict));
        searched.trials = lossy.collect::<Vec<_>>().into();
        super::fails(&Saturated::default(), &searched, Some(limited_by)).is_some()
    };
    assert!(fails(0.97, &[near; 3], LimitedBy::Trials));
    assert!(
        !fails(0.97, &[near; 2], LimitedBy::Trials),
        "not yet by the rule"
    );
    assert!(
        !fails(0.97, &[near, near, far], LimitedBy::Trials),
        "another state"
    );
    assert!(
        !fails(0.97, &[near, near, None], LimitedBy::Trials),
        "unknown"
    );
    assert!(!fails(0.6, &[near; 3], LimitedBy::Trials), "a pause");
    assert!(!fails(0.97, &[near; 3], LimitedBy::Pause));
}
