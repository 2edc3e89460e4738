//! The kernel's router in a namespace: its four ports with cables, addresses, static neighbours, and silence.
//!
//! Not one frame shall be on the bed that the tester did not send: it would take a slot of a ring, stand
//! in a counter, and make two trials differ. The tester's namespaces have no IPv6 and no addresses. The
//! DUT is a router for both families, and a router talks: it solicits neighbours, and reports the groups it
//! joins (MLD, RFC 3810). Static neighbours and settings keep it from the first. The kernel cannot be kept
//! from a report when a port becomes ready, and reports again at each later change of that port. So nothing
//! changes a port after that, and its one report is over before a bed counts as raised. `tests/bed.rs` counts
//! the frames.

use super::{BedError, BedPlan, Ground, PlannedDut, Port, Side, Standing, names, raise};
use crate::clock::wait_for;
use crate::dut::{Dut, Front, VETH_RING};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use mpps_linux::cpu::CpuSet;
use mpps_linux::ipstat::{self, IpCounts};
use mpps_linux::links::{self, VethSpec};
use mpps_linux::netns::NetNs;
use mpps_linux::setting::Setting;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// The kernel joins groups and reports them in workers of its own, within milliseconds, ns.
const WORKER_LIMIT_NS: u64 = 2_000_000_000;
/// How often to look whether it has, ns.
const WORKER_STEP_NS: u64 = 500_000;
/// About the longest interval the kernel takes, ms: 24 days. A whole number of ticks at any CONFIG_HZ, so that it is
/// read back as it was written.
const NEVER_MS: &str = "2147483000";

/// The kernel's router as planned; the bed's plan has all there is to say.
pub(super) struct PlannedRouter;

impl PlannedDut for PlannedRouter {
    fn bed_name(&self) -> &'static str {
        "namespaces"
    }

    fn run_bed(&self, bed: Box<mpps_record::Bed>) -> mpps_record::RunBed {
        mpps_record::RunBed::Namespaces(bed)
    }

    fn rows(&self, plan: &BedPlan) -> Vec<(&'static str, String)> {
        let name = plan.name.as_deref();
        let (nic, rss) = (plan.nic.name(), plan.rss.name());
        let ring = (plan.nic == Front::Cpumap).then(|| format!("{} frames each", plan.rx_ring));
        let shared = if plan.cpus.shared() { " (shared)" } else { "" };
        let (dut, tester) = (list(&plan.cpus.dut), list(&plan.cpus.tester));
        let script = plan.dut_setup.as_ref();
        let rules = |count: u16| format!("{count} of nft, of which the last accepts");
        let rows = [
            (
                "bed",
                Some(name.unwrap_or("of its own, lowered afterwards").to_owned()),
            ),
            (
                "front",
                Some(format!("{nic}, queues {}, RSS key {rss}", plan.queues)),
            ),
            ("receive ring", ring),
            ("CPUs", Some(format!("DUT {dut}, tester {tester}{shared}"))),
            (
                "tester",
                Some(format!("{} kernel interfaces", plan.interfaces.name())),
            ),
            ("filters", plan.filters.map(rules)),
            (
                "DUT set-up",
                script.map(|script| script.display().to_string()),
            ),
        ];
        let filled = rows.into_iter();
        filled
            .filter_map(|(head, text)| Some((head, text?)))
            .collect()
    }

    fn line(&self, plan: &BedPlan) -> String {
        let (dut, tester) = (plan.cpus.dut_set(), plan.cpus.tester_set());
        let shared = if plan.cpus.shared() {
            ": they share a CPU, and the DUT gets the time that the tester leaves"
        } else {
            ""
        };
        let filters = plan.filters.map(|count| format!("filters: {count}, "));
        format!(
            "{}front {}, tester on CPU {tester}, DUT on CPU {dut}{shared}",
            filters.unwrap_or_default(),
            plan.nic.name()
        )
    }

    fn raise(&self, plan: &BedPlan, ground: &mut Ground<'_>) -> Result<Standing, BedError> {
        let [out, dut, tester_in] = names::netns(ground.name);
        let mut make = |name| raise::make_netns(ground.journal, name);
        let netns = [make(out)?, make(dut)?, make(tester_in)?];
        put_in(&netns, plan)?;
        standing(netns, plan)
    }

    fn find(&self, plan: &BedPlan, name: &str) -> Result<Standing, BedError> {
        let [out, dut, tester_in] = names::netns(name);
        let netns = [
            NetNs::open(&out)?,
            NetNs::open(&dut)?,
            NetNs::open(&tester_in)?,
        ];
        standing(netns, plan)
    }
}

