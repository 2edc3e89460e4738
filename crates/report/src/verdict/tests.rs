use super::*;
use mpps_record::{
    CellLine, ComparisonLine, EffectsLine, EndLine, ForwardingLimit, Overload, OverloadLine,
    OverloadSecond, PartCost, PointLine, ProfileLine, ProfiledLoad, ResultLine, Routes,
    SettingEffect, SweepLine, ToldBy, TrialLine, Variant,
};

mod whole;

fn around(median: f64, half: f64) -> Interval<f64> {
    Interval {
        low: median - half,
        median,
        high: median + half,
    }
}

fn check(of: Looked, least: Option<f64>, most: Option<f64>) -> Option<Check> {
    Some(Check {
        of,
        least,
        most,
        ..Check::default()
    })
}

/// A cell with this claim, after a run without failure.
fn cell(check: Option<Check>) -> CellLine {
    CellLine {
        cell: "6.3.3".to_owned(),
        measured_run: Some("run".to_owned()),
        exit_code: Some(0),
        claim: Some(Statement {
            id: "rp-filter".to_owned(),
            check,
            ..Statement::default()
        }),
        ..CellLine::default()
    }
}

fn judge(line: &CellLine, run: Option<&Run>) -> (Verdict, String) {
    let judged = Judged::new(&MeasuredCell { line, run }, &[]).expect("a claim");
    (judged.verdict, judged.reason())
}

fn compared(found: &[Difference]) -> Run {
    let mut run = Run::new("run");
    for (difference, frame) in found.iter().zip(["64", "1518"]) {
        let variant = |difference| Variant {
            difference,
            ..Variant::default()
        };
        run.comparisons.push(ComparisonLine {
            frame: frame.to_owned(),
            variants: vec![variant(None), variant(Some(difference.clone()))],
            ..ComparisonLine::default()
        });
    }
    run
}

fn slower(median: f64, half: f64) -> Difference {
    Difference {
        finding: Finding::Different,
        rate_change: Some(around(median, half)),
        ..Difference::default()
    }
}

#[test]
fn a_change_of_the_rate_is_judged_by_its_interval() {
    let line = cell(check(Looked::RateChange, None, Some(-0.1)));
    let of = |found: &[Difference]| judge(&line, Some(&compared(found)));
    let words = "-12.0 % frames/s (-13.0 % to -11.0 %); the claim holds at -10.0 % or less";
    assert_eq!(
        of(&[slower(-0.12, 0.01)]),
        (Verdict::Holds, words.to_owned())
    );
    assert_eq!(of(&[slower(-0.05, 0.01)]).0, Verdict::DoesNotHold);
    let (verdict, why) = of(&[slower(-0.1, 0.01)]);
    assert_eq!(verdict, Verdict::CannotTell);
    assert!(why.ends_with("reaches across a bound"), "{why}");
    let (verdict, why) = of(&[slower(-0.12, 0.01), slower(-0.05, 0.01)]);
    assert_eq!(verdict, Verdict::CannotTell);
    assert!(why.contains("1518 B: -5.0 %") && why.contains("disagree"));
}

#[test]
fn a_claim_may_name_another_variant_than_the_last() {
    let mut run = compared(&[slower(-0.12, 0.01)]);
    let variants = &mut run.comparisons[0].variants;
    variants[1].name = "8-queues".to_owned();
    variants.push(Variant {
        difference: Some(slower(-0.01, 0.01)),
        ..Variant::default()
    });
    let judged = |other: Option<&str>| {
        let levels = other.map(|other| ["1-queue".to_owned(), other.to_owned()]);
        let of = check(Looked::RateChange, None, Some(-0.1));
        let of = of.map(|check| Check { levels, ..check });
        judge(&cell(of), Some(&run))
    };
    assert_eq!(judged(None).0, Verdict::DoesNotHold);
    assert_eq!(judged(Some("8-queues")).0, Verdict::Holds);
    // It was not run here.
    let (verdict, why) = judged(Some("9-queues"));
    assert_eq!(
        (verdict, why.as_str()),
        (Verdict::CannotTell, "nothing was compared")
    );
}

