//! A finding as the figures a person reads: one row of the table, one result line of the record.

use mpps_lab::doubt::{Doubt, Finding, HostDoubt};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::search::saturation::Saturated;
use mpps_lab::tester::ReceiverPlace;
use mpps_lab::why_lost::WhyLost;
use mpps_method::limit::BUSY;
use mpps_method::{
    Claim, CouldNotMeasure, Evenness, FrameSpec, Headroom, Instability, LimitedBy, LossRate,
    Outcome, Passes, Rate, SearchGoal, SearchPlan, Stability, Trial,
};

/// What the found rate says of the DUT.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Reading {
    /// This is it, within the resolution.
    Is(Rate),
    /// The DUT does at least this; something else ended first.
    AtLeast(Rate),
    /// Frames were lost even at this rate, the lowest tried.
    Below(Rate),
    /// Not measured.
    #[default]
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

/// What keeps the router from forwarding more when more is offered than it can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardingLimit {
    /// Its CPU: at least 95 % busy.
    Cpu,
    /// The CPU that it shares with the tester.
    SharedCpu,
    /// The router, whose CPU had time left: it lost frames to the end.
    Router,
    /// The tester, which offers no more.
    Tester,
    /// Nobody knows: the router lost frames, its CPU had time left, and the search did not find it lose to the end.
    Unknown,
}

impl ForwardingLimit {
    /// The word in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "router CPU",
            Self::SharedCpu => "shared CPU",
            Self::Router => "router",
            Self::Tester => "tester",
            Self::Unknown => "unknown",
        }
    }
}

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
        let limited_by = limit(finding, plan);
        let why = match finding.outcome {
            Outcome::CouldNotMeasure { why, .. } => Some(match why {
                CouldNotMeasure::TooManyVoided(last) => {
                    format!("the machine was too disturbed, at last because {last}")
                }
                other => other.to_string(),
            }),
            Outcome::Found { .. } | Outcome::NoneLossless { .. } => None,
        };
        Self {
            saturated: finding.saturated.clone(),
            forwarding_limit: forwarding_limit(finding, limited_by),
            receiver: finding.receiver,
            passes: finding.passes,
            fails_at: fails_at(finding),
            conditional_throughput: finding
                .conditional_throughput
                .filter(|_| finding.goal.is_some_and(|goal| goal.loss_ratio > 0.0)),
            trials: trials(finding),
            reading,
            label: finding.claim.as_ref().filter(|_| rate.is_some()).map(label),
            link_share: rate.map(|rate| plan.link.speed.share(rate, on_wire) / directions),
            gbit_per_s: rate.map(|rate| rate.fps() * on_wire * 8.0 / 1e9),
            disturbed: (finding.doubts.iter())
                .any(|doubt| matches!(doubt, Doubt::Host(HostDoubt::LostDisturbed { .. }))),
            loss_ratio: match reading {
                Reading::Below(_) => loss_above,
                _ => trial.and_then(Trial::loss_ratio),
            },
            busy_share: trial.and_then(Trial::busiest_share),
            busy_ns_per_frame: trial.and_then(Trial::ns_per_frame),
            limited_by,
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

/// A router that forwards all but this much of what is offered is not overloaded.
const ALL: f64 = 1.02;

/// The router is the limit at overload where its CPU was busy, or where the search saw it lose frames to the end.
fn forwarding_limit(finding: &Finding, limited_by: Option<Limit>) -> Option<ForwardingLimit> {
    let maximum = finding.saturated.maximum()?;
    let busy = maximum.busy.is_some_and(|busy| busy >= BUSY);
    Some(match limited_by {
        _ if !finding.saturated.overloaded => ForwardingLimit::Tester,
        _ if finding.doubts.contains(&Doubt::CpuShared) => ForwardingLimit::SharedCpu,
        _ if maximum.only_disturbed => ForwardingLimit::Unknown,
        _ if busy => ForwardingLimit::Cpu,
        Some(Limit::Dut) => ForwardingLimit::Router,
        _ if maximum.offered.middle <= ALL * maximum.forwarding.middle => ForwardingLimit::Tester,
        _ => ForwardingLimit::Unknown,
    })
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
