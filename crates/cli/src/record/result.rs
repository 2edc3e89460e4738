//! A result's line: what was found for one frame size, and the trials it stands on.

use super::cause::{EvennessEntry, HeadroomEntry, WhyLostEntry};
use super::overload::OverloadEntry;
use crate::figures::{Figures, Reading};
use mpps_lab::doubt::{Doubt, Finding};
use mpps_lab::tester::ReceiverPlace;
use mpps_method::{FrameSpec, Irregular, Outcome, Rate, SearchGoal};
use serde::Serialize;

/// Numbers of the trials behind a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stands {
    /// Those at overload, through the router and through a wire in its place.
    pub overload_trials: Vec<u32>,
    /// Those far below any load of the search.
    pub gate_trials: Vec<u32>,
    /// Those of the search.
    pub search_trials: Vec<u32>,
    /// The one the figures come from.
    pub stands_on_trial: Option<u32>,
}

/// One result. Each frame size has one for each goal, whatever came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ResultLine {
    frame: String,
    frame_mean_octets: f64,
    /// Goal of MLRsearch, and its dense code (RFC 9971); null for a bisection.
    goal: Option<String>,
    goal_code: Option<String>,
    goal_loss_ratio: Option<f64>,
    /// Whether tester and router were simulated: nothing was measured.
    simulated: bool,
    /// `found`, `none-lossless` or `not-measured`.
    outcome: &'static str,
    /// Why the rate was not measured.
    why: Option<String>,
    #[serde(flatten)]
    overload: OverloadEntry,
    /// Where the tester received: `exit` or `port`.
    receiver: Option<&'static str>,
    /// What may be claimed: Throughput, Estimate, or nothing.
    claim: Option<&'static str>,
    /// `=`, `>=` or `<`: how the rate is to be read.
    rate_is: Option<&'static str>,
    rate_fps: Option<u64>,
    /// Of the full-length trials at that load (or at the lowest that failed) those within the goal, and those that say
    /// something of the DUT.
    lossless_trials: u32,
    judged_trials: u32,
    lossy_fps: Option<u64>,
    conditional_throughput_fps: Option<u64>,
    /// What a regular result (RFC 9971) would have and this one has not.
    irregular: Option<String>,
    limited_by: Option<&'static str>,
    /// Of the run's link in one direction, which may be notional: `link_source` says.
    link_share: Option<f64>,
    rate_gbit_per_s: Option<f64>,
    loss_ratio: Option<f64>,
    loss_above: Option<LossAbove>,
    dut_busy_share: Option<f64>,
    dut_busiest_cpu_share: Option<f64>,
    dut_busy_ns_per_frame: Option<f64>,
    tester_ceiling_fps: u64,
    /// Flows begun a second, where flows have a length.
    new_flows_per_s: Option<f64>,
    trials: u32,
    voided_trials: u32,
    #[serde(flatten)]
    stands: Stands,
    /// Why frames were lost at the lowest load that lost any.
    why_lost: Option<WhyLostEntry>,
    /// The forwarding rate at 80 % of the DUT's CPU.
    headroom: Option<HeadroomEntry>,
    /// How evenly the frames left in the trial the result stands on.
    evenness: Option<EvennessEntry>,
    /// Whether the DUT loses frames for no load: stable, overloaded, unstable, unknown.
    stability: &'static str,
    doubts: Vec<DoubtEntry>,
}

/// Loss at the lowest load that failed.
#[derive(Clone, Debug, Serialize)]
struct LossAbove {
    rate_fps: u64,
    lost_frames: u64,
    loss_ratio: f64,
}

/// A doubt.
#[derive(Clone, Debug, Serialize)]
pub(super) struct DoubtEntry {
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
        let Ended {
            outcome,
            lossy,
            trials,
            voided,
        } = ended(&finding.outcome);
        let trial = finding.trial.as_ref().filter(|_| figures.label.is_some());
        stands.stands_on_trial = finding.stands_on.filter(|_| trial.is_some());
        Self {
            simulated: finding
                .doubts
                .iter()
                .any(|doubt| matches!(doubt, Doubt::Simulated(_))),
            outcome,
            overload: OverloadEntry::new(&finding.saturated, figures.forwarding_limit),
            receiver: finding.receiver.map(ReceiverPlace::name),
            lossless_trials: finding.passes.lossless,
            judged_trials: finding.passes.judged,
            claim: figures.label,
            rate_is,
            rate_fps: rate.map(whole_fps),
            lossy_fps: lossy.map(whole_fps),
            conditional_throughput_fps: finding.conditional_throughput.map(whole_fps),
            irregular: finding.irregular.as_ref().map(Irregular::to_string),
            limited_by: figures.limited_by.map(crate::figures::Limit::name),
            link_share: figures.link_share,
            rate_gbit_per_s: figures.gbit_per_s,
            loss_ratio: figures.loss_ratio,
            loss_above: finding.loss_above.as_ref().map(|loss| LossAbove {
                rate_fps: whole_fps(loss.rate()),
                lost_frames: loss.lost(),
                loss_ratio: loss.ratio(),
            }),
            dut_busy_share: trial.and_then(mpps_method::Trial::busy_share),
            dut_busiest_cpu_share: figures.busy_share,
            dut_busy_ns_per_frame: figures.busy_ns_per_frame,
            tester_ceiling_fps: whole_fps(figures.ceiling),
            new_flows_per_s: figures.new_flows_per_s,
            trials,
            voided_trials: voided,
            stands,
            why_lost: finding.why_lost.as_ref().map(WhyLostEntry::of),
            headroom: finding.headroom.as_ref().map(HeadroomEntry::of),
            evenness: figures.evenness.as_ref().map(EvennessEntry::of),
            stability: finding.stability.name(),
            doubts: finding.doubts.iter().map(DoubtEntry::of).collect(),
            ..Self::not_measured(&finding.frames, finding.goal, figures)
        }
    }

    /// The line of a frame size and goal of which nothing is known; the figures say why.
    #[must_use]
    pub fn not_measured(frames: &FrameSpec, goal: Option<SearchGoal>, figures: &Figures) -> Self {
        Self {
            frame: frames.to_string(),
            frame_mean_octets: frames.mean_octets(),
            goal: goal.map(|goal| goal.to_string()),
            goal_code: goal.map(|goal| goal.code()),
            goal_loss_ratio: goal.map(|goal| goal.loss_ratio),
            outcome: "not-measured",
            why: figures.why.clone(),
            stability: "unknown",
            ..Self::default()
        }
    }

    /// The same, of a simulated pair.
    #[must_use]
    pub fn simulated(self, simulated: bool) -> Self {
        Self { simulated, ..self }
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
    outcome: &'static str,
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
        } => ("found", lossy, trials, voided),
        Outcome::NoneLossless {
            lowest,
            trials,
            voided,
        } => ("none-lossless", Some(lowest), trials, voided),
        Outcome::CouldNotMeasure { trials, voided, .. } => ("not-measured", None, trials, voided),
    };
    Ended {
        outcome,
        lossy,
        trials,
        voided,
    }
}

impl DoubtEntry {
    /// The entry of one doubt.
    pub fn of(doubt: &Doubt) -> Self {
        Self {
            name: doubt.name(),
            seen: doubt.seen(),
            why: doubt.why(),
            next: doubt.next(),
        }
    }
}
