//! What the kernel counts by itself: CPU times, packets and interrupts of each CPU, frames of each interface.

use mpps_linux::Result;
use mpps_linux::ethtool;
use mpps_linux::links::{self, Link};
use mpps_linux::procstat::{self, CpuTimes, Softnet};
use mpps_linux::queue_stats::{self, Direction, QueueStats};
use mpps_record::{Watched, WatchedCpu, WatchedLink, WatchedQueue};
use std::collections::BTreeMap;

/// GRO makes one packet of fewer frames: 64 KiB hold 45 of 1 448 octets.
const FRAMES_A_PACKET: u64 = 100;

/// All of them at one moment.
pub struct Counters {
    cpus: BTreeMap<usize, AtCpu>,
    links: BTreeMap<u32, AtLink>,
}

/// A link may be renamed meanwhile, or set up.
#[derive(Clone, Default)]
struct AtLink {
    is_up: bool,
    counts: WatchedLink,
}

#[derive(Clone, Copy, Default)]
struct AtCpu {
    times: CpuTimes,
    softnet: Softnet,
    interrupts: u64,
}

impl Counters {
    /// Reads them, of this network namespace.
    pub fn read() -> Result<Self> {
        let mut cpus: BTreeMap<usize, AtCpu> = BTreeMap::new();
        for times in procstat::cpu_times()? {
            cpus.entry(times.cpu).or_default().times = times;
        }
        for softnet in procstat::softnet()? {
            cpus.entry(softnet.cpu).or_default().softnet = softnet;
        }
        for (cpu, interrupts) in procstat::interrupts()? {
            cpus.entry(cpu).or_default().interrupts = interrupts;
        }
        let links = interfaces()?;
        Ok(Self { cpus, links })
    }

    /// Whether the stack saw too few packets since to tell which CPUs took so many frames: programs at the driver took them.
    pub fn are_past_the_stack(&self, before: &Self, rx_frames: u64) -> bool {
        let packets = |at: &AtCpu, then: Option<&AtCpu>| {
            let then = then.map_or(0, |then| then.softnet.packets);
            u64::from(at.softnet.packets.wrapping_sub(then))
        };
        let cpus = self.cpus.iter();
        let all: u64 = cpus
            .map(|(cpu, at)| packets(at, before.cpus.get(cpu)))
            .sum();
        all.saturating_mul(FRAMES_A_PACKET) < rx_frames
    }

    /// What was added since, of these CPUs and all interfaces.
    pub fn since(&self, before: &Self, cpus: &[usize]) -> Watched {
        let links = self.links.iter().filter(|(_, link)| link.is_up);
        let link = |(index, link): (&u32, &AtLink)| {
            let then = before.links.get(index);
            added(&link.counts, then.map(|then| &then.counts))
        };
        let links: Vec<WatchedLink> = links.map(link).collect();
        let counted = || links.iter().filter(|link| link.counted);
        let all: Vec<WatchedCpu> = (self.cpus.iter())
            .map(|(&cpu, now)| now.since(before.cpus.get(&cpu).unwrap_or(now), cpu))
            .collect();
        let ours = || all.iter().filter(|of| cpus.contains(&of.cpu));
        let packets: u64 = all.iter().map(|of| of.packets).sum();
        let of_ours: u64 = ours().map(|of| of.packets).sum();
        Watched {
            rx_frames: counted().map(|link| link.rx_frames).sum(),
            tx_frames: counted().map(|link| link.tx_frames).sum(),
            share_of_stack: match packets {
                0 => 1.0,
                _ => of_ours as f64 / packets as f64,
            },
            cpus: ours().cloned().collect(),
            links,
            ..Watched::default()
        }
    }
}

impl AtCpu {
    fn since(&self, then: &Self, cpu: usize) -> WatchedCpu {
        let spent = self.times.since(&then.times);
        let whole = spent.busy_ns() + spent.idle_ns + spent.iowait_ns + spent.steal_ns;
        let (now, softnet) = (self.softnet, then.softnet);
        WatchedCpu {
            cpu,
            busy_share: spent.busy_ns() as f64 / whole.max(1) as f64,
            steal_share: spent.steal_ns as f64 / whole.max(1) as f64,
            packets: now.packets.wrapping_sub(softnet.packets).into(),
            backlog_drops: now.dropped.wrapping_sub(softnet.dropped).into(),
            squeezed: now.squeezed.wrapping_sub(softnet.squeezed).into(),
            interrupts: self.interrupts.saturating_sub(then.interrupts),
            ..WatchedCpu::default()
        }
    }
}

