//! The same as one JSON object each.

use super::loaded::RoutesLoaded;
use mpps_lab::fib::{
    Cleared, Contents, Family, FamilyLoad, FibStats, LookupCounters, Rt6Stats, TrieStats,
};
use mpps_record::SCHEMA;
use serde::Serialize;
use std::collections::BTreeMap;

fn print(document: &impl Serialize) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

fn family_name(family: Family) -> &'static str {
    match family {
        Family::V4 => "ipv4",
        Family::V6 => "ipv6",
    }
}

#[derive(Serialize)]
struct LoadDocument<'a> {
    schema: u32,
    source: &'a str,
    place: &'a str,
    route_table: u32,
    /// Null: the kernel's.
    metric: Option<u32>,
    nexthop_objects: bool,
    spread: &'static str,
    /// By class; only those there are.
    left_out_prefixes: BTreeMap<&'static str, u64>,
    whole: bool,
    asked_routes: u64,
    counted_routes: u64,
    loading_ns: u64,
    counting_ns: u64,
    /// Null where the kernel does not tell.
    kernel_memory_octets: Option<u64>,
    families: Vec<FamilyEntry>,
}

#[derive(Serialize)]
struct FamilyEntry {
    family: &'static str,
    asked_routes: u64,
    counted_routes: u64,
    loading_ns: u64,
    next_hops: Vec<NextHopEntry>,
    refused: Vec<RefusedEntry>,
    missing: Vec<String>,
}

#[derive(Serialize)]
struct NextHopEntry {
    gateway: String,
    asked_routes: u64,
}

#[derive(Serialize)]
struct RefusedEntry {
    prefix: String,
    errno: i32,
    cause: String,
}

/// What [`super::loaded`] says, and every refused prefix.
///
/// # Errors
/// None that can happen: all of it is text and numbers.
pub fn loaded_json(told: &RoutesLoaded) -> serde_json::Result<String> {
    let loaded = &told.loaded;
    let left_out = told.left_out.iter();
    print(&LoadDocument {
        schema: SCHEMA,
        source: &told.source,
        place: &told.place,
        route_table: told.plan.table,
        metric: told.plan.metric,
        nexthop_objects: loaded.objects,
        spread: told.plan.spread.name(),
        left_out_prefixes: left_out
            .map(|(class, count)| (class.name(), count.v4 + count.v6))
            .collect(),
        whole: loaded.is_whole(),
        asked_routes: loaded.families().map(|(_, load)| load.asked).sum(),
        counted_routes: loaded.counted(),
        loading_ns: loaded.loading_ns,
        counting_ns: loaded.counting_ns,
        kernel_memory_octets: loaded.memory_octets,
        families: loaded
            .families()
            .map(|(family, load)| family_entry(family, load))
            .collect(),
    })
}

fn family_entry(family: Family, load: &FamilyLoad) -> FamilyEntry {
    let refused = load.refused.iter().filter_map(|(prefix, at)| {
        let cause = load.causes.get(*at)?;
        Some(RefusedEntry {
            prefix: prefix.to_string(),
            errno: cause.errno,
            cause: cause.to_string(),
        })
    });
    let next_hops = load
        .by_gateway
        .iter()
        .map(|(gateway, routes)| NextHopEntry {
            gateway: gateway.to_string(),
            asked_routes: *routes,
        });
    FamilyEntry {
        family: family_name(family),
        asked_routes: load.asked,
        counted_routes: load.counted,
        loading_ns: load.loading_ns,
        next_hops: next_hops.collect(),
        refused: refused.collect(),
        missing: load.missing.iter().map(ToString::to_string).collect(),
    }
}

#[derive(Serialize)]
struct ContentsDocument<'a> {
    schema: u32,
    place: &'a str,
    ipv4_routes: u64,
    ipv6_routes: u64,
    groups: Vec<GroupEntry>,
    lengths: Vec<LengthEntry>,
}

#[derive(Serialize)]
struct GroupEntry {
    route_table: u32,
    family: &'static str,
    metric: u32,
    gateway: Option<String>,
    interface: Option<String>,
    nexthop_object: Option<u32>,
    routes: u64,
}

#[derive(Serialize)]
struct LengthEntry {
    route_table: u32,
    family: &'static str,
    length_bits: u8,
    routes: u64,
}

/// What [`super::contents`] says.
///
/// # Errors
/// None that can happen.
pub fn contents_json(place: &str, contents: &Contents) -> serde_json::Result<String> {
    let groups = contents.groups.iter().map(|group| GroupEntry {
        route_table: group.table,
        family: family_name(group.family),
        metric: group.metric,
        gateway: group.gateway.map(|gateway| gateway.to_string()),
        interface: group.interface.clone(),
        nexthop_object: group.nexthop,
        routes: group.routes,
    });
    let lengths = contents.lengths.iter();
    print(&ContentsDocument {
        schema: SCHEMA,
        place,
        ipv4_routes: contents.count(Family::V4),
        ipv6_routes: contents.count(Family::V6),
        groups: groups.collect(),
        lengths: lengths
            .map(|&(route_table, family, length_bits, routes)| LengthEntry {
                route_table,
                family: family_name(family),
                length_bits,
                routes,
            })
            .collect(),
    })
}

