//! The main job: the highest load of which the DUT loses no frame. This is the page to read first.
//!
//! `search` says which load to offer, `trial` offers it and counts, the verdict goes back to `search`:
//! the only loop there is. What the numbers are worth is for `doubt` to say.

use super::{JobError, Observer, Phase, Report};
use crate::bed::Bed;
use crate::ceiling;
use crate::doubt::{self, Finding};
use crate::probe;
use crate::rules;
use crate::tester::{ReceiverMode, Tester};
use crate::traffic::Traffic;
use crate::trial;
use mpps_method::{
    Accept, Bisection, Ceiling, FrameSpec, Goal, LinkSpeed, Outcome, Rate, Resolution, Search,
    Span, Step, Trial, Verdict,
};

/// What to measure; the bed is raised by then.
#[derive(Clone, Debug)]
pub struct ThroughputPlan {
    /// One measurement each.
    pub sizes: Vec<FrameSpec>,
    /// All other properties of the traffic (its frame sizes are replaced).
    pub traffic: Traffic,
    /// Length of each trial.
    pub trial: Span,
    /// How closely to find the rate.
    pub resolution: Resolution,
    /// Trials at each load.
    pub trials_per_load: u32,
    /// How these decide.
    pub accept: Accept,
    /// Lowest load.
    pub minimum: Rate,
    /// Highest load, where the user gave one.
    pub maximum: Option<Rate>,
    /// Speed that "percent of link" refers to; notional on a bed without a wire.
    pub link: LinkSpeed,
}

/// A search with the trials its result stands on.
#[derive(Clone, Debug)]
pub struct Searched {
    /// How the search ended.
    pub outcome: Outcome,
    /// The last lossless trial at the highest lossless load.
    pub lossless: Option<Trial>,
    /// Every trial, in order, with its verdict.
    pub trials: Vec<(Trial, Verdict)>,
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
        let traffic = Traffic {
            frames: frames.clone(),
            ..plan.traffic.clone()
        };
        let frames_max = ceiling::SENDER_MAX.frames_in(plan.trial).max(1);
        let mut tester = Tester::raise(bed, &traffic, frames_max, ReceiverMode::Polled)?;
        probe::probe(&mut tester)?;
        let ceiling = ceiling::find(&mut tester, plan.trial, observer)?;
        let searched = search(&mut tester, goal(plan, ceiling), Phase::Search, observer)?;
        findings.push(doubt::weigh(bed, plan, &traffic, ceiling, searched));
    }
    Ok(findings)
}

/// Searches for the goal through whatever is between the tester's ports.
///
/// # Errors
/// The goal, the tester or the record.
pub fn search(
    tester: &mut Tester<'_>,
    goal: Goal,
    phase: Phase,
    observer: &mut dyn Observer,
) -> Result<Searched, JobError> {
    let mut search = Bisection::new(goal)?;
    let mut trials: Vec<(Trial, Verdict)> = Vec::new();
    loop {
        match search.next() {
            Step::Offer(offer) => {
                let trial = trial::run(tester, &offer)?;
                let verdict = trial.judge(&rules::of(tester.bed, &offer));
                let frames = &tester.traffic.frames;
                let report = Report {
                    frames,
                    phase,
                    offer,
                    trial: &trial,
                    verdict: &verdict,
                };
                observer.trial(&report).map_err(JobError::Record)?;
                search.learn(&verdict);
                trials.push((trial, verdict));
            }
            Step::Done(outcome) => {
                let lossless = evidence(&outcome, &trials);
                return Ok(Searched {
                    outcome,
                    lossless,
                    trials,
                });
            }
        }
    }
}

/// The last lossless trial at the load the search found: a higher load may have had one too, and have
/// failed all the same (`--accept all`).
fn evidence(outcome: &Outcome, trials: &[(Trial, Verdict)]) -> Option<Trial> {
    let Outcome::Found { lossless: rate, .. } = *outcome else {
        return None;
    };
    let lossless = trials
        .iter()
        .rev()
        .filter(|(_, verdict)| *verdict == Verdict::Lossless);
    lossless
        .map(|(trial, _)| trial)
        .find(|trial| trial.offered == rate)
        .cloned()
}

fn goal(plan: &ThroughputPlan, ceiling: Rate) -> Goal {
    let highest = plan.maximum.map_or(ceiling, |maximum| maximum.min(ceiling));
    Goal {
        trial: plan.trial,
        resolution: plan.resolution,
        trials_per_load: plan.trials_per_load,
        accept: plan.accept,
        maximum: Ceiling::Tester(highest),
        minimum: plan.minimum,
    }
}
