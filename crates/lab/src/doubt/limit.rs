//! What limits a result, and how its rate is to be read.

pub use mpps_record::known::ForwardingLimit;

use super::{Saturated, Searched, Surroundings, WhyLost};
use mpps_method::distance::At;
use mpps_method::interval::Interval;
use mpps_method::limit::{self, BUSY};
use mpps_method::saturation::Saturation;
use mpps_method::{
    Claim, GoalResult, Irregular, LimitedBy, Outcome, Rate, SearchPlan, Trial, Verdict, compare,
};

/// A load below this share of the maximum forwarding rate is less than it, however wide the interval of that is.
const MAXIMUM_SHARE: f64 = 0.95;

/// A router that drops a larger share of what its ring took is limited by what drops it. One short of CPU time fills its ring.
pub(crate) const DROPS_INSIDE: f64 = 0.1;

/// What the rate found says of the DUT.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Reading {
    /// This is it, within the resolution.
    Is(Rate),
    /// The DUT does at least this; something else ended first.
    AtLeast(Rate),
    /// It passed in too few trials, because the search ended early. The DUT's rate may be higher or lower.
    Unconfirmed(Rate),
    /// Frames were lost even at this rate, the lowest tried.
    Below(Rate),
    /// Not measured.
    #[default]
    Nothing,
}

impl Reading {
    /// The claim's rate is the load really sent; the outcome's is the load that the search offered.
    pub(super) fn new(
        result: &GoalResult,
        limited_by: Option<LimitedBy>,
        claim: Option<&Claim>,
    ) -> Self {
        match result.outcome {
            Outcome::Found { lossless, .. } => {
                let rate = claim.map_or(lossless, Claim::rate);
                if result.irregular == Some(Irregular::Unconfirmed) {
                    Self::Unconfirmed(rate)
                } else if limited_by == Some(LimitedBy::Dut) {
                    Self::Is(rate)
                } else {
                    Self::AtLeast(rate)
                }
            }
            Outcome::NoneLossless { lowest, .. } => Self::Below(lowest),
            Outcome::CouldNotMeasure { .. } => Self::Nothing,
        }
    }

    /// The rate, where a load passed.
    #[must_use]
    pub const fn passed(self) -> Option<Rate> {
        match self {
            Self::Is(rate) | Self::AtLeast(rate) | Self::Unconfirmed(rate) => Some(rate),
            Self::Below(_) | Self::Nothing => None,
        }
    }
}

/// The highest load of a search that the user's maximum allows, where the maximum is not above the tester's ceiling.
#[must_use]
pub fn highest_allowed(maximum: Option<Rate>, ceiling: Rate, search: &SearchPlan) -> Option<Rate> {
    let maximum = maximum.filter(|&maximum| maximum <= ceiling)?;
    Some(search.highest(maximum))
}

/// What keeps the result of a search from being higher, with its [`highest_allowed`] load.
///
/// A search knows only which loads failed. Where the DUT was not too slow at the load that failed
/// ([`mpps_method::limit`]), and that was less than its maximum forwarding rate, the loss is no limit of the DUT's.
pub(super) fn limited_by(
    around: &Surroundings,
    saturated: &Saturated,
    searched: &Searched,
    why_lost: Option<&WhyLost>,
    highest_allowed: Option<Rate>,
) -> Option<LimitedBy> {
    let trials = &searched.trials;
    Some(match searched.result.outcome {
        Outcome::Found {
            limited_by: LimitedBy::Dut,
            lossy: Some(failed),
            ..
        } => who_lost(around.cpus_shared, saturated, trials, failed),
        // Below the highest load that the user allows, the tester could do no more.
        Outcome::Found {
            limited_by: LimitedBy::Tester,
            lossy: None,
            lossless,
            ..
        } if highest_allowed.is_some_and(|highest| lossless >= highest) => LimitedBy::MaxRate,
        Outcome::Found { limited_by, .. } => limited_by,
        // A lower load may pass.
        Outcome::NoneLossless { trials, voided, .. }
            if searched.result.irregular == Some(Irregular::EndedEarly) =>
        {
            match 2 * voided > trials {
                true => LimitedBy::Disturbed,
                false => LimitedBy::Trials,
            }
        }
        Outcome::NoneLossless { .. } if around.cpus_shared => LimitedBy::SharedCpu,
        Outcome::NoneLossless { .. } if why_lost.is_some_and(WhyLost::is_pause) => LimitedBy::Pause,
        Outcome::NoneLossless { .. } => LimitedBy::Dut,
        Outcome::CouldNotMeasure { .. } => return None,
    })
}

/// The load that failed, where a search ended before it confirmed what passed. Its lossy trials were in the state of the
/// trial that the result stands on, and the router was too slow in them. They are so many that the load fails the goal
/// whatever other trials would say (RFC 9971: upper bound).
pub(super) fn fails(
    saturated: &Saturated,
    searched: &Searched,
    limited_by: Option<LimitedBy>,
) -> Option<Rate> {
    let Outcome::Found {
        lossy: Some(failed),
        ..
    } = searched.result.outcome
    else {
        return None;
    };
    let stage = searched.result.goal.as_ref()?.last_stage();
    let state = At::mostly(searched.evidence.as_ref()?)?;
    let counts = |(trial, verdict): &&(Trial, Verdict)| {
        trial.offered == failed
            && matches!(verdict, Verdict::Lossy { .. })
            && trial.duration >= stage.trial
            && At::mostly(trial).is_some_and(|at| at.is_same(&state))
    };
    let time: f64 = (searched.trials.iter().filter(counts))
        .map(|(trial, _)| trial.duration.as_secs_f64())
        .sum();
    let tolerated = stage.exceed_ratio * stage.duration_sum.as_secs_f64();
    let is_failed = limited_by == Some(LimitedBy::Trials)
        && searched.result.irregular == Some(Irregular::Unconfirmed)
        && time > tolerated
        && is_too_much(saturated, &searched.trials, failed);
    is_failed.then_some(failed)
}

