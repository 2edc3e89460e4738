//! What looks like the limit of a host at its work.

use super::frames::FRAMES_MIN;
use mpps_linux::cpu::CpuSet;
use mpps_method::limit::{BUSY, NO_MEMORY, QDISC};
use mpps_record::{Watched, WatchedCpu, WatchedDrop, WatchedLink};

/// A CPU with less of the network's work is not the network's.
const NETWORKS: f64 = 0.2;
/// A CPU with less has none of it.
const NETWORKS_LEAST: f64 = 0.01;
/// Other tasks with more of a CPU are named.
const OTHERS: f64 = 0.2;
/// A hypervisor that takes more is named.
pub(super) const STOLEN: f64 = 0.05;

/// More drops by frames in than this are named beside the limit. A drop is a packet, in which GRO may have merged frames.
const DROPPED: f64 = 0.01;
/// A backlog or a ring that lost less of its frames is no limit.
const LOST: f64 = 0.001;
/// A link with more of its speed in use is full.
const LINK_FULL: f64 = 0.97;
/// What a frame takes on a wire beside the octets that drivers count: preamble, FCS and gap.
const ON_WIRE_OCTETS: u64 = 24;

/// A sentence, and whether something is at its limit.
pub fn in_words(watched: &Watched) -> (String, bool) {
    let limits = [
        stolen,
        interrupted,
        taken,
        full,
        link,
        no_memory,
        overflowed,
        lost,
    ];
    let found = limits.iter().find_map(|limit| limit(watched));
    let is_limit = found.is_some();
    let limit = found.unwrap_or_else(|| time_left(watched));
    (limit + &dropped(watched), is_limit)
}

fn dropped(watched: &Watched) -> String {
    let packets: u64 = watched.drops.iter().map(|drop| drop.frames).sum();
    let frames = watched.rx_frames;
    let share = packets as f64 / frames.max(1) as f64;
    let is_traffic = frames as f64 >= FRAMES_MIN;
    let most = (watched.drops.first()).filter(|_| is_traffic && share > DROPPED);
    most.map_or_else(String::new, |drop| {
        let link = drop.link.as_deref().unwrap_or("no interface");
        let reason = &drop.reason;
        format!("; {packets} packets were dropped while {frames} frames came in, most at {link} for {reason}")
    })
}

/// Of a CPU that has time left it limits nothing.
fn stolen(watched: &Watched) -> Option<String> {
    let cpu = all_full(watched).find(|cpu| cpu.steal_share > STOLEN)?;
    let share = cpu.steal_share * 100.0;
    Some(format!(
        "The hypervisor took {share:.0} % of CPU {}",
        cpu.cpu
    ))
}

/// Whether a CPU has time left, whatever its work is.
fn has_time(cpu: &WatchedCpu) -> bool {
    cpu.idle_share() >= 1.0 - BUSY
}

/// CPUs without time left, of those that have work of the network's.
fn all_full(watched: &Watched) -> impl Iterator<Item = &WatchedCpu> {
    let is_full = |cpu: &&WatchedCpu| !has_time(cpu) && cpu.whole_network_share() >= NETWORKS;
    watched.cpus.iter().filter(is_full)
}

fn interrupted(watched: &Watched) -> Option<String> {
    let share = |cpu: &WatchedCpu| cpu.interrupt_share.unwrap_or(0.0);
    let cpu = all_full(watched).find(|cpu| share(cpu) > OTHERS)?;
    Some(format!(
        "CPU {} is full, and hard interrupts have {:.0} % of it",
        cpu.cpu,
        share(cpu) * 100.0
    ))
}

fn is_taken(cpu: &WatchedCpu) -> bool {
    cpu.least_task_share() > OTHERS
}

/// If tasks have a part of each CPU that is full.
fn taken(watched: &Watched) -> Option<String> {
    let cpu = all_full(watched)
        .next()
        .filter(|_| all_full(watched).all(is_taken))?;
    let share = cpu.least_task_share() * 100.0;
    Some(format!(
        "CPU {} is full, and tasks that are not the network's have {share:.0} % of it",
        cpu.cpu
    ))
}

fn full(watched: &Watched) -> Option<String> {
    let by_network = all_full(watched).filter(|cpu| !is_taken(cpu));
    let full: CpuSet = by_network.map(|cpu| cpu.cpu).collect();
    let are_full = match full.len() {
        0 => return None,
        1 => format!("CPU {full} is"),
        _ => format!("CPUs {full} are"),
    };
    let rest = watched.cpus.iter().filter(|cpu| has_time(cpu)).count();
    let free = match rest {
        0 => "no CPU that was watched has time left".to_owned(),
        _ => format!("{rest} of those watched has time left: spread the flows (RSS, RPS)"),
    };
    Some(format!("{are_full} full of the network's work; {free}"))
}

