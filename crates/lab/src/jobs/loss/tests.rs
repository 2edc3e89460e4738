use super::*;
use crate::clock::Deadline;
use crate::jobs::sizes::REPEATS;
use crate::jobs::{Observer, Report};
use crate::search::link::Link;
use crate::search::saturation;
use crate::search::simulated::SimulatedPair;
use crate::traffic::Traffic;
use mpps_method::FrameSpec;
use mpps_method::simulate::Properties;
use mpps_method::{Accept, Resolution, SearchPlan, Span};
use mpps_record::{self as record, SeriesEnd};
use std::io;

#[derive(Default)]
struct Seen {
    curves: Vec<CurveLine>,
    trials: u32,
    fails_at: u32,
}

impl Observer for Seen {
    fn trial(&mut self, report: &Report<'_>) -> io::Result<()> {
        assert_eq!(report.phase, Phase::Loss);
        self.trials = report.number;
        match report.number == self.fails_at {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => Ok(()),
        }
    }

    fn last_number(&self) -> u32 {
        self.trials
    }
}

impl ResultObserver<CurveLine> for Seen {
    fn result(&mut self, curve: &CurveLine) -> io::Result<()> {
        self.curves.push(curve.clone());
        Ok(())
    }
}

fn plan(step: f64, maximum: Option<Rate>) -> LossPlan {
    let trial = Span::from_millis(1_000);
    LossPlan {
        measurement: ThroughputPlan {
            sizes: FrameSpec::parse_list("64").expect("a size"),
            traffic: Traffic::default(),
            port: None,
            search: SearchPlan::Bisection {
                trial,
                resolution: Resolution::Fraction(1.0),
                trials_per_load: 1,
                accept: Accept::All,
            },
            warm_up: Span::ZERO,
            minimum: Rate::ZERO,
            maximum,
            link: Link::NOTIONAL,
            budget: None,
            receiver: None,
        },
        step,
        passed: None,
    }
}

/// A router that loses what exceeds its capacity, before a tester of 1 Mfps.
fn router(capacity: f64) -> Properties {
    Properties {
        tester_ceiling: Some(Rate::from_fps(1e6)),
        ..Properties::ideal(Rate::from_fps(capacity))
    }
}

fn curve(router: Properties, plan: &LossPlan) -> (CurveLine, u32) {
    let mut seen = Seen::default();
    let error = measure(UnderTest::Simulated(router), plan, &mut seen);
    assert!(error.is_none(), "{error:?}");
    (seen.curves.remove(0), seen.trials)
}

