//! The loop: a search chooses a load, the measurer offers it and counts, and the search learns the verdict.

use super::measurer::Measurer;
use super::{JobError, Judged, Phase, Trials};
use crate::clock::Deadline;
use crate::tester::Tester;
use mpps_method::mlr::goal::SearchGoalError;
use mpps_method::{Bisection, Goal, GoalResult, Outcome, Search, Step, Trial, Verdict};
use std::rc::Rc;

/// Trials at lower loads after a search in which no load passed.
const LOWER_TRIALS_MAX: u32 = 4;

/// What a search found for one goal, with its trials.
#[derive(Clone, Debug)]
pub struct Searched {
    /// What was found.
    pub result: GoalResult,
    /// The trial that proves the result.
    pub evidence: Option<Trial>,
    /// The number of that trial.
    pub stands_on: Option<u32>,
    /// Every trial of the search, for all goals, in order, with its verdict.
    pub trials: Rc<[(Trial, Verdict)]>,
}

/// Bisects for one goal.
///
/// # Errors
/// The goal, the tester or the record.
pub fn bisect(
    tester: &mut Tester<'_>,
    goal: Goal,
    phase: Phase,
    trials: &mut Trials<'_>,
) -> Result<Outcome, JobError> {
    let mut search = Bisection::new(goal)?;
    let found = run(tester, &mut search, phase, Deadline::NEVER, trials)?;
    found
        .first()
        .map(|searched| searched.result.outcome)
        .ok_or(JobError::Goal(SearchGoalError::None.into()))
}

/// Searches until the search is done or the time is spent; where nothing has passed by then, at a few lower loads more.
/// Returns what was found for each goal.
pub(crate) fn run(
    measurer: &mut dyn Measurer,
    search: &mut dyn Search,
    phase: Phase,
    deadline: Deadline,
    trials: &mut Trials<'_>,
) -> Result<Vec<Searched>, JobError> {
    let mut run: Vec<Judged> = Vec::new();
    let mut lower_trials = 0;
    loop {
        let offer = match search.next() {
            Step::Offer(offer) if deadline.leaves(offer.duration) => Some(offer),
            _ if lower_trials < LOWER_TRIALS_MAX => {
                lower_trials += 1;
                search.offer_lower()
            }
            _ => None,
        };
        let Some(offer) = offer else {
            return Ok(each(search.found_so_far(), run));
        };
        let trial = measurer.trial(&offer)?;
        let judged = measurer.judge(phase, offer, trial, trials)?;
        search.learn(&judged.verdict, &judged.trial.undisturbed());
        run.push(judged);
    }
}

fn each(results: Vec<GoalResult>, run: Vec<Judged>) -> Vec<Searched> {
    let evidence = |result: &GoalResult| {
        let found = evidence(result, &run);
        found.map(|judged| (judged.number, judged.trial.clone()))
    };
    let evidence: Vec<_> = results.iter().map(evidence).collect();
    let trials = run.into_iter().map(|judged| (judged.trial, judged.verdict));
    let trials: Rc<[(Trial, Verdict)]> = trials.collect();
    let searched = |(result, evidence): (GoalResult, Option<(u32, Trial)>)| {
        let (stands_on, evidence) = evidence.unzip();
        Searched {
            result,
            evidence,
            stands_on,
            trials: Rc::clone(&trials),
        }
    };
    results.into_iter().zip(evidence).map(searched).collect()
}

