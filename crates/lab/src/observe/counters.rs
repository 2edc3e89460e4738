//! What the kernel counts by itself: CPU times, packets and interrupts of each CPU, frames of each interface.

use mpps_linux::procstat::{self, CpuTimes, Softnet};
use mpps_linux::queue_stats::{self, Direction, QueueStats};
use mpps_linux::{Result, links};
use mpps_record::{Watched, WatchedCpu, WatchedLink, WatchedQueue};
use std::collections::BTreeMap;

/// All of them at one moment.
pub struct Counters {
    cpus: BTreeMap<usize, AtCpu>,
    links: Vec<WatchedLink>,
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

    /// What was added since, of these CPUs and all interfaces.
    pub fn since(&self, before: &Self, cpus: &[usize]) -> Watched {
        let link = |link| added(link, &before.links);
        let links: Vec<WatchedLink> = self.links.iter().map(link).collect();
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
            // Programs at the driver may forward all frames before the stack counts any.
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

/// All interfaces that are up, but for loopbacks.
fn interfaces() -> Result<Vec<WatchedLink>> {
    let mut found = Vec::new();
    // Older kernels have no such counts.
    let by_queue = queue_stats::all().unwrap_or_default();
    for link in links::list()? {
        if link.loopback || !link.up {
            continue;
        }
        // It may be gone by now.
        let Ok(stats) = links::stats(&link.name) else {
            continue;
        };
        let is_end = matches!(link.kind.as_deref(), None | Some("veth" | "tun" | "netkit"));
        found.push(WatchedLink {
            queues: queues(&by_queue, link.index),
            name: link.name,
            counted: is_end,
            kind: link.kind,
            rx_frames: stats.rx_packets,
            tx_frames: stats.tx_packets,
            rx_drops: stats.rx_dropped + stats.rx_errors + stats.rx_missed_errors,
            rx_ring_drops: Some(
                stats.rx_missed_errors + stats.rx_over_errors + stats.rx_fifo_errors,
            ),
            tx_drops: stats.tx_dropped + stats.tx_errors,
        });
    }
    Ok(found)
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
fn added(link: &WatchedLink, before: &[WatchedLink]) -> WatchedLink {
    let then = before.iter().find(|then| then.name == link.name);
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
        rx_ring_drops: Some(since(|link| link.rx_ring_drops.unwrap_or(0))).filter(|lost| *lost > 0),
        tx_drops: since(|link| link.tx_drops),
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
        let found = added(&at(30), &[at(10)]).queues;
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
            link("a", 25, true),
            link("a.7", 20, false),
            link("new", 3, true),
        ];
        let watched = counters([110, 299], now).since(&before, &[1]);
        // A VLAN's frames are its port's too. The kernel's 32 bits began again.
        assert_eq!(watched.rx_frames, 23);
        assert_eq!(watched.cpus[0].packets, 300);
        assert_eq!(watched.share_of_stack, 0.75);
    }
}
