//! What the search does with each verdict, one at a time.

use super::*;
use crate::reason::Void;

const VOID: Verdict = Verdict::Void(Void::Steal {
    cpu: 1,
    share: 0.1,
    bound: 0.02,
});
const NOT_OFFERED: Verdict = Verdict::NotOffered(Shortfall::LostAtReceiver(1));
const INVALID: Verdict = Verdict::Invalid(Invalid::SenderDidNotEnd);

/// Of a trial that sent a thousand frames and lost so many.
fn lost(lost: u64) -> (Verdict, Counts) {
    let counts = Counts {
        sent: 1_000,
        lost,
        received: 1_000 - lost,
        ..Counts::default()
    };
    (Verdict::Lossy { lost }, counts)
}

fn said(verdict: Verdict) -> (Verdict, Counts) {
    let counts = Counts {
        sent: 1_000,
        received: 1_000,
        ..Counts::default()
    };
    (verdict, counts)
}

/// Loads offered (kfps) as these were answered, and what comes next.
fn driven(plan: MlrPlan, answers: &[(Verdict, Counts)]) -> (Vec<f64>, Step) {
    let mut search = Mlr::new(plan).expect("a plan");
    let mut offered = Vec::new();
    for (verdict, counts) in answers {
        let Step::Offer(offer) = search.next() else {
            panic!("over after {offered:?}: {:?}", search.next())
        };
        offered.push((offer.rate.fps() / 100.0).round() / 10.0);
        search.learn(verdict, counts);
    }
    (offered, search.next())
}

fn results(step: Step) -> Vec<GoalResult> {
    let Step::Done(results) = step else {
        panic!("not over: {step:?}")
    };
    results
}

#[test]
fn what_came_back_of_the_highest_load_is_offered_next() {
    let (offered, _) = driven(plan(Preset::Quick), &[lost(500), lost(10)]);
    assert_eq!(offered, [1_600.0, 800.0]);
    // A goal that allows loss may lose its share of that again.
    let pdr = MlrPlan {
        goals: vec![Preset::Quick.goal(0.2)],
        ..plan(Preset::Quick)
    };
    assert_eq!(driven(pdr, &[lost(500), lost(0)]).0, [1_600.0, 1_000.0]);
}

#[test]
fn the_highest_load_passing_is_the_end_and_irregular() {
    let (_, next) = driven(plan(Preset::Quick), &[said(Verdict::Lossless); 3]);
    let [result] = results(next)[..] else {
        panic!("one goal")
    };
    assert_eq!(result.irregular, Some(Irregular::NoUpperBound));
    let Outcome::Found {
        lossless,
        lossy: None,
        limited_by: LimitedBy::Tester,
        ..
    } = result.outcome
    else {
        panic!("{result:?}")
    };
    assert_eq!(lossless, kfps(1_600.0));
}

#[test]
fn a_disturbed_trial_uses_up_no_allowed_trial() {
    let one = MlrPlan {
        trials_at_most: 1,
        ..plan(Preset::Quick)
    };
    let (offered, next) = driven(one, &[said(VOID), said(VOID), said(Verdict::Lossless)]);
    assert_eq!(offered, [1_600.0; 3]);
    let result = results(next)[0];
    assert!(
        matches!(
            result.outcome,
            Outcome::Found {
                trials: 3,
                voided: 2,
                ..
            }
        ),
        "{result:?}"
    );
}