#[test]
fn a_settings_change_is_judged_beside_its_placebo() {
    let of = Looked::SettingChange("netdev_budget".to_owned());
    let line = cell(check(of, Some(-0.02), Some(0.02)));
    let alike = Difference {
        finding: Finding::NoDifference,
        ..slower(0.001, 0.01)
    };
    let effect = |setting: &str, difference: &Difference| SettingEffect {
        setting: setting.to_owned(),
        from: "3000".to_owned(),
        to: "300".to_owned(),
        placebo: setting == "placebo",
        difference: Some(difference.clone()),
        ..SettingEffect::default()
    };
    let judged = |effects: Vec<SettingEffect>| {
        let mut run = Run::new("run");
        run.effects.push(EffectsLine {
            effects,
            ..EffectsLine::default()
        });
        judge(&line, Some(&run))
    };
    let calm = effect("placebo", &alike);
    let costly = effect("netdev_budget", &slower(-0.12, 0.01));
    let (verdict, why) = judged(vec![calm.clone(), effect("netdev_budget", &alike)]);
    let words = "netdev_budget `300` against `3000`: +0.1 % frames/s (-0.9 % to +1.1 %); the claim holds from -2.0 % to +2.0 %";
    assert_eq!((verdict, why.as_str()), (Verdict::Holds, words));
    let (verdict, _) = judged(vec![calm.clone(), costly.clone()]);
    assert_eq!(verdict, Verdict::DoesNotHold);
    let of_levels = |from: &str, to: &str| {
        let mut line = line.clone();
        let check = line.claim.as_mut().and_then(|claim| claim.check.as_mut());
        check.expect("a check").levels = Some([from, to].map(str::to_owned));
        let mut run = Run::new("run");
        run.effects.push(EffectsLine {
            effects: vec![calm.clone(), costly.clone()],
            ..EffectsLine::default()
        });
        judge(&line, Some(&run))
    };
    let (verdict, why) = of_levels("300", "3000");
    assert_eq!(verdict, Verdict::DoesNotHold);
    assert!(
        why.starts_with(
            "netdev_budget `3000` against `300`: +13.6 % frames/s (+12.4 % to +14.9 %)"
        ),
        "{why}"
    );
    let (verdict, why) = of_levels("300", "600");
    assert_eq!(verdict, Verdict::CannotTell);
    assert!(
        why.starts_with("the claim is of `600` against `300`"),
        "{why}"
    );
    let acting = effect("placebo", &slower(-0.05, 0.01));
    let denied = SettingEffect {
        confirmed: Some(alike),
        ..costly.clone()
    };
    for (effects, said) in [
        (vec![acting, costly], "a placebo, which cannot act"),
        (vec![calm.clone(), denied], "do not confirm the screen"),
        (vec![calm], "did not measure netdev_budget"),
    ] {
        let (verdict, why) = judged(effects);
        assert_eq!(verdict, Verdict::CannotTell, "{why}");
        assert!(why.contains(said), "{why}");
    }
}

#[test]
fn what_was_not_decided_tells_nothing() {
    let line = cell(check(Looked::RateChange, None, Some(-0.1)));
    let undecided = Difference {
        finding: Finding::NotDecided,
        ..slower(-0.3, 0.01)
    };
    // The rate is the tester's then.
    let by_cost = Difference {
        told_by: ToldBy::Cost,
        ..slower(0.0, 0.0)
    };
    for (found, word) in [
        (undecided, "not decided"),
        (by_cost, "tester reached its limit"),
    ] {
        let (verdict, why) = judge(&line, Some(&compared(&[found])));
        assert_eq!(verdict, Verdict::CannotTell);
        assert!(why.contains(word), "{why}");
    }
    let wide = Difference {
        finding: Finding::NotDecided,
        ..slower(0.0, 0.04)
    };
    assert_eq!(
        judge(&line, Some(&compared(&[wide]))).0,
        Verdict::DoesNotHold
    );
    assert_eq!(judge(&line, None).0, Verdict::CannotTell);
    let (verdict, why) = judge(&line, Some(&Run::new("run")));
    assert_eq!(
        (verdict, why.as_str()),
        (Verdict::CannotTell, "the run has no comparison")
    );
    // The machine was the reason.
    let disturbed = CellLine {
        exit_code: Some(4),
        ..line
    };
    let mut run = Run::new("run");
    run.end = Some(EndLine {
        ended_utc: String::new(),
        exit_code: 4,
        error: Some("all trials were void".to_owned()),
        trials: 0,
        queries: None,
        route_changes: None,
        other: Default::default(),
    });
    assert_eq!(judge(&disturbed, Some(&run)).1, "all trials were void");
}

#[test]
fn a_claim_that_was_not_tested_says_why() {
    let line = CellLine {
        not_run: Some("needs two sockets".to_owned()),
        ..cell(None)
    };
    let told = (Verdict::CannotBeTested, "needs two sockets".to_owned());
    assert_eq!(judge(&line, None), told);
    let line = cell(None);
    assert_eq!(judge(&line, None).0, Verdict::CannotBeTested);
    let mut line = cell(check(Looked::RateChange, None, Some(-0.1)));
    let claim = line.claim.as_mut().expect("a claim");
    claim.by_construction = Some("the ring drops at no cost".to_owned());
    let (verdict, why) = judge(&line, Some(&compared(&[slower(-0.5, 0.01)])));
    assert_eq!(verdict, Verdict::ByConstruction);
    assert_eq!(why, "the ring drops at no cost");
}

