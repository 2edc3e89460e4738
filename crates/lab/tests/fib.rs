//! Tables in the DUT's kernel: loaded is counted, cleared is gone, and what others put there stays.

use crate::host::again;
use crate::support;
use crate::support::PortsOfBed as _;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use mpps_lab::bed::{Bed, Side};
use mpps_lab::clock::wait_for;
use mpps_lab::fib::{
    self, Cleared, Family, FibError, Gateway, LoadPlan, Loaded, MAIN_TABLE, PROTOCOL, Pointing,
    Spread,
};
use mpps_linux::routes::{self, Filter, Route, nexthops};
use mpps_linux::{links, netns::NetNs, setting::Setting};
use mpps_method::random::Random;
use mpps_tables::{ReadOptions, Source, Table};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::net::IpAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Addresses that are looked up.
const DRAWS: usize = 10_000;
/// Nothing here takes longer, ns.
const LIMIT_NS: u64 = 60_000_000_000;
const NETNS: &str = "MPPS_TEST_NETNS";
const CRASH: &str = "killed_while_it_loads";

fn gateway(text: &str) -> Gateway {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn plan(pointing: Pointing) -> LoadPlan {
    LoadPlan {
        via: vec![gateway("198.19.0.2"), gateway("2001:2:0:2::2")],
        spread: Spread::RoundRobin,
        pointing,
        table: MAIN_TABLE,
        metric: None,
    }
}

fn load(table: &Table, plan: &LoadPlan) -> Result<Loaded, FibError> {
    fib::load(table, plan, &|_| {})
}

fn loaded(table: &Table, plan: &LoadPlan) -> Loaded {
    load(table, plan).unwrap_or_else(|error| panic!("load: {error}"))
}

fn cleared() -> Cleared {
    fib::clear().unwrap_or_else(|error| panic!("clear: {error}"))
}

fn in_dut<T: Send>(bed: &Bed, work: impl FnOnce() -> T + Send) -> T {
    bed.netns(Side::B).run(work).expect("the DUT's namespace")
}

/// Everything a load could change: routes of all tables, nexthop objects.
fn everything() -> (Vec<Route>, Vec<nexthops::Nexthop>) {
    let mut all = Vec::new();
    for family in Family::ALL {
        let again = || panic!("nobody else is here");
        routes::dump(family, &Filter::default(), again, |route| all.push(*route)).expect("dump");
    }
    (all, nexthops::list().expect("nexthop objects"))
}

/// Unicast prefixes apart from the bed's own networks; the shorter ones hold many of the longer.
fn drawn(v4: usize, v6: usize, seed: u64) -> Table {
    let mut random = Random::from_seed(seed);
    let mut prefixes = HashSet::new();
    while prefixes.len() < v4 {
        let word = random.next_u64();
        // Half of them in a corner of the address space, so that they nest.
        let address = if word & 1 == 0 {
            0x0a00_0000 | (word >> 40) as u32
        } else {
            (word >> 32) as u32
        };
        let length = 9 + (word >> 8) % 24;
        let net = Ipv4Net::new(address.into(), length as u8).expect("a length");
        if is_apart(IpNet::V4(net)) {
            prefixes.insert(IpNet::V4(net.trunc()));
        }
    }
    while prefixes.len() < v4 + v6 {
        let [high, low] = [random.next_u64(), random.next_u64()];
        let address = 0x2400_u128 << 112 | u128::from(high >> 20) << 64 | u128::from(low);
        let net = Ipv6Net::new(address.into(), 17 + (low >> 7) as u8 % 112).expect("a length");
        if is_apart(IpNet::V6(net)) {
            prefixes.insert(IpNet::V6(net.trunc()));
        }
    }
    Table::from_prefixes(prefixes)
}

fn is_apart(net: IpNet) -> bool {
    let first = |octets: [u8; 4]| octets[0];
    let overlaps = |other: &str| {
        let other: IpNet = other.parse().expect("a prefix");
        other.contains(&net) || net.contains(&other)
    };
    match net {
        IpNet::V4(v4) => {
            let first = first(v4.addr().octets());
            (1..224).contains(&first) && first != 127 && !overlaps("198.18.0.0/15")
        }
        IpNet::V6(_) => !overlaps("2001:2::/48"),
    }
}

/// What both ways of pointing share: counted back, seen by its groups, cleared to the last route.
fn comes_and_goes(bed: &Bed, plan: &LoadPlan, table: &Table) {
    in_dut(bed, || {
        let before = everything();
        let loaded = loaded(table, plan);
        assert!(loaded.is_whole(), "{loaded:?}");
        assert_eq!(loaded.counted(), table.len() as u64);
        let there = fib::contents(None).expect("contents");
        assert_eq!(there.count(Family::V4), table.v4.len() as u64);
        assert_eq!(there.count(Family::V6), table.v6.len() as u64);
        check_groups(&loaded, &there, plan);
        let stats = fib::stats(plan.table).expect("stats");
        let trie = stats.trie.expect("the table has a trie");
        let own = before.0.iter().filter(|r| r.table == plan.table);
        let v4 = own.filter(|r| matches!(r.prefix, IpNet::V4(_))).count();
        if plan.table != MAIN_TABLE {
            assert_eq!(trie.prefixes, table.v4.len() as u64);
        }
        assert_eq!(
            stats.v4_lengths.iter().sum::<u64>(),
            (v4 + table.v4.len()) as u64
        );
        let gone = cleared();
        assert_eq!(
            (gone.v4, gone.v6),
            (table.v4.len() as u64, table.v6.len() as u64)
        );
        let one_by_one = if loaded.objects {
            0
        } else {
            table.len() as u64
        };
        assert_eq!(gone.one_by_one, one_by_one);
        assert_eq!(everything(), before);
        let nothing = Cleared {
            removing_ns: 0,
            ..cleared()
        };
        assert_eq!(nothing, Cleared::default());
    });
}

/// Each gateway has as many routes as it was meant to have.
fn check_groups(loaded: &Loaded, there: &fib::Contents, plan: &LoadPlan) {
    for (family, load) in loaded.families() {
        for (gateway, routes) in &load.by_gateway {
            let group = there
                .groups
                .iter()
                .find(|group| group.family == family && group.gateway == Some(gateway.address))
                .unwrap_or_else(|| panic!("no routes by {gateway}: {there:?}"));
            assert_eq!((group.routes, group.table), (*routes, plan.table));
            assert_eq!(group.interface.as_deref(), Some("mC"));
            assert_eq!(group.nexthop.is_some(), loaded.objects);
        }
    }
}

#[test]
fn a_table_comes_and_goes_by_nexthop_objects() {
    if support::can_run() {
        let bed = support::bed();
        comes_and_goes(&bed, &plan(Pointing::Objects), &drawn(30_000, 10_000, 1));
    }
}

#[test]
fn a_table_comes_and_goes_by_plain_routes() {
    if support::can_run() {
        let bed = support::bed();
        comes_and_goes(&bed, &plan(Pointing::Plain), &drawn(30_000, 10_000, 2));
    }
}

#[test]
fn several_gateways_another_table_and_a_metric() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    for (spread, pointing) in [
        (Spread::RoundRobin, Pointing::Best),
        (Spread::Hash, Pointing::Best),
        (Spread::Hash, Pointing::Plain),
    ] {
        let plan = LoadPlan {
            via: [
                "198.19.0.2",
                "198.19.0.3",
                "198.19.7.7",
                "2001:2:0:2::2",
                "2001:2:0:2::3%mC",
            ]
            .map(gateway)
            .to_vec(),
            spread,
            table: 70_000,
            metric: Some(77),
            ..plan(pointing)
        };
        comes_and_goes(&bed, &plan, &drawn(3_000, 2_000, 3));
    }
}

