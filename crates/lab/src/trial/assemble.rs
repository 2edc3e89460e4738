//! Differences of counters become a [`Trial`]. Every count comes from a counter of its own, so that the ledger's sums can
//! disagree. Only the loss inside the DUT is a subtraction.

use super::Begun;
use super::along::{Ends, around_device, stations};
use super::disturbed::{Disturbances, within};
use super::losses::losses;
use super::stations::Stations;
use super::windows::{WINDOW_NS, first_window, windows};
use crate::bed::Front;
use crate::tester::{PortKind, ReceiverPlace, Tester, TesterError, is_veth};
use mpps_ebpf::instruments::other_tasks::{CpuUse, Had};
use mpps_ebpf::instruments::receiver::Received;
use mpps_ebpf::instruments::sender::{Mark, Outcome, PACE_SHIFT, Stopped};
use mpps_ebpf::instruments::watch::{Stall, Watched};
use mpps_method::disturbed::{self, Guard};
use mpps_method::saturation::Window;
use mpps_method::{
    Canaries, Counts, CpuBusy, CpuGap, CpuSteal, CpuTasks, CpuWork, Direction, Disturbance,
    Histogram, SizeCount, Span, StackCounts, TaskName, Trial,
};

/// All readings of a trial.
pub struct Parts<'a> {
    pub begun: &'a Begun,
    /// The guard after each disturbance.
    pub guard: Guard,
    pub sent: Outcome,
    pub sizes_sent: Vec<(u16, u64)>,
    pub marks: Vec<Mark>,
    pub overdue: u64,
    pub closing: Vec<Canaries>,
    pub after: Stations,
    pub received: Vec<Received>,
    pub watched: Vec<(usize, Watched)>,
    pub stalls: Vec<(usize, Stall)>,
    /// When a CPU was slow.
    pub slow: Vec<(usize, Stall)>,
    /// When other programs had a CPU of the bed for long.
    pub stretches: Vec<(usize, Stall)>,
    pub cpu_use: Vec<(usize, CpuUse)>,
    /// When `cpu_use` was read, monotonic ns.
    pub cpu_use_ns: u64,
}

/// Puts the trial together.
pub fn trial(tester: &Tester<'_>, parts: Parts<'_>) -> Result<Trial, TesterError> {
    let path = Path::new(tester)?;
    // The DUT's own count, only for traffic without a route. For any other traffic such a frame is lost.
    let unrouted = if tester.traffic.missing() {
        stack(&parts).map_or(0, |stack| stack.no_route)
    } else {
        0
    };
    let directions: Vec<Direction> = (0..parts.received.len())
        .map(|way| direction(path, &parts, way, unrouted))
        .collect();
    let mut lateness = Histogram::from_counts(parts.sent.lateness.clone()).unwrap_or_default();
    let mut latency = Histogram::default();
    if parts.begun.order.gap_fp == 0 {
        lateness = Histogram::default();
    }
    for received in &parts.received {
        if let Some(histogram) = Histogram::from_counts(received.latency.clone()) {
            latency.merge(&histogram);
        }
    }
    let length = duration(&parts);
    let stalls = within(&parts.sent, length, &parts.stalls);
    let slow = within(&parts.sent, length, &parts.slow);
    let others = within(&parts.sent, length, &parts.stretches);
    let times = stalls.iter().chain(&slow).chain(&others);
    let times = disturbed::excluded(times, &parts.guard, length);
    let disturbances = Disturbances::new(times, &parts.begun.order, &parts.sent, &parts.marks);
    let (losses, lost_then) = losses(tester, &directions, length, &disturbances)?;
    let mut trial = Trial {
        offered: parts.begun.offer.rate,
        begun: (parts.sent.started_ns > 0).then_some(Span::from_nanos(parts.sent.started_ns)),
        duration: length,
        cut_short_from: (parts.sent.stopped == Some(Stopped::CannotCount))
            .then_some(parts.begun.offer.duration),
        disturbed: disturbances.sum(directions.len(), lost_then),
        directions,
        overdue: parts.overdue,
        losses,
        sender_ended: (parts.sent.ended_ns > 0 || parts.sent.stopped.is_some())
            && parts.sent.refused == 0,
        busy: busy(tester, &parts),
        work: work(tester, &parts),
        steal: steal(tester, &parts),
        gaps: gaps(&parts.watched),
        stalls,
        slow,
        others,
        windows: Vec::new(),
        windows_from: None,
        other_tasks: other_tasks(&parts, length),
        dut_tasks: had(&parts.cpu_use, |cpu_use| &cpu_use.router),
        speeds: Vec::new(),
        exchange: None,
        queries: None,
        lateness,
        latency,
        largest_burst: parts.sent.burst_largest,
        per_size: per_size(tester, &parts)?,
        per_queue: per_queue(&parts),
        stack: stack(&parts),
        route_changes: None,
    };
    (trial.windows_from, trial.windows) = forwarded_in_windows(tester, &parts, &trial)?;
    Ok(trial)
}