/// One whose speed is used up, or in whose queue packets are dropped.
fn link(watched: &Watched) -> Option<String> {
    let time_s = watched.time_ns.max(1) as f64 / 1e9;
    let used = |link: &WatchedLink| {
        let speed = link.speed_mbit.filter(|speed| *speed > 0)?;
        let ways = [
            (link.rx_octets, link.rx_frames, "receives"),
            (link.tx_octets, link.tx_frames, "sends"),
        ];
        ways.into_iter().find_map(|(octets, frames, does)| {
            let octets = octets + frames * ON_WIRE_OCTETS;
            let share = octets as f64 * 8.0 / time_s / (f64::from(speed) * 1e6);
            (share > LINK_FULL).then(|| {
                let share = share * 100.0;
                format!(
                    "The link {} is full: it {does} {share:.0} % of its {speed} Mbit/s",
                    link.name
                )
            })
        })
    };
    let queue = || {
        let of = |link: &str| {
            let is_there = |drop: &&WatchedDrop| {
                drop.link.as_deref() == Some(link) && drop.reason.starts_with(QDISC)
            };
            watched
                .drops
                .iter()
                .filter(is_there)
                .map(|drop| drop.frames)
                .sum()
        };
        let links = watched.drops.iter().filter_map(|drop| drop.link.as_deref());
        let each = links.map(|link| -> (&str, u64) { (link, of(link)) });
        let (link, frames) = each.max_by_key(|(_, frames)| *frames)?;
        if !is_much(frames, watched.rx_frames) {
            return None;
        }
        Some(format!(
            "The link {link}, or the queueing discipline before it, is the limit: {frames} packets were dropped there"
        ))
    };
    watched.links.iter().find_map(used).or_else(queue)
}

fn no_memory(watched: &Watched) -> Option<String> {
    let drops = watched.drops.iter();
    let short = drops.filter(|drop| drop.reason == NO_MEMORY);
    let frames = short.map(|drop| drop.frames).sum();
    is_much(frames, watched.rx_frames)
        .then(|| format!("Memory is short: {frames} packets were dropped for {NO_MEMORY}"))
}

fn overflowed(watched: &Watched) -> Option<String> {
    let lost = |cpu: &&WatchedCpu| is_much(cpu.backlog_drops, cpu.packets);
    let cpu = watched.cpus.iter().find(lost)?;
    let why = match has_time(cpu) {
        true => "although it has time left: bursts (net.core.netdev_max_backlog)",
        false => "while it had no time left for the network",
    };
    Some(format!("The backlog of CPU {} overflowed {why}", cpu.cpu))
}

/// Whether more than [`LOST`] of the frames was lost; the others were taken.
fn is_much(lost: u64, taken: u64) -> bool {
    lost as f64 > LOST * (lost + taken) as f64
}

/// Frames of an unknown protocol, or with a wrong checksum, are dropped whatever the load is: only a full ring counts.
fn lost(watched: &Watched) -> Option<String> {
    // Some drivers count a full ring among all drops. Those that the stack made have a reason.
    let at_ring = |link: &WatchedLink| {
        let known = link.rx_ring_drops.unwrap_or(0);
        let with_reason = (watched.drops.iter())
            .filter(|drop| drop.link.as_ref() == Some(&link.name))
            .map(|drop| drop.frames)
            .sum::<u64>();
        let errors = link.rx_errors.unwrap_or(0);
        known.max(link.rx_drops.saturating_sub(with_reason + errors))
    };
    let lost = |link: &&WatchedLink| link.counted && is_much(at_ring(link), link.rx_frames);
    let link = watched.links.iter().find(lost)?;
    // A program that polls a device by itself fills a CPU that has none of this work.
    let is_full = |cpu: &&WatchedCpu| !has_time(cpu) && cpu.whole_network_share() > NETWORKS_LEAST;
    let full = watched.cpus.iter().find(is_full);
    let why = full.map_or_else(
        || "although no CPU is full of its work: bursts or a short ring".to_owned(),
        |cpu| format!("at a time when CPU {} was full", cpu.cpu),
    );
    Some(format!("{} lost frames while receiving {why}", link.name))
}

