//! What limits the router, and the stage and function that a frame's time goes to.

use super::evidence::{NIC_RING, ROUTER};
use super::load::Saturated;
use crate::doubt::{DROPS_INSIDE, overload_limit};
use crate::search::saturation;
use crate::tester::Tester;
use mpps_method::LimitedBy;
use mpps_method::limit::BUSY;
use mpps_method::saturation::Saturation;
use mpps_method::stage::{Cause, Router, Stage, place, place_late};
use mpps_record::{
    CpuEvidence, Drops, Evidence, FoldedStack, FunctionCost, PartCost, ProfiledLoad,
};
use std::collections::BTreeMap;

/// A CPU had time left if it was busy for less than this share of the busiest one's time.
const TIME_LEFT: f64 = 0.8;
/// Reasons of drops at a port's queueing discipline begin so.
const QDISC: &str = "QDISC_";
/// More of a frame's time than this share in locks is told with the limit.
const MUCH_LOCKED: f64 = 0.25;

pub(super) fn limited_by(found: &Saturated, tester: &Tester<'_>) -> LimitedBy {
    let overload = saturation::Saturated {
        at_little_more: Saturation::from_all_windows(&found.blocks),
        overloaded: found.overloaded,
        lost_inside_share: found.lost_inside_share,
        ..saturation::Saturated::default()
    };
    let testers = &tester.bed.plan().cpus.tester;
    let cpus_shared = found.working.iter().any(|cpu| testers.contains(cpu));
    match overload_limit(cpus_shared, &overload, None) {
        // Of the lower overload a policer drops a tenth, and its CPU has time left.
        Some(LimitedBy::Disturbed) if found.loses_inside => LimitedBy::Dut,
        // Too few windows tell the rate, but nobody held frames back.
        None if !found.overloaded => LimitedBy::Tester,
        limit => limit.unwrap_or(LimitedBy::Disturbed),
    }
}

/// Whether it is the router's CPU that limits. What drops frames itself may leave it time.
pub(super) fn is_cpu(limited_by: LimitedBy, found: &Saturated) -> bool {
    let has_time = found.loses_inside && found.load.busy_share < BUSY;
    limited_by == LimitedBy::Dut && !has_time
}

/// One sentence: what limits. Where no wire tells the router's part of each stage, its hottest stage and function as well.
pub(super) fn in_words(
    load: &ProfiledLoad,
    evidence: Option<&Evidence>,
    is_split: bool,
    limited_by: LimitedBy,
) -> String {
    let who = match limited_by {
        LimitedBy::Dut => evidence
            .and_then(|evidence| own_drops(load, evidence).or_else(|| one_of_several(evidence)))
            .unwrap_or_else(|| {
                "The router's CPU is the limit".to_owned()
                    + &locked(load, evidence).unwrap_or_default()
            }),
        LimitedBy::Tester => {
            "The tester is the limit: the router forwarded all that was sent".to_owned()
        }
        LimitedBy::SharedCpu => "A CPU that router and tester share is the limit".to_owned(),
        _ => unknown(load, evidence),
    };
    let is_routers = |cost: &&PartCost| {
        let stage = Stage::ALL
            .iter()
            .find(|stage| stage.to_string() == cost.part);
        stage.is_some_and(|stage| stage.is_routers())
    };
    let stages = load.stages.iter().filter(is_routers);
    let hottest = stages.max_by(|one, other| one.ns.median.total_cmp(&other.ns.median));
    let Some(hottest) = hottest.filter(|_| !is_split) else {
        return who;
    };
    let function = hottest.top.first().map_or(String::new(), |top| {
        format!(", {:.0} of it in {}", top.ns, top.function)
    });
    format!(
        "{who}. Of the {:.0} ns outside virtual NIC and exit the stage {} takes most: {:.0} ns{function}",
        load.router_ns, hottest.part, hottest.ns.median
    )
}

/// A router that drops much of what its ring took: one short of CPU time loses frames at its ring. One with time left loses
/// few there.
fn own_drops(load: &ProfiledLoad, evidence: &Evidence) -> Option<String> {
    let at = |place: &'static str| evidence.drops.iter().filter(move |one| one.place == place);
    let frames = |place| at(place).map(|one| one.frames).sum::<u64>();
    let (own, ring) = (frames(ROUTER), frames(NIC_RING));
    let share = |drops: &[Drops], is_own: bool| {
        let counts = drops.iter().filter(|one| (one.place == ROUTER) == is_own);
        counts.map(|one| one.share).sum::<f64>()
    };
    let taken = 1.0 - share(&evidence.drops, false);
    let most = at(ROUTER).max_by_key(|one| one.frames)?;
    let reason = most.reason.as_deref().unwrap_or_default();
    let are_limit = share(&evidence.drops, true) > DROPS_INSIDE * taken
        || (load.busy_share < BUSY && own > ring);
    let who = match reason.starts_with(QDISC) {
        true => "queueing discipline of the outgoing port is",
        false => "router's own drops are",
    };
    are_limit.then(|| {
        format!(
            "The {who} the limit. The router dropped {own} frames itself, most of them as {reason}, and its ring {ring}"
        )
    })
}