fn forwarded(frame: &str, median: u64, half: u64, limit: ForwardingLimit) -> ResultLine {
    ResultLine {
        frame: frame.to_owned(),
        overload: Overload {
            max_forwarding_fps: Some(Interval {
                low: median - half,
                median,
                high: median + half,
            }),
            max_forwarding_limited_by: Some(limit),
            ..Overload::default()
        },
        ..ResultLine::default()
    }
}

#[test]
fn evenness_takes_the_intervals_of_all_rates() {
    let line = cell(check(Looked::RateEvenness, Some(0.9), None));
    let of = |small: u64, half: u64, limit: ForwardingLimit| {
        let mut run = Run::new("run");
        run.results = vec![
            forwarded("64", 1_000_000, half, ForwardingLimit::RouterCpu),
            forwarded("1518", small, half, limit),
        ];
        judge(&line, Some(&run))
    };
    let (verdict, why) = of(980_000, 10_000, ForwardingLimit::RouterCpu);
    assert_eq!(verdict, Verdict::Holds);
    assert!(why.starts_with("98.0 % of the greatest rate (96.0 % to 100.0 %)"));
    assert_eq!(
        of(800_000, 10_000, ForwardingLimit::RouterCpu).0,
        Verdict::DoesNotHold
    );
    assert_eq!(
        of(900_000, 10_000, ForwardingLimit::RouterCpu).0,
        Verdict::CannotTell
    );
    let (verdict, why) = of(980_000, 10_000, ForwardingLimit::Tester);
    assert_eq!(verdict, Verdict::CannotTell);
    assert_eq!(why, "1518 B: the rate is only a bound");
}

/// The second set of works is that of cell 6.1.3 in `bench/runs/2026-11-28-xeon-vm-2cpu/campaign-thesis-2015`.
#[test]
fn sizes_in_different_states_decide_nothing() {
    let line = cell(check(Looked::RateEvenness, Some(0.9), None));
    let of = |distances: [f64; 2], works: [f64; 2]| {
        let mut run = Run::new("run");
        for (size, place) in ["64", "1518"].into_iter().zip(0..) {
            let mut result = forwarded(size, 1_000_000, 10_000, ForwardingLimit::RouterCpu);
            result.overload.max_forwarding_cpu_distance_ns = Some(distances[place]);
            result.overload.max_forwarding_work_ns = Some(works[place]);
            run.results.push(result);
        }
        judge(&line, Some(&run))
    };
    for (distances, works, words) in [
        (
            [70.0, 310.0],
            [215.0, 215.0],
            "the CPUs were 70 to 310 ns apart, which changes the rate too",
        ),
        (
            [392.5, 355.5],
            [367.0, 215.0],
            "fixed work took the router's CPU 215 to 367 ns, which changes the rate too",
        ),
    ] {
        let words = words.to_owned();
        assert_eq!(of(distances, works), (Verdict::CannotTell, words));
    }
    assert_eq!(of([392.5, 355.5], [234.0, 215.0]).0, Verdict::Holds);
}

fn part(name: &str, ns: Interval<f64>) -> PartCost {
    PartCost {
        part: name.to_owned(),
        ns,
        ..PartCost::default()
    }
}

/// A sweep from 64 to 1518 octets whose stages cost so much at both ends.
fn swept(ends: [&[(&str, f64)]; 2]) -> Run {
    let mut run = Run::new("run");
    let point = |(value, stages): (f64, &&[(&str, f64)])| {
        let cost = |&(name, ns): &(&str, f64)| part(name, around(ns, 2.0));
        SweepPoint {
            value,
            load: ProfiledLoad {
                stages: stages.iter().map(cost).collect(),
                trials: vec![value as u32],
                ..ProfiledLoad::default()
            },
            ..SweepPoint::default()
        }
    };
    run.sweeps.push(SweepLine {
        points: [64.0, 1518.0].into_iter().zip(&ends).map(point).collect(),
        ..SweepLine::default()
    });
    run
}

