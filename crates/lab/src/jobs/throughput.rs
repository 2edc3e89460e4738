//! The main job: the highest load of which the DUT loses no frame. This is the page to read first.
//!
//! `search` says which load to offer, `trial` offers it and counts, the verdict goes back to `search`:
//! the only loop there is. What the numbers are worth is for `doubt` to say.

use super::{JobError, Observer, Phase, Report};
use crate::bed::Bed;
use crate::clock::Deadline;
use crate::doubt::{self, Finding};
use crate::gate;
use crate::link::{self, Link};
use crate::measurer::Measurer;
use crate::probe;
use crate::saturation::{self, Saturated};
use crate::simulated::SimulatedPair;
use crate::tester::{ReceiverMode, ReceiverPlace, Tester, receiver_place};
use crate::traffic::Traffic;
use crate::trial;
use mpps_method::mlr::goal::SearchGoalError;
use mpps_method::simulate::Properties;
use mpps_method::{
    Bisection, FrameSpec, Goal, GoalResult, Outcome, Rate, Search, SearchPlan, Span, Step, Trial,
    Verdict,
};
use std::rc::Rc;

/// What to measure; the bed is raised by then.
#[derive(Clone, Debug)]
pub struct ThroughputPlan {
    /// One measurement each.
    pub sizes: Vec<FrameSpec>,
    /// All other properties of the traffic (its frame sizes are replaced).
    pub traffic: Traffic,
    /// What to search for, and how.
    pub search: SearchPlan,
    /// How long frames are sent at a trial's load before its own, uncounted.
    pub warm_up: Span,
    /// Lowest load.
    pub minimum: Rate,
    /// Highest load, where the user gave one.
    pub maximum: Option<Rate>,
    /// What "percent of link" refers to.
    pub link: Link,
    /// Time for each frame size; when it is spent, what is known is the result. `None`: as long as it takes.
    pub budget: Option<Span>,
    /// Where the tester receives; `None`: at the DUT's exit where sender and receiver would share a CPU.
    pub receiver: Option<ReceiverPlace>,
}

/// Time for overload at most.
const SATURATION_TIME: Span = Span::from_millis(10_000);
/// And at most such a part of the budget.
const SATURATION_SHARE: u64 = 3;

/// What a search found for one goal, with the trials it stands on.
#[derive(Clone, Debug)]
pub struct Searched {
    /// What was found.
    pub result: GoalResult,
    /// The trial the result stands on.
    pub evidence: Option<Trial>,
    /// Every trial of the search, in order, with its verdict: all goals'.
    pub trials: Rc<[(Trial, Verdict)]>,
}

/// Measures one frame size after the other on the bed.
///
/// # Errors
/// The bed, the tester, the probe or the record failed; findings so far are lost, their trials are
/// in the record.
pub fn measure(
    bed: &Bed,
    plan: &ThroughputPlan,
    observer: &mut dyn Observer,
) -> Result<Vec<Finding>, JobError> {
    let mut findings = Vec::new();
    for frames in &plan.sizes {
        findings.extend(measure_size(bed, plan, frames, observer)?);
    }
    Ok(findings)
}

/// One frame size of the plan; one finding a goal.
///
/// # Errors
/// As [`measure`].
pub fn measure_size(
    bed: &Bed,
    plan: &ThroughputPlan,
    frames: &FrameSpec,
    observer: &mut dyn Observer,
) -> Result<Vec<Finding>, JobError> {
    let deadline = Deadline::after(plan.budget);
    let nothing_before = |_: &mut Tester<'_>| Ok(());
    let (mut tester, saturated) = saturate(bed, plan, frames, nothing_before, observer)?;
    tester.warm_up = plan.warm_up;
    find(&mut tester, plan, saturated, deadline, observer)
}

/// A tester for the plan's trials with one frame size, and what overload tells, within its part of the budget; first
/// `before` is run with it.
pub(super) fn saturate<'a>(
    bed: &'a Bed,
    plan: &ThroughputPlan,
    frames: &FrameSpec,
    before: impl Fn(&mut Tester<'_>) -> Result<(), JobError>,
    observer: &mut dyn Observer,
) -> Result<(Tester<'a>, Saturated), JobError> {
    let traffic = Traffic {
        frames: frames.clone(),
        ..plan.traffic.clone()
    };
    let longest = plan.search.longest_trial().max(plan.warm_up);
    let frames_max = saturation::SENDER_MAX
        .frames_in(trial::longest(longest))
        .max(1);
    let share = |budget: Span| Span::from_nanos(budget.as_nanos() / SATURATION_SHARE);
    let time = plan.budget.map_or(SATURATION_TIME, share);
    let overload = |tester: &mut Tester<'_>| {
        before(tester)?;
        saturation::measure(tester, time.min(SATURATION_TIME), observer)
    };
    let (mut tester, saturated) = raise(bed, &traffic, frames_max, plan.receiver, overload)?;
    let undisturbed = saturated.maximum().filter(|most| !most.only_disturbed);
    tester.forwards_at_most = undisturbed.map(|most| Rate::from_fps(most.forwarding.middle));
    Ok((tester, saturated))
}