/// Windows between the first frame and the last. Before and after, the DUT had less than its load.
fn forwarded_in_windows(
    tester: &Tester<'_>,
    parts: &Parts<'_>,
    trial: &Trial,
) -> Result<(Option<Span>, Vec<Window>), TesterError> {
    let (first, last) = (parts.sent.first_ns, parts.sent.last_ns);
    let mut cpus = Vec::new();
    for receiver in &tester.receivers {
        cpus.extend(receiver.windows(first, last)?);
    }
    let disturbed: Vec<Disturbance> = trial.disturbances().copied().collect();
    let (apart, busy) = (
        tester.watch.apart(first, last)?,
        tester.watch.busy(first, last)?,
    );
    let started_ns = parts.sent.started_ns;
    let from_ns = first_window(&cpus).map(|number| number * WINDOW_NS);
    let windows = windows(&cpus, started_ns, &disturbed, &apart, &busy);
    Ok((from_ns.map(Span::from_nanos), windows))
}

fn stack(parts: &Parts<'_>) -> Option<StackCounts> {
    let (after, before) = parts.after.stack.zip(parts.begun.before.stack)?;
    Some(StackCounts {
        forwarded: after.forwarded - before.forwarded,
        no_route: after.no_route - before.no_route,
    })
}

/// How long each CPU stood still.
pub fn gaps(watched: &[(usize, Watched)]) -> Vec<CpuGap> {
    let gap = |(cpu, watched): &(usize, Watched)| CpuGap {
        cpu: *cpu,
        longest_ns: watched.longest_ns,
    };
    watched.iter().map(gap).collect()
}

/// What other programs had of each CPU.
fn other_tasks(parts: &Parts<'_>, length: Span) -> Vec<CpuTasks> {
    let begun = parts.sent.started_ns;
    let times = [begun, begun + length.as_nanos(), parts.cpu_use_ns];
    let counted = had(&parts.cpu_use, |cpu_use| &cpu_use.others).into_iter();
    let within = counted.map(|tasks| within_trial(tasks, times, &parts.stretches));
    within.collect()
}

/// What they had of a CPU in the trial. They were counted until they were read, and the reader waits behind whoever has its
/// CPU. What they had for long before the trial and after it is known.
fn within_trial(
    tasks: CpuTasks,
    [begun, ended, read]: [u64; 3],
    stretches: &[(usize, Stall)],
) -> CpuTasks {
    let of_cpu = stretches.iter().filter(|(cpu, _)| *cpu == tasks.cpu);
    let outside = of_cpu.map(|(_, time)| {
        let before = time.to_ns.min(begun).saturating_sub(time.from_ns);
        before + time.to_ns.min(read).saturating_sub(time.from_ns.max(ended))
    });
    let total_ns = tasks.total.as_nanos().saturating_sub(outside.sum());
    let total = Span::from_nanos(total_ns.min(ended - begun));
    CpuTasks {
        total,
        longest: tasks.longest.min(total),
        ..tasks
    }
}

fn had(cpu_use: &[(usize, CpuUse)], tally: impl Fn(&CpuUse) -> &Had) -> Vec<CpuTasks> {
    let tasks = |(cpu, cpu_use): &(usize, CpuUse)| {
        let had = tally(cpu_use);
        CpuTasks {
            cpu: *cpu,
            longest: Span::from_nanos(had.longest_ns),
            total: Span::from_nanos(had.total_ns),
            culprit: TaskName(had.longest_comm),
        }
    };
    cpu_use.iter().map(tasks).collect()
}

/// Slots by direction. The directions take turns, beginning with the first.
pub fn by_way(slots: u64, ways: usize) -> impl Iterator<Item = u64> + Clone {
    let ways = ways as u64;
    (0..ways).map(move |way| (slots + ways - 1 - way) / ways)
}

