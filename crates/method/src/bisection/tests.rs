use super::*;
use crate::attempts::VOIDS_IN_ROW_MAX;
use crate::goal::{Ceiling, Resolution};
use crate::reason::Void;
use crate::simulate::{Properties, Simulated, run};
use crate::units::Span;
use crate::verdict::Rules;

mod golden;
mod laws;

const SECOND: Span = Span::from_millis(1_000);
const VOID: Verdict = Verdict::Void(Void::Disturbed {
    cpu: 1,
    culprit: None,
    longest: Span::from_millis(30),
    share: 0.6,
    bound: 0.5,
});
const NOT_OFFERED: Verdict = Verdict::NotOffered(Shortfall::LostAtReceiver(1));
const INVALID: Verdict = Verdict::Invalid(Invalid::SenderDidNotEnd);
const LOSSY: Verdict = Verdict::Lossy { lost: 1 };

fn kfps(rate: f64) -> Rate {
    Rate::from_fps(rate * 1e3)
}

/// 10 kfps to 1.6 Mfps in trials of 1 s, one a load, to 1 %.
fn goal() -> Goal {
    Goal {
        trial: SECOND,
        resolution: Resolution::Fraction(0.01),
        trials_per_load: 1,
        accept: Accept::All,
        maximum: Ceiling::Tester(kfps(1_600.0)),
        minimum: kfps(10.0),
    }
}

/// Answers each offer in turn; returns the loads offered (kfps) and what comes next.
fn driven(goal: Goal, verdicts: &[Verdict]) -> (Vec<f64>, Step) {
    let mut search = Bisection::new(goal).unwrap();
    let mut offered = Vec::new();
    for verdict in verdicts {
        let Step::Offer(offer) = search.next() else {
            panic!("over after {offered:?}: {:?}", search.next())
        };
        assert_eq!(offer.duration, goal.trial);
        offered.push(offer.rate.fps() / 1e3);
        search.learn(verdict, &Counts::default());
    }
    (offered, search.next())
}

fn next_kfps(step: &Step) -> f64 {
    let Step::Offer(offer) = step else {
        panic!("over: {step:?}")
    };
    offer.rate.fps() / 1e3
}

fn outcome(step: Step) -> Outcome {
    let Step::Done(results) = step else {
        panic!("not over: {step:?}")
    };
    let [result] = results[..] else {
        panic!("one result: {results:?}")
    };
    result.outcome
}

#[test]
fn the_first_load_is_the_maximum_then_halves() {
    let (offered, next) = driven(goal(), &[LOSSY, LOSSY, Verdict::Lossless]);
    assert_eq!(offered, [1_600.0, 805.0, 407.5]);
    assert_eq!(next_kfps(&next), 606.25);
}

#[test]
fn asking_again_changes_nothing() {
    let mut search = Bisection::new(goal()).unwrap();
    assert_eq!(search.next(), search.next());
    search.learn(&Verdict::Lossless, &Counts::default());
    let end = search.next();
    search.learn(&LOSSY, &Counts::default());
    assert_eq!(
        search.next(),
        end,
        "what is learnt after the end is ignored"
    );
}

#[test]
fn any_of_three_decides_as_soon_as_it_is_certain() {
    let goal = Goal {
        trials_per_load: 3,
        accept: Accept::Any,
        ..goal()
    };
    let (offered, _) = driven(
        goal,
        &[LOSSY, LOSSY, LOSSY, LOSSY, Verdict::Lossless, LOSSY],
    );
    assert_eq!(offered, [1_600.0, 1_600.0, 1_600.0, 805.0, 805.0, 1_202.5]);
    let (_, next) = driven(goal, &[LOSSY, LOSSY, Verdict::Lossless]);
    assert!(matches!(
        outcome(next),
        Outcome::Found {
            limited_by: LimitedBy::Tester,
            lossy: None,
            trials: 3,
            ..
        }
    ));
}

#[test]
fn all_of_three_decides_as_soon_as_it_is_certain() {
    let goal = Goal {
        trials_per_load: 3,
        ..goal()
    };
    let (offered, _) = driven(goal, &[Verdict::Lossless, LOSSY, LOSSY, Verdict::Lossless]);
    assert_eq!(offered, [1_600.0, 1_600.0, 805.0, 407.5]);
    let (_, next) = driven(goal, &[Verdict::Lossless; 3]);
    assert!(matches!(outcome(next), Outcome::Found { trials: 3, .. }));
}

#[test]
fn a_void_trial_is_run_again_and_counted() {
    // One of at least eight.
    let mut verdicts = vec![LOSSY, VOID];
    verdicts.extend([LOSSY, Verdict::Lossless].repeat(20));
    let mut search = Bisection::new(goal()).unwrap();
    let mut verdicts = verdicts.into_iter();
    let mut offered = Vec::new();
    let end = loop {
        match search.next() {
            Step::Done(results) => break results[0].outcome,
            Step::Offer(offer) => offered.push(offer.rate.fps() / 1e3),
        }
        search.learn(&verdicts.next().unwrap(), &Counts::default());
    };
    assert_eq!(offered[..3], [1_600.0, 805.0, 805.0]);
    let Outcome::Found { trials, voided, .. } = end else {
        panic!("{end:?}")
    };
    assert_eq!((trials as usize, voided), (offered.len(), 1));
}

