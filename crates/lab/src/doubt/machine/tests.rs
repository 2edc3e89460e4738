use super::super::tests::{found_by, result};
use super::super::{Gated, Saturated, Searched};
use super::*;
use crate::search::exit_program::ExitProgram;
use mpps_method::saturation::Window;
use mpps_method::{CpuExchange, CpuSpeed, CpuTasks, LimitedBy, Stability, TaskName, Void};

#[test]
fn a_missing_cost_says_so() {
    let wired = Saturated {
        wire_trials: 9,
        ..Saturated::default()
    };
    let doubt = no_cost(&wired).expect("a doubt");
    assert!(
        doubt.seen.contains(": of 9 trials through a wire"),
        "{doubt:?}"
    );
    assert_eq!(no_cost(&Saturated::default()), None, "no wire was laid");
    let known = Saturated {
        cost: Some(FrameCost::default()),
        ..wired
    };
    assert_eq!(no_cost(&known), None);
}

#[test]
fn a_router_that_takes_no_wire_is_told() {
    let overloaded = |wire_trials| Saturated {
        at_most: Some(Saturation::default()),
        wire_trials,
        ..Saturated::default()
    };
    let open = Surroundings::default();
    let doubt = no_wire(&open, &overloaded(0)).expect("a doubt");
    let because = |doubt: &Doubt, why: &str| {
        let seen = format!("no wire can take the router's place, because {why}");
        assert!(doubt.seen.starts_with(&seen), "{doubt:?}");
    };
    because(&doubt, "this kernel has neither tcx links");
    assert_eq!(no_wire(&open, &overloaded(9)), None);
    assert_eq!(
        no_wire(&open, &Saturated::default()),
        None,
        "never overloaded"
    );
    let shaped = Surroundings {
        egress: Some(("mC".to_owned(), "a shaper".to_owned())),
        ..Surroundings::default()
    };
    let of_shaper = no_wire(&shaped, &overloaded(0)).expect("a doubt");
    because(&of_shaper, "mC has a shaper, so");
    assert_ne!(doubt.next, of_shaper.next);
    // A device of others has doubts of its own.
    let closed = Surroundings {
        closed: true,
        ..Surroundings::default()
    };
    assert_eq!(no_wire(&closed, &overloaded(0)), None);
}

#[test]
fn a_cost_of_two_pairs_is_doubted() {
    let of = |pairs| {
        let part = Interval::default();
        few_pairs(&FrameCost {
            bed_ns: part,
            router_ns: part,
            total_ns: part,
            pairs,
            wire_overloaded: true,
            slower: None,
        })
    };
    assert!(of(2).is_some_and(|doubt| doubt.seen.ends_with("stands on 2 pairs of trials")));
    assert_eq!(of(3), None);
}

#[test]
fn a_wire_that_the_tester_limits_is_doubted() {
    let of = |wire_overloaded| {
        let part = Interval::default();
        idle_wire(&FrameCost {
            bed_ns: part,
            router_ns: part,
            total_ns: part,
            pairs: 5,
            wire_overloaded,
            slower: None,
        })
    };
    assert!(of(false).is_some_and(|doubt| doubt.seen.contains("was not overloaded")));
    assert_eq!(of(true), None);
}

#[test]
fn a_router_that_slows_its_cpu_is_doubted() {
    let of = |slower| {
        slower_router(&FrameCost {
            slower,
            ..FrameCost::default()
        })
    };
    assert!(of(Some(1.146)).is_some_and(|doubt| doubt.seen.contains(" took 15 % longer ")));
    assert_eq!(of(None), None);
}

#[test]
fn a_cost_with_an_untimed_exit_is_doubted() {
    let part = Interval::default();
    let cost = FrameCost {
        bed_ns: part,
        router_ns: part,
        total_ns: part,
        pairs: 5,
        wire_overloaded: true,
        slower: None,
    };
    let timed = ExitProgram {
        router_ns: 40.0,
        more_ns: part,
    };
    let doubted = |cost, exit_program, receiver| {
        let saturated = Saturated {
            cost,
            exit_program,
            ..Saturated::default()
        };
        exit_untimed(&saturated, receiver).is_some()
    };
    let exit = Some(ReceiverPlace::Exit);
    assert!(doubted(Some(cost), None, exit));
    assert!(!doubted(Some(cost), Some(timed), exit));
    assert!(!doubted(Some(cost), None, Some(ReceiverPlace::Port)));
    assert!(!doubted(None, None, exit));
}