/// One of the router's CPUs that has no time left while another has: its queue gets more of the frames.
fn one_of_several(evidence: &Evidence) -> Option<String> {
    let by_share =
        |one: &&CpuEvidence, other: &&CpuEvidence| one.busy_share.total_cmp(&other.busy_share);
    let idlest = evidence.cpus.iter().min_by(by_share)?;
    let busiest = evidence.cpus.iter().max_by(by_share)?;
    (idlest.busy_share < TIME_LEFT * busiest.busy_share).then(|| format!(
        "CPU {} is the limit, one of {} that the router has: it was {:.0} % busy, and CPU {} {:.0} %",
        busiest.cpu, evidence.cpus.len(), 100.0 * busiest.busy_share, idlest.cpu, 100.0 * idlest.busy_share
    ))
}

/// How much of a frame's time goes to locks, where that is much of it.
fn locked(load: &ProfiledLoad, evidence: Option<&Evidence>) -> Option<String> {
    let locks = load
        .causes
        .iter()
        .find(|cost| cost.part == Cause::Locks.to_string())?;
    let frame_ns = load.frame_ns.median;
    let stage = evidence.and_then(|evidence| evidence.locks_in.as_ref());
    let stage = stage.map_or(String::new(), |cost| {
        format!(", most of them in the stage {}", cost.part)
    });
    (locks.ns.median > MUCH_LOCKED * frame_ns).then(|| {
        format!(
            ", and {:.0} of a frame's {frame_ns:.0} ns go to locks{stage}",
            locks.ns.median
        )
    })
}

/// Frames were lost or held back while the router's CPU had time left.
fn unknown(load: &ProfiledLoad, evidence: Option<&Evidence>) -> String {
    if let Some(own) = evidence.and_then(|evidence| own_drops(load, evidence)) {
        return own;
    }
    let drops = evidence.map_or(&[][..], |evidence| &evidence.drops);
    let most = drops.iter().max_by_key(|drops| drops.frames);
    if let Some(ring) = most.filter(|drops| drops.place == NIC_RING)
        && load.busy_share < BUSY
    {
        return format!(
            "The {NIC_RING} is the limit: it dropped {} frames while the router's CPU was {:.0} % busy. It filled up \
             while that CPU paused",
            ring.frames,
            100.0 * load.busy_share
        );
    }
    let lost = match most {
        Some(drops) => format!("frames were lost, most of them at the {},", drops.place),
        None => "less was forwarded than was sent".to_owned(),
    };
    format!(
        "The limit is not known: {lost} while the router's CPU was {:.0} % busy. The machine was disturbed, or a queue \
         filled up",
        100.0 * load.busy_share
    )
}

