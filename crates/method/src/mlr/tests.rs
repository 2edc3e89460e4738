use super::preset::Preset;
use super::*;
use crate::goal::LimitedBy;
use crate::search::{Irregular, Outcome};
use crate::simulate::{Properties, Simulated, Tried, Wander, run};
use crate::units::Span;
use crate::verdict::Rules;

mod appendix;
mod golden;
mod laws;
mod quality;
mod steps;

fn kfps(rate: f64) -> Rate {
    Rate::from_fps(rate * 1e3)
}

fn seconds(seconds: f64) -> Span {
    Span::from_secs_f64(seconds)
}

/// The preset's own goals from 10 kfps to 1.6 Mfps.
fn plan(preset: Preset) -> MlrPlan {
    let goals = preset.loss_ratios().iter().map(|&ratio| preset.goal(ratio));
    MlrPlan {
        goals: goals.collect(),
        maximum: Ceiling::Tester(kfps(1_600.0)),
        minimum: kfps(10.0),
        start: None,
        trials_at_most: preset.trials_at_most(),
    }
}

/// A router as seen on bare metal: seconds pass up to 450 kfps, none from 600 kfps on, and yet 1 in 10 at 900 kfps.
fn wandering() -> Properties {
    let wander = Wander {
        sure: kfps(450.0),
        never: kfps(600.0),
        lucky: kfps(900.0),
        luck: 0.1,
    };
    Properties {
        ring: 4_096,
        wander: Some(wander),
        ..Properties::ideal(kfps(1_200.0))
    }
}

/// Searches to the end on a simulated pair.
fn searched(plan: &MlrPlan, router: Properties) -> (Vec<Tried>, Vec<GoalResult>) {
    let mut search = Mlr::new(plan.clone()).expect("a plan");
    let mut pair = Simulated::new(router);
    let most = 3 * TRIALS_MAX as usize;
    run(&mut search, &mut pair, &Rules::default(), most).expect("ends")
}
