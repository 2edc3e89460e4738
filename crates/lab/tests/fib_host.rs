//! Routes in a namespace that is none of ours: kept on purpose, cleared by word, put back after a crash.

use crate::host::{Host, again, alone};
use crate::support;
use ipnet::IpNet;
use mpps_lab::bed;
use mpps_lab::clock::wait_for;
use mpps_lab::fib::{self, FibError, HostRoutes, LoadPlan, MAIN_TABLE, Pointing, Spread};
use mpps_lab::journal;
use mpps_lab::recover::{Recovery, recover};
use mpps_linux::links::{self, VethSpec};
use mpps_linux::netns::{NetNs, own_cookie};
use mpps_linux::routes::{self, Family, Filter, Route, nexthops};
use mpps_tables::Table;
use std::convert::Infallible;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

/// Nothing here takes longer, ns.
const LIMIT_NS: u64 = 60_000_000_000;
const KILLED: &str = "MPPS_TEST_KILLED_LOAD";
const CRASH: &str = "a_killed_load_is_put_back";

/// A router of somebody else's: one port with both families, a route of its own.
fn foreign(name: &str) -> NetNs {
    let netns = NetNs::create(name).expect("namespace");
    let peer = NetNs::create(&format!("{name}-peer")).expect("namespace");
    let ip = |text: &str| text.parse().expect("an address");
    netns
        .run(|| {
            links::create_veth(&VethSpec {
                name: "eth0",
                mac: [2, 0, 0, 0, 0, 1],
                peer_name: "eth0",
                peer_mac: [2, 0, 0, 0, 0, 2],
                peer_netns: &peer,
                rx_queues: 1,
                tx_queues: 1,
            })?;
            links::set_addr_gen_mode_none("eth0")?;
            links::add_address("eth0", ip("198.19.0.1"), 16)?;
            links::add_address("eth0", ip("2001:2:0:2::1"), 64)?;
            links::set_up("eth0")?;
            links::add_route(ip("203.0.113.0"), 24, Some(ip("198.19.0.9")), "eth0")
        })
        .expect("namespace")
        .unwrap_or_else(|error| panic!("{error}"));
    peer.run(|| links::set_up("eth0"))
        .expect("namespace")
        .expect("set up");
    // The kernel adds these in its own time: the address's when it is sure of it, the other when the link carries.
    let late = ["2001:2:0:2::1/128", "ff00::/8"].map(|text| text.parse().expect("a prefix"));
    let come = wait_for(LIMIT_NS, 1_000_000, || {
        let routes = netns.run(|| everything().0).expect("namespace");
        let there = |prefix: &IpNet| routes.iter().any(|route| route.prefix == *prefix);
        Ok::<_, Infallible>(late.iter().all(there))
    });
    assert_eq!(come, Ok(true));
    netns
}

fn forget(name: &str) {
    NetNs::delete(name).expect("delete");
    NetNs::delete(&format!("{name}-peer")).expect("delete");
}

fn everything() -> (Vec<Route>, Vec<nexthops::Nexthop>) {
    let all = std::cell::RefCell::new(Vec::new());
    for family in Family::ALL {
        let again = || all.borrow_mut().clear();
        routes::dump(family, &Filter::default(), again, |route| {
            all.borrow_mut().push(*route);
        })
        .expect("dump");
    }
    (all.into_inner(), nexthops::list().expect("nexthop objects"))
}

fn plan() -> LoadPlan {
    LoadPlan {
        via: ["198.19.0.2", "2001:2:0:2::2"]
            .map(|text| text.parse().expect("a gateway"))
            .to_vec(),
        spread: Spread::RoundRobin,
        pointing: Pointing::Best,
        table: MAIN_TABLE,
        metric: None,
    }
}

/// 2^16 IPv4 networks and 2^14 IPv6 networks, beginning with the `n`th.
fn table(n: u32) -> Table {
    let v4 = (0..1 << 16).map(|i| {
        let address: std::net::Ipv4Addr = ((10 + n) << 24 | i << 8).into();
        ipnet::IpNet::new(address.into(), 24).expect("a length")
    });
    let v6 = (0..1 << 14).map(|i| {
        let bits = 0x2400_u128 << 112 | u128::from(n) << 96 | u128::from(i as u32) << 80;
        ipnet::IpNet::new(std::net::Ipv6Addr::from(bits).into(), 48).expect("a length")
    });
    Table::from_prefixes(v4.chain(v6))
}

