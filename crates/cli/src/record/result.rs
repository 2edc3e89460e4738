//! A result's line: what was found for one frame size, and the trials it stands on.

use crate::figures::{Figures, Reading};
use mpps_lab::doubt::{Doubt, Finding};
use mpps_method::{Outcome, Rate};
use serde::Serialize;

/// Numbers of the trials behind a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stands {
    /// Those that found the tester's ceiling.
    pub ceiling_trials: Vec<u32>,
    /// Those of the search.
    pub search_trials: Vec<u32>,
    /// The one the figures come from.
    pub stands_on_trial: Option<u32>,
    /// Lossless ones of the search with their load.
    #[serde(skip)]
    pub lossless_trials: Vec<(u32, Rate)>,
}

impl Stands {
    /// The trial a result at this load stands on: the last lossless one there.
    #[must_use]
    pub fn at(&self, rate: Rate) -> Option<u32> {
        let mut trials = self.lossless_trials.iter().rev();
        trials.find(|(_, at)| *at == rate).map(|(trial, _)| *trial)
    }
}

/// One result.
#[derive(Clone, Debug, Serialize)]
pub struct ResultLine {
    frame: String,
    frame_mean_octets: f64,
    outcome: &'static str,
    /// Why nothing could be measured.
    why: Option<String>,
    /// What may be claimed: Throughput, Estimate, or nothing.
    claim: Option<&'static str>,
    /// `=`, `>=` or `<`: how the rate is to be read.
    rate_is: Option<&'static str>,
    rate_fps: Option<f64>,
    lossy_fps: Option<f64>,
    limited_by: Option<&'static str>,
    link_share_notional: Option<f64>,
    rate_gbit_per_s: Option<f64>,
    loss_ratio: Option<f64>,
    loss_above: Option<LossAbove>,
    dut_busy_share: Option<f64>,
    dut_busiest_cpu_share: Option<f64>,
    dut_busy_ns_per_frame: Option<f64>,
    estimate_by_busy_fps: Option<f64>,
    tester_ceiling_fps: f64,
    trials: u32,
    voided_trials: u32,
    #[serde(flatten)]
    stands: Stands,
    doubts: Vec<DoubtEntry>,
}

/// Loss at the lowest load that failed.
#[derive(Clone, Debug, Serialize)]
struct LossAbove {
    rate_fps: f64,
    lost_frames: u64,
    loss_ratio: f64,
}

#[derive(Clone, Debug, Serialize)]
struct DoubtEntry {
    name: &'static str,
    seen: String,
    why: &'static str,
    next: &'static str,
}

impl ResultLine {
    /// The line of one finding.
    #[must_use]
    pub fn of(finding: &Finding, figures: &Figures, mut stands: Stands) -> Self {
        let (rate_is, rate) = match figures.reading {
            Reading::Is(rate) => (Some("="), Some(rate)),
            Reading::AtLeast(rate) => (Some(">="), Some(rate)),
            Reading::Below(rate) => (Some("<"), Some(rate)),
            Reading::Nothing => (None, None),
        };
        let (outcome, why, lossy, trials, voided) = match finding.outcome {
            Outcome::Found {
                lossy,
                trials,
                voided,
                ..
            } => ("found", None, lossy, trials, voided),
            Outcome::NoneLossless {
                lowest,
                trials,
                voided,
            } => ("none-lossless", None, Some(lowest), trials, voided),
            Outcome::CouldNotMeasure {
                why,
                trials,
                voided,
            } => (
                "could-not-measure",
                Some(why.to_string()),
                None,
                trials,
                voided,
            ),
        };
        let trial = finding.trial.as_ref().filter(|_| figures.label.is_some());
        stands.stands_on_trial = trial.and_then(|trial| stands.at(trial.offered));
        Self {
            frame: figures.frames.clone(),
            frame_mean_octets: finding.frames.mean_octets(),
            outcome,
            why,
            claim: figures.label,
            rate_is,
            rate_fps: rate.map(Rate::fps),
            lossy_fps: lossy.map(Rate::fps),
            limited_by: figures.limited_by.map(crate::figures::Limit::name),
            link_share_notional: figures.link_share,
            rate_gbit_per_s: figures.gbit_per_s,
            loss_ratio: figures.loss_ratio,
            loss_above: finding.loss_above.as_ref().map(|loss| LossAbove {
                rate_fps: loss.rate().fps(),
                lost_frames: loss.lost(),
                loss_ratio: loss.ratio(),
            }),
            dut_busy_share: figures.busy_share,
            dut_busiest_cpu_share: trial.and_then(mpps_method::Trial::busiest_share),
            dut_busy_ns_per_frame: figures.busy_ns_per_frame,
            estimate_by_busy_fps: figures.estimate.map(Rate::fps),
            tester_ceiling_fps: figures.ceiling.fps(),
            trials,
            voided_trials: voided,
            stands,
            doubts: finding.doubts.iter().map(doubt).collect(),
        }
    }
}

fn doubt(doubt: &Doubt) -> DoubtEntry {
    DoubtEntry {
        name: doubt.name(),
        seen: doubt.seen(),
        why: doubt.why(),
        next: doubt.next(),
    }
}
