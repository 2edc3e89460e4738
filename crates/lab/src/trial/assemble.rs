//! Differences of counters into a [`Trial`]. Every count comes from a counter of its own, so that the
//! ledger's sums can disagree; only the loss inside the DUT is by subtraction.

use super::stations::{Stations, WayStations};
use crate::bed::{Front, Side};
use crate::tester::{PortKind, Tester, TesterError, is_veth};
use mpps_ebpf::instruments::crowd::Crowded;
use mpps_ebpf::instruments::receiver::Received;
use mpps_ebpf::instruments::sender::{Order, Outcome};
use mpps_ebpf::instruments::watch::Watched;
use mpps_method::{
    Canaries, Counts, CpuBusy, CpuCrowd, CpuGap, CpuSteal, Direction, FrameLen, Histogram, Ledger,
    Losses, Offer, SizeCount, Span, StackCounts, TaskName, Trial,
};

/// All that a trial left behind.
pub struct Parts<'a> {
    pub offer: &'a Offer,
    pub order: Order,
    pub sent: Outcome,
    pub sizes_sent: Vec<(u16, u64)>,
    pub opening: Vec<Canaries>,
    pub closing: Vec<Canaries>,
    pub before: Stations,
    pub after: Stations,
    pub received: Vec<Received>,
    pub watched: Vec<(usize, Watched)>,
    pub crowded: Vec<(usize, Crowded)>,
}

/// Puts the trial together.
pub fn trial(tester: &Tester<'_>, parts: Parts<'_>) -> Result<Trial, TesterError> {
    let path = Path::of(tester)?;
    // By the DUT's own count, and only where it is to have no route: else it is loss like any other.
    let unrouted = if tester.traffic.missing() {
        stack(&parts).no_route
    } else {
        0
    };
    let directions: Vec<Direction> = (0..parts.received.len())
        .map(|way| direction(path, &parts, way, unrouted))
        .collect();
    let mut lateness = Histogram::from_counts(parts.sent.lateness.clone()).unwrap_or_default();
    let mut latency = Histogram::default();
    if parts.order.gap_fp == 0 {
        lateness = Histogram::default();
    }
    for received in &parts.received {
        if let Some(histogram) = Histogram::from_counts(received.latency.clone()) {
            latency.merge(&histogram);
        }
    }
    let losses = losses(tester, &directions, duration(&parts))?;
    Ok(Trial {
        offered: parts.offer.rate,
        duration: duration(&parts),
        directions,
        losses,
        sender_ended: parts.sent.ended_ns > 0 && parts.sent.refused == 0,
        busy: busy(tester, &parts),
        steal: steal(tester, &parts),
        gaps: parts
            .watched
            .iter()
            .map(|(cpu, w)| CpuGap {
                cpu: *cpu,
                longest: Span::from_nanos(w.longest_ns),
            })
            .collect(),
        crowds: parts.crowded.iter().map(crowd).collect(),
        speeds: Vec::new(),
        lateness,
        latency,
        largest_burst: parts.sent.burst_largest,
        per_size: per_size(tester, &parts)?,
        per_queue: per_queue(&parts),
        stack: (!tester.bed.plan().is_external()).then(|| stack(&parts)),
    })
}

fn stack(parts: &Parts<'_>) -> StackCounts {
    let (after, before) = (parts.after.stack, parts.before.stack);
    StackCounts {
        forwarded: after.forwarded - before.forwarded,
        no_route: after.no_route - before.no_route,
    }
}

fn crowd((cpu, crowded): &(usize, Crowded)) -> CpuCrowd {
    CpuCrowd {
        cpu: *cpu,
        longest: Span::from_nanos(crowded.longest_ns),
        total: Span::from_nanos(crowded.total_ns),
        culprit: TaskName(crowded.longest_comm),
    }
}

/// Read only where frames were lost: a bit a frame is a lot to read for nothing. Of frames that are not to
/// arrive it says nothing.
fn losses(
    tester: &Tester<'_>,
    directions: &[Direction],
    length: Span,
) -> Result<Vec<Losses>, TesterError> {
    let mut losses = Vec::new();
    for (way, receiver) in directions.iter().zip(&tester.receivers) {
        let sent = way.counts.sent;
        if way.counts.lost > 0
            && !tester.traffic.missing()
            && let Some(words) = receiver.seen(sent)?
        {
            // A device's ring is its own to count.
            let ledger = &way.ledger;
            let counted = !ledger.device_unknown || ledger.lost_nic_ring > 0;
            losses.extend(
                Losses::from_bitmap(&words, sent, length).map(|losses| Losses {
                    at_ring: counted.then_some(ledger.lost_nic_ring),
                    ..losses
                }),
            );
        }
    }
    Ok(losses)
}