/// Two tables after one another, then one clear for both.
#[test]
fn loads_add_up_and_share_nexthop_objects() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    in_dut(&bed, || {
        let before = everything();
        let plan = plan(Pointing::Objects);
        loaded(
            &Table {
                v6: Vec::new(),
                ..drawn(2_000, 0, 4)
            },
            &plan,
        );
        assert_eq!(nexthops::list().expect("list").len(), 1);
        loaded(&drawn(0, 1_000, 5), &plan);
        assert_eq!(nexthops::list().expect("list").len(), 2);
        // The same again: every route is refused, for it is there.
        let again = loaded(&drawn(0, 1_000, 5), &plan);
        assert_eq!((again.counted(), again.is_whole()), (0, false));
        let refused = again.v6.expect("IPv6");
        assert_eq!((refused.refused.len(), refused.causes.len()), (1_000, 1));
        assert_eq!(refused.causes[0].errno, libc_eexist());
        assert_eq!((cleared().v4, everything()), (2_000, before));
    });
}

/// EEXIST, without a dependency for one number.
fn libc_eexist() -> i32 {
    17
}

/// Of 10 000 addresses, inside and outside the table, each finds the route of the longest match.
#[test]
fn the_kernels_answer_is_the_tables_longest_match() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let table = drawn(40_000, 10_000, 6);
    in_dut(&bed, || {
        assert!(loaded(&table, &plan(Pointing::Plain)).is_whole());
        let (hits, misses) = look_up(&table, |answer, expected| {
            answer.map(|route| route.prefix) == expected
        });
        assert!(
            hits > DRAWS / 2 && misses > DRAWS / 10,
            "{hits} hits, {misses} misses"
        );
        cleared();
    });
}