#[test]
fn voids_do_not_take_an_answer_away() {
    let most = VOIDS_IN_ROW_MAX as usize;
    let mut verdicts = vec![VOID; most];
    verdicts.push(Verdict::Lossless);
    let Outcome::Found { voided, trials, .. } = outcome(driven(goal(), &verdicts).1) else {
        panic!("a load passed")
    };
    assert_eq!((voided, trials), (VOIDS_IN_ROW_MAX, VOIDS_IN_ROW_MAX + 1));
    // Too many in a row end the search: without an answer only where there is none.
    let (_, next) = driven(goal(), &vec![VOID; most + 1]);
    let Outcome::CouldNotMeasure { why, .. } = outcome(next) else {
        panic!("all were voided")
    };
    assert_eq!(
        why.to_string(),
        "31 trials in a row were void: stop what disturbs them, or run again when the machine is quieter. The last \
         was void because 60 % of the trial was disturbed (bound 50 %): CPU 1 stood still or was slow for up to 30 ms"
    );
    let mut verdicts = vec![LOSSY, Verdict::Lossless];
    verdicts.extend(vec![VOID; most + 1]);
    let end = outcome(driven(goal(), &verdicts).1);
    let Outcome::Found {
        lossless,
        lossy,
        limited_by,
        ..
    } = end
    else {
        panic!("{end:?}")
    };
    assert_eq!((lossless, lossy), (kfps(805.0), Some(kfps(1_600.0))));
    assert_eq!(limited_by, LimitedBy::Disturbed);
}

#[test]
fn what_is_known_is_told_at_any_time() {
    let mut search = Bisection::new(Goal {
        trials_per_load: 3,
        ..goal()
    })
    .unwrap();
    let told = |search: &Bisection| search.found_so_far()[0];
    assert!(matches!(
        told(&search).outcome,
        Outcome::CouldNotMeasure { .. }
    ));
    search.learn(&LOSSY, &Counts::default());
    let lowest = kfps(1_600.0);
    assert!(
        matches!(told(&search).outcome, Outcome::NoneLossless { lowest: at, .. } if at == lowest)
    );
    assert_eq!(told(&search).irregular, Some(Irregular::EndedEarly));
    // One good trial of the three that the load takes.
    search.learn(&Verdict::Lossless, &Counts::default());
    let result = told(&search);
    let Outcome::Found {
        lossless, lossy, ..
    } = result.outcome
    else {
        panic!("{result:?}")
    };
    assert_eq!((lossless, lossy), (kfps(805.0), Some(lowest)));
    assert_eq!(result.irregular, Some(Irregular::Unconfirmed));
    assert_eq!(result.passes.to_string(), "lossless in 1 of 1");
    for _ in 0..2 {
        search.learn(&Verdict::Lossless, &Counts::default());
    }
    let result = told(&search);
    assert_eq!(result.irregular, Some(Irregular::OutOfTrials));
    assert_eq!(result.passes.to_string(), "lossless in 3 of 3");
}

#[test]
fn voids_without_end_do_end() {
    let mut search = Bisection::new(goal()).unwrap();
    let mut trials = 0;
    while let Step::Offer(_) = search.next() {
        search.learn(&VOID, &Counts::default());
        trials += 1;
        assert!(trials < 200);
    }
    let end = outcome(search.next());
    let Outcome::CouldNotMeasure {
        why: CouldNotMeasure::TooManyVoided { .. },
        ..
    } = end
    else {
        panic!("{end:?}")
    };
}

#[test]
fn a_load_not_offered_twice_is_the_testers_limit() {
    let (offered, next) = driven(goal(), &[NOT_OFFERED, NOT_OFFERED, Verdict::Lossless]);
    assert_eq!(offered, [1_600.0, 1_600.0, 805.0]);
    assert_eq!(next_kfps(&next), 1_202.5);
    // Offered at the second attempt: it counts.
    let (_, next) = driven(goal(), &[NOT_OFFERED, Verdict::Lossless]);
    assert!(matches!(
        outcome(next),
        Outcome::Found {
            limited_by: LimitedBy::Tester,
            ..
        }
    ));
    // Below a load the DUT failed: what bounds the result now is the tester alone, if a disturbed one.
    let coarse = Goal {
        resolution: Resolution::Fraction(0.6),
        ..goal()
    };
    let (_, next) = driven(
        coarse,
        &[LOSSY, NOT_OFFERED, NOT_OFFERED, Verdict::Lossless],
    );
    let end = outcome(next);
    assert!(
        matches!(
            end,
            Outcome::Found {
                lossy: None,
                limited_by: LimitedBy::Disturbed,
                ..
            }
        ),
        "{end:?}"
    );
    // Where any of three decides, three must fail to be offered too.
    let any = Goal {
        trials_per_load: 3,
        accept: Accept::Any,
        ..goal()
    };
    let slow = [NOT_OFFERED, NOT_OFFERED, NOT_OFFERED, LOSSY];
    let (offered, _) = driven(any, &slow);
    assert_eq!(offered[2..], [1_600.0, 805.0]);
}

