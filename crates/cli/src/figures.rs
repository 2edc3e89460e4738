//! A finding as the figures a person reads: one row of the table, one result line of the record.

use mpps_lab::doubt::{Finding, WhyLost};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::search::saturation::Saturated;
use mpps_lab::tester::ReceiverPlace;
use mpps_method::{
    Claim, CouldNotMeasure, Evenness, FrameSpec, Headroom, Instability, LimitedBy, LossRate,
    Outcome, Passes, Rate, SearchGoal, SearchPlan, Stability, Trial,
};

pub use mpps_lab::doubt::{ForwardingLimit, Reading};

/// Figures of one frame size.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The frame sizes as asked for.
    pub frames: String,
    /// What the row is about: the frame sizes, and the goal where there are several.
    pub subject: String,
    /// Loss that the goal allows, 0 to 1.
    pub loss_allowed: f64,
    /// What overload told: the maximum forwarding rate, and what a frame costs.
    pub saturated: Saturated,
    /// What keeps the router from forwarding more at overload; `None` where that was not measured.
    pub forwarding_limit: Option<ForwardingLimit>,
    /// Where the tester received; `None` where that is unknown.
    pub receiver: Option<ReceiverPlace>,
    /// What the trials said at the load found.
    pub passes: Passes,
    /// Why the rate was not measured.
    pub why: Option<String>,
    /// Lowest load the DUT failed.
    pub fails_at: Option<Rate>,
    /// RFC 9971's Conditional Throughput, of a goal that allows loss.
    pub conditional_throughput: Option<Rate>,
    /// Trials of the search.
    pub trials: u32,
    /// The rate, over all directions.
    pub reading: Reading,
    /// What the claim is called: `Throughput` only where the method allows it.
    pub label: Option<&'static str>,
    /// Share of the link in one direction, 0 to 1 and above; notional where there is no wire.
    pub link_share: Option<f64>,
    /// Bits on the wire (preamble and gap included), Gbit/s, over all directions.
    pub gbit_per_s: Option<f64>,
    /// Lost of sent in the trial the row stands on, 0 to 1.
    pub loss_ratio: Option<f64>,
    /// Whether the result leaves out frames that were lost or left unsent in disturbances.
    pub disturbed: bool,
    /// Busy share of the DUT's busiest CPU: the one that limits.
    pub busy_share: Option<f64>,
    /// Busy time of the DUT for each frame.
    pub busy_ns_per_frame: Option<f64>,
    /// What limits.
    pub limited_by: Option<LimitedBy>,
    /// Why frames were lost at the load that failed, or at the lowest that lost any; which of them it says.
    pub why_lost: Option<String>,
    /// What the DUT forwards with a fifth of its CPU left.
    pub headroom: Option<Headroom>,
    /// How evenly frames left at this rate.
    pub evenness: Option<Evenness>,
    /// How the DUT loses frames for no load, if it does.
    pub unstable: Option<Instability>,
    /// The tester's own ceiling for these frames.
    pub ceiling: Rate,
    /// Flows begun a second at this rate, where flows have a length.
    pub new_flows_per_s: Option<f64>,
}

impl Figures {
    /// The figures of one finding.
    #[must_use]
    pub fn of(finding: &Finding, plan: &ThroughputPlan) -> Self {
        let reading = finding.rate;
        let on_wire = finding.frames.mean_on_wire();
        let rate = reading.passed();
        let directions = if plan.traffic.bidirectional { 2.0 } else { 1.0 };
        // Where nothing was found, no trial stands for it.
        let trial = finding.trial.as_ref().filter(|_| rate.is_some());
        let loss_above = finding.loss_above.as_ref().map(LossRate::ratio);
        let why = match finding.outcome {
            Outcome::CouldNotMeasure { why, .. } => Some(match why {
                CouldNotMeasure::TooManyVoided(last) => {
                    format!("the machine was too disturbed, the last time because {last}")
                }
                other => other.to_string(),
            }),
            Outcome::Found { .. } | Outcome::NoneLossless { .. } => None,
        };
        Self {
            saturated: finding.saturated.clone(),
            forwarding_limit: finding.forwarding_limit,
            receiver: finding.receiver,
            passes: finding.passes,
            fails_at: fails_at(finding),
            conditional_throughput: finding
                .conditional_throughput
                .filter(|_| finding.goal.is_some_and(|goal| goal.loss_ratio > 0.0)),
            trials: trials(finding),
            reading,
            label: finding
                .claim
                .as_ref()
                .filter(|_| rate.is_some())
                .map(Claim::name),
            link_share: rate.map(|rate| plan.link.speed.share(rate, on_wire) / directions),
            gbit_per_s: rate.map(|rate| rate.fps() * on_wire * 8.0 / 1e9),
            disturbed: finding.disturbed,
            loss_ratio: match reading {
                Reading::Below(_) => loss_above,
                _ => trial.and_then(Trial::loss_ratio),
            },
            busy_share: trial.and_then(Trial::busiest_share),
            busy_ns_per_frame: trial.and_then(Trial::ns_per_frame),
            limited_by: finding.limited_by,
            why_lost: finding.why_lost.as_ref().map(why_lost),
            headroom: finding.headroom,
            evenness: finding.evenness.filter(|_| rate.is_some()),
            unstable: match finding.stability {
                Stability::Unstable(found) => Some(found),
                _ => None,
            },
            ceiling: finding.ceiling,
            new_flows_per_s: rate
                .zip(plan.traffic.flow_length)
                .map(|(rate, frames)| rate.fps() / f64::from(frames.max(1))),
            ..Self::not_measured(&finding.frames, finding.goal, &plan.search, why)
        }
    }

    /// A frame size of which nothing is known, and why.
    #[must_use]
    pub fn not_measured(
        frames: &FrameSpec,
        goal: Option<SearchGoal>,
        search: &SearchPlan,
        why: Option<String>,
    ) -> Self {
        Self {
            frames: frames.to_string(),
            subject: subject(frames, goal, several_goals(search)),
            loss_allowed: goal.map_or(0.0, |goal| goal.loss_ratio),
            why,
            ..Self::default()
        }
    }
}

/// Whether a search has more than one goal.
#[must_use]
pub fn several_goals(search: &SearchPlan) -> bool {
    matches!(search, SearchPlan::Mlr { goals, .. } if goals.len() > 1)
}

/// What a row is about: `64`, or where there are several goals `64 pdr 0.5 %`.
#[must_use]
pub fn subject(frames: &FrameSpec, goal: Option<SearchGoal>, several_goals: bool) -> String {
    match goal {
        Some(goal) if several_goals => format!("{frames} {goal}"),
        _ => frames.to_string(),
    }
}

fn fails_at(finding: &Finding) -> Option<Rate> {
    match finding.outcome {
        Outcome::Found { lossy, .. } => lossy,
        Outcome::NoneLossless { .. } | Outcome::CouldNotMeasure { .. } => None,
    }
}

const fn trials(finding: &Finding) -> u32 {
    let (Outcome::Found { trials, .. }
    | Outcome::NoneLossless { trials, .. }
    | Outcome::CouldNotMeasure { trials, .. }) = finding.outcome;
    trials
}

fn why_lost(why: &WhyLost) -> String {
    if why.bounds {
        format!("cause of the loss at {why}")
    } else {
        format!("loss that does not bound the result, at {why}")
    }
}

#[cfg(test)]
mod tests;
