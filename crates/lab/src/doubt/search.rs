//! Doubts about the gate and the search: whether the rate found is a property of the DUT, and how well it is known.

use super::{Doubt, Weighed, Weight};
use crate::search::Searched;
use mpps_method::claim::FINAL_TRIAL;
use mpps_method::{Irregular, Outcome, Span, Stability, Trial, Verdict};
use mpps_record::doubts::UNSTABLE;
use std::collections::BTreeMap;

pub(super) fn doubts(weighed: &Weighed<'_>) -> Vec<Doubt> {
    let (stability, searched) = (&weighed.gated.stability, weighed.searched);
    let (Outcome::Found {
        voided: voids,
        trials,
        ..
    }
    | Outcome::NoneLossless {
        voided: voids,
        trials,
        ..
    }
    | Outcome::CouldNotMeasure {
        voided: voids,
        trials,
        ..
    }) = searched.result.outcome;
    let kept = searched.trials.iter().map(|(_, verdict)| verdict);
    let verdicts = kept.chain(searched.left_out.iter().map(|one| &one.verdict));
    let doubts = [
        unstable(stability),
        gate_unknown(stability),
        contradiction(&searched.trials),
        voided(voids, trials, verdicts),
        out_of_trials(searched),
        elsewhere(searched),
        short_trial(searched.result.final_trial),
    ];
    doubts.into_iter().flatten().collect()
}

fn unstable(stability: &Stability) -> Option<Doubt> {
    let Stability::Unstable(found) = stability else {
        return None;
    };
    Some(Doubt {
        name: UNSTABLE,
        weight: Weight::Another(0),
        seen: found.to_string(),
        why: "Chance decided where the search ended. The rate found is no property of the DUT.",
        next: "Check `losses` of its trials in the record, then nstat, ethtool -S and drop rules in the DUT (mpps bed shell).",
    })
}

fn gate_unknown(stability: &Stability) -> Option<Doubt> {
    let Stability::Unknown { trials, judged } = stability else {
        return None;
    };
    Some(Doubt {
        name: "gate-unknown",
        weight: Weight::Shifted(14),
        seen: format!(
            "loss at a low load is unknown: {} of {trials} trials do not count",
            trials.saturating_sub(*judged)
        ),
        why: "A DUT that loses frames at any load would look like a slow DUT.",
        next: "Run again when the machine is quieter.",
    })
}

fn contradiction(trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let has_passed = |failed: &Trial| {
        trials.iter().any(|(trial, verdict)| {
            trial.offered == failed.offered && *verdict == Verdict::Lossless
        })
    };
    let (trial, _) = trials
        .iter()
        .find(|(trial, verdict)| matches!(verdict, Verdict::Lossy { .. }) && has_passed(trial))?;
    Some(Doubt {
        name: "contradiction",
        weight: Weight::Unsure(5),
        seen: format!(
            "{} passed in one trial and failed in another",
            trial.offered
        ),
        why: "The result may differ next time.",
        next: "Use --preset csit (up to 21 trials at a load), or a larger --rx-ring.",
    })
}

/// The cause is that of the void ones among `verdicts`, where the caller keeps them.
pub(super) fn voided<'a>(
    voided: u32,
    trials: u32,
    verdicts: impl Iterator<Item = &'a Verdict>,
) -> Option<Doubt> {
    (voided > 0).then(|| Doubt {
        name: "voided",
        weight: Weight::Unsure(3),
        seen: match commonest_cause(verdicts) {
            None => format!("void trials: {voided} of {trials}"),
            Some((times, cause)) => {
                let mostly = match times {
                    times if times >= voided => "",
                    times if 2 * times > voided => "mostly ",
                    _ => "most often ",
                };
                format!("void trials: {voided} of {trials}, {mostly}because {cause}")
            }
        },
        why: "Void trials are run again. The same cause may have disturbed the others too.",
        next: "Stop the program that is named, or run again when the machine is quieter.",
    })
}

