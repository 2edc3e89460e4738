//! A bed around a device of somebody else's: two real ports of this box, adopted into namespaces of the
//! tester's, with the device between them. What the device is, and what it counts, we do not know.
//!
//! A port is the host's: everything about it stands in the journal before it is touched, and it goes back
//! the same way a namespace goes. Nobody's kernel speaks on it while it is ours: no address is configured, no
//! IPv6 is on; a thread of ours answers the device's questions for the tester's addresses.

mod device;
mod neighbours;
mod port;
mod refusal;

pub use port::AdoptedPort;

use super::{
    BedError, BedPlan, Change, CpuSplit, Ground, PlannedDut, Port, Standing, kernel, names, raise,
};
use crate::clock::wait_for;
use crate::dut::Cable;
use crate::journal::Journal;
use device::Device;
use mpps_linux::links;
use mpps_linux::netns::NetNs;
use neighbours::Neighbours;
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

impl PlannedDut for ExternalPlan {
    fn bed_name(&self) -> &'static str {
        "external"
    }

    fn run_bed(&self, bed: Box<mpps_record::Bed>) -> mpps_record::RunBed {
        mpps_record::RunBed::External(bed)
    }

    fn rows(&self, plan: &BedPlan) -> Vec<(&'static str, String)> {
        let [out, back] = [&self.out, &self.back].map(|end| {
            let (tester, device) = (&end.tester, &end.device);
            let (tester, device) = (tester.address(self.ipv6), device.address(self.ipv6));
            format!("{} (tester {tester}, device {device})", end.port)
        });
        let tester = kernel::list(&plan.cpus.tester);
        vec![
            ("bed", format!("a device between {out} and {back}")),
            ("CPUs", format!("tester {tester}")),
        ]
    }

    fn line(&self, _plan: &BedPlan) -> String {
        format!("a device between {} and {}", self.out.port, self.back.port)
    }

    fn host_ports(&self) -> Option<[&str; 2]> {
        Some([&self.out.port, &self.back.port])
    }

    fn no_exit(&self) -> Option<&'static str> {
        Some("an external device has no exit for the receiver")
    }

    fn takes_routes(&self) -> bool {
        false
    }

    /// A device brings its own: the CPU that a router of ours would have is the receiver's.
    fn share(&self, mut cpus: CpuSplit, chosen: bool) -> CpuSplit {
        if !chosen && cpus.tester.len() == 1 {
            cpus.tester.append(&mut cpus.dut);
            cpus.tester.dedup();
        }
        cpus.dut.clear();
        cpus
    }

    fn needs_cpus(&self) -> bool {
        false
    }

    fn check_machine(&self) -> Result<(), BedError> {
        refusal::check(self)
    }

    fn raise(&self, _plan: &BedPlan, ground: &mut Ground<'_>) -> Result<Standing, BedError> {
        // Both are looked at before either is touched.
        refusal::check(self)?;
        let [out, _, back] = names::netns(ground.name);
        let mut make = |name| raise::make_netns(ground.journal, name);
        let netns = [make(out)?, make(back)?].map(Arc::new);
        let ends = [&self.out, &self.back];
        for (end, netns) in ends.iter().zip(&netns) {
            netns.run(kernel::silence_tester)??;
            take(&end.port, netns, ground.journal)?;
        }
        for (end, netns) in ends.iter().zip(&netns) {
            wait_for_carrier(&end.port, netns)?;
        }
        let [first, second] = &netns;
        let tester = [
            tester_port(&self.out, first)?,
            tester_port(&self.back, second)?,
        ];
        let mut neighbours = Vec::new();
        let mut next_hops = [[0; 6]; 2];
        let asks = [true, self.bidirectional];
        for (((end, port), next_hop), asks) in
            ends.iter().zip(&tester).zip(&mut next_hops).zip(asks)
        {
            let mut at = Neighbours::new(&port.netns, &end.port, (port.mac, end.tester))?;
            *next_hop = match end.device_mac {
                Some(mac) => mac,
                None if asks => at.ask(end.device.address(self.ipv6), self.ipv6)?,
                None => [0; 6],
            };
            at.start()?;
            neighbours.push(at);
        }
        let dut = Box::new(Device {
            next_hops,
            neighbours,
        });
        Ok(Standing { tester, dut })
    }

    fn find(&self, _plan: &BedPlan, _name: &str) -> Result<Standing, BedError> {
        Err(BedError::BadPlan(
            "a bed around an external device cannot be kept: its ports answer only while a run has them"
                .to_owned(),
        ))
    }
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