/// Slots of a direction. In a trial that was stopped, only those that had passed.
fn intended(parts: &Parts<'_>, way: usize) -> u64 {
    if parts.sent.stopped.is_some() {
        return parts.sent.sent[way] + parts.sent.unsent[way];
    }
    let mut slots = by_way(parts.begun.order.slots, parts.received.len());
    slots.nth(way).unwrap_or(0)
}

/// Duration of the trial. A burst has no schedule and lasts from its first to its last frame.
fn duration(parts: &Parts<'_>) -> Span {
    if parts.begun.order.gap_fp == 0 {
        Span::from_nanos(parts.sent.last_ns.saturating_sub(parts.sent.first_ns))
    } else if parts.begun.order.turns.is_some() && parts.sent.ended_ns > 0 {
        // Its slots do not tell: it ends in the middle of a round.
        Span::from_nanos(parts.sent.ended_ns.saturating_sub(parts.sent.started_ns))
    } else if parts.sent.stopped.is_some() {
        let passed_ns =
            (u128::from(parts.sent.slots) * u128::from(parts.begun.order.gap_fp)) >> PACE_SHIFT;
        Span::from_nanos(u64::try_from(passed_ns).unwrap_or(u64::MAX))
    } else {
        parts.begun.length
    }
}

/// Which counters there are along the path of the frames.
#[derive(Clone, Copy)]
struct Path {
    port: PortKind,
    receiver: ReceiverPlace,
    counted: Counted,
}

#[derive(Clone, Copy)]
enum Counted {
    /// The DUT's ports as well, behind this front.
    Inside(Front),
    /// The tester's ports only.
    Around {
        /// Whether the first port is a veth.
        veth: bool,
    },
}

impl Path {
    fn new(tester: &Tester<'_>) -> Result<Self, TesterError> {
        let [first, _] = tester.bed.tester();
        let counted = match tester.bed.dut().front() {
            Some(front) => Counted::Inside(front),
            None => Counted::Around {
                veth: is_veth(first)?,
            },
        };
        Ok(Self {
            port: tester.traffic.port,
            receiver: tester.traffic.receiver,
            counted,
        })
    }
}

/// The counts of one direction. `unrouted` belongs to the first, because such traffic has no other.
fn direction(path: Path, parts: &Parts<'_>, way: usize, unrouted: u64) -> Direction {
    let received = &parts.received[way];
    let unique = received.tagged - received.duplicated;
    let sent = parts.sent.sent[way];
    let counts = Counts {
        intended: intended(parts, way),
        sent,
        unsent: parts.sent.unsent[way],
        received: unique,
        unrouted,
        lost: sent.saturating_sub(unique + unrouted),
        duplicated: received.duplicated,
        reordered: received.reordered,
        foreign: received.foreign,
        late: received.late,
        not_lowered: received.not_lowered,
        beyond: received.beyond,
        merged: received.merged,
    };
    let (opening, closing) = (parts.begun.opening[way], parts.closing[way]);
    let ends = Ends {
        sent: sent + opening.sent_frames + closing.sent_frames,
        met: unique + opening.received_frames + closing.received_frames,
    };
    let before = &parts.begun.before.ways[way];
    let after = &parts.after.ways[way];
    let mut ledger = match path.counted {
        Counted::Inside(front) => {
            let path = (front, path.port, path.receiver);
            stations(path, &ends, &counts, before, after)
        }
        Counted::Around { veth } => around_device(path.port, veth, &ends, &counts, before, after),
    };
    (ledger.opening, ledger.closing) = (opening, closing);
    ledger.sent = ends.sent;
    ledger.infer_lost_in_dut(&counts);
    Direction { counts, ledger }
}

fn busy(tester: &Tester<'_>, parts: &Parts<'_>) -> Vec<CpuBusy> {
    let cpus = &tester.bed.plan().cpus.dut;
    cpus.iter()
        .map(|&cpu| {
            let mut busy = CpuBusy {
                cpu,
                ..CpuBusy::default()
            };
            for ((at, after), (_, before)) in
                parts.after.threads.iter().zip(&parts.begun.before.threads)
            {
                if *at == cpu {
                    busy.run_ns += after.run_ns - before.run_ns;
                    busy.wait_ns += after.wait_ns - before.wait_ns;
                }
            }
            if tester.bed.plan().nic == Front::Softirq {
                busy.run_ns = cpu_busy_ns(parts, cpu);
            } else {
                busy.tasks_ns = tasks_ns(parts, cpu);
            }
            busy
        })
        .collect()
}