/// CPUs as the user lists them.
pub(super) fn list(cpus: &[usize]) -> String {
    let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
    cpus.join(",")
}

/// The router, with what the tester puts before it.
#[derive(Debug)]
struct KernelRouter {
    /// Its ports, before the tester's first and second.
    ports: [Port; 2],
    /// Which part of the kernel receives.
    front: Front,
    /// Frames that a ring of the virtual NIC holds.
    rx_ring: u32,
}

impl Dut for KernelRouter {
    fn next_hops(&self) -> [[u8; 6]; 2] {
        self.ports.each_ref().map(|port| port.mac)
    }

    fn ports(&self) -> Option<[&Port; 2]> {
        Some(self.ports.each_ref())
    }

    fn front(&self) -> Option<Front> {
        Some(self.front)
    }

    fn ring_frames(&self) -> Option<u32> {
        Some(match self.front {
            Front::Cpumap => self.rx_ring,
            Front::Napi | Front::Softirq => VETH_RING,
        })
    }

    fn ip_counts(&self, ipv6: bool) -> Result<Option<IpCounts>, mpps_linux::Error> {
        let read = if ipv6 { ipstat::ipv6 } else { ipstat::ipv4 };
        self.ports[0].netns.run(read)?.map(Some)
    }
}

/// Cables and configures the ports of three empty namespaces; they are up when this returns.
fn put_in(netns: &[NetNs; 3], plan: &BedPlan) -> Result<(), BedError> {
    let [out, dut, tester_in] = netns;
    for tester in [out, tester_in] {
        tester.run(silence_tester)??;
    }
    dut.run(make_router)??;
    connect(plan, netns)?;
    dut.run(add_addresses)??;
    set_up(netns)?;
    // A neighbour needs a port that is up.
    dut.run(add_neighbours)??;
    dut.run(hear_out)?;
    Ok(())
}

/// The tester's ports and the router, as they stand in the bed's three namespaces.
fn standing(netns: [NetNs; 3], plan: &BedPlan) -> Result<Standing, BedError> {
    let [out, dut, tester_in] = netns.map(Arc::new);
    let router = KernelRouter {
        ports: [port(&dut, Side::B)?, port(&dut, Side::C)?],
        front: plan.nic,
        rx_ring: plan.rx_ring,
    };
    Ok(Standing {
        tester: [port(&out, Side::A)?, port(&tester_in, Side::D)?],
        dut: Box::new(router),
    })
}

/// The DUT's ends come up first: a port whose cable is not whole is not ready, and becomes so by one event, when a
/// worker of the kernel's sees that the cable is (`addrconf_notify`). The other way round it is ready at once, and
/// that event is a change of a ready port: a second report, up to a second later.
fn set_up([out, dut, tester_in]: &[NetNs; 3]) -> Result<(), BedError> {
    for (netns, side) in [
        (dut, Side::B),
        (dut, Side::C),
        (out, Side::A),
        (tester_in, Side::D),
    ] {
        netns.run(|| links::set_up(names::interface(side)))??;
    }
    Ok(())
}

fn port(netns: &Arc<NetNs>, side: Side) -> Result<Port, BedError> {
    let name = names::interface(side);
    let ifindex = netns.run(|| links::index(name))??;
    Ok(Port {
        name: name.to_owned(),
        ifindex,
        mac: names::mac(side),
        v4: names::v4(side),
        v6: names::v6(side),
        netns: Arc::clone(netns),
        cable: None,
    })
}

/// The tester's ports shall never speak for themselves: no IPv6 at all.
pub(super) fn silence_tester() -> Result<(), mpps_linux::Error> {
    for scope in ["all", "default"] {
        write_if_there(&ipv6(scope, "disable_ipv6"), "1")?;
    }
    Ok(())
}

