//! Opens the tester's ports: sender and receiver of the kind asked for, on a bed of ours or around a device of
//! somebody else's.

use super::packet::{OnRefusal, PacketReceiver, PacketSender, Tap};
use super::receiver::{Receiver, ReceiverPlan};
use super::sender::{Sender, SenderPlan};
use super::{TrafficReceiver, TrafficSender};
use crate::bed::{Bed, Port};
use crate::tester::LedgerProbe;
use crate::tester::error::TesterError;
use crate::tester::ways::Way;
use crate::traffic::{PortKind, ReceiverPlace, Traffic};
use mpps_ebpf::instruments::sender::FRAME_OCTETS_MAX;
use mpps_linux::{links, xdp};
use mpps_method::FrameSpec;

impl PortKind {
    /// The faster kind that both of the tester's ports, and all these frames, allow.
    ///
    /// # Errors
    /// A port is gone.
    pub fn choose(bed: &Bed, sizes: &[FrameSpec]) -> Result<Self, TesterError> {
        let fits = |frames: &FrameSpec| usize::from(frames.max().without_fcs()) <= FRAME_OCTETS_MAX;
        for port in bed.tester() {
            let name = &port.name;
            let can = port.netns.run(|| match xdp::features(name) {
                Ok(can) => Ok(can.basic && can.transmit),
                // A kernel that does not say: the way that always works.
                Err(error) => mpps_linux::links::index(name).map_or(Err(error), |_| Ok(false)),
            })??;
            // What a driver says it can, it may still refuse: for its MTU, or for a program that is there.
            if !can || !takes_program(port) {
                return Ok(Self::AfPacket);
            }
        }
        Ok(if sizes.iter().all(fits) {
            Self::Xdp
        } else {
            Self::AfPacket
        })
    }
}

fn takes_program(port: &Port) -> bool {
    let plan = ReceiverPlan::new(&Traffic::default(), 1);
    Receiver::attach(plan, &port.netns, port.ifindex).is_ok()
}

/// The receiver at the end of a way.
pub fn receiver(
    bed: &Bed,
    traffic: &Traffic,
    way: &Way<'_>,
    frames_max: u64,
) -> Result<Box<dyn TrafficReceiver>, TesterError> {
    let mut plan = ReceiverPlan::new(traffic, frames_max);
    let (netns, port) = (&way.to.netns, way.to);
    // A device asks who has the tester's addresses, and gets its answer from behind the receiver.
    plan.pass_foreign = port.is_adopted();
    if traffic.receiver == ReceiverPlace::Exit {
        let outgoing = way.dut()?.outgoing;
        return Ok(Box::new(Receiver::attach_at_exit(plan, bed, outgoing)?));
    }
    Ok(match traffic.port {
        PortKind::Xdp => Box::new(Receiver::attach(plan, netns, port.ifindex)?),
        PortKind::AfPacket => {
            let tap = match Tap::attach(bed, port) {
                // There it only saves the IP stack work: where it cannot be, the stack drops the frames itself.
                Err(_) if port.is_adopted() => None,
                tap => Some(tap?),
            };
            let cpus = bed.plan().cpus.receivers();
            let receiver = PacketReceiver::attach(plan, netns, &port.name, &cpus, tap)?;
            Box::new(receiver)
        }
    })
}

/// The sender of all ways.
pub fn sender<'a>(
    bed: &Bed,
    traffic: &Traffic,
    ways: &[Way<'a>],
    ledger: &LedgerProbe,
) -> Result<Box<dyn TrafficSender + 'a>, TesterError> {
    let plan = SenderPlan::new(bed, traffic, ways)?;
    let ports = ways.iter().map(|way| way.from);
    Ok(match traffic.port {
        PortKind::Xdp => {
            let ports: Vec<_> = ports.map(|port| (&*port.netns, port.ifindex)).collect();
            Box::new(Sender::load(plan, &ports, Some(ledger))?)
        }
        PortKind::AfPacket => {
            let on_refusal = on_refusal(ways)?;
            let ports: Vec<_> = ports.map(|port| (&*port.netns, &*port.name)).collect();
            Box::new(PacketSender::open(plan, &ports, on_refusal)?)
        }
    })
}

/// A veth's queue is the ring of its other end, where a NIC would lose the frame; a NIC's queue is the
/// tester's own.
fn on_refusal(ways: &[Way<'_>]) -> Result<OnRefusal, TesterError> {
    let mut all_veth = true;
    for way in ways {
        all_veth &= is_veth(way.from)?;
    }
    Ok(if all_veth {
        OnRefusal::Lose
    } else {
        OnRefusal::Retry
    })
}

/// Whether a port of the tester's is one end of a veth.
///
/// # Errors
/// The port is gone.
pub fn is_veth(port: &Port) -> Result<bool, TesterError> {
    let link = port.netns.run(|| links::get(&port.name))??;
    Ok(link.kind.as_deref() == Some("veth"))
}