/// What the router's own tasks had of the CPU.
fn tasks_ns(parts: &Parts<'_>, cpu: usize) -> u64 {
    let tasks = had(&parts.cpu_use, |cpu_use| &cpu_use.router);
    let of_cpu = tasks.iter().filter(|tasks| tasks.cpu == cpu);
    of_cpu.map(|tasks| tasks.total.as_nanos()).sum()
}

/// Time that the CPU did not idle, in ticks of 10 ms: the DUT's work where it has no thread of its own.
fn cpu_busy_ns(parts: &Parts<'_>, cpu: usize) -> u64 {
    times(parts, cpu).map_or(0, |times| times.busy_ns())
}

/// The work of every CPU. Frames of packet sockets pass the stack on the tester's CPUs, so these are not told.
fn work(tester: &Tester<'_>, parts: &Parts<'_>) -> Vec<CpuWork> {
    let sockets = tester.traffic.port == PortKind::AfPacket;
    let plan = &tester.bed.plan().cpus;
    let work = |&(cpu, after): &(usize, u32)| {
        let before = parts
            .begun
            .before
            .stack_packets
            .iter()
            .find(|(at, _)| *at == cpu)?;
        let times = times(parts, cpu)?;
        let packets = u64::from(after.wrapping_sub(before.1));
        Some(CpuWork {
            cpu,
            busy_ns: times.busy_ns(),
            softirq_ns: times.softirq_ns,
            stack_packets: (!sockets || !plan.tester.contains(&cpu)).then_some(packets),
        })
    };
    parts.after.stack_packets.iter().filter_map(work).collect()
}

fn steal(tester: &Tester<'_>, parts: &Parts<'_>) -> Vec<CpuSteal> {
    let steal = |cpu: usize| CpuSteal {
        cpu,
        steal_ns: times(parts, cpu).map_or(0, |times| times.steal_ns),
    };
    tester
        .bed
        .plan()
        .cpus
        .all()
        .into_iter()
        .map(steal)
        .collect()
}

/// How a CPU spent the trial.
fn times(parts: &Parts<'_>, cpu: usize) -> Option<mpps_linux::procstat::CpuTimes> {
    let read = |stations: &Stations| stations.cpus.iter().find(|times| times.cpu == cpu).cloned();
    Some(read(&parts.after)?.since(&read(&parts.begun.before)?))
}

fn per_size(tester: &Tester<'_>, parts: &Parts<'_>) -> Result<Vec<SizeCount>, TesterError> {
    let mut sizes = Vec::new();
    for (length, sent) in &parts.sizes_sent {
        let mut received = 0;
        for receiver in &tester.receivers {
            received += receiver.by_length(*length)?;
        }
        sizes.push(SizeCount {
            frame_octets: length + mpps_method::units::FCS_OCTETS,
            sent_frames: *sent,
            received_frames: received,
        });
    }
    Ok(sizes)
}

fn per_queue(parts: &Parts<'_>) -> Vec<u64> {
    let mut queues = Vec::new();
    for (after, before) in parts.after.ways.iter().zip(&parts.begun.before.ways) {
        let way: Vec<u64> = after
            .nic
            .iter()
            .zip(&before.nic)
            .map(|(a, b)| a - b)
            .collect();
        queues.extend(way);
    }
    queues
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_had_no_more_than_the_trial() {
        let ms = Span::from_millis;
        // A trial from 1000 to 1100 ms that was read at 1900 ms, because a program had the CPU from 1050 ms on.
        let times = [1_000, 1_100, 1_900].map(|at| ms(at).as_nanos());
        let stretch = |cpu, from, to| {
            let stall = Stall {
                from_ns: ms(from).as_nanos(),
                to_ns: ms(to).as_nanos(),
            };
            (cpu, stall)
        };
        let had = |total, stretches: &[(usize, Stall)]| {
            let tasks = CpuTasks {
                cpu: 1,
                total: ms(total),
                longest: ms(total),
                ..CpuTasks::default()
            };
            let tasks = within_trial(tasks, times, stretches);
            (tasks.total, tasks.longest)
        };
        // 5 ms before the trial, 4 in short turns; after the reading it went on.
        let known = [
            stretch(1, 990, 995),
            stretch(1, 1_050, 2_000),
            stretch(0, 1_200, 1_300),
        ];
        assert_eq!(had(5 + 850 + 4, &known), (ms(54), ms(54)));
        // Nobody knows yet since when it has the CPU.
        assert_eq!(had(850, &[]), (ms(100), ms(100)));
        assert_eq!(had(3, &[]), (ms(3), ms(3)));
    }
}