/// A router for both families that neither solicits nor autoconfigures. Everything else is as this
/// machine has it.
fn make_router() -> Result<(), mpps_linux::Error> {
    Setting::sysctl("net.ipv4.ip_forward").write("1")?;
    // A new namespace has the host's values of both: where `all` is 1 already, writing it changes no other.
    Setting::sysctl("net.ipv4.conf.default.forwarding").write("1")?;
    write_if_there(&ipv6("default", "disable_ipv6"), "0")?;
    write_if_there(&ipv6("all", "forwarding"), "1")?;
    for (name, value) in [
        ("accept_ra", "0"),
        ("autoconf", "0"),
        ("dad_transmits", "0"),
        ("router_solicitations", "0"),
        // The second report comes at a random moment of this interval.
        ("mldv1_unsolicited_report_interval", NEVER_MS),
        ("mldv2_unsolicited_report_interval", NEVER_MS),
    ] {
        write_if_there(&ipv6("default", name), value)?;
    }
    Ok(())
}

fn ipv6(scope: &str, name: &str) -> Setting {
    Setting::sysctl(format!("net.ipv6.conf.{scope}.{name}"))
}

/// A kernel without IPv6, or without XPS, has no such setting.
fn write_if_there(setting: &Setting, value: &str) -> Result<(), mpps_linux::Error> {
    if setting.exists() {
        setting.write(value)
    } else {
        Ok(())
    }
}

/// Each CPU of the DUT transmits on a queue of its own, as the driver of a NIC with as many queues arranges it (XPS).
/// The kernel's way without is the flow's hash: CPUs then meet at a queue, wait for each other's lock, and share
/// the 256 slots behind it. A kernel without XPS keeps that way.
fn spread_transmission(plan: &BedPlan, dut: &NetNs) -> Result<(), BedError> {
    dut.run(|| {
        for port in [Side::B, Side::C].map(names::interface) {
            for (queue, &cpu) in plan.cpus.dut.iter().enumerate() {
                let file = format!("queues/tx-{queue}/xps_cpus");
                write_if_there(
                    &Setting::device_file(port, &file),
                    &CpuSet::single(cpu).mask(),
                )?;
            }
        }
        Ok(())
    })?
}

/// Both cables, their ends still down.
fn connect(plan: &BedPlan, [out, dut, tester_in]: &[NetNs; 3]) -> Result<(), BedError> {
    let queues = plan.port_queues();
    let cable = |from: Side, to: Side, peer_netns: &NetNs| {
        links::create_veth(&VethSpec {
            name: names::interface(from),
            mac: names::mac(from),
            peer_name: names::interface(to),
            peer_mac: names::mac(to),
            peer_netns,
            rx_queues: queues,
            tx_queues: queues,
        })
    };
    out.run(|| cable(Side::A, Side::B, dut))??;
    dut.run(|| cable(Side::C, Side::D, tester_in))??;
    for (netns, side) in [
        (out, Side::A),
        (dut, Side::B),
        (dut, Side::C),
        (tester_in, Side::D),
    ] {
        netns.run(|| {
            links::set_multicast(names::interface(side), false)?;
            // A kernel without IPv6 refuses it.
            if has_ipv6() {
                links::set_addr_gen_mode_none(names::interface(side))?;
            }
            Ok::<_, mpps_linux::Error>(())
        })??;
    }
    if queues > 1 {
        spread_transmission(plan, dut)?;
    }
    Ok(())
}

/// The router's own addresses, while its ports are down, and their groups: joined later, each would be
/// reported by a frame of its own.
fn add_addresses() -> Result<(), mpps_linux::Error> {
    for side in [Side::B, Side::C] {
        let interface = names::interface(side);
        links::add_address(interface, IpAddr::V4(names::v4(side)), names::V4_PREFIX)?;
        if has_ipv6() {
            links::add_address(interface, IpAddr::V6(names::v6(side)), names::V6_PREFIX)?;
        }
    }
    if !has_ipv6() {
        return Ok(());
    }
    for side in [Side::B, Side::C] {
        // A kernel that does not tell us may speak a frame too many; no reason to refuse to measure.
        let _told = wait_for(WORKER_LIMIT_NS, WORKER_STEP_NS, || has_joined(side));
    }
    Ok(())
}

