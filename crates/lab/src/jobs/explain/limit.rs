//! What limits the router, and the stage and function that a frame's time goes to.

use super::evidence::{NIC_RING, ROUTER, VETH_RING};
use super::load::Saturated;
use crate::bed::CpuSplit;
use crate::doubt::{DROPS_INSIDE, overload_limit};
use crate::dut::Front;
use crate::search::saturation;
use crate::tester::Tester;
use mpps_method::LimitedBy;
use mpps_method::limit::{BUSY, NO_MEMORY, QDISC};
use mpps_method::saturation::{OVERLOADED, Saturation};
use mpps_method::stage::{Cause, Router, Stage, by_cost, place};
use mpps_record::{CpuEvidence, Drops, Evidence, FoldedStack, PartCost, ProfiledLoad};
use std::collections::BTreeMap;

/// A CPU had time left if it was busy for less than this share of the busiest one's time.
const TIME_LEFT: f64 = 0.8;
/// The kernel's functions that wait for a lock that another CPU has end so.
const WAITS: &str = "_lock_slowpath";
/// More of a frame's time than this share in locks is told with the limit.
const MUCH_LOCKED: f64 = 0.25;

pub(super) fn limited_by(found: &Saturated, tester: &Tester<'_>) -> LimitedBy {
    let bed = tester.bed;
    limited(
        found,
        is_shared(found.busiest, bed.dut().front(), &bed.plan().cpus),
    )
}

fn limited(found: &Saturated, cpu_shared: bool) -> LimitedBy {
    let overload = saturation::Saturated {
        at_little_more: Saturation::from_all_windows(&found.blocks),
        overloaded: found.overloaded,
        lost_inside_share: found.lost_inside_share,
        ..saturation::Saturated::default()
    };
    match overload_limit(cpu_shared, &overload, None) {
        // Of the lower overload a policer drops a tenth, and its CPU has time left.
        Some(LimitedBy::Disturbed) if found.loses_inside => LimitedBy::Dut,
        // Too few windows tell the rate, but nobody held frames back.
        None if !found.overloaded && found.lost_share <= 1.0 - OVERLOADED => LimitedBy::Tester,
        limit => limit.unwrap_or(LimitedBy::Disturbed),
    }
}

/// Whether the router's busiest CPU is the tester's too. At the front softirq no thread forwards, and a CPU is busy with the
/// tester's work as well.
fn is_shared(busiest: Option<usize>, front: Option<Front>, cpus: &CpuSplit) -> bool {
    match front {
        Some(Front::Softirq) => cpus.shared(),
        _ => busiest.is_some_and(|cpu| cpus.tester.contains(&cpu)),
    }
}

/// Whether it is the router's CPU that limits. What drops frames itself may leave it time.
pub(super) fn is_cpu(limited_by: LimitedBy, found: &Saturated) -> bool {
    limited_by == LimitedBy::Dut && found.is_full()
}

