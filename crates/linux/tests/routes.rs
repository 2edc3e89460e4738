//! Routes by the batch, against iproute2 and the kernel's own answers. Needs root.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::process::Command;

use crate::scratch::{self, Scratch, joined, privileged};
use ipnet::IpNet;
use mpps_linux::routes::{
    self, Bulk, Family, Filter, Refusals, Request, Route, Stamp, Via, nexthops,
};
use mpps_linux::{links, setting::Setting};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// Not a protocol that anybody registered.
const PROTOCOL: u8 = 109;
const MAIN: u32 = 254;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn net(text: &str) -> IpNet {
    text.parse().unwrap()
}

fn stamp(table: u32, metric: Option<u32>) -> Stamp {
    Stamp {
        table,
        protocol: PROTOCOL,
        metric,
    }
}

/// A router with one port, mC: 198.19.0.1/16 and 2001:2:0:2::1/64.
fn router() -> (Scratch, Scratch) {
    let (router, peer) = joined(1);
    router.run(|| {
        // No address of its own making: it would come some time later, with a route.
        Setting::sysctl("net.ipv6.conf.mC.addr_gen_mode")
            .write("1")
            .unwrap();
        Setting::sysctl("net.ipv6.conf.mC.disable_ipv6")
            .write("0")
            .unwrap();
        links::add_address("mC", ip("198.19.0.1"), 16).unwrap();
        links::add_address("mC", ip("2001:2:0:2::1"), 64).unwrap();
        // A worker of the kernel's adds the route to the address itself.
        scratch::wait_for("its own IPv6 address", || {
            let routes = dumped(Family::V6, Filter::default());
            let own = net("2001:2:0:2::1/128");
            routes.iter().find(|route| route.prefix == own).copied()
        });
    });
    (router, peer)
}

fn gateway(family: Family) -> IpAddr {
    match family {
        Family::V4 => ip("198.19.0.2"),
        Family::V6 => ip("2001:2:0:2::2"),
    }
}

fn family(prefix: &IpNet) -> Family {
    match prefix {
        IpNet::V4(_) => Family::V4,
        IpNet::V6(_) => Family::V6,
    }
}

/// Sends one request a prefix, numbered from 1.
fn send(request: &Request, prefixes: &[IpNet]) -> Refusals {
    let mut bulk = Bulk::open().unwrap();
    for (prefix, sequence) in prefixes.iter().zip(1..) {
        bulk.push(request, *prefix, sequence).unwrap();
    }
    bulk.finish().unwrap()
}

fn dumped(family: Family, filter: Filter) -> Vec<Route> {
    let mut found = Vec::new();
    let again = || panic!("nobody else is here");
    routes::dump(family, &filter, again, |route| found.push(*route)).unwrap();
    found
}

fn ours(family: Family) -> Vec<Route> {
    dumped(
        family,
        Filter {
            table: None,
            protocol: Some(PROTOCOL),
        },
    )
}

