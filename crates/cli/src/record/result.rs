//! A finding as its line has it: what was found for one frame size, and the trials it stands on.

use super::cause::{evenness, headroom, why_lost};
use super::overload::overload;
use crate::figures::{Figures, Reading};
use mpps_lab::doubt::{self, Finding};
use mpps_method::{FrameSpec, Irregular, Outcome, Rate, SearchGoal, Trial};
use mpps_record::{self as record, Doubt, LossAbove, RateIs, ResultLine, Stability, StandsOn};

/// The line of one finding.
#[must_use]
pub fn result_line(finding: &Finding, figures: &Figures, stands: StandsOn) -> ResultLine {
    let (rate_is, rate) = match figures.reading {
        Reading::Is(rate) => (Some(RateIs::Equal), Some(rate)),
        Reading::AtLeast(rate) => (Some(RateIs::AtLeast), Some(rate)),
        Reading::Below(rate) => (Some(RateIs::Below), Some(rate)),
        Reading::Nothing => (None, None),
    };
    let Ended {
        outcome,
        lossy,
        trials,
        voided,
    } = ended(&finding.outcome);
    let trial = finding.trial.as_ref().filter(|_| figures.label.is_some());
    let stands_on_trial = finding.stands_on.filter(|_| trial.is_some());
    ResultLine {
        simulated: finding.simulated,
        outcome,
        overload: overload(&finding.saturated, figures.forwarding_limit),
        receiver: finding.receiver.map(|place| place.name().into()),
        lossless_trials: Some(finding.passes.lossless),
        judged_trials: Some(finding.passes.judged),
        claim: figures.label.map(Into::into),
        rate_is,
        rate_fps: rate.map(whole_fps),
        lossy_fps: lossy.map(whole_fps),
        conditional_throughput_fps: finding.conditional_throughput.map(whole_fps),
        irregular: finding.irregular.as_ref().map(Irregular::to_string),
        limited_by: figures.limited_by.map(|limit| limit.name().into()),
        link_share: figures.link_share,
        rate_gbit_per_s: figures.gbit_per_s,
        loss_ratio: figures.loss_ratio,
        loss_above: finding.loss_above.as_ref().map(|loss| LossAbove {
            rate_fps: whole_fps(loss.rate()),
            lost_frames: loss.lost(),
            loss_ratio: loss.ratio(),
        }),
        dut_busy_share: trial.and_then(Trial::busy_share),
        dut_busiest_cpu_share: figures.busy_share,
        dut_busy_ns_per_frame: figures.busy_ns_per_frame,
        tester_ceiling_fps: whole_fps(figures.ceiling),
        new_flows_per_s: figures.new_flows_per_s,
        trials,
        voided_trials: voided,
        stands_on: StandsOn {
            stands_on_trial,
            ..stands
        },
        why_lost: finding.why_lost.as_ref().map(why_lost),
        headroom: finding.headroom.as_ref().map(headroom),
        evenness: figures.evenness.as_ref().map(evenness),
        stability: finding.stability.name().into(),
        unstable: figures.unstable.map(|found| found.to_string()),
        doubts: finding.doubts.iter().map(doubt).collect(),
        ..result_not_measured(&finding.frames, finding.goal, figures)
    }
}

/// The line of a frame size and goal of which nothing is known; the figures say why.
#[must_use]
pub fn result_not_measured(
    frames: &FrameSpec,
    goal: Option<SearchGoal>,
    figures: &Figures,
) -> ResultLine {
    ResultLine {
        frame: frames.to_string(),
        frame_mean_octets: frames.mean_octets(),
        goal: goal.map(|goal| goal.to_string()),
        goal_code: goal.map(|goal| goal.code()),
        goal_loss_ratio: goal.map(|goal| goal.loss_ratio),
        outcome: record::Outcome::NotMeasured,
        why: figures.why.clone(),
        lossless_trials: Some(0),
        judged_trials: Some(0),
        stability: Stability::Unknown,
        ..ResultLine::default()
    }
}

/// A rate in whole frames/s, the nearest: a search's loads have fractions that nobody measured.
#[must_use]
pub fn whole_fps(rate: Rate) -> u64 {
    whole(rate.fps())
}

pub(super) fn whole(fps: f64) -> u64 {
    fps.round() as u64
}

/// How a search ended, as members of the line.
struct Ended {
    outcome: record::Outcome,
    lossy: Option<Rate>,
    trials: u32,
    voided: u32,
}

fn ended(how: &Outcome) -> Ended {
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
    Ended {
        outcome,
        lossy,
        trials,
        voided,
    }
}

/// The entry of one doubt.
#[must_use]
pub fn doubt(doubt: &doubt::Doubt) -> Doubt {
    Doubt {
        name: doubt.name.to_owned(),
        seen: doubt.seen.clone(),
        why: doubt.why.to_owned(),
        next: doubt.next.to_owned(),
        weight: Some(doubt.weight.place()),
    }
}