/// A tester that fails every other trial takes none of the DUT's trials, and no result from it.
#[test]
fn a_load_not_offered_uses_up_no_allowed_trial() {
    let ends = |fails: bool, trials_at_most: u32| {
        let mut search = Mlr::new(MlrPlan {
            trials_at_most,
            ..plan(Preset::Quick)
        })
        .expect("a plan");
        let mut pair = Simulated::new(Properties {
            noise: 0.05,
            seed: 3,
            ..Properties::ideal(kfps(777.0))
        });
        let (mut judged, mut failed) = (0_u32, 0_u32);
        while let Step::Offer(offer) = search.next() {
            if fails && failed <= judged {
                failed += 1;
                search.learn(&NOT_OFFERED, &Counts::default());
                continue;
            }
            judged += 1;
            let trial = pair.trial(&offer);
            search.learn(&trial.judge(&Rules::default()), &trial.counts());
        }
        (judged, failed, results(search.next())[0])
    };
    let (judged, none, wanted) = ends(false, 15);
    // Allowed no more than it needs, of which failures would leave half.
    let (too, failed, found) = ends(true, judged);
    assert_eq!((none, too), (0, judged));
    assert!(judged > 3 && failed >= judged, "{judged} {failed}");
    let bounds = |result: &GoalResult| match result.outcome {
        Outcome::Found {
            lossless, lossy, ..
        } => (lossless, lossy),
        _ => panic!("{result:?}"),
    };
    assert_eq!(bounds(&found), bounds(&wanted));
}

#[test]
fn a_very_slow_tester_ends_the_search() {
    let mut search = Mlr::new(MlrPlan {
        trials_at_most: 4,
        ..plan(Preset::Quick)
    })
    .expect("a plan");
    let mut trials = 0;
    while let Step::Offer(_) = search.next() {
        // Never three in a row at a load, so that no limit is found.
        let (verdict, counts) = if trials % 3 == 2 {
            lost(10)
        } else {
            said(NOT_OFFERED)
        };
        search.learn(&verdict, &counts);
        trials += 1;
        assert!(trials <= 8, "as many again as allowed");
    }
    assert_eq!(trials, 8);
}

#[test]
fn whether_a_disturbed_trial_lost_makes_no_difference() {
    let after = |lost: u64| {
        let mut search = Mlr::new(plan(Preset::Csit)).expect("a plan");
        let mut ideal = Simulated::new(Properties::ideal(kfps(777.0)));
        let mut offers = Vec::new();
        while let Step::Offer(offer) = search.next() {
            let counts = Counts {
                sent: 1_000,
                lost,
                received: 1_000 - lost,
                ..Counts::default()
            };
            // Every fourth trial is disturbed.
            if offers.len() % 4 == 3 {
                search.learn(&VOID, &counts);
            } else {
                let trial = ideal.trial(&offer);
                search.learn(&trial.judge(&Rules::default()), &trial.counts());
            }
            offers.push(offer);
        }
        (offers, search.next())
    };
    assert_eq!(after(0), after(1_000));
}

#[test]
fn voids_without_end_do_end() {
    const ENOUGH: u32 = crate::attempts::VOIDS_IN_ROW_MAX + 1;
    let (_, next) = driven(plan(Preset::Csit), &[said(VOID); ENOUGH as usize]);
    for result in results(next) {
        let Outcome::CouldNotMeasure {
            why: CouldNotMeasure::TooManyVoided { .. },
            voided: ENOUGH,
            ..
        } = result.outcome
        else {
            panic!("{result:?}")
        };
    }
}

#[test]
fn a_load_not_offered_is_the_testers_limit() {
    let carried = |sent| {
        let counts = Counts {
            intended: 1_600_000,
            sent,
            received: sent,
            ..Counts::default()
        };
        (NOT_OFFERED, counts)
    };
    // What the tester carried of it comes next.
    let answers = [carried(900_000), carried(1_000_000), carried(700_000)];
    let (offered, next) = driven(plan(Preset::Quick), &answers);
    assert_eq!(offered, [1_600.0; 3]);
    let Step::Offer(offer) = next else {
        panic!("{next:?}")
    };
    assert_eq!(offer.rate, kfps(1_000.0));
    // So it does where trials were cut short: what came of the slots that passed.
    let counts = Counts {
        intended: 16_000,
        sent: 15_000,
        received: 12_000,
        ..Counts::default()
    };
    let (offered, next) = driven(plan(Preset::Quick), &[(NOT_OFFERED, counts); 3]);
    assert_eq!(offered, [1_600.0; 3]);
    let Step::Offer(offer) = next else {
        panic!("{next:?}")
    };
    assert_eq!(offer.rate, kfps(1_200.0));
    // One that is offered at last starts the count anew.
    let (no, yes) = (said(NOT_OFFERED), said(Verdict::Lossless));
    let (offered, next) = driven(plan(Preset::Quick), &[no, no, yes, no, no, yes, yes]);
    assert_eq!(offered, [1_600.0; 7]);
    assert!(matches!(
        results(next)[0].outcome,
        Outcome::Found { lossy: None, .. }
    ));
}

