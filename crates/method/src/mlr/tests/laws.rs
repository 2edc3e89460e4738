//! Laws that hold for every goal and router, tried on random ones.

use super::*;
use crate::mlr::goal::Stage;
use crate::mlr::load::{Bound, Load};
use proptest::prelude::*;

/// Frames at the smallest load at which one could be lost within a trial by rounding alone.
const ROUNDING_FRAMES: f64 = 1.5;

prop_compose! {
    fn goals()(
        loss_ratio in prop_oneof![2 => Just(0.0), 1 => 1e-4..0.1],
        exceed_ratio in prop_oneof![2 => Just(0.0), 1 => Just(0.5), 1 => 0.01..0.9],
        initial in 0.1..1.0,
        longer in 1.0..4.0,
        times in 1.0..8.0,
        width in 0.001..0.1,
    ) -> SearchGoal {
        SearchGoal {
            loss_ratio,
            exceed_ratio,
            initial_trial: seconds(initial),
            final_trial: seconds(initial * longer),
            duration_sum: seconds(initial * longer * times),
            width,
        }
    }
}

prop_compose! {
    fn plans()(
        goals in prop::collection::vec(goals(), 1..4),
        maximum in 100_000.0..10e6,
        minimum in 1_000.0..20_000.0,
        link in any::<bool>(),
        start in prop_oneof![Just(None), (500.0..12e6).prop_map(Some)],
    ) -> MlrPlan {
        let maximum = Rate::from_fps(maximum);
        MlrPlan {
            goals,
            maximum: if link { Ceiling::Link(maximum) } else { Ceiling::Tester(maximum) },
            minimum: Rate::from_fps(minimum),
            start: start.map(Rate::from_fps),
            trials_at_most: TRIALS_MAX,
        }
    }
}

prop_compose! {
    fn noisy_routers()(
        capacity in 500.0..12e6,
        random_loss in prop_oneof![Just(0.0), 1e-8..1e-4],
        ring in 0_u64..10_000,
        noise in prop_oneof![Just(0.0), 0.0..0.2],
        stall_chance in 0.0..0.1,
        pause_chance in 0.0..0.3,
        tester in prop_oneof![3 => Just(None), 1 => (100_000.0..5e6).prop_map(|fps| Some(Rate::from_fps(fps)))],
        seed in any::<u64>(),
    ) -> Properties {
        Properties {
            ring,
            random_loss,
            noise,
            stall_chance,
            stall: Span::from_millis(8),
            pause_chance,
            pause: Span::from_millis(20),
            tester_ceiling: tester,
            seed,
            ..Properties::ideal(Rate::from_fps(capacity))
        }
    }
}

fn verdicts() -> impl Strategy<Value = (Verdict, u64)> {
    let void = crate::reason::Void::Steal {
        cpu: 0,
        share: 0.5,
        bound: 0.02,
    };
    prop_oneof![
        4 => Just((Verdict::Lossless, 1_000)),
        4 => (1_u64..1_000).prop_map(|lost| (Verdict::Lossy { lost }, 1_000)),
        1 => Just((Verdict::Void(void), 1_000)),
        1 => Just((Verdict::NotOffered(Shortfall::LostAtReceiver(1)), 1_000)),
        1 => Just((Verdict::Invalid(Invalid::SenderDidNotEnd), 0)),
    ]
}

/// Whether a trial says something of the DUT. One in which the tester fell short too can fail a load, but pass none: with
/// little enough loss for a goal it is no evidence.
fn is_evidence(tried: &Tried, goals: &[SearchGoal]) -> bool {
    let counts = tried.trial.undisturbed();
    match tried.verdict {
        Verdict::Lossless => true,
        Verdict::Lossy { lost } => {
            let unsent_max = Rules::default().unsent_max * counts.intended as f64;
            let tester_fell_short = counts.unsent as f64 > unsent_max || counts.lost > lost;
            let ratio = lost as f64 / counts.sent.max(1) as f64;
            !(tester_fell_short && goals.iter().any(|goal| ratio <= goal.loss_ratio))
        }
        _ => false,
    }
}

/// The trials at a load, from the outside.
fn load_of(trials: &[Tried], rate: Rate, goals: &[SearchGoal]) -> Load {
    let mut load = Load::new(rate);
    for tried in trials.iter().filter(|tried| tried.offer.rate == rate) {
        if is_evidence(tried, goals) {
            let loss_ratio = tried.trial.loss_ratio().expect("frames were sent");
            load.add(TrialResult {
                duration: tried.offer.duration,
                loss_ratio,
            });
        }
    }
    load
}

fn lossy_at(trials: &[Tried], rate: Rate) -> bool {
    let lossy = |tried: &Tried| matches!(tried.verdict, Verdict::Lossy { .. });
    trials
        .iter()
        .any(|tried| tried.offer.rate <= rate && lossy(tried))
}

/// The highest load an ideal router passes, frames/s: of what it does not forward a goal may lose its share.
fn truth(capacity: f64, goal: &SearchGoal) -> f64 {
    capacity / (1.0 - goal.loss_ratio)
}

