//! A finding as its line has it: what was found for one frame size, and the trials it stands on.

use super::overload::overload;
use super::whole_fps;
use crate::doubt::{Finding, Reading, WhyLost};
use crate::search::link::Link;
use crate::traffic::Traffic;
use mpps_method::{
    Claim, FrameSpec, Irregular, LossRate, Outcome, SearchGoal, SearchPlan, Stability, Trial,
};
use mpps_record::{self as record, LossAbove, RateIs, ResultLine, StandsOn};

/// The lines of a frame size that was not measured, one a goal, and why.
#[must_use]
pub fn results_not_measured(
    frames: &FrameSpec,
    search: &SearchPlan,
    simulated: bool,
    why: &str,
) -> Vec<ResultLine> {
    let line = |goal| ResultLine {
        simulated,
        ..result_not_measured(frames, goal, Some(why))
    };
    match search {
        SearchPlan::Mlr { goals, .. } => goals.iter().map(|goal| line(Some(*goal))).collect(),
        SearchPlan::Bisection { .. } => vec![line(None)],
    }
}

/// The line of one finding, of this traffic and link. It stands on these trials.
pub(crate) fn result(
    finding: &Finding,
    traffic: &Traffic,
    link: &Link,
    stands: &StandsOn,
) -> ResultLine {
    let (rate_is, rate) = match finding.rate {
        Reading::Is(rate) => (Some(RateIs::Equal), Some(rate)),
        Reading::AtLeast(rate) => (Some(RateIs::AtLeast), Some(rate)),
        Reading::Unconfirmed(rate) => (Some(RateIs::Unconfirmed), Some(rate)),
        Reading::Below(rate) => (Some(RateIs::Below), Some(rate)),
        Reading::Nothing => (None, None),
    };
    let passed = finding.rate.passed();
    let on_wire = finding.frames.mean_on_wire();
    let directions = if traffic.bidirectional { 2.0 } else { 1.0 };
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
        limited_by: finding.limited_by.map(Into::into),
        link_share: passed.map(|rate| link.speed.share(rate, on_wire) / directions),
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
            .zip(traffic.flow_length)
            .map(|(rate, frames)| rate.fps() / f64::from(frames.max(1))),
        stands_on: StandsOn {
            left_out_trials: finding.left_out.clone(),
            stands_on_trial: finding.stands_on.filter(|_| trial.is_some()),
            ..stands.clone()
        },
        why_lost: finding.why_lost.as_ref().map(why_lost),
        headroom: finding.headroom.clone(),
        evenness: finding.evenness.clone().filter(|_| passed.is_some()),
        stability: stability_word(&finding.stability),
        unstable: match finding.stability {
            Stability::Unstable(found) => Some(found.to_string()),
            _ => None,
        },
        doubts: super::doubts(&finding.doubts),
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

/// The entry of one loss.
fn why_lost(why: &WhyLost) -> record::WhyLost {
    record::WhyLost {
        rate_fps: why.rate.fps(),
        bounds: Some(why.bounds),
        pattern: why.pattern().name().to_owned(),
        text: why.to_string(),
        lost_frames: why.losses.lost,
        sent_frames: why.losses.sent,
        dut_busiest_cpu_share: why.busy,
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
