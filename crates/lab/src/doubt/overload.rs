//! Doubts about overload: whether the maximum forwarding rate is the router's, and agrees with what other trials forwarded.

use super::limit::{DROPS_INSIDE, lossy_at};
use super::machine::QUIETER;
use super::{Doubt, Weighed, Weight};
use crate::search::saturation::Saturated;
use mpps_method::compare::rate;
use mpps_method::distance::At;
use mpps_method::interval::RUNS_APART;
use mpps_method::limit::BUSY;
use mpps_method::saturation::{Block, Saturation};
use mpps_method::{Outcome, Rate};

/// Two overloads are told apart by more than this.
const LOADS_APART: f64 = 1.1;
/// A load that passed is above overload's rate by more than runs differ.
const ABOVE: f64 = 1.0 + 2.0 * RUNS_APART;
/// A router forwards less than this share of its rate at overload only if something has changed. Losing half of its frames
/// slows it by a quarter.
const SLOWER: f64 = 0.7;
/// A router that loses a larger share at the fixed load of a comparison was overloaded, if only for a moment.
const LOST_AT_FIXED: f64 = 0.005;
/// A mean this far below the median tells of pauses.
const BELOW_MEDIAN: f64 = 0.95;

pub(super) fn doubts(weighed: &Weighed<'_>) -> Vec<Doubt> {
    let (saturated, searched) = (weighed.saturated, weighed.searched);
    let (maximum, overload) = (saturated.maximum(), saturated.at_overload());
    let evidence = searched.evidence.as_ref().and_then(At::mostly);
    let above = match (searched.result.outcome, maximum) {
        (Outcome::Found { lossless, .. }, Some(maximum)) => {
            passed_above(lossless, maximum, evidence)
        }
        _ => None,
    };
    let doubts = [
        slower_later(weighed),
        dropped_inside(saturated),
        above,
        overload.and_then(|overload| below_median(overload, saturated.mean_fps?)),
        maximum.and_then(few_overloads),
        load_dependent(saturated),
        overload.and_then(|overload| cost_apart(overload, saturated.withheld_ns?)),
    ];
    doubts.into_iter().flatten().collect()
}

/// In the search the router forwarded far less than at overload, with its CPU as busy and in the same state of the machine.
fn slower_later(weighed: &Weighed<'_>) -> Option<Doubt> {
    let (Outcome::Found {
        lossy: Some(failed),
        ..
    }
    | Outcome::NoneLossless { lowest: failed, .. }) = weighed.searched.result.outcome
    else {
        return None;
    };
    let maximum = weighed.saturated.at_overload()?;
    let trial = lossy_at(&weighed.searched.trials, failed)?;
    let busy = trial.busiest_share()?;
    let forwarded = trial.forwarding_rate()?;
    let is_alike = At::may_be_same(maximum.state(), At::mostly(trial));
    let is_slower = forwarded.fps() < SLOWER * maximum.forwarding.widen_to_runs().low;
    (is_alike && is_slower && busy >= BUSY).then(|| Doubt {
        name: "slower-than-overload",
        weight: Weight::Another(3),
        seen: format!(
            "in the search the router forwarded {forwarded} with its CPU {:.0} % busy, but {} at overload",
            busy * 100.0,
            Rate::from_fps(maximum.forwarding.middle)
        ),
        why: "Something raised the cost of each frame since then: rules, routes or programs that came later, or the \
            machine. The maximum and the cost hold for the time before.",
        next: "Check what the set-up script still changes while mpps measures, and run again.",
    })
}

/// At overload the router dropped frames itself, behind its ring.
fn dropped_inside(saturated: &Saturated) -> Option<Doubt> {
    let share = saturated.lost_inside_share;
    (saturated.overloaded && share > DROPS_INSIDE).then(|| Doubt {
        name: "dropped-inside",
        weight: Weight::Shifted(3),
        seen: format!(
            "at overload the router dropped {:.0} % of the frames that its ring took",
            share * 100.0
        ),
        why: "A router short of CPU time loses frames at its ring. This one drops them itself: a policer, a rule, a quota or a queue.",
        next: "Look for its drops (nft list ruleset, tc -s qdisc, nstat), or ask mpps explain for them.",
    })
}

/// The router forwards more at the highest load than at the lower overload and in the search, in one state of the machine.
fn load_dependent(saturated: &Saturated) -> Option<Doubt> {
    let most = saturated.at_most.as_ref()?;
    let little = saturated.at_little_more.as_ref()?;
    let is_one_state = At::may_be_same(most.state(), little.state());
    let is_more =
        |other: &Saturation| most.forwarding.middle > LOADS_APART * other.forwarding.middle;
    let is_apart = most.forwarding.low > little.forwarding.high
        && is_more(little)
        && saturated.at_search.as_ref().is_none_or(is_more);
    let at = |found: &Saturation| {
        let [forwarded, offered] = [found.forwarding, found.offered];
        let [forwarded, offered] = [forwarded, offered].map(|of| Rate::from_fps(of.middle));
        format!("{forwarded} at {offered} offered")
    };
    // On disturbed windows a rate is a bound from below.
    let is_known = !most.only_disturbed && !little.only_disturbed;
    (is_one_state && is_known && is_apart).then(|| Doubt {
        name: "load-dependent",
        weight: Weight::Unsure(2),
        seen: format!("the router forwarded {}, but {}", at(most), at(little)),
        why: "A frame costs this router more at the lower load. There the sender pauses after a refusal, or keeps a pace. The maximum forwarding rate and the cost of a frame hold for the highest load alone.",
        next: "Use the rate without loss for lower loads. mpps loss shows what is forwarded at each load.",
    })
}