/// A burst has no schedule: it lasts from its first to its last frame.
fn duration(parts: &Parts<'_>) -> Span {
    if parts.order.gap_fp == 0 {
        Span::from_nanos(parts.sent.last_ns.saturating_sub(parts.sent.first_ns))
    } else {
        parts.offer.duration
    }
}

/// Whose counters stand along the way.
#[derive(Clone, Copy)]
struct Path {
    port: PortKind,
    dut: Dut,
}

#[derive(Clone, Copy)]
enum Dut {
    /// A router of ours, behind this front.
    Ours(Front),
    /// A device of somebody else's; whether its cable is a veth.
    Device { veth: bool },
}

impl Path {
    fn of(tester: &Tester<'_>) -> Result<Self, TesterError> {
        let (plan, port) = (tester.bed.plan(), tester.traffic.port);
        let dut = if plan.is_external() {
            let veth = is_veth(tester.bed, Side::A)?;
            Dut::Device { veth }
        } else {
            Dut::Ours(plan.nic)
        };
        Ok(Self { port, dut })
    }
}

/// The tester's own frames of a direction, canaries included: handed over, and met again once each.
struct Ends {
    sent: u64,
    met: u64,
}

/// `unrouted` belongs to the first direction: such traffic has no other.
fn direction(path: Path, parts: &Parts<'_>, way: usize, unrouted: u64) -> Direction {
    let received = &parts.received[way];
    let unique = received.tagged - received.duplicated;
    let sent = parts.sent.sent[way];
    let ways = parts.received.len() as u64;
    // Slots alternate between the directions, beginning with the first.
    let intended =
        parts.order.slots.div_ceil(ways) - if way == 1 { parts.order.slots % 2 } else { 0 };
    let counts = Counts {
        intended,
        sent,
        unsent: parts.sent.unsent[way],
        received: unique,
        unrouted,
        lost: sent.saturating_sub(unique + unrouted),
        duplicated: received.duplicated,
        reordered: received.reordered,
        foreign: received.foreign,
        late: received.late,
        beyond: received.beyond,
    };
    let (opening, closing) = (parts.opening[way], parts.closing[way]);
    let ends = Ends {
        sent: sent + opening.sent + closing.sent,
        met: unique + opening.received + closing.received,
    };
    let (before, after) = (&parts.before.ways[way], &parts.after.ways[way]);
    let mut ledger = match path.dut {
        Dut::Ours(front) => stations((front, path.port), before, after),
        Dut::Device { veth } => around_device(path.port, veth, &ends, &counts, before, after),
    };
    (ledger.opening, ledger.closing) = (opening, closing);
    ledger.sent = ends.sent;
    ledger.infer_lost_in_dut(&counts);
    Direction { counts, ledger }
}

/// What each station counted between two readings. A veth counts at the receiving end only, so what the
/// DUT transmitted is what arrived there plus what found the ring full; that the receiver's own program
/// counted the same is the test.
///
/// Behind the cpumap front the virtual NIC has rings of its own; the other fronts' ring is the veth's, which the sending port fills.
fn stations((front, port): (Front, PortKind), before: &WayStations, after: &WayStations) -> Ledger {
    let port_taken = after.taken.port_taken - before.taken.port_taken;
    let port_refused = after.taken.port_refused - before.taken.port_refused;
    let seen = after.nic.iter().sum::<u64>() - before.nic.iter().sum::<u64>();
    let receiver = receiver_stations(port, before, after);
    match front {
        Front::Cpumap => Ledger {
            lost_before_nic: port_refused + (port_taken - seen.min(port_taken)),
            nic_received: seen,
            lost_nic_ring: after.taken.ring_refused - before.taken.ring_refused,
            nic_accepted: after.taken.ring_taken - before.taken.ring_taken,
            ..receiver
        },
        Front::Napi | Front::Softirq => {
            let dropped = after.dut_in.rx_dropped - before.dut_in.rx_dropped;
            let backlog_refused = match port {
                // The statistics hold the redirected frames that the veth's ring refused as well.
                PortKind::Xdp => dropped.saturating_sub(port_refused),
                PortKind::AfPacket => dropped,
            };
            Ledger {
                nic_received: port_taken + port_refused,
                lost_nic_ring: port_refused + backlog_refused,
                nic_accepted: seen - backlog_refused.min(seen),
                ..receiver
            }
        }
    }
}