/// All interfaces by their index, but for loopbacks.
fn interfaces() -> Result<BTreeMap<u32, AtLink>> {
    let mut found = BTreeMap::new();
    // Older kernels have no such counts.
    let by_queue = queue_stats::all().unwrap_or_default();
    let all = links::list()?;
    let ends: Vec<bool> = all.iter().map(|link| is_end(link, &all)).collect();
    for (link, counted) in all.into_iter().zip(ends) {
        if link.loopback {
            continue;
        }
        // It may be gone by now.
        let Ok(stats) = links::stats(&link.name) else {
            continue;
        };
        let is_hardware = link.kind.is_none();
        let speed = || ethtool::speed(&link.name).ok().flatten();
        let counts = WatchedLink {
            speed_mbit: is_hardware.then(speed).flatten(),
            rx_octets: stats.rx_bytes,
            tx_octets: stats.tx_bytes,
            queues: queues(&by_queue, link.index),
            name: link.name,
            counted,
            kind: link.kind,
            rx_frames: stats.rx_packets,
            tx_frames: stats.tx_packets,
            rx_drops: stats.rx_dropped + stats.rx_errors + stats.rx_missed_errors,
            rx_errors: Some(stats.rx_errors),
            rx_ring_drops: Some(
                stats.rx_missed_errors + stats.rx_over_errors + stats.rx_fifo_errors,
            ),
            tx_drops: stats.tx_dropped + stats.tx_errors,
        };
        let is_up = link.up;
        found.insert(link.index, AtLink { is_up, counts });
    }
    Ok(found)
}

/// Whether frames enter the namespace there. Those of a link that stands on another, or is joined to it, are that one's too;
/// those of a virtual function that a virtual machine's port is made of are the port's.
fn is_end(link: &Link, all: &[Link]) -> bool {
    let is_end = matches!(link.kind.as_deref(), None | Some("veth" | "tun" | "netkit"));
    let master = link.master;
    let mut masters = all.iter().filter(|one| Some(one.index) == master);
    is_end && link.lower.is_none() && !masters.any(|master| master.kind.is_none())
}

/// The queues of a link, by number.
fn queues(all: &[QueueStats], ifindex: u32) -> Vec<WatchedQueue> {
    let mut found: BTreeMap<u32, WatchedQueue> = BTreeMap::new();
    for of in all.iter().filter(|of| of.ifindex == ifindex) {
        let queue = found.entry(of.queue).or_default();
        queue.queue = of.queue;
        match of.direction {
            Direction::Receive => queue.rx_frames = Some(of.packets),
            Direction::Transmit => queue.tx_frames = Some(of.packets),
        }
    }
    found.into_values().collect()
}

/// What a queue counted since; all that it shows where its driver began anew.
fn added_to(queue: &WatchedQueue, before: Option<&WatchedQueue>) -> WatchedQueue {
    let since = |of: fn(&WatchedQueue) -> Option<u64>| {
        let then = before.and_then(of).unwrap_or(0);
        of(queue).map(|now| now.checked_sub(then).unwrap_or(now))
    };
    WatchedQueue {
        queue: queue.queue,
        rx_frames: since(|queue| queue.rx_frames),
        tx_frames: since(|queue| queue.tx_frames),
    }
}