/// What the loss at the load that failed was due to. On a CPU that the DUT shares with the tester only its busy time
/// tells: there loss lasts while the tester has the CPU.
fn who_lost(
    cpus_shared: bool,
    saturated: &Saturated,
    trials: &[(Trial, Verdict)],
    failed: Rate,
) -> LimitedBy {
    if cpus_shared {
        let busy = lossy_at(trials, failed).and_then(Trial::busiest_share);
        if busy.is_none_or(|busy| busy < BUSY) {
            return LimitedBy::SharedCpu;
        }
    } else if !is_too_much(saturated, trials, failed) {
        return LimitedBy::Pause;
    }
    LimitedBy::Dut
}

/// Whether the load that failed was more than the DUT can do: it was too slow there, or the load was its maximum.
fn is_too_much(saturated: &Saturated, trials: &[(Trial, Verdict)], failed: Rate) -> bool {
    limit::is_the_duts(trials, failed)
        || is_the_maximum(saturated, saturated.at_overload(), trials, failed)
}

/// Whether a load that failed was as much as this maximum of overload or search, in the same state of the machine. There a DUT
/// loses frames whatever its CPU's time on average: its rate changes from moment to moment.
pub(super) fn is_the_maximum(
    saturated: &Saturated,
    maximum: Option<&Saturation>,
    trials: &[(Trial, Verdict)],
    failed: Rate,
) -> bool {
    let Some(maximum) = maximum else {
        return false;
    };
    let Interval { low, middle, .. } = maximum.forwarding;
    let at = lossy_at(trials, failed).and_then(At::mostly);
    let is_one_state = At::may_be_same(maximum.state(), at);
    let is_known = saturated.overloaded && !maximum.only_disturbed;
    is_known && is_one_state && failed.fps() >= low.max(MAXIMUM_SHARE * middle)
}

/// The first trial at a load that lost frames there.
pub(super) fn lossy_at(trials: &[(Trial, Verdict)], rate: Rate) -> Option<&Trial> {
    let is_lossy = |(trial, verdict): &&(Trial, Verdict)| {
        trial.offered == rate && matches!(verdict, Verdict::Lossy { .. })
    };
    trials.iter().find(is_lossy).map(|(trial, _)| trial)
}

/// What limits the maximum forwarding rate; `None` where that rate was not measured. It is the router where it dropped much of
/// what its ring took, or where the search saw it lose frames to the end. It is the router's CPU where that was busy.
pub(super) fn forwarding_limit(
    cpus_shared: bool,
    saturated: &Saturated,
    limited_by: Option<LimitedBy>,
) -> Option<ForwardingLimit> {
    let maximum = saturated.maximum()?;
    let is_busy = maximum.busy.is_some_and(|busy| busy >= BUSY);
    let offered = Rate::from_fps(maximum.offered.middle);
    // A sender that backs off offers hardly more than the router takes; its trials count only if enough was lost.
    let is_lower_overload = Some(maximum) == saturated.at_little_more.as_ref();
    let is_overload = is_lower_overload || compare::is_overload(offered, maximum.forwarding.middle);
    Some(match limited_by {
        _ if !saturated.overloaded => ForwardingLimit::Tester,
        _ if cpus_shared => ForwardingLimit::SharedCpu,
        _ if maximum.only_disturbed => ForwardingLimit::Unknown,
        // Dropping takes time too, so a policer's CPU may be busy at overload.
        _ if saturated.lost_inside_share > DROPS_INSIDE => ForwardingLimit::Router,
        _ if is_busy => ForwardingLimit::RouterCpu,
        Some(LimitedBy::Dut) => ForwardingLimit::Router,
        _ if !is_overload => ForwardingLimit::Tester,
        _ => ForwardingLimit::Unknown,
    })
}

/// The same in the words of a search. A router with CPU time left counts as disturbed.
#[must_use]
pub(crate) fn overload_limit(
    cpus_shared: bool,
    saturated: &Saturated,
    limited_by: Option<LimitedBy>,
) -> Option<LimitedBy> {
    let is_unseen = (saturated.maximum())
        .is_some_and(|maximum| maximum.busy.is_none() && !maximum.only_disturbed);
    Some(
        match forwarding_limit(cpus_shared, saturated, limited_by)? {
            ForwardingLimit::Router | ForwardingLimit::RouterCpu => LimitedBy::Dut,
            ForwardingLimit::Unknown if is_unseen => LimitedBy::Dut,
            ForwardingLimit::Unknown => LimitedBy::Disturbed,
            ForwardingLimit::Tester => LimitedBy::Tester,
            ForwardingLimit::SharedCpu => LimitedBy::SharedCpu,
        },
    )
}

#[cfg(test)]
mod tests;