/// Each load in percent, with `.` for lossless, `x` for lossy, `?` for not measured.
fn series(curve: &CurveLine) -> String {
    let word = |load: &CurvePoint| {
        let mark = match load.verdict {
            record::Verdict::Lossless => '.',
            record::Verdict::Lossy => 'x',
            _ => '?',
        };
        format!("{:.0}{mark}", load.load_share * 100.0)
    };
    curve.loads.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn it_ends_after_two_lossless_loads_in_a_row() {
    let (found, trials) = curve(router(650e3), &plan(0.1, None));
    assert_eq!(series(&found), "100x 90x 80x 70x 60. 50.");
    assert_eq!((found.end, trials), (SeriesEnd::TwoLossless, 6));
    let measured = found.loads[0].measured.as_ref().expect("it counts");
    assert!((measured.loss_ratio - 0.35).abs() < 1e-3);
    assert_eq!(found.highest_fps, Some(1_000_000));
    let limit = found.highest_limited_by;
    assert_eq!(limit, Some(record::LimitedBy::Tester));
}

#[test]
fn a_router_without_loss_takes_two_loads() {
    let (found, _) = curve(router(2e6), &plan(0.1, None));
    assert_eq!(series(&found), "100. 90.");
    assert_eq!(found.end, SeriesEnd::TwoLossless);
}

#[test]
fn a_router_that_always_loses_ends_at_the_step() {
    let leaky = Properties {
        random_loss: 0.01,
        ..router(2e6)
    };
    let (found, _) = curve(leaky, &plan(0.1, None));
    assert!(series(&found).ends_with(" 20x 10x"), "{}", series(&found));
    assert_eq!(found.end, SeriesEnd::LowestLoad);
    assert_eq!(found.loads.len(), 10);
}

#[test]
fn a_void_load_is_shown_and_ends_nothing() {
    let stalling = Properties {
        stall: Span::from_millis(600),
        stall_chance: 0.5,
        ..router(650e3)
    };
    // Chance by seed: one in sixteen loads is void four times.
    let found = (1..200).find_map(|seed| {
        let (found, trials) = curve(Properties { seed, ..stalling }, &plan(0.1, None));
        series(&found).contains("?").then_some((found, trials))
    });
    let (found, trials) = found.expect("a void load");
    let void = found.loads.iter().map(|load| load.void_trials).sum::<u32>();
    assert_eq!(trials, found.loads.len() as u32 + void);
    let is_void = |load: &&CurvePoint| load.verdict == record::Verdict::Void;
    assert!(
        found
            .loads
            .iter()
            .filter(is_void)
            .all(|load| load.void_trials == REPEATS)
    );
    assert!(
        found.loads.last().is_some_and(|last| !is_void(&last))
            || found.end == SeriesEnd::LowestLoad
    );
}

#[test]
fn only_void_loads_are_no_measurement() {
    let stalling = Properties {
        stall: Span::from_millis(600),
        stall_chance: 1.0,
        ..router(650e3)
    };
    let (found, trials) = curve(stalling, &plan(0.1, None));
    assert_eq!(series(&found).matches('?').count(), 10);
    assert_eq!((found.end, trials), (SeriesEnd::LowestLoad, 40));
}

#[test]
fn the_highest_load_may_be_the_users() {
    let maximum = Some(Rate::from_fps(500e3));
    let (found, _) = curve(router(650e3), &plan(0.1, maximum));
    assert_eq!(found.highest_fps, Some(500_000));
    assert_eq!(series(&found), "100. 90.");
    let limit = found.highest_limited_by;
    assert_eq!(limit, Some(record::LimitedBy::MaxRate));
}

#[test]
fn steps_are_of_the_highest_load() {
    let percents = |step| {
        let plan = plan(step, None);
        let shares = plan.shares().map(|share| (share * 100.0).round());
        shares.collect::<Vec<_>>()
    };
    assert_eq!(percents(0.1).len(), 10);
    assert_eq!(percents(0.1).last(), Some(&10.0));
    assert_eq!(percents(0.07).last(), Some(&9.0));
    assert_eq!(percents(0.01).len(), 100);
}

#[test]
fn loads_before_an_error_are_kept() {
    let mut seen = Seen {
        fails_at: 3,
        ..Seen::default()
    };
    let error = measure(
        UnderTest::Simulated(router(650e3)),
        &plan(0.1, None),
        &mut seen,
    );
    assert!(matches!(error, Some(JobError::Record(_))), "{error:?}");
    let [found] = &seen.curves[..] else {
        panic!("one curve");
    };
    assert_eq!(series(found), "100x 90x");
    assert_eq!(found.end, SeriesEnd::CutShort);
    assert!(found.why.is_some());
}

#[test]
fn a_spent_budget_leaves_one_load() {
    let spent = Deadline::after(Some(Span::ZERO));
    let plan = plan(0.1, None);
    let mut seen = Seen::default();
    let error = sizes::fill_each(&plan.measurement, &mut seen, |frames, curve, trials| {
        let at = Overloaded {
            measurer: &mut SimulatedPair::new(frames.clone(), router(650e3)),
            saturated: saturation::simulate(&router(650e3)),
            deadline: spent,
            trials,
        };
        descend(at, &plan, curve)
    });
    assert!(error.is_none());
    assert_eq!(series(&seen.curves[0]), "100x");
    assert_eq!(seen.curves[0].end, SeriesEnd::Budget);
}

#[test]
fn a_curve_has_the_doubts_of_its_bed_and_trials() {
    let names = |capacity| {
        let (found, _) = curve(router(capacity), &plan(0.1, None));
        let names = found.doubts.into_iter().map(|doubt| doubt.name);
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(650e3), ["short-trial", "simulated"]);
    let near = ["short-trial", "tester-near-ceiling", "simulated"];
    assert_eq!(names(2e6), near);
}