#[test]
fn of_many_stages_the_worst_decides() {
    let of = Looked::StagesGrowth("other".to_owned());
    let line = cell(check(of, Some(0.9), Some(1.1)));
    let flat = [
        ("RX", 120.0),
        ("free", 130.0),
        ("other", 30.0),
        ("virtual NIC", 50.0),
    ];
    let judged = |free: f64| {
        let last = [
            ("RX", 121.0),
            ("free", free),
            ("other", 60.0),
            ("virtual NIC", 90.0),
        ];
        judge(&line, Some(&swept([&flat, &last])))
    };
    assert_eq!(judged(131.0).0, Verdict::Holds);
    let (verdict, why) = judged(240.0);
    assert_eq!(verdict, Verdict::DoesNotHold);
    assert!(why.starts_with("free: 1.85 times its cost"), "{why}");
    assert_eq!(judged(142.0).0, Verdict::CannotTell);
}

#[test]
fn ends_of_a_sweep_in_two_states_tell_nothing() {
    let line = cell(check(Looked::StageGrowth("RX".to_owned()), None, Some(1.1)));
    let mut run = swept([&[("RX", 120.0)], &[("RX", 121.0)]]);
    assert_eq!(judge(&line, Some(&run)).0, Verdict::Holds);
    let mut slower = run.clone();
    for (point, ns) in slower.sweeps[0].points.iter_mut().zip([339.0, 275.0]) {
        point.load.work_ns = Some(ns);
    }
    let words = "fixed work took the router's CPU 275 to 339 ns, which changes the cost too";
    let judged = judge(&line, Some(&slower));
    assert_eq!(judged, (Verdict::CannotTell, words.to_owned()));
    let mut again = slower.sweeps[0].points[0].clone();
    again.load.work_ns = Some(275.0);
    slower.sweeps[0].points[0].other_state = true;
    slower.sweeps[0].points.push(again);
    assert_eq!(
        judge(&line, Some(&slower)).0,
        Verdict::Holds,
        "measured again"
    );
    for (point, ns) in run.sweeps[0].points.iter_mut().zip([60.0, 320.0]) {
        point.load.cpu_distance_ns = Some(ns);
    }
    let (verdict, why) = judge(&line, Some(&run));
    assert_eq!(verdict, Verdict::CannotTell);
    assert!(
        why.contains("the CPUs were 60 to 320 ns apart, which changes the cost"),
        "{why}"
    );
}

#[test]
fn a_run_that_ended_early_decides_nothing() {
    let line = CellLine {
        exit_code: Some(130),
        ..cell(check(Looked::RateChange, None, Some(-0.1)))
    };
    let (verdict, why) = judge(&line, Some(&compared(&[slower(-0.2, 0.01)])));
    assert_eq!(
        (verdict, why.as_str()),
        (Verdict::CannotTell, "its run ended early")
    );
}

#[test]
fn growth_is_from_the_least_place_to_the_greatest() {
    let line = cell(check(
        Looked::StageGrowth("routing".to_owned()),
        Some(1.2),
        None,
    ));
    let drifted = |costs: &[(f64, f64)], drift_ratio: Option<f64>| {
        let point = |&(value, ns): &(f64, f64)| SweepPoint {
            value,
            load: ProfiledLoad {
                stages: vec![part("routing", around(ns, 5.0))],
                ..ProfiledLoad::default()
            },
            ..SweepPoint::default()
        };
        let mut run = Run::new("run");
        run.sweeps.push(SweepLine {
            points: costs.iter().map(point).collect(),
            drift_ratio,
            ..SweepLine::default()
        });
        judge(&line, Some(&run))
    };
    // In the order in which they were measured.
    let of = |costs: &[(f64, f64)]| drifted(costs, None);
    let sweep = [(10.0, 150.0), (1e6, 300.0), (1.0, 100.0), (10.0, 150.0)];
    let (verdict, why) = of(&sweep);
    assert_eq!(verdict, Verdict::Holds);
    assert!(why.starts_with("3.00 times the cost of routing (2.81 to 3.21)"));
    assert_eq!(of(&[(1.0, 100.0), (1e6, 101.0)]).0, Verdict::DoesNotHold);
    // The machine became slower meanwhile.
    let little = [(1.0, 100.0), (1e6, 150.0)];
    assert_eq!(of(&little).0, Verdict::Holds);
    assert_eq!(drifted(&little, Some(0.3)).0, Verdict::CannotTell);
    assert_eq!(of(&[(1.0, 100.0)]).1, "the sweep has one place only");
    assert_eq!(of(&[(1.0, 4.0), (2.0, 9.0)]).0, Verdict::CannotTell);
}