fn time_left(watched: &Watched) -> String {
    let most = |one: &&WatchedCpu, other: &&WatchedCpu| {
        one.whole_network_share()
            .total_cmp(&other.whole_network_share())
    };
    let busiest = watched.cpus.iter().max_by(most);
    busiest.map_or_else(String::new, |cpu| {
        let (number, idle) = (cpu.cpu, cpu.idle_share() * 100.0);
        match cpu.whole_network_share() {
            0.0 => format!("CPU {number} is {idle:.0} % idle"),
            share => format!(
                "No CPU is full of the network's work: CPU {number} has most, {:.0} % of its time, and is {idle:.0} % idle",
                share * 100.0
            ),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::CpuLedger;

    fn cpu(number: usize, network: f64, others: f64) -> WatchedCpu {
        WatchedCpu {
            cpu: number,
            ledger: Some(CpuLedger {
                idle_share: 1.0 - network - others,
                net_softirq_share: network,
                other_task_share: others,
                ..CpuLedger::default()
            }),
            ..WatchedCpu::default()
        }
    }

    /// Of nine drops the others are of an unknown protocol.
    fn limit(cpus: &[WatchedCpu], ring_drops: u64) -> (String, bool) {
        in_words(&with_drops(cpus, ring_drops))
    }

    fn with_drops(cpus: &[WatchedCpu], ring_drops: u64) -> Watched {
        Watched {
            cpus: cpus.to_vec(),
            links: vec![WatchedLink {
                name: "eth0".to_owned(),
                counted: true,
                rx_frames: 1_000,
                rx_drops: 9,
                rx_ring_drops: Some(ring_drops),
                ..WatchedLink::default()
            }],
            drops: vec![mpps_record::WatchedDrop {
                link: Some("eth0".to_owned()),
                reason: "UNHANDLED_PROTO".to_owned(),
                function: None,
                frames: 9 - ring_drops,
            }],
            ..Watched::default()
        }
    }

    #[test]
    fn drops_without_a_reason_may_be_the_rings() {
        let mut watched = with_drops(&[cpu(2, 0.3, 0.0)], 0);
        watched.drops.clear();
        let (words, is_limit) = in_words(&watched);
        assert!(words.starts_with("eth0 lost frames") && is_limit, "{words}");
    }

    #[test]
    fn interrupts_that_fill_a_cpu_are_the_limit() {
        let interrupted = WatchedCpu {
            interrupt_share: Some(0.33),
            ..cpu(2, 0.55, 0.44)
        };
        let (words, _) = limit(&[interrupted], 0);
        assert_eq!(words, "CPU 2 is full, and hard interrupts have 33 % of it");
    }

    #[test]
    fn the_limit_is_the_cpu_that_is_full() {
        let (words, is_limit) = limit(&[cpu(2, 0.99, 0.0), cpu(3, 0.2, 0.0)], 9);
        assert!(
            words.contains("CPU 2 is full") && words.contains("1 of those"),
            "{words}"
        );
        assert!(is_limit);
        let (words, _) = limit(&[cpu(2, 0.6, 0.39)], 0);
        assert!(words.contains("39 % of it"), "{words}");
        let (words, is_limit) = limit(&[cpu(2, 0.3, 0.0)], 9);
        assert!(words.starts_with("eth0 lost") && is_limit, "{words}");
    }

    #[test]
    fn a_task_on_one_of_several_full_cpus_is_no_limit() {
        let (words, _) = limit(&[cpu(2, 0.99, 0.0), cpu(3, 0.6, 0.39)], 0);
        assert!(words.starts_with("CPU 2 is full of"), "{words}");
        let (words, _) = limit(&[2, 3, 4].map(|number| cpu(number, 0.99, 0.0)), 0);
        assert!(words.starts_with("CPUs 2-4 are full of"), "{words}");
    }

    #[test]
    fn a_cpu_without_work_of_the_network_limits_nothing() {
        // A program that polls a device by itself.
        let poller = WatchedCpu {
            steal_share: 0.06,
            ..cpu(3, 0.0, 1.0)
        };
        let (words, _) = limit(&[cpu(2, 0.3, 0.0), poller.clone()], 9);
        assert!(
            words.contains("although no CPU is full of its work"),
            "{words}"
        );
        // A worker of the network's, as WireGuard's.
        let worker = WatchedCpu {
            worker_share: Some(0.95),
            ..poller
        };
        let (words, _) = limit(&[worker], 0);
        assert!(words.contains("The hypervisor took 6 %"), "{words}");
    }

    #[test]
    fn frames_with_errors_found_room_in_the_ring() {
        let mut watched = with_drops(&[cpu(2, 0.3, 0.0)], 0);
        watched.drops.clear();
        watched.links[0].rx_errors = Some(9);
        let (words, is_limit) = in_words(&watched);
        assert!(!is_limit, "{words}");
    }

    #[test]
    fn a_frame_lost_now_and_then_is_no_limit() {
        let idle = cpu(2, 0.3, 0.0);
        // One of 1 000 at the ring, and 9 for other reasons.
        let (words, is_limit) = limit(std::slice::from_ref(&idle), 1);
        assert!(words.ends_with("idle") && !is_limit, "{words}");
        let backlog = |backlog_drops| {
            let cpu = WatchedCpu {
                packets: 1_000,
                backlog_drops,
                ..idle.clone()
            };
            limit(&[cpu], 0).1
        };
        assert_eq!([1, 9].map(backlog), [false, true]);
    }

    #[test]
    fn drops_are_named_with_their_reason() {
        let drop = |frames| mpps_record::WatchedDrop {
            link: Some("eth0".to_owned()),
            reason: "IP_INNOROUTES".to_owned(),
            frames,
            ..mpps_record::WatchedDrop::default()
        };
        let mut watched = Watched {
            rx_frames: 1_000,
            cpus: vec![cpu(2, 0.3, 0.0)],
            drops: vec![drop(90), drop(10)],
            ..Watched::default()
        };
        let (words, is_limit) = in_words(&watched);
        let told =
            "; 100 packets were dropped while 1000 frames came in, most at eth0 for IP_INNOROUTES";
        assert!(words.ends_with(told) && !is_limit, "{words}");
        watched.drops = vec![drop(9)];
        assert!(in_words(&watched).0.ends_with("idle"));
    }

    #[test]
    fn a_link_that_is_full_is_the_limit() {
        let mut watched = with_drops(&[cpu(2, 0.3, 0.0)], 0);
        watched.time_ns = 1_000_000_000;
        let link = &mut watched.links[0];
        // Frames of 1 000 octets, on a link for 976 of them a second.
        (link.speed_mbit, link.rx_octets, link.tx_octets) = (Some(8), 0, 1_000_000);
        link.tx_frames = 1_000;
        assert_eq!(
            in_words(&watched),
            (
                "The link eth0 is full: it sends 102 % of its 8 Mbit/s".to_owned(),
                true
            )
        );
        watched.links[0].speed_mbit = Some(9);
        assert!(!in_words(&watched).1);
    }

    #[test]
    fn drops_at_a_queue_and_for_memory_are_limits() {
        let for_reason = |reason: &str| {
            let mut watched = with_drops(&[cpu(2, 0.3, 0.0)], 0);
            watched.drops[0].reason = reason.to_owned();
            in_words(&watched)
        };
        let queue = "The link eth0, or the queueing discipline before it, is the limit: 9 packets were dropped there";
        assert_eq!(for_reason("QDISC_OVERLIMIT"), (queue.to_owned(), true));
        let memory = "Memory is short: 9 packets were dropped for NOMEM";
        assert_eq!(for_reason("NOMEM"), (memory.to_owned(), true));
        assert!(!for_reason("IP_INNOROUTES").1);
    }

    #[test]
    fn time_left_is_no_limit() {
        let (words, is_limit) = limit(&[cpu(2, 0.3, 0.1), cpu(3, 0.0, 0.0)], 0);
        assert!(
            words.contains("CPU 2 has most, 30 %") && words.ends_with("60 % idle") && !is_limit,
            "{words}"
        );
        let stolen = |network, others| WatchedCpu {
            steal_share: 0.2,
            ..cpu(1, network, others)
        };
        assert!(
            limit(&[stolen(0.5, 0.5)], 0)
                .0
                .contains("hypervisor took 20 %")
        );
        let (words, is_limit) = limit(&[stolen(0.1, 0.0)], 0);
        assert!(words.ends_with("90 % idle") && !is_limit, "{words}");
    }

    #[test]
    fn a_cpu_full_of_other_work_has_no_time_left() {
        let (words, _) = limit(&[cpu(2, 0.99, 0.0), cpu(3, 0.0, 1.0)], 0);
        assert!(
            words.ends_with("no CPU that was watched has time left"),
            "{words}"
        );
        let mut other = cpu(3, 0.1, 0.9);
        let (words, _) = limit(&[cpu(2, 0.3, 0.0), other.clone()], 9);
        assert_eq!(
            words,
            "eth0 lost frames while receiving at a time when CPU 3 was full"
        );
        other.backlog_drops = 1;
        let (words, _) = limit(&[other], 0);
        assert!(words.ends_with("no time left for the network"), "{words}");
    }
}