/// A plan whose loads are decided by one trial, found to 10 %.
fn coarse() -> MlrPlan {
    let goal = SearchGoal {
        duration_sum: seconds(1.0),
        width: 0.1,
        ..Preset::Quick.goal(0.0)
    };
    MlrPlan {
        goals: vec![goal],
        ..plan(Preset::Quick)
    }
}

/// Drives the coarse plan against a tester that offers no load above this, until trial `heals`.
fn limited_tester(offers_at_most: Rate, heals: usize) -> (Vec<f64>, GoalResult) {
    let mut search = Mlr::new(coarse()).expect("a plan");
    let mut offered = Vec::new();
    while let Step::Offer(offer) = search.next() {
        offered.push(offer.rate.fps() / 1e3);
        let fails = offer.rate > offers_at_most && offered.len() <= heals;
        let (verdict, counts) = said(if fails {
            NOT_OFFERED
        } else {
            Verdict::Lossless
        });
        search.learn(&verdict, &counts);
    }
    (offered, results(search.next())[0])
}

fn limited_by(result: &GoalResult) -> LimitedBy {
    match result.outcome {
        Outcome::Found { limited_by, .. } => limited_by,
        _ => panic!("{result:?}"),
    }
}

#[test]
fn a_limit_is_tried_once_more_and_may_be_lifted() {
    // As long as it lasts, the last trial is at the limit again.
    let (offered, result) = limited_tester(kfps(1_500.0), 1_000);
    assert_eq!(limited_by(&result), LimitedBy::Tester);
    let last = *offered.last().expect("trials");
    assert!(last > 1_500.0, "{offered:?}");
    assert_eq!(offered.iter().filter(|&&rate| rate == last).count(), 4);
    // A tester that was slow at the beginning only has no limit at the end.
    let (offered, healed) = limited_tester(kfps(1_000.0), 6);
    assert!(matches!(healed.outcome, Outcome::Found { lossless, .. } if lossless == kfps(1_600.0)));
    assert_eq!(offered.last(), Some(&1_600.0));
}

#[test]
fn a_limit_far_below_the_ceiling_is_a_restless_tester() {
    let (_, result) = limited_tester(kfps(1_000.0), 1_000);
    assert_eq!(limited_by(&result), LimitedBy::Disturbed);
}

#[test]
fn a_short_tester_lets_a_load_fail_but_not_pass() {
    let pdr = MlrPlan {
        goals: vec![SearchGoal {
            loss_ratio: 0.1,
            ..coarse().goals[0]
        }],
        ..coarse()
    };
    let short = |lost: u64| {
        let counts = Counts {
            intended: 2_000,
            unsent: 1_000,
            sent: 1_000,
            lost,
            received: 1_000 - lost,
            ..Counts::default()
        };
        let (verdict, _) = self::lost(lost);
        (verdict, counts)
    };
    // 20 % of half the load is too much for the whole load too; 5 % says nothing of it.
    let (offered, _) = driven(pdr.clone(), &[short(200), short(200)]);
    assert!(offered[1] < 1_600.0, "{offered:?}");
    let (offered, _) = driven(pdr, &[short(50), short(50)]);
    assert_eq!(offered, [1_600.0; 2]);
}