/// One sentence: what limits. Where no wire tells the router's part of each stage, its hottest stage and function as well.
pub(super) fn in_words(
    found: &Saturated,
    evidence: Option<&Evidence>,
    is_split: bool,
    limited_by: LimitedBy,
) -> String {
    let load = &found.load;
    let who = match limited_by {
        LimitedBy::Dut => evidence
            .and_then(|evidence| own_drops(load, evidence).or_else(|| one_of_several(evidence)))
            .unwrap_or_else(|| the_router(found, evidence)),
        LimitedBy::Tester => {
            "The tester is the limit: the router forwarded all that was sent".to_owned()
        }
        LimitedBy::SharedCpu => "A CPU that router and tester share is the limit".to_owned(),
        _ => unknown(found, evidence),
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

/// Its CPU, where that had no time left.
fn the_router(found: &Saturated, evidence: Option<&Evidence>) -> String {
    if found.is_full() {
        let locked = locked(&found.load, evidence).unwrap_or_default();
        return format!("The router's CPU is the limit{locked}");
    }
    let is_untold = |evidence: &Evidence| evidence.drops.iter().all(|drops| drops.place != ROUTER);
    format!(
        "The limit is in the router, and is not its CPU: it lost {} frames itself{}",
        found.lost_inside,
        match evidence.is_some_and(is_untold) {
            true => ", and the kernel gives no reason",
            false => "",
        }
    )
}

/// Drops of the router itself.
fn is_own(drops: &Drops) -> bool {
    drops.place == ROUTER
}

/// Drops at its ring.
fn is_rings(drops: &Drops) -> bool {
    [NIC_RING, VETH_RING].contains(&&*drops.place)
}

/// A router that drops much of what its ring took: one short of CPU time loses frames at its ring. One with time left loses
/// few elsewhere, and more than an overload loses by chance.
fn own_drops(load: &ProfiledLoad, evidence: &Evidence) -> Option<String> {
    let at = |is_there: fn(&Drops) -> bool| evidence.drops.iter().filter(move |one| is_there(one));
    let frames = |is_there| at(is_there).map(|one| one.frames).sum::<u64>();
    let (own, ring) = (frames(is_own), frames(is_rings));
    let share = |is_there| at(is_there).map(|one| one.share).sum::<f64>();
    let (own_share, elsewhere) = (share(is_own), share(|one| !is_own(one)));
    let most = at(is_own).max_by_key(|one| one.frames)?;
    let reason = most.reason.as_deref().unwrap_or_default();
    let are_most = own_share > elsewhere && own_share > 1.0 - OVERLOADED;
    let are_limit =
        own_share > DROPS_INSIDE * (1.0 - elsewhere) || (load.busy_share < BUSY && are_most);
    let who = match reason {
        NO_MEMORY => "machine's memory is",
        _ if reason.starts_with(QDISC) => "queueing discipline of the outgoing port is",
        _ => "router's own drops are",
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
    let is_full = busiest.busy_share >= BUSY;
    (is_full && idlest.busy_share < TIME_LEFT * busiest.busy_share).then(|| format!(
        "CPU {} is the limit, one of {} that the router has: it was {:.0} % busy, and CPU {} {:.0} %",
        busiest.cpu, evidence.cpus.len(), 100.0 * busiest.busy_share, idlest.cpu, 100.0 * idlest.busy_share
    ))
}

/// How much of a frame's time goes to locks, where that is much of it, and how much of that waits for another CPU.
fn locked(load: &ProfiledLoad, evidence: Option<&Evidence>) -> Option<String> {
    let locks = load
        .causes
        .iter()
        .find(|cost| cost.part == Cause::Locks.to_string())?;
    let frame_ns = load.frame_ns.median;
    let stage = evidence.and_then(|evidence| evidence.locks_in.as_ref());
    let stage = stage.map_or(String::new(), |cost| {
        let waits = cost.top.iter().filter(|top| top.function.ends_with(WAITS));
        let waited = match waits.map(|top| top.ns).sum::<f64>() {
            ns if ns < 1.0 => String::new(),
            ns => format!(", where {ns:.0} ns are a wait for another CPU"),
        };
        format!(", most of them in the stage {}{waited}", cost.part)
    });
    (locks.ns.median > MUCH_LOCKED * frame_ns).then(|| {
        format!(
            ", and {:.0} of a frame's {frame_ns:.0} ns go to locks{stage}",
            locks.ns.median
        )
    })
}

/// Frames were lost or held back, and nothing undisturbed tells why.
fn unknown(found: &Saturated, evidence: Option<&Evidence>) -> String {
    let load = &found.load;
    if let Some(own) = evidence.and_then(|evidence| own_drops(load, evidence)) {
        return own;
    }
    let drops = evidence.map_or(&[][..], |evidence| &evidence.drops);
    let most = drops.iter().max_by_key(|drops| drops.frames);
    if let Some(ring) = most.filter(|drops| is_rings(drops))
        && load.busy_share < BUSY
    {
        let why = match found.paused {
            true => ". It filled up while that CPU paused",
            false => "",
        };
        return format!(
            "The {} is the limit: it dropped {} frames while the router's CPU was {:.0} % busy{why}",
            ring.place,
            ring.frames,
            100.0 * load.busy_share
        );
    }
    let lost = match most {
        Some(drops) => format!("frames were lost, most of them at the {},", drops.place),
        None => "less was forwarded than was sent".to_owned(),
    };
    let locked = match load.busy_share >= BUSY {
        true => locked(load, evidence).unwrap_or_default(),
        false => String::new(),
    };
    format!(
        "The limit is not known: {lost} while the router's CPU was {:.0} % busy{locked}. The machine was disturbed, or a \
         queue filled up",
        100.0 * load.busy_share
    )
}

/// The stage whose functions wait for locks the longest, with these functions. `None` where nobody waits.
pub(super) fn most_locked(stacks: &[FoldedStack]) -> Option<PartCost> {
    let mut stages: BTreeMap<String, BTreeMap<&str, f64>> = BTreeMap::new();
    for stack in stacks {
        let names: Vec<&str> = stack.frames.rsplit(';').collect();
        let placed = place(&names, Router::OnBed);
        if placed.cause == Cause::Locks {
            let functions = stages.entry(placed.stage.to_string()).or_default();
            // On a hypervisor a CPU that waits halts, by a call of its own.
            let waits = names.iter().find(|name| name.ends_with(WAITS));
            let function = waits.or(names.first()).copied().unwrap_or_default();
            *functions.entry(function).or_default() += stack.ns;
        }
    }
    let whole = |functions: &BTreeMap<&str, f64>| functions.values().sum::<f64>();
    let (stage, functions) =
        (stages.into_iter()).max_by(|(_, one), (_, other)| whole(one).total_cmp(&whole(other)))?;
    let ns = whole(&functions);
    Some(PartCost {
        part: stage,
        ns: [ns; 3].into(),
        samples: 0,
        top: by_cost(functions),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::Span;
    use mpps_method::saturation::{Block, Window};
    use mpps_record::FunctionCost;

    fn cost(part: &str, ns: f64) -> PartCost {
        PartCost {
            part: part.to_owned(),
            ns: [ns; 3].into(),
            ..PartCost::default()
        }
    }

    /// A router so busy, of which a frame's 500 ns go to locks for so long.
    fn saturated(busy_share: f64, locked_ns: f64) -> Saturated {
        let mut found = Saturated::default();
        found.load.busy_share = busy_share;
        found.load.frame_ns = cost("", 500.0).ns;
        found.load.causes = vec![cost("locks", locked_ns)];
        found
    }

    /// CPUs from 2 on that were so busy.
    fn on_cpus(busy: &[f64]) -> Evidence {
        let cpus = (2..).zip(busy).map(|(cpu, &busy_share)| CpuEvidence {
            cpu,
            busy_share,
            ..CpuEvidence::default()
        });
        Evidence {
            cpus: cpus.collect(),
            ..Evidence::default()
        }
    }

    /// Drops of 100 000 frames sent: at the sending port, at the ring, and by the router for this reason.
    fn with_drops(port: u64, ring: u64, own: u64, reason: &str) -> Evidence {
        let places = [("sending port", port), (NIC_RING, ring), (ROUTER, own)];
        let drops = places.into_iter().map(|(place, frames)| Drops {
            place: place.to_owned(),
            reason: (place == ROUTER).then(|| reason.to_owned()),
            frames,
            share: frames as f64 / 100_000.0,
        });
        Evidence {
            drops: drops.filter(|drops| drops.frames > 0).collect(),
            ..Evidence::default()
        }
    }

    /// All windows of all trials were disturbed.
    #[test]
    fn a_tester_is_no_limit_of_a_router_that_lost_frames() {
        let lost = |lost_share| Saturated {
            lost_share,
            ..Saturated::default()
        };
        assert_eq!(limited(&lost(0.001), false), LimitedBy::Tester);
        assert_eq!(limited(&lost(0.7), false), LimitedBy::Disturbed);
    }

    fn told(found: &Saturated, evidence: &Evidence, limit: LimitedBy) -> String {
        in_words(found, Some(evidence), true, limit)
    }

    #[test]
    fn a_cpu_without_time_left_is_the_limit() {
        let full = saturated(0.99, 100.0);
        let mut evidence = on_cpus(&[0.99, 0.95]);
        let cpu = "The router's CPU is the limit";
        assert_eq!(told(&full, &evidence, LimitedBy::Dut), cpu);
        let locking = saturated(0.99, 200.0);
        let mut locks = cost("free", 200.0);
        evidence.locks_in = Some(locks.clone());
        assert_eq!(
            told(&locking, &evidence, LimitedBy::Dut),
            "The router's CPU is the limit, and 200 of a frame's 500 ns go to locks, most of them in the stage free"
        );
        let names = ["_raw_spin_lock", "native_queued_spin_lock_slowpath"];
        let tops = names.into_iter().zip([50.0, 150.0]);
        locks.top = tops
            .map(|(name, ns)| FunctionCost {
                function: name.to_owned(),
                ns,
            })
            .collect();
        evidence.locks_in = Some(locks);
        let waited = ", most of them in the stage free, where 150 ns are a wait for another CPU";
        for (limit, behind) in [
            (LimitedBy::Dut, ""),
            (
                LimitedBy::Disturbed,
                ". The machine was disturbed, or a queue filled up",
            ),
        ] {
            let told = told(&locking, &evidence, limit);
            assert!(told.ends_with(&format!("{waited}{behind}")), "{told}");
        }
        assert_eq!(
            told(&full, &on_cpus(&[0.31, 1.0]), LimitedBy::Dut),
            "CPU 3 is the limit, one of 2 that the router has: it was 100 % busy, and CPU 2 31 %"
        );
        // The trial with the evidence was disturbed.
        for disturbed in [on_cpus(&[0.57]), on_cpus(&[0.5, 0.3])] {
            assert_eq!(told(&full, &disturbed, LimitedBy::Dut), cpu);
        }
    }

    #[test]
    fn a_cpu_with_time_left_is_no_limit() {
        let found = Saturated {
            lost_inside: 700,
            ..saturated(0.5, 200.0)
        };
        assert!(!is_cpu(LimitedBy::Dut, &found));
        let router = "The limit is in the router, and is not its CPU: it lost 700 frames itself";
        assert_eq!(
            told(&found, &on_cpus(&[0.5, 0.3]), LimitedBy::Dut),
            format!("{router}, and the kernel gives no reason")
        );
        // Too few of them, or nobody counted.
        let few = with_drops(0, 0, 400, "NETFILTER_DROP");
        assert_eq!(told(&found, &few, LimitedBy::Dut), router);
        assert_eq!(in_words(&found, None, true, LimitedBy::Dut), router);
    }

    #[test]
    fn a_cpu_full_in_undisturbed_windows_is_full() {
        let window = |forwarded, disturbed| Window {
            duration: Span::from_millis(10),
            forwarded,
            disturbed,
            ..Window::default()
        };
        let mut windows = vec![window(1_000, false); 8];
        windows.extend([window(0, true); 2]);
        let found = Saturated {
            blocks: vec![Block {
                busiest: Some(0.79),
                windows,
                ..Block::default()
            }],
            ..saturated(0.79, 100.0)
        };
        assert!(is_cpu(LimitedBy::Dut, &found));
        let cpu = "The router's CPU is the limit";
        assert_eq!(told(&found, &on_cpus(&[0.79]), LimitedBy::Dut), cpu);
    }

    #[test]
    fn a_ring_that_fills_beside_an_idle_cpu_is_named() {
        let mut evidence = with_drops(0, 900, 4, "NETFILTER_DROP");
        let mut found = saturated(0.72, 0.0);
        let ring = "ring is the limit: it dropped 900 frames while the router's CPU was 72 % busy";
        assert_eq!(
            told(&found, &evidence, LimitedBy::Disturbed),
            format!("The virtual NIC's {ring}")
        );
        found.paused = true;
        evidence.drops[0].place = VETH_RING.to_owned();
        assert_eq!(
            told(&found, &evidence, LimitedBy::Disturbed),
            format!("The veth's {ring}. It filled up while that CPU paused")
        );
        evidence.drops[0].place = NIC_RING.to_owned();
        let unknown = told(&saturated(0.96, 0.0), &evidence, LimitedBy::Disturbed);
        assert!(
            unknown.contains(
                "lost, most of them at the virtual NIC's ring, while the router's CPU was 96 % busy"
            ),
            "{unknown}"
        );
        evidence.drops.clear();
        let unknown = told(&saturated(0.72, 0.0), &evidence, LimitedBy::Disturbed);
        assert!(
            unknown.starts_with("The limit is not known: less was forwarded than was sent while"),
            "{unknown}"
        );
    }

    #[test]
    fn a_router_that_drops_most_itself_is_the_limit() {
        let busy = saturated(0.96, 0.0);
        let policed = with_drops(0, 30_000, 20_000, "NETFILTER_DROP");
        assert_eq!(
            told(&busy, &policed, LimitedBy::Dut),
            "The router's own drops are the limit. The router dropped 20000 frames itself, most of them as NETFILTER_DROP, and its ring 30000"
        );
        // A shaper that drops less than a tenth, of a router that has time left.
        let idle = saturated(0.6, 0.0);
        let shaped = with_drops(0, 900, 901, "QDISC_DROP");
        for limit in [LimitedBy::Dut, LimitedBy::Disturbed] {
            assert_eq!(
                told(&idle, &shaped, limit),
                "The queueing discipline of the outgoing port is the limit. The router dropped 901 frames itself, most of \
                 them as QDISC_DROP, and its ring 900"
            );
        }
    }

    #[test]
    fn drops_for_want_of_memory_are_named_so() {
        let short = with_drops(0, 900, 901, "NOMEM");
        let told = told(&saturated(0.6, 0.0), &short, LimitedBy::Dut);
        assert!(
            told.starts_with("The machine's memory is the limit. "),
            "{told}"
        );
    }

    #[test]
    fn fewer_own_drops_than_others_are_no_limit() {
        let idle = saturated(0.6, 0.0);
        for (port, ring, own) in [(10_000, 0, 1), (0, 0, 499), (500, 500, 999)] {
            let stray = with_drops(port, ring, own, "NETFILTER_DROP");
            let unknown = told(&idle, &stray, LimitedBy::Disturbed);
            assert!(unknown.starts_with("The limit is not known"), "{unknown}");
        }
    }

    #[test]
    fn the_busiest_cpu_tells_whether_one_is_shared() {
        let cpus = CpuSplit {
            dut: vec![1, 2],
            tester: vec![2, 3],
        };
        let front = Some(Front::Cpumap);
        assert!(!is_shared(Some(1), front, &cpus));
        assert!(is_shared(Some(2), front, &cpus));
        assert!(!is_shared(None, front, &cpus));
        assert!(is_shared(Some(1), Some(Front::Softirq), &cpus));
    }

    #[test]
    fn locks_are_of_their_callers_stage() {
        let stack = |frames: &str, ns| FoldedStack {
            frames: frames.to_owned(),
            stages: Vec::new(),
            ns,
        };
        let free = "cpu_map_kthread_run;sk_skb_reason_drop;skb_release_data;_raw_spin_lock";
        let stacks = [
            stack(free, 30.0),
            stack("cpu_map_kthread_run;ip_forward", 300.0),
        ];
        let locked = most_locked(&stacks).expect("a lock");
        assert_eq!((locked.part.as_str(), locked.ns.median), ("free", 30.0));
        assert_eq!(locked.top[0].function, "_raw_spin_lock");
        assert_eq!(most_locked(&stacks[1..]), None);
        // The root lock of a queueing discipline, spinning and halted.
        let root = "cpu_map_kthread_run;ip_output;__dev_queue_xmit;_raw_spin_lock;__pv_queued_spin_lock_slowpath";
        let halted = format!("{root};kvm_wait;pv_native_safe_halt");
        let stacks = [stack(root, 60.0), stack(&halted, 50.0), stack(free, 30.0)];
        let locked = most_locked(&stacks).expect("a lock");
        assert_eq!(locked.part, "TX");
        let waits: Vec<_> = locked
            .top
            .iter()
            .map(|top| (&*top.function, top.ns))
            .collect();
        assert_eq!(waits, [("__pv_queued_spin_lock_slowpath", 110.0)]);
    }
}
