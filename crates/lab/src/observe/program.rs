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
    cpus: Vec<(usize, ObservedCpu)>,
    /// By interface, reason and place.
    drops: BTreeMap<(u32, u32, u64), u64>,
    reasons: BTreeMap<u32, String>,
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
        let attached = "attach the observer";
        let links = [
            trace(&skel.progs.entered, attached)?,
            trace(&skel.progs.exited, attached)?,
            trace(&skel.progs.switched, attached)?,
            trace(&skel.progs.looked, attached)?,
            trace(&skel.progs.polled, attached)?,
            trace(&skel.progs.dropped, attached)?,
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
        let of_cpu = |&cpu: &usize| {
            let read: ObservedCpu = maps::read(&self.skel.maps.cpus, cpu as u32, READ)?;
            Ok((cpu, read.until(monotonic_ns())))
        };
        let cpus = cpus
            .iter()
            .map(of_cpu)
            .collect::<Result<_, TesterError>>()?;
        let mut drops = BTreeMap::new();
        for key in self.skel.maps.drops.keys() {
            let counts = self.skel.maps.drops.lookup_percpu(&key, MapFlags::ANY);
            let counts = counts.map_err(|e| TesterError::bpf(READ, &e))?;
            let counts = counts
                .iter()
                .flatten()
                .filter_map(|count| u64::from_octets(count));
            let key = DroppedKey::from_octets(&key).ok_or(TesterError::Layout(READ))?;
            drops.insert((key.ifindex, key.reason, key.location), counts.sum());
        }
        Ok(Seen {
            cpus,
            drops,
            reasons: self.reasons.clone(),
        })
    }
}

impl Seen {
    /// Adds to the counts what was seen since.
    pub fn since(&self, before: &Self, symbols: Option<&Symbols>, watched: &mut Watched) {
        for cpu in &mut watched.cpus {
            let find = |seen: &Self| {
                seen.cpus
                    .iter()
                    .find(|(of, _)| *of == cpu.cpu)
                    .map(|(_, at)| *at)
            };
            cpu.ledger = find(self)
                .zip(find(before))
                .and_then(|(now, then)| ledger(&now, &then));
        }
        // Without them, an interface has no name.
        let links = links::list().unwrap_or_default();
        let mut drops: Vec<WatchedDrop> = Vec::new();
        for (&(ifindex, reason, location), count) in &self.drops {
            let frames = count - before.drops.get(&(ifindex, reason, location)).unwrap_or(&0);
            let function = symbols.and_then(|symbols| symbols.find(location.saturating_sub(1)));
            let link = links.iter().find(|link| link.index == ifindex);
            let known = self.reasons.get(&reason).cloned();
            let drop = WatchedDrop {
                link: link.map(|link| link.name.clone()),
                reason: known.unwrap_or_else(|| format!("reason {reason}")),
                function: function.map(|function| function.name.to_owned()),
                frames,
            };
            // Several places of one function.
            let same = |other: &&mut WatchedDrop| {
                (&other.link, &other.reason, &other.function)
                    == (&drop.link, &drop.reason, &drop.function)
            };
            match drops.iter_mut().find(same) {
                Some(other) => other.frames += frames,
                None if frames > 0 => drops.push(drop),
                None => {}
            }
        }
        drops.sort_by_key(|drop| std::cmp::Reverse(drop.frames));
        watched.drops = drops;
    }
}

/// `None`: no time passed.
fn ledger(now: &ObservedCpu, then: &ObservedCpu) -> Option<CpuLedger> {
    let spent: fn(&ObservedCpu) -> [u64; 5] = |at| {
        [
            at.idle_ns,
            at.net_softirq_ns,
            at.net_thread_ns,
            at.other_softirq_ns,
            at.other_task_ns,
        ]
    };
    let (after, before) = (spent(now), spent(then));
    // The last reading took what ran then to go on. What came instead, unseen, may be counted less.
    let ns: Vec<u64> = after
        .iter()
        .zip(before)
        .map(|(a, b)| a.saturating_sub(b))
        .collect();
    let whole: u64 = ns.iter().sum();
    let share = |at: usize| ns[at] as f64 / whole as f64;
    (whole > 0).then(|| CpuLedger {
        idle_share: share(0),
        net_softirq_share: share(1),
        net_thread_share: share(2),
        other_softirq_share: share(3),
        other_task_share: share(4),
        polls: now.polls.saturating_sub(then.polls),
        polled_frames: now.polled.saturating_sub(then.polled),
    })
}

/// Names of the kernel's reasons to drop a frame, from its own types. Without them, reasons are numbers.
fn reasons() -> BTreeMap<u32, String> {
    let Ok(btf) = Btf::from_vmlinux() else {
        return BTreeMap::new();
    };
    let Some(all) = btf.type_by_name::<types::Enum<'_>>("skb_drop_reason") else {
        return BTreeMap::new();
    };
    let name = |member: types::EnumMember<'_>| {
        let name = member.name?.to_str()?;
        let name = name.strip_prefix("SKB_DROP_REASON_").unwrap_or(name);
        Some((u32::try_from(member.value).ok()?, name.to_owned()))
    };
    all.iter().filter_map(name).collect()
}