/// The stage whose functions wait for locks the longest, with these functions. `None` where nobody waits. The time before
/// interrupts are enabled is not of the lock, and only a PMU's samples do not mix them.
pub(super) fn most_locked(stacks: &[FoldedStack], by_cycles: bool) -> Option<PartCost> {
    let mut stages: BTreeMap<String, BTreeMap<&str, f64>> = BTreeMap::new();
    for stack in stacks {
        let names: Vec<&str> = stack.frames.rsplit(';').collect();
        let placed = match by_cycles {
            true => place(&names, Router::OnBed),
            false => place_late(&names, None, Router::OnBed),
        };
        if placed.cause == Cause::Locks {
            let functions = stages.entry(placed.stage.to_string()).or_default();
            *functions
                .entry(names.first().copied().unwrap_or_default())
                .or_default() += stack.ns;
        }
    }
    let whole = |functions: &BTreeMap<&str, f64>| functions.values().sum::<f64>();
    let (stage, functions) =
        (stages.into_iter()).max_by(|(_, one), (_, other)| whole(one).total_cmp(&whole(other)))?;
    let ns = whole(&functions);
    let cost = |(function, ns): (&str, f64)| FunctionCost {
        function: function.to_owned(),
        ns,
    };
    let mut top: Vec<FunctionCost> = functions.into_iter().map(cost).collect();
    top.sort_by(|one, other| other.ns.total_cmp(&one.ns));
    Some(PartCost {
        part: stage,
        ns: [ns; 3].into(),
        samples: 0,
        top,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_what_limits() {
        let cost = |part: &str, ns| PartCost {
            part: part.to_owned(),
            ns: [ns; 3].into(),
            ..PartCost::default()
        };
        let mut load = ProfiledLoad {
            busy_share: 0.72,
            ..ProfiledLoad::default()
        };
        load.frame_ns = cost("", 500.0).ns;
        load.causes = vec![cost("locks", 100.0)];
        let cpu = |cpu, busy_share| CpuEvidence {
            cpu,
            busy_share,
            ..CpuEvidence::default()
        };
        let mut evidence = Evidence {
            cpus: vec![cpu(2, 0.99), cpu(3, 0.95)],
            ..Evidence::default()
        };
        let told = |load: &ProfiledLoad, evidence: &Evidence, limit| {
            in_words(load, Some(evidence), true, limit)
        };
        assert_eq!(
            told(&load, &evidence, LimitedBy::Dut),
            "The router's CPU is the limit"
        );
        load.causes = vec![cost("locks", 200.0)];
        evidence.locks_in = Some(cost("free", 200.0));
        assert_eq!(
            told(&load, &evidence, LimitedBy::Dut),
            "The router's CPU is the limit, and 200 of a frame's 500 ns go to locks, most of them in the stage free"
        );
        evidence.cpus = vec![cpu(2, 0.31), cpu(3, 1.0)];
        assert_eq!(
            told(&load, &evidence, LimitedBy::Dut),
            "CPU 3 is the limit, one of 2 that the router has: it was 100 % busy, and CPU 2 31 %"
        );
        // A disturbed trial of one that has no other.
        evidence.cpus = vec![cpu(3, 0.57)];
        let one = told(&load, &evidence, LimitedBy::Dut);
        assert!(one.starts_with("The router's CPU is the limit"), "{one}");
        let drops = |place: &str, frames| Drops {
            place: place.to_owned(),
            frames,
            ..Drops::default()
        };
        evidence.drops = vec![drops("router", 4), drops(NIC_RING, 900)];
        assert_eq!(
            told(&load, &evidence, LimitedBy::Disturbed),
            "The virtual NIC's ring is the limit: it dropped 900 frames while the router's CPU was 72 % busy. It \
             filled up while that CPU paused"
        );
        evidence.drops[0] = Drops {
            reason: Some("NETFILTER_DROP".to_owned()),
            share: 0.2,
            ..drops("router", 1_000)
        };
        assert_eq!(
            told(&load, &evidence, LimitedBy::Dut),
            "The router's own drops are the limit. The router dropped 1000 frames itself, most of them as NETFILTER_DROP, and its ring 900"
        );
        evidence.drops[0] = drops("router", 4);
        load.busy_share = 0.96;
        let unknown = told(&load, &evidence, LimitedBy::Disturbed);
        assert!(
            unknown.contains(
                "lost, most of them at the virtual NIC's ring, while the router's CPU was 96 % busy"
            ),
            "{unknown}"
        );
        load.busy_share = 0.72;
        // A shaper that drops less than a tenth, of a router that has time left.
        evidence.drops = vec![
            Drops {
                reason: Some("QDISC_DROP".to_owned()),
                ..drops("router", 901)
            },
            drops(NIC_RING, 900),
        ];
        for limit in [LimitedBy::Dut, LimitedBy::Disturbed] {
            assert_eq!(
                told(&load, &evidence, limit),
                "The queueing discipline of the outgoing port is the limit. The router dropped 901 frames itself, most of them \
                 as QDISC_DROP, and its ring 900"
            );
        }
        evidence.drops.clear();
        let unknown = told(&load, &evidence, LimitedBy::Disturbed);
        assert!(
            unknown.starts_with("The limit is not known: less was forwarded than was sent while"),
            "{unknown}"
        );
    }

    #[test]
    fn locks_are_of_their_callers_stage() {
        let stack = |frames: &str, ns| FoldedStack {
            frames: frames.to_owned(),
            stages: Vec::new(),
            ns,
        };
        let free = "cpu_map_kthread_run;sk_skb_reason_drop;skb_release_data;_raw_spin_lock";
        let late = "cpu_map_kthread_run;free_frozen_page_commit;_raw_spin_unlock_irqrestore";
        let stacks = [
            stack(free, 30.0),
            stack(late, 90.0),
            stack("cpu_map_kthread_run;ip_forward", 300.0),
        ];
        let locked = most_locked(&stacks[..2], false).expect("a lock");
        assert_eq!((locked.part.as_str(), locked.ns.median), ("free", 30.0));
        assert_eq!(locked.top[0].function, "_raw_spin_lock");
        assert_eq!(most_locked(&stacks[1..], false), None);
        let sampled_in_it = most_locked(&stacks[1..], true).expect("a lock");
        assert_eq!(sampled_in_it.ns.median, 90.0);
    }
}