fn load(table: &Table) {
    let loaded = fib::load(table, &plan(), &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert!(loaded.is_whole());
}

fn recovered() -> Recovery {
    let recovery = recover().unwrap_or_else(|error| panic!("recover: {error}"));
    assert_eq!(recovery.failed, []);
    recovery
}

/// Kept, it survives recovery and is no bed; a second load adds to it; cleared by word all is as before.
#[test]
fn a_kept_load_stays_until_it_is_cleared() {
    if !support::can_run() || !alone("a_kept_load_stays_until_it_is_cleared") {
        return;
    }
    let netns = foreign("theirs");
    let host = Host::now();
    netns
        .run(|| {
            let before = everything();
            let begun = HostRoutes::begin().expect("begin");
            assert!(matches!(HostRoutes::begin(), Err(FibError::InUse)));
            assert!(matches!(fib::clear_host(), Err(FibError::InUse)));
            load(&table(0));
            begun.settle().expect("settle");
            let names = journal::names().expect("journals");
            assert_eq!(names, [format!("routes_{}", netns.inode())]);
            assert!(fib::is_journal(&names[0]));
            assert_eq!(recovered().kept, names);
            assert_eq!(bed::list().expect("beds"), []);

            let begun = HostRoutes::begin().expect("begin again");
            load(&table(1));
            begun.settle().expect("settle");
            assert_eq!(recovered().reverted, []);
            let gone = fib::clear_host().expect("clear");
            assert_eq!((gone.v4, gone.v6), (2 << 16, 2 << 14));
            assert_eq!(everything(), before);
            assert_eq!(journal::names().expect("journals"), [""; 0]);
            assert_eq!(fib::clear_host().expect("clear again").v4, 0);
        })
        .expect("namespace");
    assert_eq!(Host::now(), host);
    forget("theirs");
}

/// Killed in the middle of a load, from another namespace recovery finds it and takes it back; also a
/// second load onto a kept one.
#[test]
fn a_killed_load_is_put_back() {
    if let Ok(name) = std::env::var(KILLED) {
        let netns = NetNs::open(&name).expect("namespace");
        netns
            .run(|| {
                let _begun = HostRoutes::begin().expect("begin");
                load(&table(1));
                // A fast machine loads all of it before the kill.
                let killed = wait_for(LIMIT_NS, 100_000, || Ok::<_, Infallible>(false));
                panic!("nobody killed it: {killed:?}");
            })
            .expect("namespace");
    }
    if !support::can_run() || !alone(CRASH) {
        return;
    }
    let netns = foreign("theirs");
    let host = Host::now();
    let before = netns.run(everything).expect("namespace");
    for onto_kept in [false, true] {
        let there = if onto_kept {
            netns
                .run(|| {
                    let begun = HostRoutes::begin().expect("begin");
                    load(&table(0));
                    begun.settle().expect("settle");
                    fib::contents(None).expect("contents").total()
                })
                .expect("namespace")
        } else {
            0
        };
        kill_while_it_loads(&netns, there);
        if !onto_kept {
            let refused = netns.run(HostRoutes::begin).expect("namespace");
            assert!(matches!(refused, Err(FibError::LeftBehind)), "{refused:?}");
        }
        let recovery = recovered();
        assert_eq!(recovery.reverted.len(), 1, "{recovery:?}");
        assert!(recovery.reverted[0].1.routes > there, "{recovery:?}");
        assert_eq!(netns.run(everything).expect("namespace"), before);
        assert_eq!(Host::now(), host);
        assert_eq!(recovered(), Recovery::default());
    }
    forget("theirs");
}

fn kill_while_it_loads(netns: &NetNs, there: u64) {
    let mut child = again(CRASH)
        .env(KILLED, netns.name())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("this program again");
    let some = wait_for(LIMIT_NS, 100_000, || {
        let now = netns.run(|| fib::contents(None).expect("contents").total());
        Ok::<_, Infallible>(now.expect("namespace") > there + 1_000)
    });
    assert_eq!(some, Ok(true), "nothing was loaded");
    let alive = recovered();
    assert_eq!(alive.in_use.len(), 1, "{alive:?}");
    child.kill().expect("kill");
    assert_eq!(child.wait().expect("its end").signal(), Some(9));
}

/// A namespace that went with its routes leaves a journal with nothing to take back.
#[test]
fn a_namespace_that_is_gone_took_its_routes_along() {
    if !support::can_run() || !alone("a_namespace_that_is_gone_took_its_routes_along") {
        return;
    }
    let netns = foreign("theirs");
    netns
        .run(|| drop(HostRoutes::begin().expect("begin")))
        .expect("namespace");
    drop(netns);
    forget("theirs");
    let recovery = recovered();
    assert_eq!(recovery.reverted.len(), 1);
    assert_eq!(recovery.reverted[0].1.routes, 0);
    assert_eq!(recovered(), Recovery::default());
}

/// The number of a namespace that is gone may be another one's: its cookie tells them apart.
#[test]
fn routes_of_another_namespace_are_left_alone() {
    if !support::can_run() || !alone("routes_of_another_namespace_are_left_alone") {
        return;
    }
    let netns = foreign("theirs");
    netns
        .run(|| {
            let Some(cookie) = own_cookie() else {
                support::skip!("cookies of namespaces (Linux 5.14)");
            };
            let journal = format!("/run/mpps/routes_{}/journal.jsonl", netns.inode());
            let leave_others = || {
                drop(HostRoutes::begin().expect("begin"));
                let text = std::fs::read_to_string(&journal).expect("a journal");
                let others = text.replace(&cookie.to_string(), "1");
                assert_ne!(text, others);
                std::fs::write(&journal, others).expect("written");
            };
            leave_others();
            load(&table(0));
            let there = fib::contents(None).expect("contents").total();
            assert_eq!(recovered().reverted[0].1.routes, 0);
            assert_eq!(fib::contents(None).expect("contents").total(), there);
            // They hold up no load, either.
            leave_others();
            HostRoutes::begin().expect("anew").clear().expect("cleared");
        })
        .expect("namespace");
    assert_eq!(recovered(), Recovery::default());
    forget("theirs");
}
