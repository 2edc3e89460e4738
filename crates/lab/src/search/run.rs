//! The loop: a search chooses a load, the measurer offers it and counts, and the search learns the verdict.

use super::measurer::Measurer;
use super::{JobError, Judged, Phase, Trials};
use crate::clock::Deadline;
use crate::tester::Tester;
use mpps_method::distance::{At, Distance};
use mpps_method::mlr::goal::SearchGoalError;
use mpps_method::{
    Bisection, Goal, GoalResult, Learned, Outcome, Search, Span, Step, Trial, Verdict,
};
use std::rc::Rc;

/// Most trials at lower loads after a search whose trials speak for no load, if time is left.
const LOWER_TRIALS_MAX: u32 = 5;
/// Trials at lower loads that the search keeps time for.
const LOWER_TRIALS_MIN: u32 = 3;

/// What a search found for one goal, with its trials.
#[derive(Clone, Debug)]
pub struct Searched {
    /// What was found.
    pub result: GoalResult,
    /// The trial that proves the result.
    pub evidence: Option<Trial>,
    /// The number of that trial.
    pub stands_on: Option<u32>,
    /// The trials of the search that count, for all goals, in order, with their verdicts.
    pub trials: Rc<[(Trial, Verdict)]>,
    /// Its trials that do not count, because the machine was in another state.
    pub left_out: Rc<[Judged]>,
    /// Trials in another state than overload; 0 if the other trials alone give the same result.
    pub elsewhere: u32,
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
    let found = run(tester, &mut search, phase, None, Deadline::NEVER, trials)?;
    found
        .first()
        .map(|searched| searched.result.outcome)
        .ok_or(JobError::Goal(SearchGoalError::None.into()))
}

/// Searches until the search is done or the time is spent; where nothing has passed by then, at a few lower loads more. One
/// trial is run in any case. Returns what was found for each goal. `state` is that of the machine at overload: trials in it
/// may decide alone.
pub(crate) fn run(
    measurer: &mut dyn Measurer,
    search: &mut dyn Search,
    phase: Phase,
    state: Option<At>,
    deadline: Deadline,
    trials: &mut Trials<'_>,
) -> Result<Vec<Searched>, JobError> {
    let mut run: Vec<Ran> = Vec::new();
    let mut lower_trials = 0;
    loop {
        let lower = search.speaks_for_none();
        let kept = lower.map_or(0, |trial| trial.as_nanos() * u64::from(LOWER_TRIALS_MIN));
        let until = deadline.earlier(Span::from_nanos(kept));
        let may_be_lower = |trial: Span| {
            let has_time = deadline.leaves(trial) && lower_trials < LOWER_TRIALS_MAX;
            lower_trials < LOWER_TRIALS_MIN || has_time
        };
        let offer = match search.next() {
            Step::Offer(offer) if run.is_empty() || until.leaves(offer.duration) => Some(offer),
            _ if lower.is_some_and(may_be_lower) => {
                lower_trials += 1;
                search.offer_lower()
            }
            _ => None,
        };
        let Some(offer) = offer else {
            return Ok(each(search, &run, state));
        };
        let trial = measurer.trial(&offer)?;
        let judged = measurer.judge(phase, offer, trial, trials)?;
        let learned = Learned {
            offer,
            verdict: judged.verdict,
            counts: judged.trial.undisturbed(),
        };
        search.learn(&learned.verdict, &learned.counts);
        run.push((learned, judged));
    }
}

/// A trial as the search learned it, and as a whole.
type Ran = (Learned, Judged);

/// For each goal the result of all trials, or that of the trials in this state alone, if it is complete. The search followed
/// all trials, so those of one state may be few: a lucky one among them makes no result.
fn each(search: &dyn Search, run: &[Ran], state: Option<At>) -> Vec<Searched> {
    let in_state = |ran: &&Ran| state.is_none_or(|state| is_in(state, &ran.1.trial));
    let (here, elsewhere): (Vec<&Ran>, Vec<&Ran>) = run.iter().partition(in_state);
    let all: Vec<&Ran> = run.iter().collect();
    let learned: Vec<Learned> = here.iter().map(|(learned, _)| *learned).collect();
    let all_of_here = match here.is_empty() || elsewhere.is_empty() {
        true => None,
        false => search.found_by(&learned),
    };
    let left_out: Rc<[Judged]> = elsewhere.iter().map(|(_, one)| one.clone()).collect();
    let [trials_of_all, trials_of_here] = [&all, &here].map(|run| trials(run));
    let others = u32::try_from(elsewhere.len()).unwrap_or(u32::MAX);
    let searched = |(at, of_all): (usize, GoalResult)| {
        let of_here = all_of_here.as_ref().map(|results| results[at]);
        let stands = |of_here: &GoalResult| *of_here != of_all && of_here.is_complete();
        match of_here.filter(stands) {
            Some(of_here) => Searched {
                trials: Rc::clone(&trials_of_here),
                left_out: Rc::clone(&left_out),
                elsewhere: others,
                ..Searched::new(of_here, &here)
            },
            None => Searched {
                trials: Rc::clone(&trials_of_all),
                elsewhere: if of_here == Some(of_all) { 0 } else { others },
                ..Searched::new(of_all, &all)
            },
        }
    };
    search
        .found_so_far()
        .into_iter()
        .enumerate()
        .map(searched)
        .collect()
}

