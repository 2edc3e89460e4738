use super::*;
use mpps_lab::fib::{
    Contents, Family, FamilyLoad, FibStats, Group, Length, LoadPlan, Loaded, LookupCounters,
    Pointing, Refusal, Rt6Stats, Spread, TrieStats,
};
use mpps_tables::{Families, LeftOut};
use serde_json::Value;

const MS: u64 = 1_000_000;

fn net(text: &str) -> ipnet::IpNet {
    text.parse().expect("a prefix")
}

/// 12 routes asked for, 11 refused or missing, by two gateways.
fn told(counted: u64) -> RoutesLoaded {
    let gateways = ["198.19.0.2", "198.19.0.3"].map(|text| text.parse().expect("a gateway"));
    let refused = if counted == 12 {
        Vec::new()
    } else {
        (0..11)
            .map(|n| (net(&format!("10.0.{n}.0/24")), 0))
            .collect()
    };
    RoutesLoaded {
        source: "rib.bz2".to_owned(),
        place: "bed lab1".to_owned(),
        clearing: "mpps table clear --bed lab1".to_owned(),
        distinct: Families { v4: 12, v6: 0 },
        left_out: LeftOut::default(),
        plan: LoadPlan {
            via: gateways.to_vec(),
            spread: Spread::Hash,
            pointing: Pointing::Best,
            table: MAIN_TABLE,
            metric: None,
        },
        loaded: Loaded {
            v4: Some(FamilyLoad {
                asked: 12,
                counted,
                refused,
                causes: vec![Refusal {
                    errno: 17,
                    kernel_says: None,
                }],
                missing: Vec::new(),
                by_gateway: gateways.into_iter().zip([7, 5]).collect(),
                next_hops: 2,
                loading_ns: 4 * MS,
            }),
            v6: None,
            objects: true,
            loading_ns: 5 * MS,
            counting_ns: 2 * MS,
            fib_octets: None,
            memory_octets: Some(3 << 20),
        },
    }
}