#[test]
fn what_is_known_is_told_at_any_time() {
    let mut search = Mlr::new(plan(Preset::Quick)).expect("a plan");
    let told = |search: &Mlr| search.found_so_far()[0];
    let nothing = told(&search);
    assert!(matches!(nothing.outcome, Outcome::CouldNotMeasure { .. }));
    let mut learn = |(verdict, counts): (Verdict, Counts)| {
        search.learn(&verdict, &counts);
        told(&search)
    };
    let lossy = learn(lost(500));
    assert!(
        matches!(lossy.outcome, Outcome::NoneLossless { lowest, .. } if lowest == kfps(1_600.0))
    );
    assert_eq!(lossy.passes.to_string(), "lossless in 0 of 1");
    assert_eq!(lossy.irregular, Some(Irregular::EndedEarly));
    let result = learn(said(Verdict::Lossless));
    let Outcome::Found {
        lossless, lossy, ..
    } = result.outcome
    else {
        panic!("{result:?}")
    };
    assert_eq!((lossless, lossy), (kfps(800.0), Some(kfps(1_600.0))));
    assert_eq!(result.irregular, Some(Irregular::Unconfirmed));
    assert_eq!(result.passes.to_string(), "lossless in 1 of 1");
}

/// A search cut off by its caller or by disturbances has an answer as soon as one trial was judged.
#[test]
fn disturbances_without_end_leave_what_is_known() {
    let mut answers = vec![lost(500), said(Verdict::Lossless)];
    answers.extend([said(VOID); crate::attempts::VOIDS_IN_ROW_MAX as usize + 1]);
    let (_, next) = driven(plan(Preset::Quick), &answers);
    let result = results(next)[0];
    assert_eq!(limited_by(&result), LimitedBy::Disturbed);
    assert_eq!(result.irregular, Some(Irregular::Unconfirmed));
}

#[test]
fn the_lowest_load_not_offered_is_no_answer() {
    let low = MlrPlan {
        minimum: kfps(1_600.0),
        ..plan(Preset::Quick)
    };
    let (_, next) = driven(low, &[said(NOT_OFFERED); 3]);
    let Outcome::CouldNotMeasure { why, .. } = results(next)[0].outcome else {
        panic!("nothing was offered")
    };
    assert_eq!(
        why.to_string(),
        "the lowest load, 1.600 Mfps, could not be offered: the tester lost 1 frames at its receiver"
    );
}

#[test]
fn no_evidence_twice_in_a_row_at_a_load_is_no_answer() {
    let (_, next) = driven(
        plan(Preset::Quick),
        &[lost(500), said(INVALID), said(INVALID)],
    );
    let Outcome::CouldNotMeasure {
        why: CouldNotMeasure::Invalid { rate, .. },
        ..
    } = results(next)[0].outcome
    else {
        panic!("twice invalid")
    };
    assert_eq!(rate, kfps(800.0));
    let between = [said(INVALID), lost(500), said(INVALID)];
    assert!(matches!(
        driven(plan(Preset::Quick), &between).1,
        Step::Offer(_)
    ));
}

#[test]
fn out_of_trials_reports_the_bounds_so_far() {
    let few = MlrPlan {
        trials_at_most: 2,
        ..plan(Preset::Quick)
    };
    let (_, next) = driven(few.clone(), &[lost(500), said(Verdict::Lossless)]);
    let result = results(next)[0];
    // Each load had one trial. A goal that lets half exceed is not decided by that: what these speak for is told.
    let Outcome::Found {
        lossless,
        lossy,
        limited_by: LimitedBy::Trials,
        ..
    } = result.outcome
    else {
        panic!("{result:?}")
    };
    assert_eq!((lossless, lossy), (kfps(800.0), Some(kfps(1_600.0))));
    assert!(result.irregular.is_some());
    assert_eq!(result.passes.to_string(), "lossless in 1 of 1");
    // Trials of 1 s are all there is of a goal that asks for 60 s.
    let few = MlrPlan {
        goals: vec![Preset::Rfc2544.goal(0.0)],
        trials_at_most: 2,
        ..few
    };
    let (_, next) = driven(few, &[lost(500), said(Verdict::Lossless)]);
    let result = results(next)[0];
    assert!(matches!(result.outcome, Outcome::Found { lossless, .. } if lossless == kfps(800.0)));
    assert_eq!(result.irregular, Some(Irregular::Unconfirmed));
    assert_eq!(result.final_trial, seconds(1.0), "the claim's length too");
}