/// What made most of the void trials void, and how many of them.
fn commonest_cause<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Option<(u32, String)> {
    let mut causes: BTreeMap<String, u32> = BTreeMap::new();
    for verdict in verdicts {
        if let Verdict::Void(why) = verdict {
            *causes.entry(why.cause()).or_default() += 1;
        }
    }
    let most = causes.into_iter().max_by_key(|(_, times)| *times);
    most.map(|(cause, times)| (times, cause))
}

/// Where the trials ended before the bounds were as close as asked for.
fn out_of_trials(searched: &Searched) -> Option<Doubt> {
    let how = match searched.result.irregular? {
        how @ (Irregular::TooWide { .. } | Irregular::OutOfTrials) => how.to_string(),
        Irregular::EndedEarly => "no load had passed".to_owned(),
        how @ Irregular::Unconfirmed => format!("{how}{}", failed_below(searched)),
        Irregular::NoUpperBound | Irregular::NoLowerBound => return None,
    };
    Some(Doubt {
        name: "out-of-trials",
        weight: Weight::Unsure(0),
        seen: format!("the search ended early: {how}"),
        why: "The rate is known no better than that.",
        next: "Use a larger --trials-at-most, a longer --budget, or --preset csit.",
    })
}

/// How many of the trials at the load found and below failed its goal.
fn failed_below(searched: &Searched) -> String {
    let Outcome::Found { lossless, .. } = searched.result.outcome else {
        return String::new();
    };
    // A bisection may forgive loss.
    let Some(allowed) = searched.result.goal.map(|goal| goal.loss_ratio) else {
        return String::new();
    };
    let losses = searched
        .trials
        .iter()
        .filter_map(|(trial, verdict)| match verdict {
            _ if trial.offered > lossless => None,
            Verdict::Lossless => Some(0.0),
            Verdict::Lossy { lost } => Some(*lost as f64 / trial.undisturbed().sent.max(1) as f64),
            _ => None,
        });
    let losses: Vec<f64> = losses.collect();
    let failed = losses.iter().filter(|loss| **loss > allowed).count();
    match failed {
        0 => String::new(),
        _ => format!(
            "; {failed} of {} trials at it and below failed",
            losses.len()
        ),
    }
}

/// Trials in another state than overload, without which the result is another.
fn elsewhere(searched: &Searched) -> Option<Doubt> {
    let (count, left_out) = (searched.elsewhere, searched.left_out.len());
    let all = searched.trials.len() + left_out;
    let [were, they_count, they_do_not] = match count {
        1 => ["was", "it counts", "it does not count"],
        _ => ["were", "they count", "they do not count"],
    };
    let (do_they, why) = match left_out {
        0 => (
            they_count,
            "A frame cost more or less in them. The rate without loss may be that of another state than the maximum forwarding rate.",
        ),
        _ => (
            they_do_not,
            "A frame cost more or less in them. The rate without loss is that of the state at overload.",
        ),
    };
    (count > 0).then(|| Doubt {
        name: "search-other-state",
        weight: Weight::Unsure(10),
        seen: format!(
            "{count} of {all} trials of the search {were} in another state than overload; {do_they}"
        ),
        why,
        next: "Compare only results in similar states. Dedicated cores keep one state.",
    })
}