/// Whether the machine was in this state, or nobody timed it.
fn is_in(state: At, trial: &Trial) -> bool {
    match Distance::from_trial(trial) {
        Distance::Unknown => true,
        Distance::Steady(at) => at.is_same(&state),
        Distance::Changed => false,
    }
}

fn trials(run: &[&Ran]) -> Rc<[(Trial, Verdict)]> {
    let both = |(_, one): &&Ran| (one.trial.clone(), one.verdict);
    run.iter().map(both).collect()
}

impl Searched {
    /// The result with its evidence, without its trials.
    fn new(result: GoalResult, run: &[&Ran]) -> Self {
        let evidence = evidence(&result, run);
        Self {
            evidence: evidence.map(|judged| judged.trial.clone()),
            stands_on: evidence.map(|judged| judged.number),
            trials: Rc::default(),
            left_out: Rc::default(),
            elsewhere: 0,
            result,
        }
    }
}

/// The last trial at the load found that lasted long enough and lost the share of the result. A trial at a higher load
/// may have passed too, although that load failed in the end.
fn evidence<'a>(result: &GoalResult, run: &[&'a Ran]) -> Option<&'a Judged> {
    let Outcome::Found { lossless: rate, .. } = result.outcome else {
        return None;
    };
    let mut run = run.iter().rev().map(|(_, judged)| judged);
    run.find(|Judged { trial, verdict, .. }| {
        verdict.counts()
            && trial.offered == rate
            && trial.duration >= result.final_trial
            && trial.loss_ratio() == Some(result.loss_ratio)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::measurer::Surroundings;
    use crate::search::simulated::SimulatedPair;
    use crate::search::{Observer, Report};
    use crate::tester::TesterError;
    use mpps_method::mlr::preset::Preset;
    use mpps_method::mlr::{Mlr, MlrPlan};
    use mpps_method::simulate::Properties;
    use mpps_method::trial::CpuExchange;
    use mpps_method::{Accept, Ceiling, FrameSpec, Offer, Rate, Resolution, Rules, Span};

    #[derive(Default)]
    struct Seen(Vec<(u32, Rate, bool)>);

    impl Observer for Seen {
        fn trial(&mut self, report: &Report<'_>) -> std::io::Result<()> {
            let is_lossless = *report.verdict == Verdict::Lossless;
            let seen = (report.number, report.trial.offered, is_lossless);
            self.0.push(seen);
            Ok(())
        }

        fn last_number(&self) -> u32 {
            self.0.last().map_or(0, |&(number, ..)| number)
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
        let found = run(
            &mut pair,
            &mut search,
            Phase::Search,
            None,
            never,
            &mut trials,
        )
        .expect("an end");
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

    /// Round trips of a cache line in the first state of a machine and in the second.
    const ROUND_TRIPS_NS: [u64; 2] = [80, 340];

    /// A pair on a machine that moves into a slower state after some trials, and stays there.
    struct Moving {
        pairs: [SimulatedPair; 2],
        trials_left: u32,
    }

    impl Moving {
        fn new(after: u32) -> Self {
            let pair = |fps| {
                let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
                SimulatedPair::new(frames, Properties::ideal(Rate::from_fps(fps)))
            };
            Self {
                pairs: [pair(1e6), pair(7e5)],
                trials_left: after,
            }
        }
    }

    impl Measurer for Moving {
        fn frames(&self) -> &FrameSpec {
            self.pairs[0].frames()
        }

        fn trial(&mut self, offer: &Offer) -> Result<Trial, TesterError> {
            let state = usize::from(self.trials_left == 0);
            self.trials_left = self.trials_left.saturating_sub(1);
            let took = Span::from_nanos(ROUND_TRIPS_NS[state]);
            let mut trial = self.pairs[state].trial(offer)?;
            trial.exchange = Some(CpuExchange {
                before: took,
                after: took,
            });
            Ok(trial)
        }

        fn burst(&mut self, frames: u64) -> Result<Trial, TesterError> {
            self.pairs[0].burst(frames)
        }

        fn rules(&self, offer: &Offer) -> Rules {
            self.pairs[0].rules(offer)
        }

        fn surroundings(&self) -> Surroundings {
            self.pairs[0].surroundings()
        }
    }

    /// Searches while the machine moves after so many trials; overload was in the state of this number.
    fn moved(after: u32, state: usize, trials_at_most: u32) -> (Searched, u32) {
        let plan = MlrPlan {
            goals: vec![Preset::Quick.goal(0.0)],
            maximum: Ceiling::Tester(Rate::from_fps(3e6)),
            minimum: Rate::from_fps(1e4),
            start: Some(Rate::from_fps(1e6)),
            trials_at_most,
        };
        let mut search = Mlr::new(plan).expect("a plan");
        let mut seen = Seen::default();
        let mut trials = Trials::new(&mut seen);
        let state = At {
            round_trip_ns: ROUND_TRIPS_NS[state] as f64,
            work_ns: None,
        };
        let (state, never) = (Some(state), Deadline::NEVER);
        let mut pair = Moving::new(after);
        let found = run(
            &mut pair,
            &mut search,
            Phase::Search,
            state,
            never,
            &mut trials,
        );
        let searched = found.expect("an end").remove(0);
        (searched, u32::try_from(seen.0.len()).expect("few trials"))
    }

    fn passed(searched: &Searched) -> f64 {
        match searched.result.outcome {
            Outcome::Found { lossless, .. } => lossless.fps(),
            _ => panic!("a rate: {searched:?}"),
        }
    }

    #[test]
    fn trials_in_the_state_of_overload_find_alone() {
        // All loads that passed in the first state fail in the second one. What passed there once makes no result, and a
        // lower load is tried.
        let (searched, trials) = moved(4, 0, 8);
        assert!((6e5..7e5).contains(&passed(&searched)), "{searched:?}");
        assert!(!searched.result.is_complete());
        assert_eq!(searched.elsewhere, trials - 4);
        assert_eq!(searched.left_out.len(), 0);
        assert_eq!(searched.stands_on, Some(trials));
        // Complete in its own state, and all trials are in it.
        let (searched, trials) = moved(0, 1, 100);
        assert!(searched.result.is_complete(), "{searched:?}");
        assert!((6.5e5..7.1e5).contains(&passed(&searched)));
        assert_eq!(
            (searched.elsewhere, searched.trials.len()),
            (0, trials as usize)
        );
        // No trial is in the state of overload: all count, and the doubt says so.
        let (searched, trials) = moved(0, 0, 100);
        assert!(searched.result.is_complete());
        assert_eq!((searched.elsewhere, searched.left_out.len()), (trials, 0));
        // Complete with the trials of the other state alone.
        let (searched, trials) = moved(2, 0, 100);
        assert!(searched.result.is_complete(), "{searched:?}");
        assert_eq!(
            (searched.elsewhere, searched.left_out.len()),
            (trials - 2, 0)
        );
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
            let mut trials = Trials::new(&mut seen);
            let found = run(
                &mut pair,
                &mut search,
                Phase::Search,
                None,
                deadline,
                &mut trials,
            );
            let outcome = found.expect("an end")[0].result.outcome;
            let loads: Vec<f64> = seen.0.iter().map(|(_, rate, _)| rate.fps()).collect();
            (outcome, loads)
        };
        let (outcome, loads) = searched(1e4, 1e6, Deadline::NEVER);
        assert_eq!(loads, [3e6, 2.1e6, 1.05e6, 5.25e5]);
        assert!(
            matches!(outcome, Outcome::Found { lossless, .. } if lossless.fps() == 5.25e5),
            "{outcome:?}"
        );
        // No lower load is allowed.
        let (outcome, loads) = searched(2.5e6, 1e6, Deadline::NEVER);
        assert_eq!(loads, [3e6, 2.5e6]);
        assert!(
            matches!(outcome, Outcome::NoneLossless { .. }),
            "{outcome:?}"
        );
        // It ends at the lowest.
        let (outcome, loads) = searched(1e4, 5e3, Deadline::NEVER);
        assert_eq!(loads.len(), 6);
        assert!((loads[5] - 0.7 * 3e6 / 16.0).abs() < 1e-6);
        assert!(
            matches!(outcome, Outcome::NoneLossless { .. }),
            "{outcome:?}"
        );
        // The time is spent before anything was tried: one load of the search, and few lower ones.
        let (_, loads) = searched(1e4, 5e3, Deadline::after(Some(Span::ZERO)));
        assert_eq!(loads, [3e6, 2.1e6, 1.05e6, 5.25e5]);
    }
}
