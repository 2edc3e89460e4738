//! What the kernel counts by itself: CPU times, packets and interrupts of each CPU, frames of each interface.

use mpps_linux::procstat::{self, CpuTimes, Softnet};
use mpps_linux::{Result, links};
use mpps_record::{Watched, WatchedCpu, WatchedLink};

/// All of them at one moment.
pub struct Counters {
    times: Vec<CpuTimes>,
    softnet: Vec<Softnet>,
    interrupts: Vec<(usize, u64)>,
    links: Vec<WatchedLink>,
}

impl Counters {
    /// Reads them, of this network namespace.
    pub fn read() -> Result<Self> {
        Ok(Self {
            times: procstat::cpu_times()?,
            softnet: procstat::softnet()?,
            interrupts: procstat::interrupts()?,
            links: interfaces()?,
        })
    }

    /// What was added since, of these CPUs and all interfaces.
    pub fn since(&self, before: &Self, cpus: &[usize]) -> Watched {
        let links: Vec<WatchedLink> = (self.links.iter())
            .map(|link| added(link, &before.links))
            .collect();
        let counted = || links.iter().filter(|link| link.counted);
        let packets = |cpu: usize| -> u64 {
            let find = |all: &[Softnet]| all.iter().find(|of| of.cpu == cpu).copied();
            let (now, then) = (find(&self.softnet), find(&before.softnet));
            let added = now
                .zip(then)
                .map(|(now, then)| now.packets.wrapping_sub(then.packets));
            added.unwrap_or(0).into()
        };
        let all: u64 = self.softnet.iter().map(|of| packets(of.cpu)).sum();
        let ours: u64 = cpus.iter().map(|&cpu| packets(cpu)).sum();
        Watched {
            rx_frames: counted().map(|link| link.rx_frames).sum(),
            tx_frames: counted().map(|link| link.tx_frames).sum(),
            // Programs at the driver may forward all frames before the stack counts any.
            share_of_stack: if all > 0 {
                ours as f64 / all as f64
            } else {
                1.0
            },
            cpus: cpus
                .iter()
                .map(|&cpu| self.cpu(before, cpu, packets(cpu)))
                .collect(),
            links,
            ..Watched::default()
        }
    }

    fn cpu(&self, before: &Self, cpu: usize, packets: u64) -> WatchedCpu {
        let times = |all: &[CpuTimes]| {
            all.iter()
                .find(|of| of.cpu == cpu)
                .copied()
                .unwrap_or_default()
        };
        let spent = times(&self.times).since(&times(&before.times));
        let whole = spent.busy_ns() + spent.idle_ns + spent.iowait_ns + spent.steal_ns;
        let share = |ns: u64| {
            if whole > 0 {
                ns as f64 / whole as f64
            } else {
                0.0
            }
        };
        let softnet = |all: &[Softnet]| {
            all.iter()
                .find(|of| of.cpu == cpu)
                .copied()
                .unwrap_or_default()
        };
        let (now, then) = (softnet(&self.softnet), softnet(&before.softnet));
        let interrupts = |all: &[(usize, u64)]| {
            let found = all.iter().find(|(of, _)| *of == cpu);
            found.map_or(0, |(_, count)| *count)
        };
        WatchedCpu {
            cpu,
            busy_share: share(spent.busy_ns()),
            steal_share: share(spent.steal_ns),
            packets,
            backlog_drops: now.dropped.wrapping_sub(then.dropped).into(),
            squeezed: now.squeezed.wrapping_sub(then.squeezed).into(),
            interrupts: interrupts(&self.interrupts).saturating_sub(interrupts(&before.interrupts)),
            ..WatchedCpu::default()
        }
    }
}

/// All interfaces that are up, but for loopbacks.
fn interfaces() -> Result<Vec<WatchedLink>> {
    let mut found = Vec::new();
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
            name: link.name,
            counted: is_end,
            kind: link.kind,
            rx_frames: stats.rx_packets,
            tx_frames: stats.tx_packets,
            rx_drops: stats.rx_dropped + stats.rx_errors + stats.rx_missed_errors,
            tx_drops: stats.tx_dropped + stats.tx_errors,
        });
    }
    Ok(found)
}

/// What a link counted since. One that is new, or whose counts began again, has what it shows.
fn added(link: &WatchedLink, before: &[WatchedLink]) -> WatchedLink {
    let then = before.iter().find(|then| then.name == link.name);
    let since = |count: fn(&WatchedLink) -> u64| {
        let then = then.map_or(0, count);
        count(link).checked_sub(then).unwrap_or_else(|| count(link))
    };
    WatchedLink {
        rx_frames: since(|link| link.rx_frames),
        tx_frames: since(|link| link.tx_frames),
        rx_drops: since(|link| link.rx_drops),
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
        let softnet = |(cpu, packets)| Softnet {
            cpu,
            packets,
            ..Softnet::default()
        };
        Counters {
            times: Vec::new(),
            softnet: (0..).zip(packets).map(softnet).collect(),
            interrupts: vec![(1, u64::from(packets[1]))],
            links,
        }
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
