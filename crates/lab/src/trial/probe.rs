//! A probe through the DUT before the first trial: a few frames of the real traffic. When they do not
//! come out, the stations' counters tell at which hop they stopped.

use crate::tester::{Tester, TesterError};
use crate::trial;
use mpps_method::{Direction, Ledger, Offer, Rate, Span};
use thiserror::Error;

/// Where the probe stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Hop {
    /// The sender handed nothing over.
    #[error("The sender sent nothing: is the tester's CPU free?")]
    Sender,
    /// Between the tester's port and the virtual NIC.
    #[error(
        "They left the sender and never reached the virtual NIC: is another program attached to mA or mB?"
    )]
    BeforeNic,
    /// At the virtual NIC's ring.
    #[error("They found the virtual NIC's ring full: does the DUT's CPU run at all?")]
    NicRing,
    /// Inside the DUT: no route, no forwarding, a firewall rule, a wrong neighbour.
    #[error(
        "The DUT took them and did not forward them. Look at its routes, ip_forward, firewall and neighbours (`mpps \
         bed shell` opens a shell in its namespace)"
    )]
    Dut,
    /// Somewhere between the tester's ports, around a device of somebody else's.
    #[error(
        "They left the tester and did not come back. Does the device route them to the other port? Are its addresses \
         those of --dut-address? Does it have an address for the tester's (--in-address)?"
    )]
    Device,
    /// Past the receiver at the DUT's exit.
    #[error(
        "They left the DUT past its egress hook (XDP redirect, PACKET_QDISC_BYPASS or an egress filter): give \
         --receiver port"
    )]
    PastExit,
    /// At the receiver's ring.
    #[error("They were lost at the receiver's ring: is the tester's CPU free?")]
    ReceiverRing,
    /// The receiver saw frames, but not ours.
    #[error(
        "The DUT changed the frames so much that the tester does not recognise them. Does the set-up tunnel, encrypt \
         or cut frames?"
    )]
    Receiver,
    /// The DUT has a route where it should have none.
    #[error(
        "Destinations were drawn where the table has no route, and the DUT has one (a default route?). Clear it, or \
         give another --draw"
    )]
    Routed,
}

/// The probe did not come through.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// The tester failed.
    #[error(transparent)]
    Tester(#[from] TesterError),
    /// Frames stopped on their way.
    #[error(
        "probe through the DUT ({}): {received} of {sent} frames arrived. {hop}{}",
        way(*hop, *direction),
        those_down(down)
    )]
    Stopped {
        /// Which direction (0: from A to D).
        direction: usize,
        /// Where.
        hop: Hop,
        /// Frames sent and received.
        sent: u64,
        /// Frames received.
        received: u64,
        /// Ports on the way that are down.
        down: Vec<String>,
    },
}

impl ProbeError {
    /// Whether frames came through the DUT, but past the receiver at its exit.
    #[must_use]
    pub fn is_past_exit(&self) -> bool {
        let hop = Hop::PastExit;
        matches!(self, Self::Stopped { hop: at, .. } if *at == hop)
    }
}

/// The way of the frames, by the names of the ports on it.
fn way(hop: Hop, direction: usize) -> &'static str {
    match (hop == Hop::Device, direction == 0) {
        (false, true) => "mB to mC",
        (false, false) => "mC to mB",
        (true, true) => "out to in",
        (true, false) => "in to out",
    }
}

fn those_down(down: &[String]) -> String {
    if down.is_empty() {
        return String::new();
    }
    format!(" (ports that are down: {})", down.join(", "))
}

/// Frames of a probe, in all.
const FRAMES: u64 = 100;

/// Sends the probe.
///
/// # Errors
/// [`ProbeError::Stopped`] names the hop.
pub fn probe(tester: &mut Tester<'_>) -> Result<(), ProbeError> {
    let offer = Offer::new(Rate::from_fps(10_000.0), Span::from_nanos(FRAMES * 100_000));
    let trial = trial::run(tester, &offer)?;
    for (direction, way) in trial.directions.iter().enumerate() {
        let missing = tester.traffic.missing();
        if missing && way.counts.received == 0 && way.counts.unrouted > 0 {
            continue;
        }
        let past_exit = way.ledger.passed_exit > 0;
        if missing || past_exit || !came_through(way) {
            let (sent, received) = (way.counts.sent, way.counts.received);
            let ways = tester.ways();
            return Err(ProbeError::Stopped {
                direction,
                // Canaries are in the ledger: where no other frame was sent, it speaks of them alone.
                hop: if received > 0 && !past_exit {
                    Hop::Routed
                } else {
                    stopped_at(&way.ledger)
                },
                sent,
                received,
                down: crate::tester::down_on(ways[direction])?,
            });
        }
    }
    Ok(())
}

/// A router may lose a frame; none of a hundred is no router. Where the tester came too late to send a single one (100
/// frames are 10 ms, and a busy machine may stand still for that), the canaries tell: they keep to no time.
fn came_through(way: &Direction) -> bool {
    let canaries = way.ledger.opening.received_frames + way.ledger.closing.received_frames;
    way.counts.received > 0 || (way.counts.sent == 0 && canaries > 0)
}

fn stopped_at(ledger: &Ledger) -> Hop {
    if ledger.sent == 0 {
        Hop::Sender
    } else if ledger.device_unknown {
        // What else arrived, the device said by itself.
        Hop::Device
    } else if ledger.nic_received == 0 {
        Hop::BeforeNic
    } else if ledger.nic_accepted == 0 {
        Hop::NicRing
    } else if ledger.dut_transmitted == 0 {
        Hop::Dut
    } else if ledger.passed_exit > 0 {
        Hop::PastExit
    } else if ledger.receiver_total == 0 {
        Hop::ReceiverRing
    } else {
        Hop::Receiver
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_tester_is_not_a_dut_that_drops() {
        let mut way = Direction::default();
        assert!(!came_through(&way));
        way.ledger.closing.received_frames = 1;
        assert!(came_through(&way));
        way.counts.sent = 100;
        assert!(!came_through(&way));
        way.counts.received = 1;
        assert!(came_through(&way));
    }

    #[test]
    fn the_first_station_without_frames_is_named() {
        let mut ledger = Ledger::default();
        let mut seen = vec![stopped_at(&ledger)];
        let stations: [fn(&mut Ledger); 5] = [
            |l: &mut Ledger| l.sent = 1,
            |l: &mut Ledger| l.nic_received = 1,
            |l: &mut Ledger| l.nic_accepted = 1,
            |l: &mut Ledger| l.dut_transmitted = 1,
            |l: &mut Ledger| l.receiver_total = 1,
        ];
        for station in stations {
            station(&mut ledger);
            seen.push(stopped_at(&ledger));
        }
        assert_eq!(
            seen,
            [
                Hop::Sender,
                Hop::BeforeNic,
                Hop::NicRing,
                Hop::Dut,
                Hop::ReceiverRing,
                Hop::Receiver
            ]
        );
    }
}
