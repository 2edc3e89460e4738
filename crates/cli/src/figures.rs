//! A finding as the figures a person reads: one row of the table, one result line of the record.

use mpps_lab::doubt::{Doubt, Finding};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::why_lost::WhyLost;
use mpps_method::{
    Claim, Evenness, Headroom, Instability, LimitedBy, LossRate, Outcome, Rate, SearchPlan,
    Stability, Trial,
};

/// What the found rate says of the DUT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// This is it, within the resolution.
    Is(Rate),
    /// The DUT does at least this; something else ended first.
    AtLeast(Rate),
    /// Frames were lost even at this rate, the lowest tried.
    Below(Rate),
    /// Could not measure.
    Nothing,
}

/// What keeps the rate from being higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The router.
    Dut,
    /// A CPU that tester and router share.
    SharedCpu,
    /// Loss that came and went: the router had CPU time left, and lost nothing at the trial's end.
    Pause,
    /// The tester's own ceiling.
    Tester,
    /// The link's line rate.
    Link,
    /// The user's `--max-rate`.
    MaxRate,
    /// The machine's disturbances, which kept higher loads from being offered.
    Disturbed,
    /// The trials allowed, or the time for them.
    Trials,
}

impl Limit {
    /// The word in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dut => "DUT",
            Self::SharedCpu => "shared CPU",
            Self::Pause => "pause",
            Self::Tester => "tester",
            Self::Link => "link",
            Self::MaxRate => "max-rate",
            Self::Disturbed => "disturbed",
            Self::Trials => "trials",
        }
    }
}

/// Figures of one frame size.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The frame sizes as asked for.
    pub frames: String,
    /// What the row is about: the frame sizes, and the goal where there are several.
    pub subject: String,
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
    /// Busy share of the DUT's busiest CPU: the one that limits.
    pub busy_share: Option<f64>,
    /// Busy time of the DUT for each frame.
    pub busy_ns_per_frame: Option<f64>,
    /// What limits.
    pub limited_by: Option<Limit>,
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
        let reading = reading(finding);
        let on_wire = finding.frames.mean_on_wire();
        let rate = match reading {
            Reading::Is(rate) | Reading::AtLeast(rate) => Some(rate),
            Reading::Below(_) | Reading::Nothing => None,
        };
        let directions = if plan.traffic.bidirectional { 2.0 } else { 1.0 };
        // Where nothing was found, no trial stands for it.
        let trial = finding.trial.as_ref().filter(|_| rate.is_some());
        let loss_above = finding.loss_above.as_ref().map(LossRate::ratio);
        Self {
            frames: finding.frames.to_string(),
            subject: subject(finding, several_goals(&plan.search)),
            fails_at: fails_at(finding),
            conditional_throughput: finding
                .conditional_throughput
                .filter(|_| finding.goal.is_some_and(|goal| goal.loss_ratio > 0.0)),
            trials: trials(finding),
            reading,
            label: finding.claim.as_ref().filter(|_| rate.is_some()).map(label),
            link_share: rate.map(|rate| plan.link.speed.share(rate, on_wire) / directions),
            gbit_per_s: rate.map(|rate| rate.fps() * on_wire * 8.0 / 1e9),
            loss_ratio: match reading {
                Reading::Below(_) => loss_above,
                _ => trial.and_then(Trial::loss_ratio),
            },
            busy_share: trial.and_then(Trial::busiest_share),
            busy_ns_per_frame: trial.and_then(Trial::ns_per_frame),
            limited_by: limit(finding, plan),
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
        }
    }
}

/// Whether a search has more than one goal.
#[must_use]
pub fn several_goals(search: &SearchPlan) -> bool {
    matches!(search, SearchPlan::Mlr { goals, .. } if goals.len() > 1)
}

/// What a finding is about: `64`, or where there are several goals `64 pdr 0.5 %`.
#[must_use]
pub fn subject(finding: &Finding, several_goals: bool) -> String {
    match finding.goal {
        Some(goal) if several_goals => format!("{} {goal}", finding.frames),
        _ => finding.frames.to_string(),
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

fn label(claim: &Claim) -> &'static str {
    match claim {
        Claim::Throughput(_) => "Throughput",
        Claim::LossRate(_) => "LossRate",
        Claim::Estimate(_) => "Estimate",
    }
}

/// The claim's rate is what was really sent; the outcome's is what the search offered.
fn reading(finding: &Finding) -> Reading {
    match finding.outcome {
        Outcome::Found {
            lossless,
            limited_by,
            ..
        } => {
            let rate = match &finding.claim {
                Some(Claim::Throughput(throughput)) => throughput.rate(),
                Some(Claim::Estimate(estimate)) => estimate.rate(),
                Some(Claim::LossRate(loss)) => loss.rate(),
                None => lossless,
            };
            if limited_by == LimitedBy::Dut {
                Reading::Is(rate)
            } else {
                Reading::AtLeast(rate)
            }
        }
        Outcome::NoneLossless { lowest, .. } => Reading::Below(lowest),
        Outcome::CouldNotMeasure { .. } => Reading::Nothing,
    }
}

fn limit(finding: &Finding, plan: &ThroughputPlan) -> Option<Limit> {
    // Below the highest load that the user allows it was the tester who could do no more.
    let chosen = |found: Rate| {
        let highest = plan.maximum.filter(|&maximum| maximum <= finding.ceiling);
        highest.is_some_and(|maximum| found >= plan.search.highest(maximum))
    };
    match finding.outcome {
        Outcome::Found {
            limited_by,
            lossy,
            lossless,
            ..
        } => Some(match limited_by {
            LimitedBy::Dut => Limit::Dut,
            LimitedBy::SharedCpu => Limit::SharedCpu,
            LimitedBy::Pause => Limit::Pause,
            LimitedBy::Link => Limit::Link,
            LimitedBy::Disturbed => Limit::Disturbed,
            LimitedBy::Trials => Limit::Trials,
            LimitedBy::Tester if chosen(lossless) && lossy.is_none() => Limit::MaxRate,
            LimitedBy::Tester => Limit::Tester,
        }),
        Outcome::NoneLossless { .. } if finding.doubts.contains(&Doubt::CpuShared) => {
            Some(Limit::SharedCpu)
        }
        Outcome::NoneLossless { .. }
            if finding.why_lost.as_ref().is_some_and(WhyLost::is_pause) =>
        {
            Some(Limit::Pause)
        }
        Outcome::NoneLossless { .. } => Some(Limit::Dut),
        Outcome::CouldNotMeasure { .. } => None,
    }
}

fn why_lost(why: &WhyLost) -> String {
    if why.bounds {
        format!("why it lost at {why}")
    } else {
        format!("loss that does not bound the result, at {why}")
    }
}

#[cfg(test)]
mod tests;