#[derive(Serialize)]
struct StatsDocument<'a> {
    schema: u32,
    place: &'a str,
    route_table: u32,
    /// Null where the table has no IPv4 trie.
    ipv4_trie: Option<TrieEntry>,
    /// Null on a kernel without IPv6.
    ipv6_all_tables: Option<Rt6Entry>,
    /// Routes by prefix length in bits; only those there are.
    ipv4_routes: BTreeMap<usize, u64>,
    ipv6_routes: BTreeMap<usize, u64>,
}

#[derive(Serialize)]
struct TrieEntry {
    prefixes: u64,
    leaves: u64,
    average_depth: f64,
    max_depth: u64,
    internal_nodes: u64,
    /// By bits looked at.
    internal_nodes_by_bits: BTreeMap<u32, u64>,
    pointers: u64,
    null_pointers: u64,
    memory_octets: u64,
    /// Null where the kernel does not count (CONFIG_IP_FIB_TRIE_STATS).
    counters: Option<CounterEntry>,
}

#[derive(Serialize)]
struct CounterEntry {
    gets: u64,
    backtracks: u64,
    semantic_match_passed: u64,
    semantic_match_miss: u64,
    null_node_hit: u64,
    skipped_node_resize: u64,
}

#[derive(Serialize)]
struct Rt6Entry {
    routes: u64,
    nodes: u64,
    nodes_with_routes: u64,
    cached_routes: u64,
    destination_entries: u64,
    destination_entries_made: u64,
    routes_removed: u64,
}

/// What [`super::fib_stats`] says.
///
/// # Errors
/// None that can happen.
pub fn fib_stats_json(place: &str, table: u32, stats: &FibStats) -> serde_json::Result<String> {
    print(&StatsDocument {
        schema: SCHEMA,
        place,
        route_table: table,
        ipv4_trie: stats.trie.as_ref().map(trie_entry),
        ipv6_all_tables: stats.rt6.as_ref().map(rt6_entry),
        ipv4_routes: those_there_are(&stats.v4_lengths),
        ipv6_routes: those_there_are(&stats.v6_lengths),
    })
}

fn trie_entry(trie: &TrieStats) -> TrieEntry {
    TrieEntry {
        prefixes: trie.prefixes,
        leaves: trie.leaves,
        average_depth: trie.average_depth,
        max_depth: trie.max_depth,
        internal_nodes: trie.tnodes,
        internal_nodes_by_bits: trie.tnode_bits.iter().copied().collect(),
        pointers: trie.pointers,
        null_pointers: trie.null_pointers,
        memory_octets: trie.total_size_kib * 1024,
        counters: trie.counters.as_ref().map(counter_entry),
    }
}

fn counter_entry(counters: &LookupCounters) -> CounterEntry {
    CounterEntry {
        gets: counters.gets,
        backtracks: counters.backtracks,
        semantic_match_passed: counters.semantic_match_passed,
        semantic_match_miss: counters.semantic_match_miss,
        null_node_hit: counters.null_node_hit,
        skipped_node_resize: counters.skipped_node_resize,
    }
}

fn rt6_entry(rt6: &Rt6Stats) -> Rt6Entry {
    Rt6Entry {
        routes: rt6.routes,
        nodes: rt6.nodes,
        nodes_with_routes: rt6.route_nodes,
        cached_routes: rt6.cached_routes,
        destination_entries: rt6.destination_entries,
        destination_entries_made: rt6.destinations_made,
        routes_removed: rt6.discarded_routes,
    }
}

fn those_there_are(lengths: &[u64]) -> BTreeMap<usize, u64> {
    let all = lengths.iter().copied().enumerate();
    all.filter(|(_, routes)| *routes > 0).collect()
}

#[derive(Serialize)]
struct ClearDocument<'a> {
    schema: u32,
    place: &'a str,
    ipv4_routes: u64,
    ipv6_routes: u64,
    nexthop_objects: u64,
    one_by_one_routes: u64,
    removing_ns: u64,
    /// Counted by a dump afterwards.
    left_routes: u64,
}

/// What [`super::cleared`] says.
///
/// # Errors
/// None that can happen.
pub fn cleared_json(place: &str, cleared: &Cleared) -> serde_json::Result<String> {
    print(&ClearDocument {
        schema: SCHEMA,
        place,
        ipv4_routes: cleared.v4,
        ipv6_routes: cleared.v6,
        nexthop_objects: cleared.nexthops,
        one_by_one_routes: cleared.one_by_one,
        removing_ns: cleared.removing_ns,
        left_routes: cleared.left,
    })
}
