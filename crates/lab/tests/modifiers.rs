//! The modifiers of RFC 2544 sections 11 and 12 act on the router, and the ledger still closes.

use crate::support;
use crate::support::PortsOfBed;
use crate::support::trials::{assert_closed, is_delivered, offer, run_until, tester};
use ipnet::IpNet;
use mpps_lab::bed::{Bed, BedPlan, Front, Side};
use mpps_lab::destinations::DrawPlan;
use mpps_lab::fib;
use mpps_lab::routes::{self, Origin};
use mpps_lab::traffic::Traffic;
use mpps_linux::netns::NetNs;
use mpps_linux::spawn::{self, Terms};
use mpps_method::destinations::Draw;
use mpps_tables::Table;
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::Command;

/// What `nft list table` says.
fn listed(netns: &NetNs, family: &str) -> String {
    let mut nft = Command::new("nft");
    nft.args(["list", "table", family, "mpps_filters"]);
    let output = spawn::output(nft, netns, Terms::default()).expect("nft");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Packets that the last filter let pass.
fn accepted(netns: &NetNs, family: &str) -> u64 {
    let text = listed(netns, family);
    let (_, behind) = text.split_once("counter packets ").expect("a counter");
    let count = behind.split(' ').next().expect("a word");
    count.parse().expect("a number")
}

#[test]
fn the_last_filter_counts_what_is_forwarded() {
    if !support::can_run() {
        return;
    }
    if mpps_lab::bed::check_filters().is_err() {
        support::skip!("nft");
    }
    for ipv6 in [false, true] {
        let family = if ipv6 { "ip6" } else { "ip" };
        let plan = BedPlan {
            filters: Some(25),
            ..support::plan()
        };
        let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"));
        let dut = bed.netns(Side::B);
        let rules = listed(dut, family);
        let ends = |end| rules.lines().filter(|line| line.ends_with(end)).count();
        assert_eq!((ends(" drop"), ends(" accept")), (24, 1), "{rules}");
        let traffic = Traffic {
            ipv6,
            frames: support::trials::frames("128"),
            ..support::traffic()
        };
        let mut tester = tester(&bed, &traffic, 200_000);
        // A trial that the machine spoiled counts as well, so the one before the last reading has to be the only one.
        let mut tries = 0;
        loop {
            let before = accepted(dut, family);
            let trial = support::trials::run(&mut tester, 50_000.0, 200);
            let ledger = &trial.directions[0].ledger;
            let passed = accepted(dut, family) - before;
            assert_closed(&trial, "filters");
            assert_eq!(passed, ledger.dut_transmitted, "{ledger:?}");
            tries += 1;
            if trial.counts().received == 10_000 || tries == 20 {
                assert!(trial.counts().received > 0);
                break;
            }
        }
    }
}

/// Runs `ip` there.
fn ip(netns: &NetNs, words: &str) {
    let mut ip = Command::new("ip");
    ip.args(words.split(' '));
    let output = spawn::output(ip, netns, Terms::default()).expect("ip");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn queries_are_answered_and_are_no_frames() {
    /// 50 a second for 0.4 s.
    const ASKED: std::ops::RangeInclusive<u64> = 10..=26;
    if !support::can_run() {
        return;
    }
    for (nic, ipv6, bidirectional) in [
        (Front::Cpumap, false, false),
        (Front::Napi, false, true),
        (Front::Softirq, true, false),
    ] {
        let plan = BedPlan {
            nic,
            ..support::plan()
        };
        let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"));
        let dut = bed.netns(Side::B);
        // What a killed run left.
        ip(dut, "link add mM type veth peer name mN");
        let traffic = Traffic {
            ipv6,
            bidirectional,
            frames: support::trials::frames("128"),
            queries_per_s: Some(50),
            ..support::traffic()
        };
        let mut tester = tester(&bed, &traffic, 200_000);
        // A CPU that stands still asks late, or answers late.
        let trial = run_until(&mut tester, &offer(50_000.0, 400), |trial| {
            let queries = trial.queries.expect("queries");
            let each = queries.answered == queries.asked;
            is_delivered(trial) && each && ASKED.contains(&queries.asked)
        });
        assert_closed(&trial, "queries");
        let queries = trial.queries.expect("queries");
        assert!(ASKED.contains(&queries.asked), "{nic:?}: {queries:?}");
        assert_eq!(queries.answered, queries.asked, "{nic:?}");
        // A pause of the machine may lose some.
        let counts = trial.counts();
        let some = counts.sent / 2..=counts.sent;
        assert!(some.contains(&counts.received), "{nic:?}: {counts:?}");
        // Its answers find no way back: the trial tells it, and its frames pass all the same.
        ip(dut, "route add blackhole 169.254.77.2/32");
        let trial = support::trials::run(&mut tester, 50_000.0, 200);
        let queries = trial.queries.expect("queries");
        assert!(queries.asked > 0 && queries.answered == 0, "{queries:?}");
        assert!(trial.counts().received > 0);
        assert_closed(&trial, "silent");
        drop(tester);
        let left = dut.run(|| mpps_linux::links::exists("mM"));
        assert!(!left.expect("the namespace").expect("links"));
    }
}

#[test]
fn frames_meet_each_of_256_networks() {
    if !support::can_run() {
        return;
    }
    for ipv6 in [false, true] {
        let bed = support::bed();
        let origin = Origin::Networks(256);
        let routes = origin.routes(ipv6, false, &mut |_| ()).expect("routes");
        let plan = DrawPlan {
            draw: Draw::PerAddress,
            count: 4_096,
            ipv6,
            flows: 1,
            seed: 1,
        };
        let drawn = routes::draw_up_to(&routes.table, &routes.from, &plan).expect("some");
        let loaded = routes::load(&bed, &routes.table, 1, &|_| ()).expect("loaded");
        assert_eq!(loaded.counted(), 256);
        assert_eq!(in_fib(&bed), 256);
        let met: HashSet<IpNet> = (0..drawn.places())
            .map(|place| network(&routes.table, drawn.at(place, 1), ipv6))
            .collect();
        assert_eq!(met.len(), 256);
        let traffic = Traffic {
            ipv6,
            frames: support::trials::frames("128"),
            destinations: Some(drawn.clone()),
            ..support::traffic()
        };
        let mut tester = tester(&bed, &traffic, 100_000);
        // More frames than destinations, so each of them is met.
        let trial = run_until(&mut tester, &offer(10_000.0, 800), |trial| {
            is_delivered(trial) && trial.counts().sent > drawn.distinct
        });
        assert_closed(&trial, "networks");
        assert!(trial.counts().sent > drawn.distinct);
        let counts = trial.counts();
        let some = counts.sent / 2..=counts.sent;
        assert!(some.contains(&counts.received), "{counts:?}");
    }
}

/// Routes of ours that the router has.
fn in_fib(bed: &Bed) -> u64 {
    let contents = || fib::contents(None);
    let contents = bed.netns(Side::B).run(contents).expect("the namespace");
    contents.expect("a dump").total()
}

/// The network that an address lies in.
fn network(table: &Table, address: u128, ipv6: bool) -> IpNet {
    let address = if ipv6 {
        IpAddr::V6(Ipv6Addr::from(address))
    } else {
        IpAddr::V4(Ipv4Addr::from(address as u32))
    };
    let found = table.iter().find(|network| network.contains(&address));
    found.unwrap_or_else(|| panic!("{address} lies in no network"))
}