#[test]
fn a_maximum_that_leaves_out_slower_times_is_doubted() {
    let told = |other_state_share, other_state_fps| {
        let maximum = Saturation {
            forwarding: Interval::from_samples(&[1e6]).expect("a number"),
            other_state_share,
            other_state_fps,
            ..Saturation::default()
        };
        super::other_state(&maximum).map(|doubt| doubt.seen)
    };
    assert_eq!((told(0.05, Some(8e5)), told(0.0, None)), (None, None));
    let slower = told(0.4, Some(7.6e5)).expect("a doubt");
    assert_eq!(
        slower,
        "40 % of the time at overload was in another state (24 % less forwarded); it does not count"
    );
    let alike = told(0.4, Some(1.004e6)).expect("a doubt");
    assert!(alike.contains(" (as much forwarded);"), "{alike}");
    let faster = told(0.4, Some(1.11e6)).expect("a doubt");
    assert!(faster.contains(" (11 % more forwarded);"), "{faster}");
}

#[test]
fn rates_of_two_cpu_distances_are_doubted() {
    let apart = |before: u64, after: u64| Trial {
        exchange: Some(CpuExchange {
            before: Span::from_nanos(before),
            after: Span::from_nanos(after),
        }),
        ..Trial::default()
    };
    let overload = |round_trip_ns, work_ns| At {
        round_trip_ns,
        work_ns,
    };
    let raised = |round_trip_ns: f64, trial: &Trial| {
        distance_changed(Some(overload(round_trip_ns, None)), At::mostly(trial)).is_some()
    };
    assert!(raised(330.0, &apart(60, 64)));
    assert!(raised(62.0, &apart(310, 330)));
    assert!(!raised(62.0, &apart(60, 80)));
    assert!(!raised(62.0, &apart(60, 330)), "on the way");
    assert_eq!(distance_changed(None, At::mostly(&apart(60, 64))), None);
    assert_eq!(distance_changed(Some(overload(60.0, None)), None), None);
    // Most of the windows were elsewhere, though the trial began and ended there.
    let window = |round_trip_ns, work_ns| Window {
        round_trip_ns: Some(round_trip_ns),
        work_ns: Some(work_ns),
        ..Window::default()
    };
    let trial = Trial {
        windows: [vec![window(69, 300); 6], vec![window(300, 300); 3]].concat(),
        ..apart(310, 310)
    };
    assert!(raised(290.0, &trial) && !raised(69.0, &trial));
    let at = |work_ns| Some(overload(69.0, Some(work_ns)));
    let slower = distance_changed(at(230.0), At::mostly(&trial)).expect("a doubt");
    assert!(
        slower.seen.contains("took 230 ns at overload, 300 ns"),
        "{slower:?}"
    );
    assert_eq!(distance_changed(at(290.0), At::mostly(&trial)), None);
}

#[test]
fn loss_in_disturbances_is_told() {
    let load = Rate::from_fps(1e6);
    let trial = |times, lost, unsent| {
        let disturbed = Disturbed {
            times,
            time: Span::from_millis(20),
            sent: 20_000,
            unsent,
            lost: Some(lost),
        };
        let trial = Trial {
            offered: load,
            duration: Span::from_millis(1_020),
            disturbed,
            ..Trial::default()
        };
        (trial, Verdict::Lossless)
    };
    let seen_at =
        |load, trials: &[(Trial, Verdict)]| lost_disturbed(trials, load).map(|doubt| doubt.seen);
    let seen = |trials: &[(Trial, Verdict)]| seen_at(load, trials);
    assert_eq!(seen(&[trial(2, 0, 0)]), None);
    let lossy = (trial(1, 900, 0).0, Verdict::Lossy { lost: 1 });
    assert_eq!(seen(std::slice::from_ref(&lossy)), None);
    assert_eq!(
        seen(&[trial(3, 878, 0), lossy, trial(1, 0, 30)]).as_deref(),
        Some(
            "878 lost and 30 unsent frames in 4 disturbances do not count; the disturbances took 2.0 % of the time, and lossless \
            trials lost no other frame"
        )
    );
    assert_eq!(seen_at(Rate::from_fps(2e6), &[trial(3, 878, 0)]), None);
    // No frame was lost, and little of the time: the rate would hardly be another.
    let weight = |trial| lost_disturbed(&[trial], load).map(|doubt| doubt.weight);
    assert_eq!(weight(trial(1, 1, 0)), Some(Weight::Shifted(1)));
    assert_eq!(weight(trial(1, 0, 30)), Some(Weight::Unsure(9)));
    let (mut long, verdict) = trial(1, 0, 30);
    long.disturbed.time = Span::from_millis(103);
    assert_eq!(weight((long, verdict)), Some(Weight::Shifted(1)));
}

#[test]
fn another_state_weighs_by_what_it_forwarded() {
    let weight = |fps| {
        let maximum = Saturation {
            forwarding: Interval {
                low: 0.96e6,
                middle: 1e6,
                high: 1.04e6,
            },
            other_state_share: 0.4,
            other_state_fps: fps,
            ..Saturation::default()
        };
        super::other_state(&maximum).map(|doubt| doubt.weight)
    };
    assert_eq!(weight(Some(0.99e6)), Some(Weight::Unsure(8)));
    assert_eq!(weight(Some(1.02e6)), Some(Weight::Unsure(8)));
    for fps in [Some(1.021e6), Some(0.9e6), None] {
        assert_eq!(weight(fps), Some(Weight::Shifted(2)), "{fps:?}");
    }
}

