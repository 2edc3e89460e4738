//! Whether the receiver can stand at the DUT's exit. There it sees frames at the egress hook of the outgoing port
//! (`__dev_queue_xmit`). It cannot see frames that bypass this hook, or changes behind it.

use crate::bed::{Bed, BedPlan, DutPlan, Port};
use crate::tester::error::{NoExit, TesterError};
use crate::tester::ways::{Way, ways};
use crate::traffic::{PortKind, ReceiverPlace, Traffic};
use mpps_linux::bpf::{self, LinkKind};
use mpps_linux::netfilter;
use mpps_linux::tc::{self, Hook, Turn};
use mpps_method::Transport;

/// Where the tester receives if the user does not choose: at the exit, if sender and receiver would share a CPU and
/// nothing prevents it. Otherwise at the port.
///
/// # Errors
/// What the kernel said of the DUT's ports.
pub fn receiver_place(bed: &Bed, traffic: &Traffic) -> Result<ReceiverPlace, TesterError> {
    if planned_place(bed.plan(), traffic) == Some(ReceiverPlace::Port) {
        return Ok(ReceiverPlace::Port);
    }
    let ways = ways(bed, traffic.bidirectional);
    Ok(match obstacle(bed, traffic, &ways)? {
        Some(_) => ReceiverPlace::Port,
        None => ReceiverPlace::Exit,
    })
}

/// The same before a bed stands. `None`: what its set-up script puts at the router's egress decides.
#[must_use]
pub fn planned_place(plan: &BedPlan, traffic: &Traffic) -> Option<ReceiverPlace> {
    if plan.cpus.tester.len() > 1 || refuses(traffic, &plan.dut).is_some() {
        return Some(ReceiverPlace::Port);
    }
    plan.dut_setup.is_none().then_some(ReceiverPlace::Exit)
}

/// Refuses an exit that would count wrongly.
///
/// # Errors
/// [`TesterError::NoExit`], or what the kernel said.
pub fn check(bed: &Bed, traffic: &Traffic, ways: &[Way<'_>]) -> Result<(), TesterError> {
    if traffic.receiver == ReceiverPlace::Port {
        return Ok(());
    }
    let obstacle = obstacle(bed, traffic, ways)?;
    obstacle.map_or(Ok(()), |why| Err(TesterError::NoExit(why)))
}

/// Why this traffic cannot be received at the exit of any such DUT. It is known before a bed stands.
#[must_use]
pub fn refuses(traffic: &Traffic, dut: &DutPlan) -> Option<NoExit> {
    if let Some(why) = dut.planned().no_exit() {
        Some(NoExit::Dut(why))
    } else if traffic.port == PortKind::AfPacket {
        Some(NoExit::PacketSockets)
    } else if traffic.transport == Transport::TcpStream {
        Some(NoExit::Merged)
    } else {
        None
    }
}

fn obstacle(bed: &Bed, traffic: &Traffic, ways: &[Way<'_>]) -> Result<Option<NoExit>, TesterError> {
    let refused = refuses(traffic, &bed.plan().dut);
    if refused.is_some() {
        return Ok(refused);
    }
    for dut in ways.iter().filter_map(|way| way.dut) {
        if let Some(why) = behind_hook(dut.outgoing)? {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

/// What runs at the port's egress beside the hook: a frame that the receiver drops would not pass it.
fn behind_hook(port: &Port) -> Result<Option<NoExit>, TesterError> {
    let (name, ifindex) = (&port.name, port.ifindex);
    if let Some(kind) = port.queue()? {
        return Ok(Some(NoExit::Queued(name.clone(), kind)));
    }
    let filters = port.netns.run(|| tc::filters(ifindex, Hook::Egress))??;
    Ok((filters.others > 0).then(|| NoExit::Filters(name.clone())))
}

/// Our own programs that stand at a port's egress: the receiver, and a planted fault.
const OURS: [&str; 2] = ["leave", "plant"];

/// Whether a tester receives at the egress of this link of the calling thread's namespace.
pub(crate) fn has_receiver(ifindex: u32) -> bool {
    let [receiver, _] = OURS;
    bpf::attached(ifindex, LinkKind::TcxEgress)
        .is_ok_and(|names| names.iter().any(|name| name == receiver))
        || tc::filters(ifindex, Hook::Egress).is_ok_and(|filters| filters.ours(Turn::Last))
}

/// What the router has at this port's egress, in words: a wire's frames would pass it too.
pub(crate) fn at_egress(port: &Port) -> mpps_linux::Result<Option<String>> {
    if let Some(kind) = port.queue()? {
        return Ok(Some(format!("the queueing discipline {kind}")));
    }
    let ifindex = port.ifindex;
    port.netns.run(|| {
        if tc::filters(ifindex, Hook::Egress)?.others > 0 {
            return Ok(Some("a traffic control filter at its egress".to_owned()));
        }
        let mut programs = bpf::attached(ifindex, LinkKind::TcxEgress)?.into_iter();
        if let Some(other) = programs.find(|name| !OURS.contains(&name.as_str())) {
            return Ok(Some(format!("another program at its egress ({other})")));
        }
        let chain = netfilter::has_egress_chain(&port.name)?;
        Ok(chain.then(|| "a chain of nftables at its egress".to_owned()))
    })?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bed::{CpuSplit, ExternalEnd, ExternalPlan, usual_addresses};

    #[test]
    fn the_receiver_is_known_before_a_bed_stands() {
        let place = |tester: &[usize], port, script: Option<&str>| {
            let plan = BedPlan {
                dut_setup: script.map(Into::into),
                ..BedPlan::usual(CpuSplit {
                    dut: vec![2],
                    tester: tester.to_vec(),
                })
            };
            let traffic = Traffic {
                port,
                ..Traffic::default()
            };
            planned_place(&plan, &traffic)
        };
        let (exit, at_port) = (Some(ReceiverPlace::Exit), Some(ReceiverPlace::Port));
        assert_eq!(place(&[0], PortKind::Xdp, None), exit);
        assert_eq!(place(&[0, 1], PortKind::Xdp, None), at_port);
        assert_eq!(place(&[0], PortKind::AfPacket, None), at_port);
        assert_eq!(place(&[0], PortKind::Xdp, Some("fw.sh")), None);
        assert_eq!(place(&[0, 1], PortKind::Xdp, Some("fw.sh")), at_port);
    }

    #[test]
    fn traffic_that_no_exit_can_receive_is_refused() {
        let usual = Traffic::default();
        assert_eq!(refuses(&usual, &DutPlan::Kernel), None);
        let end = |port: &str, (tester, device)| ExternalEnd {
            port: port.to_owned(),
            tester,
            device,
            device_mac: None,
        };
        let [out, back] = usual_addresses();
        let device = DutPlan::Device(ExternalPlan {
            out: end("eth1", out),
            back: end("eth2", back),
            ipv6: false,
            bidirectional: false,
        });
        let refused = refuses(&usual, &device).map(|why| why.to_string());
        let why = "an external device has no exit for the receiver";
        assert_eq!(refused.as_deref(), Some(why));
        let sockets = Traffic {
            port: PortKind::AfPacket,
            ..Traffic::default()
        };
        assert_eq!(
            refuses(&sockets, &DutPlan::Kernel),
            Some(NoExit::PacketSockets)
        );
        let stream = Traffic {
            transport: Transport::TcpStream,
            ..Traffic::default()
        };
        assert_eq!(refuses(&stream, &DutPlan::Kernel), Some(NoExit::Merged));
    }
}
