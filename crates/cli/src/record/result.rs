//! A finding as its line has it: what was found for one frame size, and the trials it stands on.

use super::cause::{evenness, headroom, why_lost};
use super::overload::overload;
use mpps_lab::doubt::{Finding, Reading};
use mpps_lab::jobs::throughput::{SizeResult, ThroughputPlan};
use mpps_lab::line::{self, whole_fps};
use mpps_method::{
    Claim, FrameSpec, Irregular, LossRate, Outcome, SearchGoal, SearchPlan, Stability, Trial,
};
use mpps_record::{self as record, LossAbove, Place, RateIs, ResultLine, Run, StandsOn};

/// The lines of a frame size, one a goal. All of them stand on the same trials.
pub fn result_lines(
    size: &SizeResult,
    plan: &ThroughputPlan,
    stands: &StandsOn,
    simulated: bool,
) -> Vec<ResultLine> {
    let mut lines = match &size.findings {
        Ok(findings) => {
            let line = |finding| result_line(finding, plan, stands.clone());
            findings.iter().map(line).collect()
        }
        Err(why) => not_measured(&size.frames, plan, why),
    };
    lines
        .iter_mut()
        .for_each(|line: &mut ResultLine| line.simulated = simulated);
    lines
}

/// The lines of the plan's sizes that a run did not begin, and why.
pub fn results_not_begun(plan: &ThroughputPlan, run: &Run, why: &str) -> Vec<ResultLine> {
    let begin = run.begin.as_ref().map(|begin| &begin.bed);
    let simulated = matches!(begin, Some(Place::Simulated { .. }));
    let told = run.results.len() / goals(plan).len().max(1);
    let lines = (plan.sizes.iter().skip(told)).flat_map(|frames| not_measured(frames, plan, why));
    lines.map(|line| ResultLine { simulated, ..line }).collect()
}

fn goals(plan: &ThroughputPlan) -> Vec<Option<SearchGoal>> {
    match &plan.search {
        SearchPlan::Mlr { goals, .. } => goals.iter().copied().map(Some).collect(),
        SearchPlan::Bisection { .. } => vec![None],
    }
}

fn not_measured(frames: &FrameSpec, plan: &ThroughputPlan, why: &str) -> Vec<ResultLine> {
    let line = |goal| result_not_measured(frames, goal, Some(why));
    goals(plan).into_iter().map(line).collect()
}

/// The line of one finding.
pub fn result_line(finding: &Finding, plan: &ThroughputPlan, stands: StandsOn) -> ResultLine {
    let (rate_is, rate) = match finding.rate {
        Reading::Is(rate) => (Some(RateIs::Equal), Some(rate)),
        Reading::AtLeast(rate) => (Some(RateIs::AtLeast), Some(rate)),
        Reading::Unconfirmed(rate) => (Some(RateIs::Unconfirmed), Some(rate)),
        Reading::Below(rate) => (Some(RateIs::Below), Some(rate)),
        Reading::Nothing => (None, None),
    };
    let passed = finding.rate.passed();
    let on_wire = finding.frames.mean_on_wire();
    let directions = if plan.traffic.bidirectional { 2.0 } else { 1.0 };
    // Where no load passed, no trial stands for it.
    let trial = finding.trial.as_ref().filter(|_| passed.is_some());
    let claim = finding.claim.as_ref().filter(|_| passed.is_some());
    let loss_above = finding.loss_above.as_ref();
    let line = ResultLine {
        simulated: finding.simulated,
        overload: overload(
            &finding.saturated,
            finding.forwarding_limit,
            finding.simulated,
        ),
        receiver: finding.receiver.map(Into::into),
        lossless_trials: Some(finding.passes.lossless),
        judged_trials: Some(finding.passes.judged),
        claim: claim.map(claim_word),
        rate_is,
        rate_fps: rate.map(whole_fps),
        lossless_below_fps: finding.fails.map(whole_fps),
        gate_lossless_fps: finding.gate_passed.map(whole_fps),
        conditional_throughput_fps: finding.conditional_throughput.map(whole_fps),
        irregular: finding.irregular.as_ref().map(Irregular::to_string),
        limited_by: finding.limited_by.map(line::limited_by),
        link_share: passed.map(|rate| plan.link.speed.share(rate, on_wire) / directions),
        rate_gbit_per_s: passed.map(|rate| rate.fps() * on_wire * 8.0 / 1e9),
        loss_ratio: match finding.rate {
            Reading::Below(_) => loss_above.map(LossRate::ratio),
            _ => trial.and_then(Trial::loss_ratio),
        },
        loss_above: loss_above.map(|loss| LossAbove {
            rate_fps: whole_fps(loss.rate()),
            lost_frames: loss.lost(),
            loss_ratio: loss.ratio(),
        }),
        dut_busy_share: trial.and_then(Trial::busy_share),
        dut_busiest_cpu_share: trial.and_then(Trial::busiest_share),
        dut_busy_ns_per_frame: trial.and_then(Trial::ns_per_frame),
        tester_ceiling_fps: whole_fps(finding.ceiling),
        new_flows_per_s: passed
            .zip(plan.traffic.flow_length)
            .map(|(rate, frames)| rate.fps() / f64::from(frames.max(1))),
        stands_on: StandsOn {
            left_out_trials: finding.left_out.clone(),
            stands_on_trial: finding.stands_on.filter(|_| trial.is_some()),
            ..stands
        },
        why_lost: finding.why_lost.as_ref().map(why_lost),
        headroom: finding.headroom.as_ref().map(headroom),
        evenness: (finding.evenness.as_ref())
            .filter(|_| passed.is_some())
            .map(evenness),
        stability: stability_word(&finding.stability),
        unstable: match finding.stability {
            Stability::Unstable(found) => Some(found.to_string()),
            _ => None,
        },
        doubts: line::doubts(&finding.doubts),
        ..result_not_measured(&finding.frames, finding.goal, None)
    };
    ended(line, &finding.outcome)
}