#[test]
fn a_search_slower_than_the_gate_is_doubted() {
    let beside = |us: u64| {
        let speed = CpuSpeed {
            cpu: 1,
            before_ns: us * 1_000,
            after_ns: us * 1_000,
        };
        let trial = Trial {
            speeds: vec![speed],
            ..Trial::default()
        };
        (trial, Verdict::Lossless)
    };
    let gated = Gated {
        stability: Stability::Stable,
        trials: vec![beside(18)],
    };
    let seen = |us: [u64; 2]| {
        let load = Rate::from_fps(1_000.0);
        let searched = Searched {
            stands_on: None,
            result: result(found_by(LimitedBy::Dut, load, None)),
            evidence: None,
            trials: us.map(beside).into(),
            left_out: [].into(),
            elsewhere: 0,
        };
        let doubts = doubts(&Weighed {
            around: &Surroundings::default(),
            saturated: &Saturated::default(),
            gated: &gated,
            searched: &searched,
            why_lost: None,
            limited_by: None,
        });
        doubts.into_iter().next().map(|doubt| doubt.seen)
    };
    assert_eq!(seen([19, 18]), None);
    let seen = seen([27, 27]).expect("a slow search");
    assert!(
        seen.starts_with("CPU 1 took up to 50 % longer for fixed work, beside 2 of 3 trials"),
        "{seen}"
    );
}

#[test]
fn other_programs_in_short_turns_are_doubted() {
    let trial = |total_ms, length_ms| {
        let tasks = CpuTasks {
            cpu: 1,
            longest: Span::from_millis(1),
            total: Span::from_millis(total_ms),
            culprit: TaskName(*b"agent\0\0\0\0\0\0\0\0\0\0\0"),
        };
        Trial {
            duration: Span::from_millis(length_ms),
            other_tasks: vec![tasks],
            ..Trial::default()
        }
    };
    let with =
        |total_ms, verdict| others(&[(trial(total_ms, 1_000), verdict)]).map(|doubt| doubt.seen);
    assert_eq!(
        with(30, Verdict::Lossless).as_deref(),
        Some("other programs (agent) had 3.0 % of CPU 1 in short turns during a trial")
    );
    assert_eq!(with(15, Verdict::Lossless), None);
    // In a short trial it would be a turn or two, but not in each.
    let short = |trials| {
        let each = vec![(trial(8, 200), Verdict::Lossless); trials];
        others(&each).map(|doubt| doubt.seen)
    };
    assert_eq!(short(1), None);
    assert_eq!(
        short(2).as_deref(),
        Some("other programs (agent) had 4.0 % of CPU 1 in short turns during all trials")
    );
    let rules = Rules::default();
    let bound = rules.others_max;
    let void = Verdict::Void(Void::Others {
        cpu: 1,
        culprit: TaskName::default(),
        share: 0.07,
        bound,
    });
    assert_eq!(with(70, void), None, "does not count");
}

#[test]
fn threads_of_one_core_are_doubted() {
    let around = Surroundings {
        core_shared: Some((3, 1)),
        ..Surroundings::default()
    };
    assert_eq!(
        core_shared(&around).expect("a doubt").seen,
        "CPU 3 (DUT) and CPU 1 (tester) are threads of one core"
    );
    assert_eq!(core_shared(&Surroundings::default()), None);
}

#[test]
fn who_moves_interrupts_is_told_to_stop() {
    let change = |name: &str| Change {
        name: name.to_owned(),
        before: Some("0".to_owned()),
        after: Some("1".to_owned()),
    };
    let next = |names: &[&str]| {
        let changes: Vec<Change> = names.iter().map(|name| change(name)).collect();
        host_changed(&changes).map(|doubt| doubt.next)
    };
    assert_eq!(next(&[]), None);
    let interrupts = ["affinity of IRQ 24", "affinity of IRQ 25"];
    assert!(next(&interrupts).is_some_and(|next| next.contains("irqbalance")));
    let both = ["affinity of IRQ 24", "kernel.numa_balancing"];
    assert!(next(&both).is_some_and(|next| next.starts_with("Undo")));
}

#[test]
fn much_disturbed_time_of_trials_is_told() {
    let of = |disturbed| much_disturbed(Span::from_millis(disturbed), Span::from_millis(1_000));
    assert_eq!(of(100), None);
    let seen = of(134).expect("a doubt").seen;
    assert_eq!(
        seen,
        "13 % of the time at overload was left out beside disturbances"
    );
    assert_eq!(much_disturbed(Span::ZERO, Span::ZERO), None);
}
