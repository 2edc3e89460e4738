//! Raising: every step in order, each announced in the journal before it is made.

use super::{Bed, BedError, BedPlan, Port, Side, names, setup};
use crate::journal::{Entry, Journal, fault};
use mpps_linux::links::{self, VethSpec};
use mpps_linux::netns::{self, NetNs};
use mpps_linux::{kernel, sysctl, task};
use std::net::IpAddr;
use std::path::Path;

/// A run's id is drawn so often at most: 16 bits, few beds at a time.
const DRAWS: u32 = 64;

pub(super) fn raise(plan: &BedPlan) -> Result<Bed, BedError> {
    plan.check()?;
    let (name, mut journal) = begin(plan)?;
    match build(&name, plan, &mut journal) {
        Ok((netns, ports)) => {
            let bed = Bed {
                name,
                plan: plan.clone(),
                netns,
                ports,
                journal: Some(journal),
                kept: false,
            };
            // From here on, dropping the bed puts everything back.
            setup::run(&bed)?;
            Ok(bed)
        }
        Err(error) => {
            // The first error is the one to tell.
            let _told = crate::journal::revert(journal);
            Err(error)
        }
    }
}

/// A journal under the user's name, or under an id nobody has.
fn begin(plan: &BedPlan) -> Result<(String, Journal), BedError> {
    let (name, mut journal) = match &plan.name {
        Some(name) => (
            name.clone(),
            Journal::begin(name)?.ok_or_else(|| BedError::NameInUse(name.clone()))?,
        ),
        None => drawn()?,
    };
    journal.record(&Entry::Run {
        pid: task::current_pid(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        boot_id: kernel::boot_id().unwrap_or_default(),
    })?;
    fault::reached(1);
    Ok((name, journal))
}

fn drawn() -> Result<(String, Journal), BedError> {
    let start =
        mpps_linux::clock::monotonic_ns() ^ u64::from(task::current_pid().unsigned_abs()) << 7;
    let mut random = mpps_method::random::Random::from_seed(start);
    for _ in 0..DRAWS {
        let name = format!("{:04x}", random.next_u64() & 0xffff);
        if let Some(journal) = Journal::begin(&name)? {
            return Ok((name, journal));
        }
    }
    Err(BedError::NameInUse("(a drawn id)".to_owned()))
}

fn build(
    name: &str,
    plan: &BedPlan,
    journal: &mut Journal,
) -> Result<([NetNs; 3], [Port; 4]), BedError> {
    if !Path::new(netns::DIRECTORY).exists() {
        let path = netns::DIRECTORY.to_owned();
        journal.change(&Entry::Folder { path }, || {
            std::fs::create_dir_all(netns::DIRECTORY)
        })?;
    }
    let [out, dut, tester_in] = names::netns(name);
    let mut make = |name: String| -> Result<NetNs, BedError> {
        if NetNs::exists(&name) {
            return Err(BedError::NameInUse(name));
        }
        journal.change(&Entry::NetNs { name: name.clone() }, || {
            NetNs::create(&name).map_err(BedError::from)
        })
    };
    let netns = [make(out)?, make(dut)?, make(tester_in)?];
    for tester in [&netns[0], &netns[2]] {
        tester.run(silence_tester)??;
    }
    netns[1].run(configure_router)??;
    connect(plan, &netns)?;
    netns[1].run(configure_router_ports)??;
    let ports = [
        port(&netns[0], Side::A)?,
        port(&netns[1], Side::B)?,
        port(&netns[1], Side::C)?,
        port(&netns[2], Side::D)?,
    ];
    Ok((netns, ports))
}

/// The tester's ports shall never speak for themselves: no IPv6 at all.
fn silence_tester() -> Result<(), mpps_linux::Error> {
    for scope in ["all", "default"] {
        write_if_there(&format!("net.ipv6.conf.{scope}.disable_ipv6"), "1")?;
    }
    Ok(())
}

/// A router for both families that neither solicits nor autoconfigures. Everything else is as this
/// machine has it.
fn configure_router() -> Result<(), mpps_linux::Error> {
    sysctl::write("net.ipv4.ip_forward", "1")?;
    write_if_there("net.ipv6.conf.all.forwarding", "1")?;
    for (name, value) in [
        ("accept_ra", "0"),
        ("autoconf", "0"),
        ("dad_transmits", "0"),
        ("router_solicitations", "0"),
        // A router's ports join groups and report that; within a millisecond, not in the first trial.
        ("mldv1_unsolicited_report_interval", "1"),
        ("mldv2_unsolicited_report_interval", "1"),
    ] {
        write_if_there(&format!("net.ipv6.conf.default.{name}"), value)?;
    }
    Ok(())
}

/// A kernel without IPv6 has no such setting.
fn write_if_there(name: &str, value: &str) -> Result<(), mpps_linux::Error> {
    if sysctl::exists(name) {
        sysctl::write(name, value)
    } else {
        Ok(())
    }
}

/// Both cables, silent (no multicast: no MLD; no generated address: no ND) before they come up.
fn connect(plan: &BedPlan, [out, dut, tester_in]: &[NetNs; 3]) -> Result<(), BedError> {
    // Each CPU of the DUT transmits on a queue of its own.
    let queues = u32::from(plan.queues).max(u32::try_from(plan.cpus.dut.len()).unwrap_or(1));
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
        netns.run(|| bring_up(names::interface(side)))??;
    }
    Ok(())
}

fn bring_up(interface: &str) -> Result<(), mpps_linux::Error> {
    links::set_multicast(interface, false)?;
    links::set_addr_gen_mode_none(interface)?;
    links::set_up(interface)
}

/// Addresses, and static neighbours for the tester's: the DUT shall never have to ask.
fn configure_router_ports() -> Result<(), mpps_linux::Error> {
    let has_ipv6 = sysctl::exists("net.ipv6.conf.all.forwarding");
    for (own, tester) in [(Side::B, Side::A), (Side::C, Side::D)] {
        let interface = names::interface(own);
        links::add_address(interface, IpAddr::V4(names::v4(own)), names::V4_PREFIX)?;
        links::add_neighbour(interface, IpAddr::V4(names::v4(tester)), names::mac(tester))?;
        if has_ipv6 {
            links::add_address(interface, IpAddr::V6(names::v6(own)), names::V6_PREFIX)?;
            links::add_neighbour(interface, IpAddr::V6(names::v6(tester)), names::mac(tester))?;
        }
    }
    Ok(())
}

/// A port as it stands in its namespace.
pub(super) fn port(netns: &NetNs, side: Side) -> Result<Port, BedError> {
    let name = names::interface(side);
    let ifindex = netns.run(|| links::index(name))??;
    Ok(Port {
        name: name.to_owned(),
        ifindex,
        mac: names::mac(side),
        v4: names::v4(side),
        v6: names::v6(side),
    })
}
