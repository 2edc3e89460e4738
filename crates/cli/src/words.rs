//! How a search decides, in the words that its record has.

use mpps_method::{Accept, SearchGoal, SearchPlan};
use mpps_report::number::percent_given as percent;

/// When a load passes: `1 s trials, any of 3`, or for each goal of MLRsearch what it asks of a load.
pub fn rule(search: &SearchPlan) -> String {
    match search {
        SearchPlan::Mlr { goals, .. } => {
            let each: Vec<String> = goals
                .iter()
                .map(|goal| format!("{goal}: {}", asks(goal)))
                .collect();
            each.join("; ")
        }
        SearchPlan::Bisection { trial, .. } => format!("{trial} trials, {}", accepts(search)),
    }
}

/// How the trials at a load of a bisection decide: `any of 3`. Of one trial, any is all.
fn accepts(search: &SearchPlan) -> String {
    let SearchPlan::Bisection {
        trials_per_load,
        accept,
        ..
    } = search
    else {
        return String::new();
    };
    match accept {
        Accept::Any if *trials_per_load == 1 => format!("{} of 1", Accept::All),
        Accept::Verified { lost_at_most } => {
            let lost = if *lost_at_most == u64::MAX {
                String::new()
            } else {
                format!(" up to {lost_at_most} frames")
            };
            format!("any of {trials_per_load}, loss{lost} verified (ETSI TST 009)")
        }
        accept => format!("{accept} of {trials_per_load}"),
    }
}

/// What a goal asks of a load.
fn asks(goal: &SearchGoal) -> String {
    let within = if goal.loss_ratio == 0.0 {
        "without loss".to_owned()
    } else {
        format!("with at most {} loss", percent(goal.loss_ratio))
    };
    let trials = goal
        .duration_sum
        .as_nanos()
        .div_ceil(goal.final_trial.as_nanos().max(1));
    if trials <= 1 {
        return format!("one trial of {} at a load, {within}", goal.final_trial);
    }
    let share = if goal.exceed_ratio == 0.0 {
        "every one".to_owned()
    } else if goal.exceed_ratio == 0.5 {
        "half of them".to_owned()
    } else {
        format!("{} of them", percent(1.0 - goal.exceed_ratio))
    };
    format!(
        "up to {trials} trials of {} at a load, {share} {within}",
        goal.final_trial
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::{Preset, Resolution, Span};

    fn mlr(preset: Preset) -> SearchPlan {
        SearchPlan::Mlr {
            goals: preset
                .loss_ratios()
                .iter()
                .map(|&ratio| preset.goal(ratio))
                .collect(),
            trials_at_most: preset.trials_at_most(),
        }
    }

    #[test]
    fn each_preset_says_what_it_asks_of_a_load() {
        assert_eq!(
            rule(&mlr(Preset::Quick)),
            "ndr: up to 5 trials of 1 s at a load, half of them without loss"
        );
        assert_eq!(
            rule(&mlr(Preset::Rfc2544)),
            "ndr: one trial of 60 s at a load, without loss"
        );
        assert_eq!(
            rule(&mlr(Preset::Csit)),
            "ndr: up to 21 trials of 1 s at a load, half of them without loss; \
             pdr 0.5 %: up to 21 trials of 1 s at a load, half of them with at most 0.5 % loss"
        );
    }

    #[test]
    fn a_bisection_says_how_its_trials_decide() {
        let with = |trials_per_load, accept| {
            rule(&SearchPlan::Bisection {
                trial: Span::from_millis(1_000),
                resolution: Resolution::Fraction(0.01),
                trials_per_load,
                accept,
            })
        };
        assert_eq!(with(3, Accept::Any), "1 s trials, any of 3");
        assert_eq!(with(1, Accept::Any), "1 s trials, all of 1");
        assert_eq!(with(3, Accept::All), "1 s trials, all of 3");
        let verified = |lost_at_most| with(2, Accept::Verified { lost_at_most });
        assert_eq!(
            verified(9),
            "1 s trials, any of 2, loss up to 9 frames verified (ETSI TST 009)"
        );
        assert_eq!(
            verified(u64::MAX),
            "1 s trials, any of 2, loss verified (ETSI TST 009)"
        );
    }
}
