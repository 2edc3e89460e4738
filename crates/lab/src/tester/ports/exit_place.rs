//! The receiver at the DUT's exit: where it can stand, and where it cannot. It sees what passes the egress hook of
//! the outgoing port (`__dev_queue_xmit`): what goes past that hook, or is changed behind it, it cannot measure.

use crate::bed::{Bed, DutPlan, Port};
use crate::tester::error::{NoExit, TesterError};
use crate::tester::ways::{Way, ways};
use crate::traffic::{PortKind, ReceiverPlace, Traffic};
use mpps_linux::links;
use mpps_linux::tc::{self, Hook};
use mpps_method::Transport;

/// Where the tester receives when nobody chooses: at the exit where sender and receiver would share a CPU, and where
/// the exit can be had.
///
/// # Errors
/// What the kernel said of the DUT's ports.
pub fn receiver_place(bed: &Bed, traffic: &Traffic) -> Result<ReceiverPlace, TesterError> {
    if bed.plan().cpus.tester.len() > 1 {
        return Ok(ReceiverPlace::Port);
    }
    let ways = ways(bed, traffic.bidirectional);
    Ok(match obstacle(bed, traffic, &ways)? {
        Some(_) => ReceiverPlace::Port,
        None => ReceiverPlace::Exit,
    })
}

/// Refuses an exit that would count wrongly.
///
/// # Errors
/// [`TesterError::NoExit`], or what the kernel said.
pub fn check(bed: &Bed, traffic: &Traffic, ways: &[Way<'_>]) -> Result<(), TesterError> {
    if traffic.receiver == ReceiverPlace::Port {
        return Ok(());
    }
    match obstacle(bed, traffic, ways)? {
        Some(why) => Err(TesterError::NoExit(why)),
        None => Ok(()),
    }
}

/// Why no exit can receive this traffic, whatever stands at the DUT's ports: known before any bed stands.
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

/// What stands at the port's egress that a frame dropped there would not meet, or would miss.
fn behind_hook(port: &Port) -> Result<Option<NoExit>, TesterError> {
    let (name, ifindex) = (&port.name, port.ifindex);
    let (qdisc, filters) = port.netns.run(|| {
        let link = links::get(name)?;
        Ok::<_, mpps_linux::Error>((link.qdisc, tc::filters(ifindex, Hook::Egress)?))
    })??;
    if let Some(kind) = qdisc.filter(|kind| kind != "noqueue") {
        return Ok(Some(NoExit::Queued(name.clone(), kind)));
    }
    Ok((filters.others > 0).then(|| NoExit::Filters(name.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bed::{ExternalEnd, ExternalPlan, usual_addresses};

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