/// The same by nexthop objects: each address goes by the gateway of its longest match. (Which IPv6 prefix
/// matched the kernel does not tell then: routes that share a nexthop object share what it answers from.)
#[test]
fn each_address_goes_by_its_longest_match() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let table = drawn(40_000, 10_000, 6);
    let gateways = |start: &str| {
        (2..9)
            .map(|n| gateway(&format!("{start}{n}")))
            .collect::<Vec<_>>()
    };
    let by_family = [gateways("198.19.0."), gateways("2001:2:0:2::")];
    let plan = LoadPlan {
        via: by_family.concat(),
        ..plan(Pointing::Objects)
    };
    let places = |prefixes: Vec<IpNet>| prefixes.into_iter().zip(0usize..);
    let place: HashMap<IpNet, usize> = places(table.v4.iter().copied().map(IpNet::V4).collect())
        .chain(places(table.v6.iter().copied().map(IpNet::V6).collect()))
        .collect();
    in_dut(&bed, || {
        assert!(loaded(&table, &plan).is_whole());
        look_up(&table, |answer, expected| {
            let meant = expected.map(|prefix| {
                let family = usize::from(matches!(prefix, IpNet::V6(_)));
                by_family[family][place[&prefix] % 7].address
            });
            answer.and_then(|route| route.gateway) == meant
        });
        cleared();
    });
}

/// Asks the kernel for each drawn address; how many the table has a route to, and how many not.
fn look_up(table: &Table, agrees: impl Fn(Option<Route>, Option<IpNet>) -> bool) -> (usize, usize) {
    let oracle: HashSet<IpNet> = table.iter().collect();
    let (mut hits, mut misses) = (0, 0);
    for address in addresses(table) {
        let answer = routes::answer(address).expect("an answer");
        let ours = answer.filter(|route| route.protocol == PROTOCOL);
        let expected = longest(&oracle, address);
        assert!(
            agrees(ours, expected),
            "{address}: {ours:?}, not {expected:?}"
        );
        match expected {
            Some(_) => hits += 1,
            None => misses += 1,
        }
    }
    (hits, misses)
}

