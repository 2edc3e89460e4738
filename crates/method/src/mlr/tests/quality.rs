//! The default against the bisection it replaced, over many noisy routers: cheaper, and never far off.

use super::*;
use crate::goal::{Accept, Resolution};
use crate::search_plan::SearchPlan;

const SEEDS: u64 = 60;

/// Found (share of the truth) and trials, each sorted.
fn study(search: &SearchPlan, router: Properties) -> (Vec<f64>, Vec<usize>) {
    let (mut found, mut trials) = (Vec::new(), Vec::new());
    for seed in 0..SEEDS {
        let maximum = Ceiling::Tester(kfps(1_600.0));
        let mut search = search.begin(kfps(10.0), maximum).expect("a plan");
        let mut pair = Simulated::new(Properties { seed, ..router });
        let (tried, results) =
            run(search.as_mut(), &mut pair, &Rules::default(), 10_000).expect("ends");
        found.push(match results[0].outcome {
            Outcome::Found { lossless, .. } => lossless.fps() / router.capacity.fps(),
            _ => 0.0,
        });
        trials.push(tried.len());
    }
    found.sort_by(f64::total_cmp);
    trials.sort_unstable();
    (found, trials)
}

#[test]
fn the_default_is_cheaper_than_the_bisection_it_replaced_and_a_pause_does_not_mislead_it() {
    let quick = SearchPlan::Mlr {
        goals: vec![Preset::Quick.goal(0.0)],
        trials_at_most: Preset::Quick.trials_at_most(),
    };
    let any_of_3 = SearchPlan::Bisection {
        trial: seconds(1.0),
        resolution: Resolution::Fraction(0.01),
        trials_per_load: 3,
        accept: Accept::Any,
    };
    let still = Properties {
        ring: 4_096,
        ..Properties::ideal(kfps(777.0))
    };
    let pauses = Properties {
        pause_chance: 0.4,
        pause: Span::from_millis(20),
        ..still
    };
    let noise = Properties {
        noise: 0.05,
        ..still
    };
    let (middle, lowest) = (SEEDS as usize / 2, SEEDS as usize / 20);
    for router in [still, pauses, noise] {
        let ((found, trials), (_, former)) = (study(&quick, router), study(&any_of_3, router));
        assert!(
            trials[middle] * 2 <= former[middle],
            "{} of {}",
            trials[middle],
            former[middle]
        );
        assert!(found[lowest] > 0.85, "{router}: {:?}", &found[..=lowest]);
    }
}
