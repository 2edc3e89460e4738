use super::preset::Preset;
use super::*;
use crate::simulate::{Properties, Simulated, Tried, run};
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
        trials_at_most: preset.trials_at_most(),
    }
}

/// Searches to the end on a simulated pair.
fn searched(plan: &MlrPlan, router: Properties) -> (Vec<Tried>, Vec<GoalResult>) {
    let mut search = Mlr::new(plan.clone()).expect("a plan");
    let mut pair = Simulated::new(router);
    let most = 3 * TRIALS_MAX as usize;
    run(&mut search, &mut pair, &Rules::default(), most).expect("ends")
}