/// What iproute2 prints of our routes in a table, as JSON.
fn ip_route_show(scratch: &Scratch, family: Family, table: u32) -> Vec<serde_json::Value> {
    let flag = if family == Family::V4 { "-4" } else { "-6" };
    let table = table.to_string();
    let words = [
        "-N", "-j", flag, "route", "show", "table", &table, "proto", "109",
    ];
    let output = scratch.run(|| Command::new("ip").args(words).output().expect("iproute2"));
    // A table nobody ever added to is an error to it, and to us an empty one.
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// iproute2 writes a host's prefix as an address, and the default route in a word.
fn prefix_of(entry: &serde_json::Value, family: Family) -> IpNet {
    let text = entry["dst"].as_str().expect("a destination");
    match (text, family) {
        ("default", Family::V4) => net("0.0.0.0/0"),
        ("default", Family::V6) => net("::/0"),
        _ => text.parse().unwrap_or_else(|_| IpNet::from(ip(text))),
    }
}

#[derive(Clone, Debug)]
struct Load {
    prefixes: BTreeSet<IpNet>,
    table: u32,
    metric: Option<u32>,
    objects: bool,
}

/// Unicast prefixes that no router may refuse, but for those in use on its port.
fn usable(prefix: &IpNet) -> bool {
    let wide = prefix.prefix_len() > 8;
    let apart = |other: &str| !net(other).contains(prefix) && !prefix.contains(&net(other));
    match prefix {
        IpNet::V4(v4) => {
            let first = v4.addr().octets()[0];
            wide && (1..224).contains(&first) && first != 127 && apart("198.19.0.0/16")
        }
        IpNet::V6(v6) => wide && v6.addr().segments()[0] >> 13 == 1 && apart("2001:2:0:2::/64"),
    }
}

fn loads() -> impl Strategy<Value = Load> {
    let v4 = (any::<[u8; 4]>(), 9..=32u8).prop_map(|(o, len)| IpNet::new(o.into(), len).unwrap());
    let v6 = (any::<[u8; 15]>(), 9..=128u8).prop_map(|(rest, len)| {
        let mut octets = [0x20; 16];
        octets[1..].copy_from_slice(&rest);
        IpNet::new(octets.into(), len).unwrap()
    });
    let prefixes = proptest::collection::vec(prop_oneof![v4, v6], 1..600);
    let table = prop_oneof![Just(MAIN), Just(100), Just(70_000)];
    let metric = proptest::option::of(1..100_000u32);
    (prefixes, table, metric, any::<bool>()).prop_map(|(prefixes, table, metric, objects)| Load {
        prefixes: prefixes
            .into_iter()
            .map(|prefix| prefix.trunc())
            .filter(usable)
            .collect(),
        table,
        metric,
        objects,
    })
}

fn add_all(load: &Load) {
    for family in Family::ALL {
        let id = 1 + family as u32;
        let via = if load.objects {
            nexthops::add(id, gateway(family), links::index("mC").unwrap(), PROTOCOL).unwrap();
            Via::Nexthop(id)
        } else {
            Via::Gateway(gateway(family), 0)
        };
        let request = Request::add(family, &stamp(load.table, load.metric), via);
        let refused = send(&request, &of_family(load, family));
        assert_eq!(refused, Refusals::default());
    }
}

fn of_family(load: &Load, wanted: Family) -> Vec<IpNet> {
    load.prefixes
        .iter()
        .copied()
        .filter(|prefix| family(prefix) == wanted)
        .collect()
}

fn remove_all(load: &Load) {
    for family in Family::ALL {
        if load.objects {
            nexthops::delete(1 + family as u32).unwrap();
        } else {
            let request = Request::remove(family, &stamp(load.table, load.metric));
            let refused = send(&request, &of_family(load, family));
            assert_eq!(refused, Refusals::default());
        }
    }
}

/// iproute2 sees what was loaded: each prefix once, in its table, with its metric, by its gateway.
fn check_by_iproute2(scratch: &Scratch, load: &Load, family: Family) -> Result<(), TestCaseError> {
    let entries = ip_route_show(scratch, family, load.table);
    let seen: Vec<IpNet> = entries
        .iter()
        .map(|entry| prefix_of(entry, family))
        .collect();
    prop_assert_eq!(seen.len(), of_family(load, family).len());
    let seen: BTreeSet<IpNet> = seen.into_iter().collect();
    prop_assert_eq!(
        seen,
        of_family(load, family).into_iter().collect::<BTreeSet<_>>()
    );
    for entry in entries {
        prop_assert_eq!(entry["gateway"].as_str().map(ip), Some(gateway(family)));
        prop_assert_eq!(entry["dev"].as_str(), Some("mC"));
        prop_assert_eq!(entry["nhid"].is_number(), load.objects);
        let usual = if family == Family::V4 { 0 } else { 1024 };
        let metric = entry["metric"].as_u64().unwrap_or(0);
        prop_assert_eq!(metric, u64::from(load.metric.unwrap_or(usual)));
    }
    Ok(())
}

fn check_by_dump(load: &Load, family: Family) -> Result<(), TestCaseError> {
    let routes = ours(family);
    let prefixes: Vec<IpNet> = routes.iter().map(|route| route.prefix).collect();
    prop_assert_eq!(prefixes.len(), of_family(load, family).len());
    prop_assert_eq!(
        prefixes.into_iter().collect::<BTreeSet<_>>(),
        of_family(load, family).into_iter().collect()
    );
    for route in routes {
        prop_assert_eq!((route.table, route.kind), (load.table, 1));
        prop_assert_eq!(route.gateway, Some(gateway(family)));
        prop_assert_eq!(route.nexthop, load.objects.then_some(1 + family as u32));
        let filter = Filter {
            table: Some(load.table + 1),
            protocol: Some(PROTOCOL),
        };
        prop_assert_eq!(dumped(family, filter).len(), 0);
    }
    Ok(())
}

/// Whatever is loaded, iproute2 and our own dump see exactly that; removed, exactly the routes of before
/// are there.
#[test]
fn what_is_loaded_is_what_iproute2_shows() {
    if !privileged() {
        return;
    }
    let (router, _peer) = router();
    let everything = || Family::ALL.map(|family| dumped(family, Filter::default()));
    let before = router.run(everything);
    let mut runner = TestRunner::new(Config {
        cases: 24,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&loads(), |load| {
        router.run(|| add_all(&load));
        for family in Family::ALL {
            check_by_iproute2(&router, &load, family)?;
            router.run(|| check_by_dump(&load, family))?;
        }
        router.run(|| remove_all(&load));
        prop_assert_eq!(router.run(everything), before.clone());
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// A batch and more are refused: every one is told, with its cause, and those between are added.
#[test]
fn each_refused_route_is_told_with_its_cause() {
    if !privileged() {
        return;
    }
    let (router, _peer) = router();
    router.run(|| {
        let prefix = |n: u32| IpNet::new(IpAddr::from((0x0a00_0000 + (n << 8)).to_be_bytes()), 24);
        let all: Vec<IpNet> = (0..3000).map(|n| prefix(n).unwrap()).collect();
        let third: Vec<IpNet> = all.iter().copied().step_by(3).collect();
        let request = Request::add(
            Family::V4,
            &stamp(MAIN, None),
            Via::Gateway(gateway(Family::V4), 0),
        );
        assert_eq!(send(&request, &third), Refusals::default());
        let mut again = all.clone();
        // Host bits behind the prefix: the kernel refuses that, and says it in words.
        again[1] = net("10.0.1.1/24");
        let refused = send(&request, &again);
        assert_eq!(refused.len(), 1001);
        for (sequence, cause) in refused.iter() {
            if sequence == 2 {
                assert_eq!(cause.errno, libc::EINVAL);
                let words = cause.kernel_says.as_deref().expect("words");
                assert!(words.contains("prefix"), "{words}");
            } else {
                assert_eq!((sequence % 3, cause.errno), (1, libc::EEXIST));
            }
        }
        assert_eq!(ours(Family::V4).len(), 2999);
    });
}

/// All of a large load refused: no answer gets lost for want of room.
#[test]
fn no_refusal_is_lost_when_all_are_refused() {
    if !privileged() {
        return;
    }
    let (router, _peer) = router();
    router.run(|| {
        let prefix =
            |n: u32| IpNet::new(IpAddr::from((0x0a00_0000 + n).to_be_bytes()), 32).unwrap();
        let all: Vec<IpNet> = (0..50_000).map(prefix).collect();
        // Nobody can be reached by that address.
        let nowhere = Via::Gateway(ip("203.0.113.1"), 0);
        let refused = send(&Request::add(Family::V4, &stamp(MAIN, None), nowhere), &all);
        assert_eq!(refused.len(), 50_000);
        assert_eq!(refused.causes().len(), 1);
        let told: Vec<u32> = refused.iter().map(|(sequence, _)| sequence).collect();
        assert_eq!(told, (1..=50_000).collect::<Vec<_>>());
        assert_eq!(ours(Family::V4), []);
    });
}

#[test]
fn removal_takes_only_the_protocols_own() {
    if !privileged() {
        return;
    }
    let (router, _peer) = router();
    router.run(|| {
        links::add_route(ip("203.0.113.0"), 24, Some(gateway(Family::V4)), "mC").unwrap();
        links::add_route(ip("2001:db8::"), 32, Some(gateway(Family::V6)), "mC").unwrap();
        for (family, foreign) in [
            (Family::V4, "203.0.113.0/24"),
            (Family::V6, "2001:db8::/32"),
        ] {
            let request = Request::remove(family, &stamp(MAIN, None));
            let refused = send(&request, &[net(foreign)]);
            assert_eq!(refused.iter().next().unwrap().1.errno, libc::ESRCH);
            let there = dumped(family, Filter::default());
            assert!(there.iter().any(|route| route.prefix == net(foreign)));
        }
    });
}

#[test]
fn the_kernels_answer_is_the_longest_match() {
    if !privileged() {
        return;
    }
    let (router, _peer) = router();
    router.run(|| {
        let prefixes = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24"].map(net);
        let via = Via::Gateway(gateway(Family::V4), 0);
        send(
            &Request::add(Family::V4, &stamp(MAIN, None), via),
            &prefixes,
        );
        for (destination, expected) in [
            ("10.1.2.3", Some("10.1.2.0/24")),
            ("10.1.3.3", Some("10.1.0.0/16")),
            ("10.200.0.1", Some("10.0.0.0/8")),
            ("11.0.0.1", None),
        ] {
            let answer = routes::answer(ip(destination)).unwrap();
            assert_eq!(answer.map(|route| route.prefix), expected.map(net));
        }
        let via = Via::Gateway(gateway(Family::V6), 0);
        let prefixes = ["2001:db8::/32", "2001:db8:1::/48"].map(net);
        send(
            &Request::add(Family::V6, &stamp(MAIN, None), via),
            &prefixes,
        );
        let answer = routes::answer(ip("2001:db8:1::7")).unwrap();
        assert_eq!(answer.map(|route| route.prefix), Some(prefixes[1]));
        assert_eq!(routes::answer(ip("2001:db9::1")).unwrap(), None);
    });
}

#[test]
fn nexthop_objects_go_with_their_routes() {
    if !privileged() {
        return;
    }
    let (router, _peer) = router();
    router.run(|| {
        let mc = links::index("mC").unwrap();
        nexthops::add(7, gateway(Family::V4), mc, PROTOCOL).unwrap();
        let taken = nexthops::add(7, gateway(Family::V6), mc, PROTOCOL).unwrap_err();
        assert_eq!(taken.errno(), Some(libc::EEXIST));
        let unreachable = nexthops::add(8, ip("203.0.113.1"), mc, PROTOCOL).unwrap_err();
        assert!(
            unreachable.to_string().contains("the kernel says"),
            "{unreachable}"
        );
        let object = nexthops::Nexthop {
            id: 7,
            protocol: PROTOCOL,
            gateway: Some(gateway(Family::V4)),
            interface: Some(mc),
        };
        assert_eq!(nexthops::list().unwrap(), [object]);
        let request = Request::add(Family::V4, &stamp(MAIN, None), Via::Nexthop(7));
        send(&request, &[net("10.0.0.0/8")]);
        assert_eq!(ours(Family::V4).len(), 1);
        nexthops::delete(7).unwrap();
        nexthops::delete(7).unwrap();
        assert_eq!(
            (nexthops::list().unwrap(), ours(Family::V4)),
            (vec![], vec![])
        );
    });
}

/// The figures follow the routes.
#[test]
fn the_trie_counts_what_was_loaded() {
    if !privileged() {
        return;
    }
    let (router, _peer) = router();
    router.run(|| {
        let main = || {
            let tables = routes::trie_stats().unwrap();
            tables
                .into_iter()
                .find(|table| table.table == MAIN)
                .unwrap()
        };
        let (before, six) = (main(), routes::rt6_stats().unwrap().unwrap());
        let prefixes = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24"].map(net);
        let via = Via::Gateway(gateway(Family::V4), 0);
        send(
            &Request::add(Family::V4, &stamp(MAIN, None), via),
            &prefixes,
        );
        assert_eq!(main().prefixes, before.prefixes + 3);
        let via = Via::Gateway(gateway(Family::V6), 0);
        send(
            &Request::add(Family::V6, &stamp(MAIN, None), via),
            &[net("2001:db8::/32")],
        );
        assert_eq!(routes::rt6_stats().unwrap().unwrap().routes, six.routes + 1);
    });
}
