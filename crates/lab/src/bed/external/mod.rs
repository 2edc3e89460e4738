//! A bed around a device of somebody else's: two real ports of this box, adopted into namespaces of the
//! tester's, with the device between them. What the device is, and what it counts, we do not know.
//!
//! A port is the host's: everything about it stands in the journal before it is touched, and it goes back
//! the same way a namespace goes. Nobody's kernel speaks on it while it is ours: no address is configured, no
//! IPv6 is on; a thread of ours answers the device's questions for the tester's addresses.

mod neighbours;
mod port;
mod refusal;

pub use neighbours::Neighbours;
pub use port::AdoptedPort;
pub use refusal::check as check_ports;

use super::{BedError, Change, Port, names, ports};
use crate::clock::wait_for;
use crate::dut::{Cable, Device, Dut};
use crate::journal::Journal;
use mpps_linux::links;
use mpps_linux::netns::NetNs;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// A link comes up within some seconds: the two ends have to agree on a speed first, ns.
const CARRIER_LIMIT_NS: u64 = 10_000_000_000;
/// How often to look whether it has, ns.
const CARRIER_STEP_NS: u64 = 10_000_000;

/// An address of each family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dual {
    /// IPv4.
    pub v4: Ipv4Addr,
    /// IPv6.
    pub v6: Ipv6Addr,
}

impl Dual {
    /// The one of this family.
    #[must_use]
    pub fn address(&self, ipv6: bool) -> IpAddr {
        if ipv6 {
            IpAddr::V6(self.v6)
        } else {
            IpAddr::V4(self.v4)
        }
    }
}

/// The end of the bed that one port is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalEnd {
    /// The port's name.
    pub port: String,
    /// The tester's addresses here.
    pub tester: Dual,
    /// The device's addresses here: the tester's next hop.
    pub device: Dual,
    /// The device's Ethernet address here, where the user gave it; else the device is asked.
    pub device_mac: Option<[u8; 6]>,
}

/// A pair of ports around a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalPlan {
    /// Where the tester sends (to the device).
    pub out: ExternalEnd,
    /// Where it receives (from the device).
    pub back: ExternalEnd,
    /// The family that is sent: whose addresses have to be resolved.
    pub ipv6: bool,
    /// Whether the tester sends both ways.
    pub bidirectional: bool,
}

/// The addresses that an end has when nobody says otherwise: those of the namespace bed, which are RFC 2544's
/// and RFC 5180's.
#[must_use]
pub fn usual_addresses() -> [(Dual, Dual); 2] {
    use super::Side::{A, B, C, D};
    let dual = |side| Dual {
        v4: names::v4(side),
        v6: names::v6(side),
    };
    [(dual(A), dual(B)), (dual(D), dual(C))]
}

/// What a raised bed consists of.
pub(super) struct Built {
    pub tester: [Port; 2],
    pub dut: Box<dyn Dut>,
    pub neighbours: Vec<Neighbours>,
}

/// Adopts both ports; `make` makes a namespace that is journalled.
pub(super) fn adopt(
    plan: &ExternalPlan,
    bed: &str,
    journal: &mut Journal,
    mut make: impl FnMut(&mut Journal, String) -> Result<NetNs, BedError>,
) -> Result<Built, BedError> {
    // Both are looked at before either is touched.
    refusal::check(plan)?;
    let [out, _, back] = names::netns(bed);
    let netns = [make(journal, out)?, make(journal, back)?].map(Arc::new);
    let ends = [&plan.out, &plan.back];
    for (end, netns) in ends.iter().zip(&netns) {
        netns.run(ports::silence_tester)??;
        take(&end.port, netns, journal)?;
    }
    for (end, netns) in ends.iter().zip(&netns) {
        wait_for_carrier(&end.port, netns)?;
    }
    let [first, second] = &netns;
    let tester = [
        tester_port(&plan.out, first)?,
        tester_port(&plan.back, second)?,
    ];
    let mut neighbours = Vec::new();
    let mut next_hops = [[0; 6]; 2];
    let asks = [true, plan.bidirectional];
    for (((end, port), next_hop), asks) in ends.iter().zip(&tester).zip(&mut next_hops).zip(asks) {
        let mut at = Neighbours::new(&port.netns, &end.port, (port.mac, end.tester))?;
        *next_hop = match end.device_mac {
            Some(mac) => mac,
            None if asks => at.ask(end.device.address(plan.ipv6), plan.ipv6)?,
            None => [0; 6],
        };
        at.start()?;
        neighbours.push(at);
    }
    Ok(Built {
        tester,
        dut: Box::new(Device { next_hops }),
        neighbours,
    })
}

/// Moves a port over and sets it up.
fn take(name: &str, netns: &NetNs, journal: &mut Journal) -> Result<(), BedError> {
    let port = AdoptedPort::read(name)?;
    let change = Change::Port {
        port: Box::new(port.clone()),
    };
    let taken = journal.change(&change, || {
        links::move_to(name, netns)?;
        netns.run(|| {
            port.stop_merging()?;
            links::set_up(name)
        })??;
        Ok(())
    });
    taken?
}

fn wait_for_carrier(name: &str, netns: &NetNs) -> Result<(), BedError> {
    let come = wait_for(CARRIER_LIMIT_NS, CARRIER_STEP_NS, || {
        if mpps_linux::interrupt::requested() {
            return Err(BedError::Interrupted);
        }
        Ok(netns.run(|| links::get(name))??.carrier)
    })?;
    if come {
        return Ok(());
    }
    Err(BedError::port(
        name,
        "no carrier: is the cable in, and the device's port up?",
    ))
}

fn tester_port(end: &ExternalEnd, netns: &Arc<NetNs>) -> Result<Port, BedError> {
    let link = netns.run(|| links::get(&end.port))??;
    let mac = <[u8; 6]>::try_from(link.mac)
        .map_err(|_| BedError::port(&end.port, "no Ethernet address: not an Ethernet port"))?;
    Ok(Port {
        name: end.port.clone(),
        ifindex: link.index,
        mac,
        v4: end.tester.v4,
        v6: end.tester.v6,
        netns: Arc::clone(netns),
        cable: Some(Cable::read(netns, &end.port)?),
    })
}