/// A tester that the DUT lets frames through to, for trials of `frames_max` at most, and what was measured with it
/// first: where it was left to us, at the DUT's exit if that sees every frame.
pub(crate) fn raise<'a, T>(
    bed: &'a Bed,
    traffic: &Traffic,
    frames_max: u64,
    receiver: Option<ReceiverPlace>,
    mut first: impl FnMut(&mut Tester<'_>) -> Result<T, JobError>,
) -> Result<(Tester<'a>, T), JobError> {
    let mut receiving_at = |receiver| {
        let traffic = Traffic {
            receiver,
            ..traffic.clone()
        };
        let mut tester = Tester::raise(bed, &traffic, frames_max, ReceiverMode::Polled)?;
        probe::probe(&mut tester)?;
        let measured = first(&mut tester)?;
        Ok::<_, JobError>((tester, measured))
    };
    let place = match receiver {
        Some(place) => place,
        None => receiver_place(bed, traffic)?,
    };
    match receiving_at(place) {
        Err(error) if receiver.is_none() && error.is_past_exit() => {
            receiving_at(ReceiverPlace::Port)
        }
        measured => measured,
    }
}

/// The same on a simulated pair, whose tester's ceiling is known.
///
/// # Errors
/// The goal or the record.
pub fn simulate(
    router: Properties,
    plan: &ThroughputPlan,
    observer: &mut dyn Observer,
) -> Result<Vec<Finding>, JobError> {
    let mut findings = Vec::new();
    for frames in &plan.sizes {
        let mut pair = SimulatedPair::new(frames.clone(), router);
        let saturated = saturation::simulate(&router);
        let never = Deadline::NEVER;
        findings.extend(find(&mut pair, plan, saturated, never, observer)?);
    }
    Ok(findings)
}

/// Searches by the plan below the tester's ceiling; one finding for each goal.
pub(super) fn find(
    measurer: &mut dyn Measurer,
    plan: &ThroughputPlan,
    saturated: Saturated,
    deadline: Deadline,
    observer: &mut dyn Observer,
) -> Result<Vec<Finding>, JobError> {
    let ceiling = saturated.ceiling;
    let highest = plan.maximum.map_or(ceiling, |maximum| maximum.min(ceiling));
    let gated = gate::pass(measurer, highest, observer)?;
    let line = measurer.surroundings().line_rate;
    let range = (plan.minimum, link::highest(highest, line));
    let mut search = (plan.search).begin(range.0, range.1, start(&saturated))?;
    let found = run(measurer, search.as_mut(), Phase::Search, deadline, observer)?;
    let allowed = doubt::highest_allowed(plan.maximum, ceiling, &plan.search);
    let weigh = |searched| doubt::weigh(measurer, &saturated, &gated, searched, allowed);
    Ok(found.into_iter().map(weigh).collect())
}

/// Where the search begins: at the maximum forwarding rate, if that is the DUT's.
fn start(saturated: &Saturated) -> Option<Rate> {
    let maximum = saturated.maximum().filter(|_| saturated.overloaded)?;
    Some(Rate::from_fps(maximum.forwarding.middle))
}

/// Bisects for one goal through whatever is between the tester's ports.
///
/// # Errors
/// The goal, the tester or the record.
pub fn search(
    tester: &mut Tester<'_>,
    goal: Goal,
    phase: Phase,
    observer: &mut dyn Observer,
) -> Result<Outcome, JobError> {
    let mut search = Bisection::new(goal)?;
    let found = run(tester, &mut search, phase, Deadline::NEVER, observer)?;
    found
        .first()
        .map(|searched| searched.result.outcome)
        .ok_or(JobError::Goal(SearchGoalError::None.into()))
}

/// The loop.
fn run(
    measurer: &mut dyn Measurer,
    search: &mut dyn Search,
    phase: Phase,
    deadline: Deadline,
    observer: &mut dyn Observer,
) -> Result<Vec<Searched>, JobError> {
    let mut trials: Vec<(Trial, Verdict)> = Vec::new();
    loop {
        match search.next() {
            Step::Offer(offer) if !deadline.leaves(offer.duration) => {
                return Ok(each(search.found_so_far(), trials));
            }
            Step::Offer(offer) => {
                let trial = measurer.trial(&offer)?;
                let verdict = trial.judge(&measurer.rules(&offer));
                let report = Report {
                    frames: measurer.frames(),
                    phase,
                    offer,
                    trial: &trial,
                    verdict: &verdict,
                };
                observer.trial(&report).map_err(JobError::Record)?;
                search.learn(&verdict, &trial.undisturbed());
                trials.push((trial, verdict));
            }
            Step::Done(results) => return Ok(each(results, trials)),
        }
    }
}

fn each(results: Vec<GoalResult>, trials: Vec<(Trial, Verdict)>) -> Vec<Searched> {
    let trials: Rc<[(Trial, Verdict)]> = trials.into();
    let searched = |result: GoalResult| Searched {
        evidence: evidence(&result, &trials),
        result,
        trials: Rc::clone(&trials),
    };
    results.into_iter().map(searched).collect()
}

/// The last trial long enough at the load found that lost just the share the result stands on. (A higher load
/// may have had one too, and have failed all the same.)
fn evidence(result: &GoalResult, trials: &[(Trial, Verdict)]) -> Option<Trial> {
    let Outcome::Found { lossless: rate, .. } = result.outcome else {
        return None;
    };
    let stands = |(trial, verdict): &&(Trial, Verdict)| {
        matches!(verdict, Verdict::Lossless | Verdict::Lossy { .. })
            && trial.offered == rate
            && trial.duration >= result.final_trial
            && trial.loss_ratio() == Some(result.loss_ratio)
    };
    trials
        .iter()
        .rev()
        .find(stands)
        .map(|(trial, _)| trial.clone())
}