#[test]
fn three_not_offered_do_not_beat_two_lossy() {
    let any = Goal {
        trials_per_load: 3,
        accept: Accept::Any,
        resolution: Resolution::Fraction(0.6),
        ..goal()
    };
    let slow = [LOSSY, NOT_OFFERED, LOSSY, NOT_OFFERED, NOT_OFFERED];
    let (_, next) = driven(any, &[&slow[..], &[Verdict::Lossless]].concat());
    let end = outcome(next);
    assert!(
        matches!(
            end,
            Outcome::Found {
                lossy: Some(_),
                limited_by: LimitedBy::Dut,
                ..
            }
        ),
        "{end:?}"
    );
}

#[test]
fn a_limit_far_below_the_ceiling_is_disturbance() {
    let coarse = Goal {
        resolution: Resolution::Fraction(0.3),
        ..goal()
    };
    let limit = |verdicts: &[Verdict]| match outcome(driven(coarse, verdicts).1) {
        Outcome::Found { limited_by, .. } => limited_by,
        other => panic!("{other:?}"),
    };
    let (no, yes) = (NOT_OFFERED, Verdict::Lossless);
    assert_eq!(limit(&[no, no, yes, yes]), LimitedBy::Tester);
    assert_eq!(limit(&[no, no, yes, no, no, yes]), LimitedBy::Disturbed);
}

#[test]
fn the_lowest_load_not_offered_is_no_answer() {
    let low = Goal {
        minimum: kfps(1_600.0),
        ..goal()
    };
    let (_, next) = driven(low, &[NOT_OFFERED, NOT_OFFERED]);
    let Outcome::CouldNotMeasure { why, .. } = outcome(next) else {
        panic!("nothing was offered")
    };
    assert_eq!(
        why.to_string(),
        "the lowest load, 1.600 Mfps, could not be offered: the tester lost 1 frames at its receiver"
    );
}

#[test]
fn no_evidence_twice_at_a_load_is_no_answer() {
    let (_, next) = driven(goal(), &[LOSSY, INVALID, INVALID]);
    let Outcome::CouldNotMeasure { why, trials: 3, .. } = outcome(next) else {
        panic!("twice invalid")
    };
    assert_eq!(
        why.to_string(),
        "two trials at 805.0 kfps were invalid, the last because the sender was cut short"
    );
    // Once at each of two loads is not twice at one.
    let (_, next) = driven(goal(), &[INVALID, LOSSY, INVALID, LOSSY]);
    assert_eq!(next_kfps(&next), 407.5);
}

#[test]
fn loss_at_every_load_ends_at_the_minimum_itself() {
    let steps = Goal {
        resolution: Resolution::StepFps(400_000.0),
        ..goal()
    };
    let (offered, next) = driven(steps, &[LOSSY, LOSSY, LOSSY]);
    assert_eq!(
        offered,
        [1_600.0, 800.0, 400.0],
        "the first step at or above the minimum"
    );
    let end = outcome(next);
    assert_eq!(
        end,
        Outcome::NoneLossless {
            lowest: kfps(400.0),
            trials: 3,
            voided: 0
        }
    );
}

#[test]
fn one_load_alone_is_a_search_too() {
    let only = Goal {
        minimum: kfps(1_600.0),
        maximum: Ceiling::Link(kfps(1_600.0)),
        ..goal()
    };
    let (_, next) = driven(only, &[Verdict::Lossless]);
    assert!(matches!(
        outcome(next),
        Outcome::Found {
            limited_by: LimitedBy::Link,
            ..
        }
    ));
    let (_, next) = driven(only, &[LOSSY]);
    assert!(matches!(outcome(next), Outcome::NoneLossless { .. }));
}

#[test]
fn a_goal_without_sense_is_refused() {
    assert_eq!(
        Bisection::new(Goal {
            trials_per_load: 0,
            ..goal()
        })
        .unwrap_err(),
        GoalError::NoTrials
    );
}

#[test]
fn loss_verification_repeats_small_losses_only() {
    let verified = Goal {
        trials_per_load: 2,
        accept: Accept::Verified { lost_at_most: 10 },
        ..goal()
    };
    let lost = |lost| Verdict::Lossy { lost };
    // Ten may be a passing disturbance, eleven are not.
    let (offered, next) = driven(verified, &[lost(10), lost(10), lost(11)]);
    assert_eq!(offered, [1_600.0, 1_600.0, 805.0]);
    assert_eq!(next_kfps(&next), 407.5);
    let (_, next) = driven(verified, &[lost(10), Verdict::Lossless]);
    assert!(matches!(outcome(next), Outcome::Found { trials: 2, .. }));
}