/// A load passed that is well above what the maximum's median trial forwarded, in the same state of the machine. Beyond the
/// interval the result's sentence says so.
fn passed_above(passed: Rate, maximum: &Saturation, evidence: Option<At>) -> Option<Doubt> {
    let forwarded = maximum.forwarding.widen_to_runs();
    let is_one_state = At::may_be_same(maximum.state(), evidence);
    let is_above = passed.fps() > ABOVE * forwarded.middle && passed.fps() <= forwarded.high;
    (is_one_state && is_above).then(|| Doubt {
        name: "passed-above-maximum",
        weight: Weight::Unsure(2),
        seen: format!(
            "{passed} passed without loss, but the maximum forwarding rate is {} in the median",
            Rate::from_fps(forwarded.middle)
        ),
        why: "The maximum forwarding rate is the highest at any load (RFC 2285), so it is at least what passed. The machine was slower at overload, or overload slows the router.",
        next: QUIETER,
    })
}

/// Rate and cost contradicted each other, so the cost is withheld.
fn cost_apart(overload: &Saturation, total_ns: f64) -> Option<Doubt> {
    let by_rate = overload.ns_by_rate(overload.forwarding.middle)?;
    Some(Doubt {
        name: "cost-apart",
        weight: Weight::Shifted(2),
        seen: format!(
            "a frame cost {total_ns:.0} ns in the trials that tell its parts, but {by_rate:.0} ns by the rate at overload"
        ),
        why: "The machine was slower in those trials, in a way that its state did not show. So the parts of the cost are not \
            told.",
        next: QUIETER,
    })
}

/// The windows' mean is well below their median, though no disturbance was seen in them: now and then the router forwards less.
fn below_median(maximum: &Saturation, mean_fps: f64) -> Option<Doubt> {
    let median = maximum.forwarding.middle;
    (mean_fps < BELOW_MEDIAN * median).then(|| Doubt {
        name: "pauses-at-overload",
        weight: Weight::Shifted(4),
        seen: format!(
            "at overload the router forwarded {} on average, but {} in the median window",
            Rate::from_fps(mean_fps),
            Rate::from_fps(median)
        ),
        why: "Now and then it forwards less or nothing: a task of its own has its CPU, or a timer stops it. The maximum is that of the time between.",
        next: "Look for the router's own tasks among the doubts and in the record (`dut_tasks`). Quote the average for a router that is always so.",
    })
}

/// Whether the router carried a fixed load: its CPU had time left, and it lost hardly a frame.
pub(crate) fn is_carried(fixed: &Block) -> bool {
    !fixed.is_saturated() && fixed.lost <= LOST_AT_FIXED
}

/// The same fixed load for all variants of a comparison, or for all points, was too much for this one in some of its trials.
#[must_use]
pub fn fixed_overloaded<'a>(fixed: impl IntoIterator<Item = &'a Block>) -> Option<Doubt> {
    let fixed: Vec<&Block> = fixed.into_iter().collect();
    // Of a trial that was disturbed throughout nobody knows it.
    let known = fixed.iter().filter(|trial| rate(trial).is_some());
    let overloaded = known.filter(|trial| !is_carried(trial)).count();
    (overloaded > 0).then(|| Doubt {
        name: "fixed-load-overloads",
        weight: Weight::Unsure(9),
        seen: format!(
            "in {overloaded} of {} trials at the fixed load the router lost over 0.5 % of the frames, or its CPU had no time left",
            fixed.len()
        ),
        why: "A full CPU takes more frames a poll, so a frame costs less than at a load that it carries. Trials in which it lost frames or had no CPU time left do not count for the cost.",
        next: "Run again when the machine is quieter.",
    })
}

fn few_overloads(maximum: &Saturation) -> Option<Doubt> {
    maximum.has_few_trials().then(|| Doubt {
        name: "few-overload-trials",
        weight: Weight::Unsure(1),
        seen: match maximum.trials {
            1 => "the maximum forwarding rate stands on 1 trial".to_owned(),
            trials => format!("the maximum forwarding rate stands on {trials} trials"),
        },
        why: "The other trials do not count: the CPUs were in another state, or the machine disturbed them. The interval is the range of the windows that count.",
        next: QUIETER,
    })
}

#[cfg(test)]
mod tests;