#[test]
fn goals_share_trials_lowest_load_first() {
    let (trials, found) = searched(&plan(Preset::Csit), Properties::ideal(kfps(777.0)));
    let alone: usize = [0.0, 0.005]
        .map(|ratio| {
            let one = MlrPlan {
                goals: vec![Preset::Csit.goal(ratio)],
                ..plan(Preset::Csit)
            };
            searched(&one, Properties::ideal(kfps(777.0))).0.len()
        })
        .iter()
        .sum();
    assert!(trials.len() < alone, "{} of {alone}", trials.len());
    let rate = |result: &GoalResult| match result.outcome {
        Outcome::Found { lossless, .. } => lossless,
        _ => panic!("{result:?}"),
    };
    assert!(rate(&found[0]) <= rate(&found[1]), "{found:?}");
}

#[test]
fn senseless_plans_are_refused() {
    let good = plan(Preset::Quick);
    let goal = good.goals[0];
    let with = |goal| MlrPlan {
        goals: vec![goal],
        ..good.clone()
    };
    let refused = [
        MlrPlan {
            goals: Vec::new(),
            ..good.clone()
        },
        MlrPlan {
            goals: vec![goal, goal],
            ..good.clone()
        },
        MlrPlan {
            minimum: kfps(2_000.0),
            ..good.clone()
        },
        MlrPlan {
            minimum: Rate::ZERO,
            ..good.clone()
        },
        MlrPlan {
            trials_at_most: 0,
            ..good.clone()
        },
        with(SearchGoal {
            loss_ratio: 1.0,
            ..goal
        }),
        with(SearchGoal {
            loss_ratio: f64::NAN,
            ..goal
        }),
        with(SearchGoal {
            exceed_ratio: -0.1,
            ..goal
        }),
        with(SearchGoal { width: 0.0, ..goal }),
        with(SearchGoal {
            initial_trial: seconds(1.5),
            ..goal
        }),
        with(SearchGoal {
            duration_sum: seconds(0.5),
            ..goal
        }),
    ];
    for plan in refused {
        let error = Mlr::new(plan.clone()).expect_err("senseless");
        assert!(!error.to_string().contains('\n'), "{plan:?}");
    }
}

#[test]
fn goals_have_their_dense_code() {
    assert_eq!(Preset::Rfc2544.goal(0.0).code(), "60f60d0l0e");
    assert_eq!(Preset::Csit.goal(0.005).code(), "1f21d0.5l50e");
    assert_eq!(Preset::Csit.goal(0.005).to_string(), "pdr 0.5 %");
    assert_eq!(Preset::Quick.goal(0.0).to_string(), "ndr");
}

#[test]
fn a_later_stage_doubles_its_steps_after_three() {
    let plan = MlrPlan {
        start: Some(kfps(500.0)),
        trials_at_most: 60,
        ..plan(Preset::Quick)
    };
    // Once the first stage has its bounds, all passes: the router became faster.
    let mut answers = vec![said(Verdict::Lossless), lost(10)];
    answers.extend([said(Verdict::Lossless); 16]);
    let (offered, _) = driven(plan, &answers);
    let later = &offered[2..];
    let step = 1.0 / 0.98_f64;
    let steps = later.iter().map(|load| (load / later[0]).ln() / step.ln());
    let mut steps: Vec<f64> = steps.map(f64::round).collect();
    steps.dedup();
    assert_eq!(steps, [0.0, 1.0, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0]);
}