/// The last trial at the load found that lasted long enough and lost the share of the result. A trial at a higher load
/// may have passed too, although that load failed in the end.
fn evidence<'a>(result: &GoalResult, run: &'a [Judged]) -> Option<&'a Judged> {
    let Outcome::Found { lossless: rate, .. } = result.outcome else {
        return None;
    };
    run.iter().rev().find(|Judged { trial, verdict, .. }| {
        verdict.counts()
            && trial.offered == rate
            && trial.duration >= result.final_trial
            && trial.loss_ratio() == Some(result.loss_ratio)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::simulated::SimulatedPair;
    use crate::search::{Observer, Report};
    use mpps_method::mlr::preset::Preset;
    use mpps_method::mlr::{Mlr, MlrPlan};
    use mpps_method::simulate::Properties;
    use mpps_method::{Accept, Ceiling, FrameSpec, Rate, Resolution, Span};

    #[derive(Default)]
    struct Seen(Vec<(u32, Rate, bool)>);

    impl Observer for Seen {
        fn trial(&mut self, report: &Report<'_>) -> std::io::Result<()> {
            let is_lossless = *report.verdict == Verdict::Lossless;
            let seen = (report.number, report.trial.offered, is_lossless);
            self.0.push(seen);
            Ok(())
        }
    }

    #[test]
    fn a_result_names_its_trial() {
        let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
        let router = Properties::ideal(Rate::from_fps(1e6));
        let mut pair = SimulatedPair::new(frames, router);
        let goal = Goal {
            trial: Span::from_millis(1_000),
            resolution: Resolution::Fraction(0.01),
            trials_per_load: 1,
            accept: Accept::Any,
            maximum: Ceiling::Tester(Rate::from_fps(3e6)),
            minimum: Rate::from_fps(1e4),
        };
        let mut search = Bisection::new(goal).expect("a goal");
        let mut seen = Seen::default();
        // The job has run other trials before.
        let mut trials = Trials::after(40, &mut seen);
        let never = Deadline::NEVER;
        let found = run(&mut pair, &mut search, Phase::Search, never, &mut trials).expect("an end");
        let [searched] = &found[..] else {
            panic!("one goal: {found:?}");
        };
        let Outcome::Found { lossless, .. } = searched.result.outcome else {
            panic!("a rate: {searched:?}");
        };
        let last_such = seen.0.iter().rev().find(|(_, rate, _)| *rate == lossless);
        let (number, _, is_lossless) = last_such.expect("a trial at that load");
        assert!(is_lossless);
        assert_eq!(searched.stands_on, Some(*number));
        let numbers: Vec<u32> = seen.0.iter().map(|(number, ..)| *number).collect();
        let expected: Vec<u32> = (41..).take(seen.0.len()).collect();
        assert_eq!(numbers, expected);
    }
    #[test]
    fn a_search_cut_before_anything_passed_goes_lower() {
        let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
        let plan = |minimum_fps: f64| MlrPlan {
            goals: vec![Preset::Quick.goal(0.0)],
            maximum: Ceiling::Tester(Rate::from_fps(3e6)),
            minimum: Rate::from_fps(minimum_fps),
            start: None,
            trials_at_most: 1,
        };
        let searched = |minimum_fps: f64, capacity: f64, deadline: Deadline| {
            let mut pair =
                SimulatedPair::new(frames.clone(), Properties::ideal(Rate::from_fps(capacity)));
            let mut search = Mlr::new(plan(minimum_fps)).expect("a plan");
            let mut seen = Seen::default();
            let mut trials = Trials::after(0, &mut seen);
            let found = run(&mut pair, &mut search, Phase::Search, deadline, &mut trials);
            let outcome = found.expect("an end")[0].result.outcome;
            let loads: Vec<f64> = seen.0.iter().map(|(_, rate, _)| rate.fps()).collect();
            (outcome, loads)
        };
        let (outcome, loads) = searched(1e4, 1e6, Deadline::NEVER);
        assert_eq!(loads, [3e6, 1.5e6, 7.5e5]);
        let half = Rate::from_fps(7.5e5);
        assert!(
            matches!(outcome, Outcome::Found { lossless, .. } if lossless == half),
            "{outcome:?}"
        );
        // No lower load is allowed.
        let (outcome, loads) = searched(2e6, 1e6, Deadline::NEVER);
        assert_eq!(loads, [3e6, 2e6]);
        assert!(
            matches!(outcome, Outcome::NoneLossless { .. }),
            "{outcome:?}"
        );
        // It ends.
        let (outcome, loads) = searched(1e4, 2e4, Deadline::NEVER);
        assert_eq!(loads.len(), 5);
        assert!(
            matches!(outcome, Outcome::NoneLossless { .. }),
            "{outcome:?}"
        );
        // The time is spent before anything was tried.
        let (_, loads) = searched(1e4, 1e6, Deadline::after(Some(Span::ZERO)));
        assert_eq!(loads, [0.0; 0]);
    }
}
