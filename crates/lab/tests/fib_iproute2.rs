//! A second pair of eyes on a loaded FIB: iproute2, which knows nothing of ours, reads the routes of a large table
//! and asks the kernel where addresses go. (A full one is loaded and counted in `fib`.)

use crate::support;
use crate::support::PortsOfBed as _;
use ipnet::IpNet;
use mpps_lab::bed::{Bed, Side};
use mpps_lab::fib::{self, Gateway, LoadPlan, Loaded, MAIN_TABLE, Pointing, Spread};
use mpps_method::random::Random;
use mpps_tables::{Histogram, Table, synthesize};
use serde_json::Value;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::net::IpAddr;
use std::process::{Child, ChildStdout, Command, Stdio};

/// Addresses that are looked up in each family.
const DRAWS: usize = 10_000;
/// Prefixes of each family, before those around them.
const PREFIXES: [u64; 2] = [200_000, 50_000];

/// The table's prefixes, and larger ones around a fifth of them, none of which meets the bed's networks.
fn with_nested(table: &Table) -> Table {
    let v4 = table.v4.iter().copied().map(IpNet::V4);
    let prefixes: Vec<IpNet> = v4.chain(table.v6.iter().copied().map(IpNet::V6)).collect();
    let local = fib::bed_networks();
    let larger = |prefix: &IpNet| {
        // From 16 bits on the larger one leaves no /8: it holds no loopback and no multicast address.
        let length = prefix
            .prefix_len()
            .checked_sub(3)
            .filter(|&length| length >= 13)?;
        let larger = IpNet::new(prefix.addr(), length).ok()?.trunc();
        let meets = |net: &IpNet| net.contains(&larger) || larger.contains(net);
        (!local.iter().any(meets)).then_some(larger)
    };
    let larger = prefixes.iter().step_by(5).filter_map(larger);
    Table::from_prefixes(prefixes.iter().copied().chain(larger))
}

/// A synthetic table with the Internet's prefix lengths.
fn table() -> Table {
    let [v4, v6] = PREFIXES;
    let table = synthesize(&Histogram::internet(), v4, v6, 1).expect("a table");
    with_nested(&table)
}

fn load(bed: &Bed, table: &Table, pointing: Pointing) -> Loaded {
    let via = |text: &str| text.parse::<Gateway>().expect("a gateway");
    let plan = LoadPlan {
        via: vec![via("198.19.0.2"), via("2001:2:0:2::2")],
        spread: Spread::RoundRobin,
        pointing,
        table: MAIN_TABLE,
        metric: None,
    };
    bed.netns(Side::B)
        .run(|| fib::load(table, &plan, &|_| {}))
        .expect("the DUT's namespace")
        .unwrap_or_else(|error| panic!("load: {error}"))
}

/// iproute2 in the DUT; whether it ended well is for [`end`] to say.
fn ip(bed: &Bed, words: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let netns = format!("mpps-{}-dut", bed.name());
    let mut child = Command::new("ip")
        .args(["-n", &netns])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("iproute2");
    let output = BufReader::new(child.stdout.take().expect("a pipe"));
    (child, output)
}

/// A prefix as iproute2 writes it: a host route without its length.
fn prefix(text: &str) -> IpNet {
    let address = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse::<IpNet>()
        .or_else(|_| address())
        .unwrap_or_else(|_| panic!("no prefix: {text}"))
}

/// All routes of our protocol that `ip route show` tells of.
fn shown(bed: &Bed, family: &str) -> HashSet<IpNet> {
    let (mut child, output) = ip(bed, &[family, "route", "show", "proto", "109"]);
    let mut all = HashSet::new();
    for line in output.lines() {
        let line = line.expect("text");
        let first = line.split_whitespace().next().expect("a destination");
        assert!(all.insert(prefix(first)), "{first} twice");
    }
    assert!(child.wait().expect("its end").success());
    all
}