#[test]
fn nothing_passed_leads_to_lower_loads() {
    let after = |verdicts: &[(Verdict, Counts)]| {
        let mut search = Mlr::new(plan(Preset::Quick)).expect("a plan");
        for (verdict, counts) in verdicts {
            assert!(matches!(search.next(), Step::Offer(_)));
            search.learn(verdict, counts);
        }
        let mut lower = || {
            let offer = search.offer_lower();
            let (verdict, counts) = lost(10);
            search.learn(&verdict, &counts);
            offer.map(|offer| offer.rate.fps() / 1.6e6)
        };
        [lower(), lower(), lower()]
    };
    let near = |found: [Option<f64>; 3]| {
        let wanted = [0.7, 0.35, 0.175];
        let mut both = found.into_iter().zip(wanted);
        both.all(|(one, wanted)| one.is_some_and(|one| (one - wanted).abs() < 1e-6))
    };
    assert!(near(after(&[lost(1)])), "1.6 Mfps lost a little");
    assert!(near(after(&[lost(990)])), "or much");
    assert!(
        near(after(&[lost(1), said(VOID)])),
        "void trials are repeated"
    );
}

#[test]
fn a_void_trial_at_a_lower_load_is_repeated() {
    let mut search = Mlr::new(MlrPlan {
        minimum: kfps(1_200.0),
        ..plan(Preset::Quick)
    })
    .expect("a plan");
    let (verdict, counts) = lost(10);
    search.learn(&verdict, &counts);
    // The lowest allowed, too.
    for (verdict, counts) in [said(VOID), said(VOID), lost(10)] {
        let lower = search.offer_lower().expect("a load");
        assert_eq!(lower.rate, kfps(1_200.0));
        search.learn(&verdict, &counts);
    }
    assert_eq!(search.offer_lower(), None);
}

#[test]
fn a_lucky_trial_above_a_failure_is_none() {
    let mut search = Mlr::new(plan(Preset::Quick)).expect("a plan");
    let mut learn = |rate: f64, (verdict, counts): (Verdict, Counts)| {
        let duration = seconds(1.0);
        search.now = Some(Offer::new(kfps(rate), duration));
        search.learn(&verdict, &counts);
        search.offer_lower()
    };
    assert!(learn(1_000.0, lost(10)).is_some());
    // Once against once says nothing, twice does.
    assert!(learn(1_100.0, said(Verdict::Lossless)).is_some());
    assert!(learn(1_200.0, said(Verdict::Lossless)).is_none());
    assert!(learn(1_050.0, lost(10)).is_some());
    // If nothing lower passes, the lowest load with a lossless trial is told.
    let found = search.found_so_far()[0];
    assert!(
        matches!(found.outcome, Outcome::Found { lossless, .. } if lossless == kfps(1_100.0)),
        "{found:?}"
    );
    assert_eq!(found.irregular, Some(Irregular::Unconfirmed));
}

#[test]
fn one_early_failure_outweighs_no_later_passes() {
    let found = |trials: &[(f64, bool)]| {
        let mut search = Mlr::new(plan(Preset::Quick)).expect("a plan");
        for &(rate, passes) in trials {
            let (verdict, counts) = match passes {
                true => said(Verdict::Lossless),
                false => lost(10),
            };
            search.now = Some(Offer::new(kfps(rate), seconds(1.0)));
            search.learn(&verdict, &counts);
        }
        match search.found_so_far()[0].outcome {
            Outcome::Found { lossless, .. } => lossless.fps() / 1e3,
            outcome => panic!("{outcome:?}"),
        }
    };
    // Two failures while the machine was slow, then six passes above the lower one.
    let early = [(1_355.0, false), (1_123.0, false), (973.0, true)];
    let later = [1_133.0, 1_133.0, 1_221.0, 1_221.0, 1_418.0, 1_418.0].map(|rate| (rate, true));
    let trials = [&early[..], &later].concat();
    assert_eq!(found(&trials).round(), 1_221.0);
    // A third pass speaks for the highest.
    let three = [&trials[..], &[(1_418.0, true)]].concat();
    assert_eq!(found(&three).round(), 1_418.0);
    // Half of its own trials must pass.
    let trials = [
        &trials[..],
        &[(1_221.0, false), (1_221.0, false), (1_221.0, false)],
    ]
    .concat();
    assert_eq!(found(&trials).round(), 1_133.0);
}