/// Half of them inside prefixes of the table, half anywhere.
fn addresses(table: &Table) -> Vec<IpAddr> {
    let mut random = Random::from_seed(7);
    let all: Vec<IpNet> = table.iter().collect();
    let mut draw = |n: usize| {
        let [word, low] = [random.next_u64(), random.next_u64()];
        let inside = all[(word % all.len() as u64) as usize];
        match (n % 4, inside) {
            (0, _) => IpAddr::from(((word >> 32) as u32).to_be_bytes()),
            (1, _) => IpAddr::from((0x2400_u128 << 112 | u128::from(word) << 48).to_be_bytes()),
            (_, IpNet::V4(net)) => {
                let bits = u32::from(net.addr()) | (low as u32 & u32::from(net.hostmask()));
                IpAddr::from(bits.to_be_bytes())
            }
            (_, IpNet::V6(net)) => {
                let host = u128::from(word) << 64 | u128::from(low);
                let bits = u128::from(net.addr()) | (host & u128::from(net.hostmask()));
                IpAddr::from(bits.to_be_bytes())
            }
        }
    };
    let mut drawn: Vec<IpAddr> = (0..DRAWS).map(&mut draw).collect();
    // Addresses that the router answers itself, or by another route, are not the table's.
    drawn.retain(|address| match address {
        IpAddr::V4(v4) => {
            let first = v4.octets()[0];
            (1..224).contains(&first) && first != 127 && is_apart((*address).into())
        }
        IpAddr::V6(_) => is_apart((*address).into()),
    });
    drawn
}

/// The longest prefix of the set that holds the address: one try a length.
fn longest(prefixes: &HashSet<IpNet>, address: IpAddr) -> Option<IpNet> {
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let of = |length| IpNet::new(address, length).expect("a length").trunc();
    (0..=bits).rev().map(of).find(|net| prefixes.contains(net))
}

/// A route of somebody else's with the same prefix: ours is refused, theirs stays as it is.
#[test]
fn what_others_put_there_is_told_and_stays() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    for pointing in [Pointing::Objects, Pointing::Plain] {
        in_dut(&bed, || {
            let foreign: IpNet = "203.0.113.0/24".parse().expect("a prefix");
            let next = "198.19.0.9".parse().expect("an address");
            links::add_route(foreign.addr(), 24, Some(next), "mC").expect("a foreign route");
            nexthops::add(5, next, links::index("mC").expect("mC"), 4).expect("a foreign object");
            let before = everything();
            let mut table = drawn(500, 0, 8);
            table = Table::from_prefixes(table.iter().chain([foreign]).collect::<Vec<_>>());
            let loaded = loaded(&table, &plan(pointing));
            let v4 = loaded.v4.clone().expect("IPv4");
            assert_eq!((v4.counted, loaded.is_whole()), (500, false));
            assert_eq!(v4.refused, [(foreign, 0)]);
            assert_eq!(v4.causes[0].errno, libc_eexist());
            assert_eq!(v4.missing, []);
            assert_eq!(cleared().v4, 500);
            assert_eq!(everything(), before);
            nexthops::delete(5).expect("delete");
            Command::new("ip")
                .args(["route", "del", "203.0.113.0/24"])
                .status()
                .expect("iproute2");
        });
    }
}

#[test]
fn a_bad_plan_is_refused_before_any_change() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let table = drawn(10, 10, 9);
    in_dut(&bed, || {
        let before = everything();
        let refused = |plan: &LoadPlan, wanted: &str| {
            let error = load(&table, plan).expect_err(wanted).to_string();
            assert!(error.contains(wanted) && !error.contains('\n'), "{error}");
            assert_eq!(everything(), before);
        };
        let by = |gateways: &[&str]| LoadPlan {
            via: gateways.iter().map(|text| gateway(text)).collect(),
            ..plan(Pointing::Best)
        };
        refused(&by(&["198.19.0.2"]), "10 IPv6 prefixes and no IPv6 gateway");
        refused(
            &by(&["203.0.113.1", "2001:2:0:2::2"]),
            "there is no route to it",
        );
        refused(
            &by(&["198.19.0.1", "2001:2:0:2::2"]),
            "an address of the router itself",
        );
        refused(&by(&["198.19.0.2", "fe80::1%nowhere"]), "find link nowhere");
        // The second gateway's object is refused; the first one's goes again.
        refused(&by(&["198.19.0.2%mC", "2001:db8::1%mC"]), "EHOSTUNREACH");
        let nowhere = LoadPlan {
            table: 0,
            ..plan(Pointing::Best)
        };
        refused(&nowhere, "routing table 0");
    });
}