/// What `ip route get ADDRESS fibmatch` says of each address, in one process: the prefix that matched;
/// `None` where nothing of ours did.
fn answers(bed: &Bed, family: &str, addresses: &[IpAddr]) -> Vec<Option<IpNet>> {
    // Without a route iproute2 says so on stderr; -force goes on, and nothing on stdout tells which it was.
    let (mut child, output) = ip(bed, &["-force", "-json", family, "-batch", "-"]);
    let mut input = child.stdin.take().expect("a pipe");
    let words: String = addresses
        .iter()
        .map(|address| format!("route get {address} fibmatch\n"))
        .collect();
    let writer = std::thread::spawn(move || input.write_all(words.as_bytes()).expect("write"));
    let mut found = Vec::new();
    for line in output.lines() {
        let line = line.expect("text");
        let routes: Vec<Value> = serde_json::from_str(&line).unwrap_or_default();
        found.extend(routes.first().map(|route| {
            let ours = route["protocol"] == "109";
            ours.then(|| prefix(route["dst"].as_str().expect("a destination")))
        }));
    }
    writer.join().expect("written");
    child.wait().expect("its end");
    found
}

/// Addresses within random prefixes of the table, and the longest prefix that holds each.
fn drawn(prefixes: &[IpNet], seed: u64) -> Vec<(IpAddr, IpNet)> {
    let oracle: HashSet<IpNet> = prefixes.iter().copied().collect();
    let mut random = Random::from_seed(seed);
    let mut draw = || {
        let [place, high, low] = [random.next_u64(), random.next_u64(), random.next_u64()];
        match prefixes[(place % prefixes.len() as u64) as usize] {
            IpNet::V4(net) => {
                let bits = u32::from(net.addr()) | (low as u32 & u32::from(net.hostmask()));
                IpAddr::from(bits.to_be_bytes())
            }
            IpNet::V6(net) => {
                let host = u128::from(high) << 64 | u128::from(low);
                let bits = u128::from(net.addr()) | (host & u128::from(net.hostmask()));
                IpAddr::from(bits.to_be_bytes())
            }
        }
    };
    (0..DRAWS)
        .map(|_| {
            let address = draw();
            let of = |length| IpNet::new(address, length).expect("a length").trunc();
            let bits = IpNet::from(address).prefix_len();
            let longest = (0..=bits).rev().map(of).find(|net| oracle.contains(net));
            (address, longest.expect("it was drawn from one"))
        })
        .collect()
}

#[test]
fn iproute2_sees_each_route_and_the_longest_match() {
    if !support::can_run() {
        return;
    }
    let table = table();
    let v4: Vec<IpNet> = table.v4.iter().copied().map(IpNet::V4).collect();
    let v6: Vec<IpNet> = table.v6.iter().copied().map(IpNet::V6).collect();
    let bed = support::bed();
    // IPv6 routes that share a nexthop object share what the kernel answers from: which one matched it tells of
    // plain routes only.
    for (family, prefixes, pointing, seed) in [
        ("-4", v4, Pointing::Best, 21),
        ("-6", v6, Pointing::Plain, 22),
    ] {
        let table = Table::from_prefixes(prefixes.iter().copied());
        let loaded = load(&bed, &table, pointing);
        assert!(loaded.is_whole(), "{loaded:?}");
        let shown = shown(&bed, family);
        assert_eq!(shown.len(), prefixes.len(), "{family}");
        let missing = prefixes.iter().find(|prefix| !shown.contains(prefix));
        assert_eq!(missing, None);
        let drawn = drawn(&prefixes, seed);
        let addresses: Vec<IpAddr> = drawn.iter().map(|(address, _)| *address).collect();
        let answers = answers(&bed, family, &addresses);
        assert_eq!(answers.len(), DRAWS, "{family}: an answer each");
        let mut nested = 0;
        for ((address, longest), answer) in drawn.iter().zip(answers) {
            assert_eq!(answer, Some(*longest), "{address}");
            let shorter = |length| IpNet::new(*address, length).expect("a length").trunc();
            nested += usize::from((1..longest.prefix_len()).any(|n| shown.contains(&shorter(n))));
        }
        // Where no prefix lies within another, any match is the longest.
        assert!(nested > DRAWS / 10, "{family}: {nested} of {DRAWS} nested");
        bed.netns(Side::B)
            .run(fib::clear)
            .expect("the DUT's namespace")
            .unwrap_or_else(|error| panic!("clear: {error}"));
    }
}
