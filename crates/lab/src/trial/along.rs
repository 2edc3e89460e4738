//! What each station along the frames' way counted between two readings, as a ledger.

use super::stations::WayStations;
use crate::bed::Front;
use crate::tester::{PortKind, ReceiverPlace};
use mpps_method::{Counts, Ledger};

/// Frames that a device may send between two readings, at most.
const BETWEEN_MAX: u64 = 16;

/// The tester's frames of a direction, canaries included: handed over, and received once each.
pub struct Ends {
    pub sent: u64,
    pub met: u64,
}

/// What each station counted between two readings. A veth counts at its receiving end only. So the DUT's transmitted
/// frames are those that arrived there and those that found the ring full. The receiver's own program must have counted
/// the same.
///
/// Behind the cpumap front the virtual NIC has rings of its own; the other fronts' ring is the veth's, which the sending port fills.
pub fn stations(
    (front, port, place): (Front, PortKind, ReceiverPlace),
    ends: &Ends,
    counts: &Counts,
    before: &WayStations,
    after: &WayStations,
) -> Ledger {
    let port_taken = after.taken.port_taken - before.taken.port_taken;
    let port_refused = after.taken.port_refused - before.taken.port_refused;
    let seen = after.nic.iter().sum::<u64>() - before.nic.iter().sum::<u64>();
    let receiver = match place {
        ReceiverPlace::Port => receiver_stations(port, before, after),
        ReceiverPlace::Exit => exit_stations(ends, counts, before, after),
    };
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

/// The ledger around an external device, where only the tester counts: frames that its port refused, and frames that its
/// ring lost. All stations in between follow from these. Missing frames were lost between the ports.
pub fn around_device(
    port: PortKind,
    veth: bool,
    ends: &Ends,
    counts: &Counts,
    before: &WayStations,
    after: &WayStations,
) -> Ledger {
    let refused = match port {
        PortKind::Xdp => after.taken.port_refused - before.taken.port_refused,
        // Frames that a NIC refuses are sent again. Frames that a veth refuses were lost in the ring of the device.
        PortKind::AfPacket if veth => after.taken.port_refused - before.taken.port_refused,
        PortKind::AfPacket => 0,
    };
    let (lost_before_nic, lost_nic_ring) = if veth { (0, refused) } else { (refused, 0) };
    let nic_received = ends.sent - lost_before_nic.min(ends.sent);
    let (receiver_total, dropped) = match port {
        // The program sees every frame of the port, so its own count is the only one.
        PortKind::Xdp => (all_seen(ends, counts), 0),
        PortKind::AfPacket => {
            let dropped = after.ring.dropped - before.ring.dropped;
            let from_ring = after.ring.seen - before.ring.seen - dropped;
            (settle(from_ring, all_seen(ends, counts), counts), dropped)
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

/// At the DUT's exit the receiver's program drops the frames that it counts. Frames that the port still counts bypassed
/// the program.
fn exit_stations(
    ends: &Ends,
    counts: &Counts,
    before: &WayStations,
    after: &WayStations,
) -> Ledger {
    let left = |at: &WayStations| at.dut_out.tx_packets + at.dut_out.tx_dropped;
    let passed_exit = left(after) - left(before);
    let receiver_total = all_seen(ends, counts);
    Ledger {
        dut_transmitted: receiver_total + passed_exit,
        passed_exit,
        receiver_total,
        ..Ledger::default()
    }
}

/// Every frame the receiver's program saw, of whatever kind.
fn all_seen(ends: &Ends, counts: &Counts) -> u64 {
    ends.met + counts.duplicated + counts.foreign + counts.late + counts.beyond
}

/// Frames that the receiver saw, where its ring counted them too. The two are read one after the other, and a device
/// may send a few frames of its own between. None of the tester's is under way then, so the receiver's count settles
/// these.
fn settle(from_ring: u64, seen: u64, counts: &Counts) -> u64 {
    if from_ring.abs_diff(seen) <= counts.foreign.min(BETWEEN_MAX) {
        seen
    } else {
        from_ring
    }
}

/// The stations behind the DUT. A packet socket has a ring of its own behind the port's.
///
/// A frame over the MTU of the receiver's port finds no room there, however empty its ring is. The DUT lost it.
fn receiver_stations(port: PortKind, before: &WayStations, after: &WayStations) -> Ledger {
    let transmitted = after.dut_out.tx_packets - before.dut_out.tx_packets;
    let refused = after.dut_out.tx_dropped - before.dut_out.tx_dropped;
    match port {
        PortKind::Xdp => {
            let lost_receiver_ring =
                refused.saturating_sub(after.too_long.saturating_sub(before.too_long));
            Ledger {
                dut_transmitted: transmitted + lost_receiver_ring,
                lost_receiver_ring,
                receiver_total: transmitted,
                ..Ledger::default()
            }
        }
        // Without an XDP program there, a full backlog counts where frames over the MTU do.
        PortKind::AfPacket => {
            let dut_transmitted = transmitted + refused;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_foreign_frames_come_between_two_readings() {
        let counts = |foreign| Counts {
            foreign,
            ..Counts::default()
        };
        assert_eq!(settle(432, 433, &counts(1)), 433);
        assert_eq!(settle(434, 433, &counts(1)), 433);
        assert_eq!(settle(432, 433, &counts(0)), 432);
        assert_eq!(settle(430, 433, &counts(2)), 430);
        assert_eq!(settle(416, 433, &counts(100_000)), 416);
    }
}