pub(super) fn short_trial(trial: Span) -> Option<Doubt> {
    (trial < FINAL_TRIAL).then(|| Doubt {
        name: "short-trial",
        weight: Weight::Footnote(0, "trials shorter than RFC 2544's 60 s"),
        seen: format!("trials lasted {trial}, RFC 2544 asks for {FINAL_TRIAL}"),
        why: "Rare stalls of the DUT may have been missed. The result is an Estimate, not a Throughput.",
        next: "Use --preset rfc2544 (a Throughput; it takes minutes).",
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::bound_by_loss;
    use super::*;
    use crate::search::Judged;
    use mpps_method::{Direction, Preset, Rate, TaskName, Void};

    #[test]
    fn a_load_that_passed_and_failed_is_doubted() {
        let trial = |fps, verdict| {
            let trial = Trial {
                offered: Rate::from_fps(fps),
                ..Trial::default()
            };
            (trial, verdict)
        };
        let lossy = Verdict::Lossy { lost: 1 };
        let trials = |passed| [trial(2e6, lossy), trial(passed, Verdict::Lossless)];
        let doubt = contradiction(&trials(2e6)).expect("a doubt");
        assert_eq!(
            doubt.seen,
            "2.000 Mfps passed in one trial and failed in another"
        );
        assert_eq!(contradiction(&trials(1e6)), None);
    }

    #[test]
    fn an_unconfirmed_rate_tells_what_failed_below_it() {
        let mut searched = bound_by_loss(1.0);
        searched.result.irregular = Some(Irregular::Unconfirmed);
        searched.result.goal = Some(Preset::Quick.goal(0.0));
        let trial = |fps, lost| {
            let mut direction = Direction::default();
            direction.counts.sent = 1_000;
            let trial = Trial {
                offered: Rate::from_fps(fps),
                directions: vec![direction],
                ..Trial::default()
            };
            match lost {
                0 => (trial, Verdict::Lossless),
                _ => (trial, Verdict::Lossy { lost }),
            }
        };
        // 484 200 frames/s were found. A load above it says nothing of it.
        searched.trials = [trial(484_200.0, 0), trial(300_000.0, 9), trial(5e6, 9)].into();
        let seen = |searched: &Searched| out_of_trials(searched).expect("a doubt").seen;
        let told = seen(&searched);
        assert!(
            told.ends_with("; 1 of 2 trials at it and below failed"),
            "{told}"
        );
        searched.trials = [trial(484_200.0, 0), trial(5e6, 9)].into();
        assert!(seen(&searched).ends_with("still lacks some of its trials"));
    }

    #[test]
    fn trials_in_another_state_are_told() {
        let mut searched = bound_by_loss(1.0);
        assert_eq!(elsewhere(&searched), None);
        searched.elsewhere = 1;
        let seen = |searched: &Searched| elsewhere(searched).expect("a doubt").seen;
        let counted = "1 of 1 trials of the search was in another state than overload; it counts";
        assert_eq!(seen(&searched), counted);
        let (trial, verdict) = searched.trials[0].clone();
        let judged = Judged {
            trial,
            verdict,
            number: 7,
        };
        searched.left_out = [judged].into();
        assert!(seen(&searched).starts_with("1 of 2 trials"));
        assert!(seen(&searched).ends_with("it does not count"));
        searched.elsewhere = 2;
        let several =
            "2 of 2 trials of the search were in another state than overload; they do not count";
        assert_eq!(seen(&searched), several);
    }

    #[test]
    fn void_trials_are_doubted_with_their_commonest_cause() {
        let void = |cpu, culprit| {
            let why = Void::Disturbed {
                cpu,
                culprit,
                longest: Span::from_millis(8),
                share: 1.0,
                bound: 0.5,
            };
            (Trial::default(), Verdict::Void(why))
        };
        let seen = |trials: &[(Trial, Verdict)]| {
            let verdicts = trials.iter().map(|(_, verdict)| verdict);
            voided(trials.len() as u32, 9, verdicts).map(|doubt| doubt.seen)
        };
        let python = [0, 1].map(|cpu| void(cpu, Some(TaskName(*b"python3\0\0\0\0\0\0\0\0\0"))));
        let by_python =
            "void trials: 2 of 9, because another program (python3) had a CPU of the bed";
        assert_eq!(seen(&python).as_deref(), Some(by_python));
        let mixed = [python.as_slice(), &[void(1, None)]].concat();
        let mostly =
            "void trials: 3 of 9, mostly because another program (python3) had a CPU of the bed";
        assert_eq!(seen(&mixed).as_deref(), Some(mostly));
        assert_eq!(seen(&[]), None);
    }
}