/// The line with how its search ended.
fn ended(line: ResultLine, how: &Outcome) -> ResultLine {
    let (outcome, lossy, trials, voided) = match *how {
        Outcome::Found {
            lossy,
            trials,
            voided,
            ..
        } => (record::Outcome::Found, lossy, trials, voided),
        Outcome::NoneLossless {
            lowest,
            trials,
            voided,
        } => (record::Outcome::NoneLossless, Some(lowest), trials, voided),
        Outcome::CouldNotMeasure { trials, voided, .. } => {
            (record::Outcome::NotMeasured, None, trials, voided)
        }
    };
    let why = match *how {
        Outcome::CouldNotMeasure { why, .. } => Some(why.to_string()),
        Outcome::Found { .. } | Outcome::NoneLossless { .. } => None,
    };
    ResultLine {
        outcome,
        why,
        lossy_fps: lossy.map(whole_fps),
        trials,
        voided_trials: voided,
        ..line
    }
}

/// The line of a frame size and goal of which nothing is known, and why.
fn result_not_measured(
    frames: &FrameSpec,
    goal: Option<SearchGoal>,
    why: Option<&str>,
) -> ResultLine {
    ResultLine {
        frame: frames.to_string(),
        frame_mean_octets: frames.mean_octets(),
        goal: goal.map(|goal| goal.to_string()),
        goal_code: goal.map(|goal| goal.code()),
        goal_loss_ratio: goal.map(|goal| goal.loss_ratio),
        outcome: record::Outcome::NotMeasured,
        why: why.map(str::to_owned),
        lossless_trials: Some(0),
        judged_trials: Some(0),
        stability: record::Stability::Unknown,
        ..ResultLine::default()
    }
}

/// The word for a claim.
const fn claim_word(claim: &Claim) -> record::Claim {
    match claim {
        Claim::Throughput(_) => record::Claim::Throughput,
        Claim::LossRate(_) => record::Claim::LossRate,
        Claim::Estimate(_) => record::Claim::Estimate,
    }
}

/// The word for a stability.
const fn stability_word(stability: &Stability) -> record::Stability {
    match stability {
        Stability::Stable => record::Stability::Stable,
        Stability::Overloaded => record::Stability::Overloaded,
        Stability::Unstable(_) => record::Stability::Unstable,
        Stability::Silent | Stability::Unknown { .. } => record::Stability::Unknown,
    }
}

#[cfg(test)]
mod tests;
