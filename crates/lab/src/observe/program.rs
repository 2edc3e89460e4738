//! The program that sees what CPUs do and why frames are dropped (`observer.bpf.c`).

use crate::profile::Symbols;
use crate::tester::TesterError;
use crate::tester::programs::{self, maps, trace};
use libbpf_rs::btf::{Btf, types};
use libbpf_rs::{Link, MapCore, MapFlags};
use mpps_ebpf::Plain;
use mpps_ebpf::instruments::observer::{
    DroppedKey, ObservedCpu, ObserverSkel, ObserverSkelBuilder,
};
use mpps_linux::clock::monotonic_ns;
use mpps_linux::links;
use mpps_record::{CpuLedger, Watched, WatchedDrop};
use std::cmp::Reverse;
use std::collections::BTreeMap;

const READ: &str = "read the observer";

/// It runs until this is dropped.
pub struct Program {
    skel: ObserverSkel<'static>,
    reasons: BTreeMap<u32, String>,
    _links: [Link; 6],
}

/// What it has counted by a moment.
pub struct Seen {
    cpus: BTreeMap<usize, ObservedCpu>,
    /// By interface, reason and place.
    drops: BTreeMap<(u32, u32, u64), u64>,
}

impl Program {
    /// From now on these CPUs are watched, and the drops of this network namespace.
    pub fn attach(cpus: &[usize], netns: u64) -> Result<Self, TesterError> {
        let mut open = programs::open(ObserverSkelBuilder::default(), "open the observer")?;
        let rodata = programs::constants(&mut open.maps.rodata_data, "observer rodata")?;
        rodata.netns = u32::try_from(netns).unwrap_or(0);
        // A refusal is told once, in our words.
        let print = libbpf_rs::set_print(None);
        let loaded = programs::load(open, "load the observer");
        libbpf_rs::set_print(print);
        let skel = loaded?;
        let attach = |program| trace(program, "attach the observer");
        let links = [
            attach(&skel.progs.entered)?,
            attach(&skel.progs.exited)?,
            attach(&skel.progs.switched)?,
            attach(&skel.progs.looked)?,
            attach(&skel.progs.polled)?,
            attach(&skel.progs.dropped)?,
        ];
        for &cpu in cpus {
            let cleared = ObservedCpu::cleared(monotonic_ns());
            maps::write(&skel.maps.cpus, cpu as u32, &cleared, "begin to observe")?;
        }
        Ok(Self {
            skel,
            reasons: reasons(),
            _links: links,
        })
    }

    /// What was counted so far.
    pub fn read(&self, cpus: &[usize]) -> Result<Seen, TesterError> {
        let mut seen = Seen {
            cpus: BTreeMap::new(),
            drops: BTreeMap::new(),
        };
        for &cpu in cpus {
            let read: ObservedCpu = maps::read(&self.skel.maps.cpus, cpu as u32, READ)?;
            seen.cpus.insert(cpu, read.until(monotonic_ns()));
        }
        let drops = &self.skel.maps.drops;
        for key in drops.keys() {
            let counts = drops.lookup_percpu(&key, MapFlags::ANY);
            let counts = counts.map_err(|e| TesterError::bpf(READ, &e))?;
            let of_cpu = |count: &Vec<u8>| u64::from_octets(count);
            let frames = counts.iter().flatten().filter_map(of_cpu).sum();
            let key = DroppedKey::from_octets(&key).ok_or(TesterError::Layout(READ))?;
            let key = (key.ifindex, key.reason, key.location);
            seen.drops.insert(key, frames);
        }
        Ok(seen)
    }

    /// Adds to the counts what was seen in between.
    pub fn note(&self, seen: &[Seen; 2], symbols: Option<&Symbols>, watched: &mut Watched) {
        let [before, after] = seen;
        for cpu in &mut watched.cpus {
            let times = after.cpus.get(&cpu.cpu).zip(before.cpus.get(&cpu.cpu));
            cpu.ledger = times.and_then(|(now, then)| ledger(now, then));
        }
        // Without them, an interface has no name.
        let links = links::list().unwrap_or_default();
        // Several places of one function count together.
        let mut drops: BTreeMap<_, u64> = BTreeMap::new();
        for (key, count) in &after.drops {
            let &(ifindex, reason, location) = key;
            let link = links.iter().find(|link| link.index == ifindex);
            let known = self.reasons.get(&reason).cloned();
            let function = symbols.and_then(|symbols| symbols.find(location.saturating_sub(1)));
            let place = (
                link.map(|link| link.name.clone()),
                known.unwrap_or_else(|| format!("reason {reason}")),
                function.map(|function| function.name.to_owned()),
            );
            *drops.entry(place).or_default() += count - before.drops.get(key).unwrap_or(&0);
        }
        drops.retain(|_, frames| *frames > 0);
        let drop = |((link, reason, function), frames)| WatchedDrop {
            link,
            reason,
            function,
            frames,
        };
        watched.drops = drops.into_iter().map(drop).collect();
        let frames = |drop: &WatchedDrop| Reverse(drop.frames);
        watched.drops.sort_by_key(frames);
    }
}

/// `None`: no time passed.
fn ledger(now: &ObservedCpu, then: &ObservedCpu) -> Option<CpuLedger> {
    // The last reading took what ran then to go on. What came instead, unseen, may be counted less.
    let spent = |of: fn(&ObservedCpu) -> u64| of(now).saturating_sub(of(then));
    let ns = [
        spent(|at| at.idle_ns),
        spent(|at| at.net_softirq_ns),
        spent(|at| at.net_thread_ns),
        spent(|at| at.other_softirq_ns),
        spent(|at| at.other_task_ns),
    ];
    let whole: u64 = ns.iter().sum();
    let [idle, net_softirq, net_thread, other_softirq, other_task] =
        ns.map(|ns| ns as f64 / whole as f64);
    (whole > 0).then(|| CpuLedger {
        idle_share: idle,
        net_softirq_share: net_softirq,
        net_thread_share: net_thread,
        other_softirq_share: other_softirq,
        other_task_share: other_task,
        polls: spent(|at| at.polls),
        polled_frames: spent(|at| at.polled),
    })
}

/// Names of the kernel's reasons to drop a frame, from its own types. Without them, reasons are numbers.
fn reasons() -> BTreeMap<u32, String> {
    let btf = Btf::from_vmlinux().ok();
    let all = (btf.as_ref()).and_then(|btf| btf.type_by_name::<types::Enum<'_>>("skb_drop_reason"));
    let name = |member: types::EnumMember<'_>| {
        let name = member.name?.to_str()?;
        let name = name.strip_prefix("SKB_DROP_REASON_").unwrap_or(name);
        Some((u32::try_from(member.value).ok()?, name.to_owned()))
    };
    all.iter()
        .flat_map(|all| all.iter())
        .filter_map(name)
        .collect()
}