/// Since Linux 4.18 net.ipv6.route.max_size bounds no routes: all are loaded.
#[test]
fn the_bound_on_ipv6_routes_that_is_none_is_none() {
    if !support::can_run() {
        return;
    }
    let (bed, table) = (support::bed(), drawn(0, 2000, 12));
    in_dut(&bed, || {
        Setting::sysctl("net.ipv6.route.max_size")
            .write("9")
            .expect("setting");
        for pointing in [Pointing::Objects, Pointing::Plain] {
            assert!(loaded(&table, &plan(pointing)).is_whole());
            cleared();
        }
    });
}

/// A process of its own loads, and is killed in the middle: what it left is found and cleared.
#[test]
fn killed_while_it_loads() {
    if let Ok(name) = std::env::var(NETNS) {
        let table = drawn(60_000, 20_000, 10);
        let netns = NetNs::open(&name).expect("namespace");
        let pointing = if name.ends_with("-dut") && std::env::var_os("MPPS_TEST_PLAIN").is_some() {
            Pointing::Plain
        } else {
            Pointing::Objects
        };
        netns
            .run(|| {
                loop {
                    load(&table, &plan(pointing)).expect("load");
                    fib::clear().expect("clear");
                }
            })
            .expect("namespace");
        return;
    }
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    for plain in [false, true] {
        let before = in_dut(&bed, everything);
        let mut command = again(CRASH);
        command
            .env(NETNS, bed.netns(Side::B).name())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if plain {
            command.env("MPPS_TEST_PLAIN", "1");
        }
        let mut child = command.spawn().expect("this program again");
        let some = wait_for(LIMIT_NS, 100_000, || {
            let there = in_dut(&bed, || fib::contents(None).expect("contents").total());
            Ok::<_, Infallible>(there > 5_000)
        });
        assert_eq!(some, Ok(true), "nothing was loaded");
        child.kill().expect("kill");
        assert_eq!(child.wait().expect("its end").signal(), Some(9));
        let gone = in_dut(&bed, cleared);
        assert!(gone.v4 + gone.v6 > 0, "{gone:?}");
        assert_eq!(in_dut(&bed, everything), before);
    }
}

/// The whole Internet of one router, both families, there and gone.
#[test]
fn a_full_table_is_loaded_counted_and_cleared() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let lists = [
        "ris-as3333-20260511.v4.table.txt.xz",
        "ris-as3333-20260511.v6.table.txt.xz",
    ];
    if !lists.iter().all(|list| folder.join(list).exists()) {
        support::skip!("../shared/data/{} and {}", lists[0], lists[1]);
    }
    if !support::can_run() {
        return;
    }
    let read = |list: &str| {
        let source = Source::File(folder.join(list));
        mpps_tables::read(source, &ReadOptions::default(), &mut |_| {})
            .unwrap_or_else(|error| panic!("{error}"))
            .table
    };
    let (v4, v6) = (read(lists[0]).v4, read(lists[1]).v6);
    let table = Table { v4, v6 };
    assert_eq!((table.v4.len(), table.v6.len()), (1_042_325, 246_175));
    let bed = support::bed();
    in_dut(&bed, || {
        let before = everything();
        let loaded = loaded(&table, &plan(Pointing::Best));
        let told: HashMap<IpNet, i32> = loaded
            .families()
            .flat_map(|(_, load)| {
                let cause = |at: usize| load.causes[at].errno;
                load.refused
                    .iter()
                    .map(move |(prefix, at)| (*prefix, cause(*at)))
            })
            .collect();
        assert_eq!(told, HashMap::new());
        assert!(loaded.is_whole());
        assert_eq!(loaded.counted(), 1_288_500);
        let trie = fib::stats(MAIN_TABLE).expect("stats").trie.expect("a trie");
        assert!(
            trie.prefixes >= 1_042_325 && trie.average_depth > 1.5,
            "{trie:?}"
        );
        let gone = cleared();
        assert_eq!((gone.v4, gone.v6, gone.nexthops), (1_042_325, 246_175, 2));
        assert_eq!(everything(), before);
    });
}