/// Around a device nobody counts but the tester: what its own port refused, what its own ring lost. All
/// stations in between follow from these, and what is missing was lost between the ports.
fn around_device(
    port: PortKind,
    veth: bool,
    ends: &Ends,
    counts: &Counts,
    before: &WayStations,
    after: &WayStations,
) -> Ledger {
    let refused = match port {
        PortKind::Xdp => after.taken.port_refused - before.taken.port_refused,
        // A NIC's refusals are offered again; a veth's stand for the ring of the device.
        PortKind::AfPacket if veth => after.taken.port_refused - before.taken.port_refused,
        PortKind::AfPacket => 0,
    };
    let (lost_before_nic, lost_nic_ring) = if veth { (0, refused) } else { (refused, 0) };
    let nic_received = ends.sent - lost_before_nic.min(ends.sent);
    let (receiver_total, dropped) = match port {
        // The program sees every frame that the port has: its own count is all there is.
        PortKind::Xdp => {
            let others = counts.duplicated + counts.foreign + counts.late + counts.beyond;
            (ends.met + others, 0)
        }
        PortKind::AfPacket => {
            let dropped = after.ring.dropped - before.ring.dropped;
            (after.ring.seen - before.ring.seen - dropped, dropped)
        }
    };
    let lost_receiver_ring = dropped + after.missed.saturating_sub(before.missed);
    Ledger {
        device_unknown: true,
        lost_before_nic,
        nic_received,
        lost_nic_ring,
        nic_accepted: nic_received - lost_nic_ring.min(nic_received),
        dut_transmitted: receiver_total + lost_receiver_ring,
        lost_receiver_ring,
        receiver_total,
        ..Ledger::default()
    }
}

/// The stations behind the DUT. A packet socket has a ring of its own behind the port's.
fn receiver_stations(port: PortKind, before: &WayStations, after: &WayStations) -> Ledger {
    let transmitted = after.dut_out.tx_packets - before.dut_out.tx_packets;
    let refused = after.dut_out.tx_dropped - before.dut_out.tx_dropped;
    let dut_transmitted = transmitted + refused;
    match port {
        PortKind::Xdp => Ledger {
            dut_transmitted,
            lost_receiver_ring: refused,
            receiver_total: transmitted,
            ..Ledger::default()
        },
        PortKind::AfPacket => {
            let seen = after.ring.seen - before.ring.seen;
            let dropped = after.ring.dropped - before.ring.dropped;
            Ledger {
                dut_transmitted,
                lost_receiver_ring: refused + dropped + transmitted.saturating_sub(seen),
                receiver_total: seen - dropped,
                ..Ledger::default()
            }
        }
    }
}

fn busy(tester: &Tester<'_>, parts: &Parts<'_>) -> Vec<CpuBusy> {
    let cpus = &tester.bed.plan().cpus.dut;
    cpus.iter()
        .map(|&cpu| {
            let mut busy = CpuBusy {
                cpu,
                run_ns: 0,
                wait_ns: 0,
            };
            for ((at, after), (_, before)) in parts.after.threads.iter().zip(&parts.before.threads)
            {
                if *at == cpu {
                    busy.run_ns += after.run_ns - before.run_ns;
                    busy.wait_ns += after.wait_ns - before.wait_ns;
                }
            }
            if tester.bed.plan().nic == Front::Softirq {
                busy.run_ns = cpu_busy_ns(parts, cpu);
            }
            busy
        })
        .collect()
}

/// Without a thread of its own the DUT's work is what the CPU did beside idling (ticks of 10 ms).
fn cpu_busy_ns(parts: &Parts<'_>, cpu: usize) -> u64 {
    of_cpu(parts, cpu).map_or(0, |times| times.busy_ns())
}

fn steal(tester: &Tester<'_>, parts: &Parts<'_>) -> Vec<CpuSteal> {
    let of = |cpu: usize| CpuSteal {
        cpu,
        steal_ns: of_cpu(parts, cpu).map_or(0, |times| times.steal_ns),
    };
    tester.bed.plan().cpus.all().into_iter().map(of).collect()
}

fn of_cpu(parts: &Parts<'_>, cpu: usize) -> Option<mpps_linux::procstat::CpuTimes> {
    let at = |stations: &Stations| stations.cpus.iter().find(|times| times.cpu == cpu).cloned();
    Some(at(&parts.after)?.since(&at(&parts.before)?))
}

fn per_size(tester: &Tester<'_>, parts: &Parts<'_>) -> Result<Vec<SizeCount>, TesterError> {
    let mut sizes = Vec::new();
    for (length, sent) in &parts.sizes_sent {
        let mut received = 0;
        for receiver in &tester.receivers {
            received += receiver.by_length(*length)?;
        }
        if let Some(frame) = FrameLen::new(length + mpps_method::units::FCS_OCTETS) {
            sizes.push(SizeCount {
                frame,
                sent: *sent,
                received,
            });
        }
    }
    Ok(sizes)
}

fn per_queue(parts: &Parts<'_>) -> Vec<u64> {
    let mut queues = Vec::new();
    for (after, before) in parts.after.ways.iter().zip(&parts.before.ways) {
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