proptest! {
    #[test]
    fn an_ideal_routers_result_is_within_its_width(
        plan in plans(),
        capacity in 500.0..12e6,
    ) {
        prop_assume!(plan.check().is_ok());
        let (_, results) = searched(&plan, Properties::ideal(Rate::from_fps(capacity)));
        for (result, goal) in results.iter().zip(&plan.goals) {
            let rounding = ROUNDING_FRAMES / goal.initial_trial.as_secs_f64();
            let truth = truth(capacity, goal);
            match result.outcome {
                Outcome::Found { lossless, lossy: Some(lossy), limited_by, .. } => {
                    prop_assert_eq!((limited_by, result.irregular), (LimitedBy::Dut, None));
                    prop_assert!(lossless.fps() <= truth + rounding, "{} of {}", lossless.fps(), truth);
                    prop_assert!(lossy.fps() >= truth - rounding, "{} of {}", lossy.fps(), truth);
                    prop_assert!(lossy.fps() - lossless.fps() <= goal.width * lossy.fps());
                }
                Outcome::Found { lossless, lossy: None, limited_by, .. } => {
                    prop_assert_eq!(limited_by, plan.maximum.limited_by());
                    prop_assert_eq!(lossless, plan.maximum.rate());
                    prop_assert!(truth >= lossless.fps() - rounding);
                }
                Outcome::NoneLossless { lowest, .. } => {
                    prop_assert_eq!(lowest, plan.minimum);
                    prop_assert!(truth < lowest.fps() + rounding);
                }
                Outcome::CouldNotMeasure { why, .. } => prop_assert!(false, "{}", why),
            }
        }
    }

    #[test]
    fn without_exceeding_no_reported_load_lost_frames(plan in plans(), router in noisy_routers()) {
        prop_assume!(plan.check().is_ok());
        let (trials, results) = searched(&plan, router);
        for (result, goal) in results.iter().zip(&plan.goals) {
            if let Outcome::Found { lossless, .. } = result.outcome && goal.tolerates_nothing() {
                prop_assert!(!lossy_at(&trials, lossless), "{:?}", result);
                prop_assert_eq!(result.conditional_throughput(), Some(lossless));
            }
        }
    }

    #[test]
    fn no_result_lies_outside_its_goals_own_definition(plan in plans(), router in noisy_routers()) {
        prop_assume!(plan.check().is_ok());
        let (trials, results) = searched(&plan, router);
        for (result, goal) in results.iter().zip(&plan.goals) {
            let Outcome::Found { lossless, lossy, .. } = result.outcome else { continue };
            let stage = goal.last_stage();
            let load = load_of(&trials, lossless, &plan.goals);
            prop_assert_eq!(load.classify(&stage), Bound::Lower);
            prop_assert!(result.loss_ratio <= goal.loss_ratio);
            prop_assert_eq!(load.quantile_loss_ratio(&stage), Some(result.loss_ratio));
            for tried in &trials {
                let rate = tried.offer.rate;
                let upper = load_of(&trials, rate, &plan.goals).classify(&stage) == Bound::Upper;
                prop_assert!(!upper || rate > lossless, "{} failed below {}", rate, lossless);
                prop_assert!(!upper || lossy.is_none_or(|lossy| rate >= lossy));
            }
            if let Some(lossy) = lossy {
                prop_assert_eq!(load_of(&trials, lossy, &plan.goals).classify(&stage), Bound::Upper);
                if result.irregular.is_none() {
                    prop_assert!(lossy.fps() - lossless.fps() <= goal.width * lossy.fps());
                }
            }
        }
    }

    #[test]
    fn any_verdicts_end_the_search_within_its_range(
        plan in plans(),
        verdicts in prop::collection::vec(verdicts(), 1..64),
        most in 1_u32..200,
    ) {
        let plan = MlrPlan { trials_at_most: most, ..plan };
        prop_assume!(plan.check().is_ok());
        let mut search = Mlr::new(plan.clone()).expect("a plan");
        let (mut judged, mut run) = (0_u32, 0_u32);
        for (verdict, sent) in verdicts.iter().cycle() {
            let Step::Offer(offer) = search.next() else { break };
            prop_assert_eq!(search.next(), Step::Offer(offer), "asking twice changes nothing");
            prop_assert!(plan.minimum <= offer.rate && offer.rate <= plan.maximum.rate());
            // As many again for loads not offered, and as many as both for disturbances.
            prop_assert!(judged < most && run <= 4 * most + 20);
            search.learn(verdict, &Counts { sent: *sent, ..Counts::default() });
            judged += u32::from(!matches!(verdict, Verdict::Void(_) | Verdict::NotOffered(_)));
            run += 1;
        }
        let Step::Done(results) = search.next() else { panic!("left the loop by the end alone") };
        prop_assert_eq!(results.len(), plan.goals.len());
        for result in results {
            let (Outcome::Found { trials, .. }
            | Outcome::NoneLossless { trials, .. }
            | Outcome::CouldNotMeasure { trials, .. }) = result.outcome;
            prop_assert_eq!(trials, run);
            if let Outcome::Found { lossless, lossy: Some(lossy), .. } = result.outcome {
                prop_assert!(lossless < lossy);
            }
        }
    }

    #[test]
    fn a_full_sum_of_full_length_trials_decides(
        goal in goals(),
        ratios in prop::collection::vec(0.0..0.2, 1..40),
        short in prop::collection::vec(0.0..0.2, 0..10),
    ) {
        let stage: Stage = goal.last_stage();
        let mut load = Load::new(kfps(100.0));
        for loss_ratio in short {
            load.add(TrialResult { duration: seconds(stage.trial.as_secs_f64() / 2.0), loss_ratio });
        }
        let mut time = Span::ZERO;
        for &loss_ratio in ratios.iter().cycle() {
            if time >= stage.duration_sum {
                break;
            }
            load.add(TrialResult { duration: stage.trial, loss_ratio });
            time = Span::from_nanos(time.as_nanos() + stage.trial.as_nanos());
        }
        prop_assert!(load.classify(&stage) != Bound::Undecided);
    }
}