/// Waits until both ports have reported their groups.
fn hear_out() {
    for side in [Side::B, Side::C].into_iter().filter(|_| has_ipv6()) {
        // As above.
        let _told = wait_for(WORKER_LIMIT_NS, WORKER_STEP_NS, || {
            links::stats(names::interface(side)).map(|stats| stats.tx_packets > 0)
        });
    }
}

/// Whether the port is in the group of its own address (`addrconf_dad_begin`).
fn has_joined(side: Side) -> std::io::Result<bool> {
    let group = solicited_node(names::v6(side));
    let hex: String = group.octets().iter().map(|b| format!("{b:02x}")).collect();
    let groups = std::fs::read_to_string("/proc/thread-self/net/igmp6")?;
    Ok(groups.lines().any(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        words.next() == Some(names::interface(side)) && words.next() == Some(&hex)
    }))
}

/// The group that an address's neighbours ask (RFC 4291 section 2.7.1).
fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    let [.., high, low] = address.segments();
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | (high & 0xff), low)
}

/// Whether this thread's network namespace has IPv6.
pub(crate) fn has_ipv6() -> bool {
    ipv6("all", "forwarding").exists()
}

/// The tester's addresses as static neighbours: the DUT shall never have to ask.
fn add_neighbours() -> Result<(), mpps_linux::Error> {
    add_neighbour(Side::B, Side::A)?;
    add_neighbour(Side::C, Side::D)
}

fn add_neighbour(own: Side, tester: Side) -> Result<(), mpps_linux::Error> {
    let (interface, mac) = (names::interface(own), names::mac(tester));
    links::add_neighbour(interface, IpAddr::V4(names::v4(tester)), mac)?;
    if has_ipv6() {
        links::add_neighbour(interface, IpAddr::V6(names::v6(tester)), mac)?;
    }
    Ok(())
}

/// Gives the router's outgoing port again what the kernel took from it while it was down: its IPv6 address and its
/// neighbours. Runs in the DUT's namespace.
///
/// # Errors
/// The kernel refused.
pub fn restore_exit() -> Result<(), mpps_linux::Error> {
    // The router would ask for them, and hold frames back until an answer came.
    add_neighbour(Side::C, Side::D)?;
    let (port, own) = (names::interface(Side::C), IpAddr::V6(names::v6(Side::C)));
    if has_ipv6() && !links::addresses()?.iter().any(|has| has.own == own) {
        links::add_address(port, own, names::V6_PREFIX)?;
    }
    Ok(())
}

/// The network that the router reaches through its outgoing port without a route of anybody's.
#[must_use]
pub fn connected(ipv6: bool) -> IpNet {
    let network = if ipv6 {
        Ipv6Net::new_assert(names::v6(Side::C), names::V6_PREFIX).into()
    } else {
        IpNet::from(Ipv4Net::new_assert(names::v4(Side::C), names::V4_PREFIX))
    };
    network.trunc()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bed::CpuSplit;

    #[test]
    fn the_group_of_an_address_ends_in_its_last_24_bits() {
        let address = "2001:2::4:12ab:cdef".parse().unwrap();
        let group: Ipv6Addr = "ff02::1:ffab:cdef".parse().unwrap();
        assert_eq!(solicited_node(address), group);
    }

    #[test]
    fn one_cpu_for_both_is_said_first() {
        let line = |dut: &[usize], tester: &[usize]| {
            PlannedRouter.line(&BedPlan::usual(CpuSplit {
                dut: dut.to_vec(),
                tester: tester.to_vec(),
            }))
        };
        assert_eq!(
            line(&[2], &[0, 1]),
            "front cpumap, tester on CPU 0-1, DUT on CPU 2"
        );
        let one = line(&[0], &[0]);
        let shared = "front cpumap, tester on CPU 0, DUT on CPU 0: they share a CPU";
        assert!(one.starts_with(shared), "{one}");
    }
}
