//! Laws that hold for every goal and router, tried on random ones.

use super::*;
use proptest::prelude::*;

fn resolutions() -> impl Strategy<Value = Resolution> {
    prop_oneof![
        (0.0005..0.2).prop_map(Resolution::Fraction),
        (100.0..60_000.0).prop_map(|step: f64| Resolution::StepFps(step.round())),
    ]
}

prop_compose! {
    fn goals()(
        resolution in resolutions(),
        trials_per_load in 1_u32..5,
        any in any::<bool>(),
        maximum in 100_000.0..10e6,
        minimum in 1_000.0..20_000.0,
        link in any::<bool>(),
    ) -> Goal {
        let maximum = Rate::from_fps(maximum);
        Goal {
            trial: SECOND,
            resolution,
            trials_per_load,
            accept: if any { Accept::Any } else { Accept::All },
            maximum: if link { Ceiling::Link(maximum) } else { Ceiling::Tester(maximum) },
            minimum: Rate::from_fps(minimum),
        }
    }
}

/// Frames at the smallest load at which one could be lost within a trial of 1 s by rounding alone.
const ROUNDING_FPS: f64 = 1.5;

fn verdicts() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        4 => Just(Verdict::Lossless),
        4 => Just(LOSSY),
        1 => Just(VOID),
        1 => Just(NOT_OFFERED),
        1 => Just(INVALID),
    ]
}

fn is_lossy(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Lossy { .. })
}

/// Loads a bisection offers at most: both ends and every halving.
fn loads_at_most(goal: &Goal) -> u32 {
    let (low, high) = (goal.lowest(), goal.highest());
    let mut failed = high;
    // Failing every time keeps the smallest allowance of a fraction, hence the most halvings; of
    // an odd number of steps the passing half is the larger one: one load more.
    let mut loads = 3;
    while let Some(middle) = goal.between(low, failed) {
        failed = middle;
        loads += 1;
    }
    loads
}

proptest! {
    #[test]
    fn an_ideal_routers_result_is_within_one_step(
        goal in goals(),
        capacity in 500.0..12e6,
    ) {
        let mut simulated = Simulated::new(Properties::ideal(Rate::from_fps(capacity)));
        let mut search = Bisection::new(goal).unwrap();
        let (_, results) = run(&mut search, &mut simulated, &Rules::default(), 1_000).expect("ends");
        match results[0].outcome {
            Outcome::Found { lossless, lossy: Some(lossy), limited_by, .. } => {
                prop_assert_eq!(limited_by, LimitedBy::Dut);
                prop_assert!(lossless.fps() <= capacity + ROUNDING_FPS);
                prop_assert!(lossy.fps() > capacity - ROUNDING_FPS);
                let allowed = match goal.resolution {
                    Resolution::Fraction(part) => part * lossy.fps(),
                    Resolution::StepFps(step) => step,
                };
                prop_assert!(lossy.fps() - lossless.fps() <= allowed * (1.0 + 1e-9));
            }
            Outcome::Found { lossless, lossy: None, limited_by, .. } => {
                prop_assert_eq!(limited_by, goal.maximum.limited_by());
                prop_assert_eq!(lossless, goal.highest());
                prop_assert!(capacity > lossless.fps() - ROUNDING_FPS);
            }
            Outcome::NoneLossless { lowest, .. } => {
                prop_assert_eq!(lowest, goal.lowest());
                prop_assert!(capacity < lowest.fps() + ROUNDING_FPS);
            }
            Outcome::CouldNotMeasure { why, .. } => prop_assert!(false, "{}", why),
        }
    }

    #[test]
    fn with_all_no_reported_rate_ever_lost_a_frame(
        goal in goals(),
        capacity in 500.0..12e6,
        random_loss in prop_oneof![Just(0.0), 1e-8..1e-4],
        ring in 0_u64..10_000,
        stall_chance in 0.0..0.1,
        seed in any::<u64>(),
    ) {
        let goal = Goal { accept: Accept::All, ..goal };
        let capacity = Rate::from_fps(capacity);
        let stall = Span::from_millis(8);
        let properties = Properties { ring, random_loss, stall_chance, stall, seed, ..Properties::ideal(capacity) };
        let mut search = Bisection::new(goal).unwrap();
        let rules = Rules::default();
        let (trials, results) = run(&mut search, &mut Simulated::new(properties), &rules, 1_000).expect("ends");
        if let Outcome::Found { lossless, lossy, .. } = results[0].outcome {
            let at = |rate: Rate| trials.iter().filter(move |tried| tried.offer.rate == rate).map(|tried| tried.verdict);
            let passed = at(lossless).filter(|verdict| *verdict == Verdict::Lossless).count();
            prop_assert_eq!(passed, goal.trials_per_load as usize);
            prop_assert!(!at(lossless).any(|verdict| is_lossy(&verdict)));
            if let Some(lossy) = lossy {
                prop_assert!(at(lossy).any(|verdict| is_lossy(&verdict)));
            }
        }
    }

    #[test]
    fn any_verdicts_end_the_search_within_its_range(
        goal in goals(),
        verdicts in prop::collection::vec(verdicts(), 1..64),
    ) {
        let mut search = Bisection::new(goal).unwrap();
        // Before a load is decided each of its verdicts may come up once less than would decide it, with voids between.
        let most = (loads_at_most(&goal) * (2 * goal.trials_per_load.max(2) + 1) + 1) * (VOIDS_IN_ROW_MAX + 1);
        let mut run = 0_u32;
        let mut voided_so_far = 0_u32;
        let mut last: Option<Rate> = None;
        let mut loads = 0_u32;
        for verdict in verdicts.iter().cycle() {
            let Step::Offer(offer) = search.next() else { break };
            prop_assert!(run < most, "{} trials", run);
            prop_assert!(goal.lowest() <= offer.rate && offer.rate <= goal.highest());
            if let Resolution::StepFps(step) = goal.resolution {
                prop_assert_eq!(offer.rate.fps() % step, 0.0);
            }
            loads += u32::from(last != Some(offer.rate));
            last = Some(offer.rate);
            search.learn(verdict, &Counts::default());
            run += 1;
            voided_so_far += u32::from(matches!(verdict, Verdict::Void(_)));
        }
        prop_assert!(loads <= loads_at_most(&goal));
        let end = outcome(search.next());
        let (Outcome::Found { trials, voided, .. }
        | Outcome::NoneLossless { trials, voided, .. }
        | Outcome::CouldNotMeasure { trials, voided, .. }) = end;
        prop_assert_eq!((trials, voided), (run, voided_so_far));
        if let Outcome::Found { lossless, lossy: Some(lossy), .. } = end {
            prop_assert!(lossless < lossy);
        }
    }
}