#[test]
fn a_share_of_a_cause_is_of_the_frames_cost() {
    let line = cell(check(
        Looked::CauseShare("locks".to_owned()),
        Some(0.05),
        Some(0.15),
    ));
    let of = |ns: f64| {
        let mut run = Run::new("run");
        run.profiles.push(ProfileLine {
            loads: vec![ProfiledLoad {
                frame_ns: around(500.0, 10.0),
                causes: vec![part("locks", around(ns, 5.0))],
                ..ProfiledLoad::default()
            }],
            ..ProfileLine::default()
        });
        judge(&line, Some(&run))
    };
    let (verdict, why) = of(50.0);
    assert_eq!(verdict, Verdict::Holds);
    assert!(
        why.ends_with("the claim holds from 5.0 % to 15.0 %"),
        "{why}"
    );
    assert_eq!(of(200.0).0, Verdict::DoesNotHold);
    assert_eq!(of(75.0).0, Verdict::CannotTell);
}

/// Of the point with the most routes; an older record does not say.
#[test]
fn the_fib_is_told_by_the_most_routes() {
    let line = cell(check(Looked::FibOctetsPerRoute, None, Some(120.0)));
    let of = |sizes: &[(u64, Option<u64>)]| {
        let mut run = Run::new("run");
        run.points = (sizes.iter())
            .map(|&(routes, fib_octets)| PointLine {
                routes: Some(Routes {
                    routes,
                    fib_octets,
                    ..Routes::default()
                }),
                ..PointLine::default()
            })
            .collect();
        judge(&line, Some(&run))
    };
    let (verdict, why) = of(&[(10, Some(9_000)), (1_000, Some(113_000))]);
    assert_eq!(verdict, Verdict::Holds);
    assert_eq!(why, "113 octets a route; the claim holds at 120 or less");
    assert_eq!(of(&[(1_000, Some(200_000))]).0, Verdict::DoesNotHold);
    assert_eq!(of(&[(1_000, None)]).0, Verdict::CannotTell);
    assert_eq!(of(&[]).1, "the run loaded no routes");
}

#[test]
fn overload_is_held_against_both_maxima() {
    let line = cell(check(Looked::OverloadShare, None, Some(0.9)));
    let at =
        |fps: &[u64], disturbed_share: f64, after: Option<u64>, work_ns: Option<(u64, u64)>| {
            let second = |&forwarding_fps: &u64| OverloadSecond {
                length_ns: 1_000_000_000,
                offered_fps: 3_000_000,
                forwarding_fps,
                disturbed_share,
                ..OverloadSecond::default()
            };
            let mut run = Run::new("run");
            run.overloads = vec![OverloadLine {
                max_forwarding_fps: Some(1_000_000),
                max_forwarding_afterwards_fps: after,
                seconds: fps.iter().map(second).collect(),
                trial: Some(9),
                ..OverloadLine::default()
            }];
            run.trials = vec![TrialLine {
                trial: 9,
                work_ns: work_ns.map(|(low, high)| Interval {
                    low,
                    median: low,
                    high,
                }),
                ..TrialLine::default()
            }];
            judge(&line, Some(&run))
        };
    let of = |fps: &[u64], share: f64, after| at(fps, share, after, Some((196, 199)));
    let falls = of(&[700_000, 710_000, 720_000], 0.0, Some(900_000));
    assert_eq!(
        falls,
        (
            Verdict::Holds,
            "74.7 % of its maximum (70.0 % to 80.0 %); the claim holds at 90.0 % or less"
                .to_owned()
        )
    );
    let slower_machine = of(&[700_000, 710_000, 720_000], 0.0, Some(750_000));
    assert_eq!(slower_machine.0, Verdict::CannotTell);
    let holds = of(&[990_000, 1_000_000, 1_010_000], 0.0, Some(1_000_000));
    assert_eq!(holds.0, Verdict::DoesNotHold);
    for (fps, disturbed_share, after, why) in [
        (vec![700_000; 2], 0.0, Some(900_000), "fewer than 3 seconds"),
        (vec![700_000; 9], 0.5, Some(900_000), "fewer than 3 seconds"),
        (vec![700_000; 3], 0.0, None, "not measured after"),
    ] {
        let (verdict, said) = of(&fps, disturbed_share, after);
        assert!(
            verdict == Verdict::CannotTell && said.contains(why),
            "{said}"
        );
    }
    let (verdict, said) = at(&[700_000; 3], 0.0, Some(900_000), Some((196, 250)));
    assert!(
        verdict == Verdict::CannotTell && said.contains("took the router's CPU 196 to 250 ns"),
        "{said}"
    );
    let (verdict, said) = of(&[700_000; 3], 0.0, Some(2_900_000));
    assert!(
        verdict == Verdict::CannotTell && said.contains("not overloaded"),
        "{said}"
    );
}
