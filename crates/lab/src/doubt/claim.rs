//! What may be claimed of a result: never more than its goal and all its trials allow.

use super::{Measurer, Searched};
use mpps_method::claim::FINAL_TRIAL;
use mpps_method::{
    Claim, Estimate, LossRate, Offer, Outcome, Rate, Rules, SearchGoal, Throughput, Trial, Verdict,
};

/// The rules a trial was judged by.
pub(super) fn rules(measurer: &dyn Measurer, trial: &Trial) -> Rules {
    measurer.rules(&Offer::new(trial.offered, trial.duration))
}

/// The claim of a result. `Throughput` takes a goal that tolerates nothing, a final trial of 60 s, and no trial
/// with loss at this load or below it, by whatever search.
pub(super) fn claim(measurer: &dyn Measurer, searched: &Searched) -> Option<Claim> {
    let trial = searched.evidence.as_ref()?;
    let rules = rules(measurer, trial);
    let goal = searched.result.goal;
    if goal.is_some_and(|goal| goal.loss_ratio > 0.0)
        && let Some(loss) = LossRate::from_trial(trial, &rules)
    {
        return Some(Claim::LossRate(loss));
    }
    let tolerant = goal
        .as_ref()
        .is_some_and(|goal| !SearchGoal::tolerates_nothing(goal));
    if tolerant || lost_at_or_below(searched, trial.offered) {
        let estimate = if trial.duration < FINAL_TRIAL {
            Estimate::from_short_trial(trial, &rules)
        } else {
            Estimate::from_tolerant_goal(trial, &rules)
        };
        return estimate.map(Claim::Estimate);
    }
    match Throughput::from_trial(trial, &rules) {
        Ok(throughput) => Some(Claim::Throughput(throughput)),
        Err(_) => Estimate::from_short_trial(trial, &rules).map(Claim::Estimate),
    }
}

fn lost_at_or_below(searched: &Searched, rate: Rate) -> bool {
    let lost = |trial: &Trial, verdict: &Verdict| {
        trial.offered <= rate && matches!(verdict, Verdict::Lossy { .. })
    };
    let mut kept = searched.trials.iter();
    let mut left_out = searched.left_out.iter();
    kept.any(|(trial, verdict)| lost(trial, verdict))
        || left_out.any(|one| lost(&one.trial, &one.verdict))
}

/// The lowest load that failed.
pub(super) fn failed(outcome: &Outcome) -> Option<Rate> {
    match *outcome {
        Outcome::Found { lossy, .. } => lossy,
        Outcome::NoneLossless { lowest, .. } => Some(lowest),
        Outcome::CouldNotMeasure { .. } => None,
    }
}

/// Loss at the lowest load that failed; where none is known to have failed, at the lowest that lost.
pub(super) fn loss_above(measurer: &dyn Measurer, searched: &Searched) -> Option<LossRate> {
    let failed = failed(&searched.result.outcome);
    let lossy = searched.trials.iter().filter(|(trial, verdict)| {
        let there = failed.is_none_or(|rate| trial.offered == rate);
        there && matches!(verdict, Verdict::Lossy { .. })
    });
    let lowest = lossy.min_by(|(a, _), (b, _)| a.offered.fps().total_cmp(&b.offered.fps()))?;
    LossRate::from_trial(&lowest.0, &rules(measurer, &lowest.0))
}

#[cfg(test)]
mod tests {
    use super::super::tests::bound_by_loss;
    use super::*;
    use crate::search::Judged;

    #[test]
    fn a_trial_left_out_forbids_a_throughput() {
        let mut searched = bound_by_loss(1.0);
        let (trial, verdict) = searched.trials[0].clone();
        let offered = trial.offered;
        let [half, quarter] = [0.5, 0.25].map(|share| Rate::from_fps(share * offered.fps()));
        assert!(lost_at_or_below(&searched, offered));
        assert!(!lost_at_or_below(&searched, half));
        let trial = Trial {
            offered: half,
            ..trial
        };
        let number = 7;
        searched.left_out = [Judged {
            trial,
            verdict,
            number,
        }]
        .into();
        assert!(lost_at_or_below(&searched, half));
        assert!(!lost_at_or_below(&searched, quarter));
    }
}
