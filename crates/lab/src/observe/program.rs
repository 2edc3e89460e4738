//! The program that sees what CPUs do and why frames are dropped (`observer.bpf.c`).

use crate::profile::Symbols;
use crate::tester::TesterError;
use crate::tester::programs::drops::{DropCounts, DropProbe};
use crate::tester::programs::{self, maps, trace};
use libbpf_rs::Link;
use mpps_ebpf::instruments::observer::{ObservedCpu, ObserverSkel, ObserverSkelBuilder};
use mpps_linux::clock::monotonic_ns;
use mpps_linux::links;
use mpps_record::{CpuLedger, Watched, WatchedDrop};

const READ: &str = "read the observer";

/// It runs until this is dropped.
pub struct Program {
    skel: ObserverSkel<'static>,
    drops: DropProbe,
    _links: [Link; 6],
}

/// What it has counted by a moment.
pub struct Seen {
    cpus: Vec<(usize, ObservedCpu)>,
    drops: DropCounts,
}

impl Program {
    /// From now on these CPUs are watched, and the drops of this network namespace.
    pub fn attach(cpus: &[usize], netns: u64) -> Result<Self, TesterError> {
        let open = programs::open(ObserverSkelBuilder::default(), "open the observer")?;
        // A refusal is told once, in our words.
        let print = libbpf_rs::set_print(None);
        let loaded = programs::load(open, "load the observer");
        let loaded = loaded.and_then(|skel| Ok((skel, DropProbe::load(netns)?)));
        libbpf_rs::set_print(print);
        let (skel, drops) = loaded?;
        let attached = "attach the observer";
        let links = [
            trace(&skel.progs.entered, attached)?,
            trace(&skel.progs.exited, attached)?,
            trace(&skel.progs.switched, attached)?,
            trace(&skel.progs.looked, attached)?,
            trace(&skel.progs.polled, attached)?,
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
        let cpus = cpus
            .iter()
            .map(of_cpu)
            .collect::<Result<_, TesterError>>()?;
        Ok(Seen {
            cpus,
            drops: self.drops.read()?,
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
        for (dropped, count) in &self.drops {
            let frames = count - before.drops.get(dropped).unwrap_or(&0);
            let place = dropped.location.saturating_sub(1);
            let function = symbols.and_then(|symbols| symbols.find(place));
            let link = links.iter().find(|link| link.index == dropped.ifindex);
            let drop = WatchedDrop {
                link: link.map(|link| link.name.clone()),
                reason: dropped.reason.clone(),
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