#[test]
fn a_whole_load_says_so_and_how_to_clear_it() {
    let mut whole = told(12);
    if let Some(load) = &mut whole.loaded.v4 {
        load.causes.clear();
    }
    let text = loaded(&whole);
    for wanted in [
        "rib.bz2: 12 IPv4 and 0 IPv6 prefixes, none left out\n",
        "bed lab1, table main, by nexthop objects\n",
        "family  asked  counted  refused  missing  seconds  routes/s\n",
        "IPv4       12       12        0        0    0.004     3 000\n",
        "198.19.0.2      7\n",
        "spread: hash\n",
        "12 of 12 routes are in the FIB, all of them. They were loaded in 0.005 s and counted by a dump in 0.002 s; \
         kernel memory grew by 3 MiB\n",
        "clear them: mpps table clear --bed lab1\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert!(!text.contains("refused:"), "{text}");
}

#[test]
fn refused_routes_are_named_with_their_cause() {
    let text = loaded(&told(1));
    assert!(
        text.contains("refused: EEXIST, the table already has a route with this prefix")
            && text.contains("\n  10.0.0.0/24\n"),
        "{text}"
    );
    assert!(
        text.contains("10.0.9.0/24\n  and 1 more (--json names all)"),
        "{text}"
    );
    assert!(
        text.contains("1 of 12 routes are in the FIB, NOT ALL"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&loaded_json(&told(1))).expect("json");
    assert_eq!(
        (&json["whole"], &json["counted_routes"]),
        (&Value::from(false), &Value::from(1))
    );
    let refused = json["families"][0]["refused"].as_array().expect("a list");
    assert_eq!(
        (refused.len(), &refused[10]["prefix"]),
        (11, &Value::from("10.0.10.0/24"))
    );
    assert_eq!(refused[0]["cause"], "EEXIST");
}

#[test]
fn what_is_there_stands_by_table_family_and_next_hop() {
    let there = Contents {
        groups: vec![Group {
            table: 100,
            family: Family::V6,
            metric: 1024,
            gateway: "2001:2::2".parse().ok(),
            interface: Some("mC".to_owned()),
            nexthop: None,
            routes: 4_000,
        }],
        lengths: vec![Length {
            table: 100,
            family: Family::V6,
            bits: 48,
            routes: 4_000,
        }],
    };
    let text = contents("bed lab1", &there);
    assert!(
        text.contains("bed lab1: 4 000 routes loaded by mpps (protocol 109)"),
        "{text}"
    );
    assert!(
        text.contains("100    IPv6    2001:2::2  mC              -    1024   4 000\n"),
        "{text}"
    );
    assert!(text.contains("100    IPv6       /48   4 000\n"), "{text}");
    assert!(contents("this machine", &Contents::default()).contains("mpps has loaded no routes"));
    let json: Value = serde_json::from_str(&contents_json("bed lab1", &there)).expect("json");
    assert_eq!(json["ipv6_routes"], 4_000);
    assert_eq!(json["groups"][0]["nexthop_object"], Value::Null);
}

fn described(counters: Option<LookupCounters>) -> FibStats {
    FibStats {
        trie: Some(TrieStats {
            table: MAIN_TABLE,
            average_depth: 2.21,
            max_depth: 4,
            leaves: 900,
            prefixes: 1_000,
            tnodes: 150,
            tnode_bits: [(1, 100), (18, 1)].into(),
            pointers: 2_000,
            null_pointers: 500,
            memory_octets: 120 << 10,
            counters,
        }),
        rt6: Some(Rt6Stats {
            routes: 77,
            ..Rt6Stats::default()
        }),
        v4_lengths: [(24, 3)]
            .into_iter()
            .fold(vec![0; 33], |mut all, (length, count)| {
                all[length] = count;
                all
            }),
        v6_lengths: vec![0; 129],
    }
}

#[test]
fn trie_figures_are_shown_or_said_to_be_uncounted() {
    let text = fib_stats("bed lab1", MAIN_TABLE, &described(None));
    for wanted in [
        "bed lab1, table main",
        "2.21 on average, 4 at most",
        "1: 100, 18: 1",
        "500 (25.0 %)",
        "120 KiB, 123 octets a prefix",
        "built without CONFIG_IP_FIB_TRIE_STATS",
        "/24        3",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let counted = described(Some(LookupCounters {
        gets: 100,
        backtracks: 50,
        ..LookupCounters::default()
    }));
    let text = fib_stats("bed lab1", MAIN_TABLE, &counted);
    assert!(
        text.contains("50 (0.50 a look-up)") && !text.contains("CONFIG"),
        "{text}"
    );
    let json = fib_stats_json("bed lab1", MAIN_TABLE, &counted);
    let json: Value = serde_json::from_str(&json).expect("json");
    assert_eq!(json["ipv4_trie"]["counters"]["backtracks"], 50);
    assert_eq!(json["ipv4_routes"]["24"], 3);
    assert_eq!(json["ipv6_all_tables"]["routes"], 77);
}

#[test]
fn clearing_says_what_went_and_that_nothing_is_left() {
    let gone = Cleared {
        v4: 1_000,
        v6: 20,
        nexthops: 2,
        one_by_one: 20,
        left: 0,
        removing_ns: 500 * MS,
    };
    assert_eq!(
        cleared("bed lab1", &gone),
        "bed lab1: cleared 1 000 IPv4 and 20 IPv6 routes in 0.500 s; none was left when they were counted again. 1 \
         000 were cleared with their 2 nexthop objects, 20 one by one\n"
    );
    assert!(cleared("this machine", &Cleared::default()).contains("mpps had loaded no routes"));
    let json: Value = serde_json::from_str(&cleared_json("x", &gone)).expect("json");
    assert_eq!(
        (&json["left_routes"], &json["nexthop_objects"]),
        (&Value::from(0), &Value::from(2))
    );
}
