//! The program that sees what CPUs do and why frames are dropped (`observer.bpf.c`).

use super::frames::{Part, Polls};
use crate::profile::Symbols;
use crate::tester::programs::drops::{DropCounts, DropProbe};
use crate::tester::programs::{self, maps, trace};
use crate::tester::{EXIT, TesterError, has_receiver};
use libbpf_rs::{Link, MapCore as _};
use mpps_ebpf::instruments::observer::{ObservedCpu, ObserverSkel, ObserverSkelBuilder};
use mpps_linux::clock::monotonic_ns;
use mpps_linux::links;
use mpps_record::{CpuLedger, Watched, WatchedDrop};
use std::cmp::Reverse;
use std::collections::BTreeMap;

const READ: &str = "read the observer";

/// It runs until this is dropped.
pub struct Program {
    skel: ObserverSkel<'static>,
    drops: DropProbe,
    _links: [Link; 6],
}

/// What it has counted by a moment.
pub struct Seen {
    cpus: BTreeMap<usize, ObservedCpu>,
    /// Frames that polls took so far.
    polls: Polls,
    drops: DropCounts,
}

impl Program {
    /// From now on these CPUs are watched, and the drops of this network namespace.
    pub fn attach(cpus: &[usize], netns: u64) -> Result<Self, TesterError> {
        let mut open = programs::open(ObserverSkelBuilder::default(), "open the observer")?;
        let rodata = programs::constants(&mut open.maps.rodata_data, "rodata of the observer")?;
        rodata.netns = u32::try_from(netns).unwrap_or(0);
        let skel = programs::load(open, "load the observer")?;
        let drops = DropProbe::load(netns)?;
        let attach = |program| trace(program, "attach the observer");
        let links = [
            attach(&skel.progs.entered)?,
            attach(&skel.progs.exited)?,
            attach(&skel.progs.switched)?,
            attach(&skel.progs.looked)?,
            attach(&skel.progs.polled)?,
            drops.attach()?,
        ];
        for &cpu in cpus {
            let cleared = ObservedCpu::cleared(monotonic_ns());
            maps::write(&skel.maps.cpus, cpu as u32, &cleared, "begin to observe")?;
        }
        Ok(Self {
            skel,
            drops,
            _links: links,
        })
    }

    /// What was counted so far.
    pub fn read(&self, cpus: &[usize]) -> Result<Seen, TesterError> {
        let of_cpu = |&cpu: &usize| {
            let read: ObservedCpu = maps::read(&self.skel.maps.cpus, cpu as u32, READ)?;
            Ok((cpu, read.until(monotonic_ns())))
        };
        let of_cpus = cpus.iter().map(of_cpu);
        let map = &self.skel.maps.cpus;
        let possible = maps::possible_cpus()?.min(map.max_entries() as usize);
        let all: Vec<ObservedCpu> = maps::read_first(map, possible, READ)?;
        let part = |of: fn(&ObservedCpu) -> u64| Part {
            ours: (cpus.iter().filter_map(|&cpu| all.get(cpu)).map(of)).sum(),
            all: all.iter().map(of).sum(),
        };
        Ok(Seen {
            polls: Polls {
                any: part(|cpu| cpu.polled),
                devices: part(|cpu| cpu.device_polled),
            },
            cpus: of_cpus.collect::<Result<_, TesterError>>()?,
            drops: self.drops.read()?,
        })
    }

    /// Frames that polls took in between.
    pub fn polls([before, after]: &[Seen; 2]) -> Polls {
        let since = |of: fn(&Polls) -> Part| {
            let [then, now] = [&before.polls, &after.polls].map(of);
            Part {
                ours: now.ours.saturating_sub(then.ours),
                all: now.all.saturating_sub(then.all),
            }
        };
        Polls {
            any: since(|polls| polls.any),
            devices: since(|polls| polls.devices),
        }
    }

    /// Adds to the counts what was seen in between.
    pub fn note(seen: &[Seen; 2], symbols: Option<&Symbols>, watched: &mut Watched) {
        let [before, after] = seen;
        for cpu in &mut watched.cpus {
            let times = after.cpus.get(&cpu.cpu).zip(before.cpus.get(&cpu.cpu));
            cpu.ledger = times.and_then(|(now, then)| ledger(now, then));
        }
        // Without them, an interface has no name.
        let links = links::list().unwrap_or_default();
        // Several places of one function count together.
        let mut drops: BTreeMap<_, u64> = BTreeMap::new();
        for (dropped, count) in &after.drops {
            // A tester's receiver takes frames, and drops none.
            if dropped.reason == EXIT && has_receiver(dropped.ifindex) {
                continue;
            }
            let link = links.iter().find(|link| link.index == dropped.ifindex);
            let call = dropped.location.saturating_sub(1);
            let function = symbols.and_then(|symbols| symbols.find(call));
            let place = (
                link.map(|link| link.name.clone()),
                dropped.reason.clone(),
                function.map(|function| function.name.to_owned()),
            );
            *drops.entry(place).or_default() += count - before.drops.get(dropped).unwrap_or(&0);
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
