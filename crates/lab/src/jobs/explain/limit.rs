//! What limits the router, and the stage and function that a frame's time goes to.

use super::load::Saturated;
use crate::doubt::overload_limit;
use crate::search::saturation;
use crate::tester::Tester;
use mpps_method::LimitedBy;
use mpps_method::saturation::Saturation;
use mpps_method::stage::{Cause, Router, Stage, place, place_late};
use mpps_record::{FoldedStack, FunctionCost, Interval, PartCost, ProfiledLoad};
use std::collections::BTreeMap;

pub(super) fn limited_by(found: &Saturated, tester: &Tester<'_>) -> LimitedBy {
    if tester.bed.plan().cpus.shared() {
        return LimitedBy::SharedCpu;
    }
    let overload = saturation::Saturated {
        at_most: Saturation::of_all_windows(&found.blocks),
        overloaded: found.lost,
        ..saturation::Saturated::default()
    };
    overload_limit(&overload).unwrap_or(LimitedBy::Disturbed)
}

/// One sentence: what limits. Where no wire tells the router's part of each stage, its hottest stage and function as well.
pub(super) fn in_words(load: &ProfiledLoad, is_split: bool, limited_by: LimitedBy) -> String {
    let who = match limited_by {
        LimitedBy::Dut => "The router's CPU is the limit",
        LimitedBy::Tester => "The tester is the limit: the router forwarded all of it",
        LimitedBy::SharedCpu => "A CPU that router and tester share is the limit",
        _ => "The limit is not known, because the machine was disturbed",
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
        return who.to_owned();
    };
    let function = hottest.top.first().map_or(String::new(), |top| {
        format!(", {:.0} of it in {}", top.ns, top.function)
    });
    format!(
        "{who}. Of the {:.0} ns outside virtual NIC and exit the stage {} takes most: {:.0} ns{function}",
        load.router_ns, hottest.part, hottest.ns.median
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
        ns: Interval {
            low: ns,
            median: ns,
            high: ns,
        },
        samples: 0,
        top,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