/// What a link counted since. One that is new, or whose counts began again, has what it shows.
fn added(link: &WatchedLink, then: Option<&WatchedLink>) -> WatchedLink {
    let since = |count: fn(&WatchedLink) -> u64| {
        let then = then.map_or(0, count);
        count(link).checked_sub(then).unwrap_or_else(|| count(link))
    };
    let queue = |queue: &WatchedQueue| {
        let then = then.and_then(|then| then.queues.iter().find(|then| then.queue == queue.queue));
        added_to(queue, then)
    };
    // Where nobody read them before, they would be counts since the driver began.
    let were_read = then.is_none_or(|then| !then.queues.is_empty());
    let queues = link.queues.iter().filter(|_| were_read);
    WatchedLink {
        queues: queues.map(queue).collect(),
        rx_frames: since(|link| link.rx_frames),
        tx_frames: since(|link| link.tx_frames),
        rx_drops: since(|link| link.rx_drops),
        rx_errors: Some(since(|link| link.rx_errors.unwrap_or(0))).filter(|lost| *lost > 0),
        rx_ring_drops: Some(since(|link| link.rx_ring_drops.unwrap_or(0))).filter(|lost| *lost > 0),
        tx_drops: since(|link| link.tx_drops),
        rx_octets: since(|link| link.rx_octets),
        tx_octets: since(|link| link.tx_octets),
        ..link.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(name: &str, rx: u64, counted: bool) -> WatchedLink {
        WatchedLink {
            name: name.to_owned(),
            counted,
            rx_frames: rx,
            ..WatchedLink::default()
        }
    }

    fn counters(packets: [u32; 2], links: Vec<WatchedLink>) -> Counters {
        let at_cpu = |packets| AtCpu {
            softnet: Softnet {
                packets,
                ..Softnet::default()
            },
            ..AtCpu::default()
        };
        let cpus = (0..).zip(packets.map(at_cpu)).collect();
        let at_link = |counts| AtLink {
            is_up: true,
            counts,
        };
        let links = (1..).zip(links.into_iter().map(at_link)).collect();
        Counters { cpus, links }
    }

    #[test]
    fn queues_are_counted_by_number() {
        let of = |direction, queue, packets| QueueStats {
            ifindex: 2,
            direction,
            queue,
            packets,
        };
        let (rx, tx) = (Direction::Receive, Direction::Transmit);
        let other = QueueStats {
            ifindex: 3,
            ..of(rx, 0, 99)
        };
        let at = |packets| {
            let all = [of(rx, 0, packets), other, of(tx, 0, 7), of(rx, 1, 5)];
            WatchedLink {
                queues: queues(&all, 2),
                ..link("a", 0, true)
            }
        };
        let found = added(&at(30), Some(&at(10))).queues;
        let found: Vec<_> = (found.iter())
            .map(|of| (of.queue, of.rx_frames, of.tx_frames))
            .collect();
        assert_eq!(found, [(0, Some(20), Some(0)), (1, Some(0), None)]);
    }

    #[test]
    fn counts_are_of_the_time_and_the_cpus() {
        let before = counters(
            [10, u32::MAX],
            vec![link("a", 5, true), link("gone", 7, true)],
        );
        let now = vec![
            link("renamed", 25, true),
            link("a.7", 20, false),
            link("new", 3, true),
        ];
        let watched = counters([110, 299], now).since(&before, &[1]);
        // A VLAN's frames are its port's too. The kernel's 32 bits began again.
        assert_eq!(watched.rx_frames, 23);
        assert_eq!(watched.cpus[0].packets, 300);
        assert_eq!(watched.share_of_stack, 0.75);
    }

    #[test]
    fn a_frame_enters_a_namespace_at_one_link() {
        let link = |index, kind: Option<&str>, lower, master| Link {
            index,
            kind: kind.map(str::to_owned),
            lower,
            master,
            ..Link::default()
        };
        let all = [
            link(1, None, None, None),
            // A virtual function beneath a virtual machine's port, and one of a bond.
            link(2, None, None, Some(1)),
            link(3, Some("bond"), None, None),
            link(4, None, None, Some(3)),
            link(5, Some("vlan"), Some(1), None),
            // A pair within the namespace, and one whose peer is in another.
            link(6, Some("veth"), Some(7), None),
            link(8, Some("veth"), None, None),
        ];
        let ends = all.iter().filter(|link| is_end(link, &all));
        let ends: Vec<u32> = ends.map(|link| link.index).collect();
        assert_eq!(ends, [1, 4, 8]);
    }

    #[test]
    fn frames_that_no_stack_took_are_told_by_polls() {
        let before = counters([10, u32::MAX], vec![]);
        // 400 packets on both CPUs.
        let after = counters([110, 299], vec![]);
        assert!(!after.are_past_the_stack(&before, 40_000));
        assert!(after.are_past_the_stack(&before, 40_001));
        assert!(!after.are_past_the_stack(&after, 0));
    }
}
