//! The same as one JSON object each. A member is null where the kernel does not tell.

use super::loaded::RoutesLoaded;
use crate::terminal::document::{by_length, document};
use mpps_lab::fib::{Cleared, Contents, Family, FamilyLoad, FibStats};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What [`super::loaded`] says, and every refused prefix.
pub fn loaded_json(told: &RoutesLoaded) -> String {
    let loaded = &told.loaded;
    let left_out = told.left_out.iter();
    let left_out = left_out.map(|(class, count)| (class.name(), count.total()));
    document(json!({
        "source": told.source,
        "place": told.place,
        "route_table": told.plan.table,
        "metric": told.plan.metric,
        "nexthop_objects": loaded.objects,
        "spread": told.plan.spread.name(),
        "left_out_prefixes": left_out.collect::<BTreeMap<_, _>>(),
        "whole": loaded.is_whole(),
        "asked_routes": loaded.families().map(|(_, load)| load.asked).sum::<u64>(),
        "counted_routes": loaded.counted(),
        "loading_ns": loaded.loading_ns,
        "counting_ns": loaded.counting_ns,
        "kernel_memory_octets": loaded.memory_octets,
        "families": loaded.families().map(family_json).collect::<Value>(),
    }))
}

fn family_json((family, load): (Family, &FamilyLoad)) -> Value {
    let refused = load.refused.iter().filter_map(|(prefix, at)| {
        let cause = load.causes.get(*at)?;
        Some(json!({
            "prefix": prefix.to_string(),
            "errno": cause.errno,
            "cause": cause.to_string(),
        }))
    });
    let next_hops = load
        .by_gateway
        .iter()
        .map(|(gateway, routes)| json!({ "gateway": gateway.to_string(), "asked_routes": routes }));
    let missing = load.missing.iter().map(ToString::to_string);
    json!({
        "family": family,
        "asked_routes": load.asked,
        "counted_routes": load.counted,
        "loading_ns": load.loading_ns,
        "next_hops": next_hops.collect::<Value>(),
        "refused": refused.collect::<Value>(),
        "missing": missing.collect::<Value>(),
    })
}

/// What [`super::contents`] says.
pub fn contents_json(place: &str, contents: &Contents) -> String {
    document(json!({
        "place": place,
        "ipv4_routes": contents.count(Family::V4),
        "ipv6_routes": contents.count(Family::V6),
        "groups": contents.groups,
        "lengths": contents.lengths,
    }))
}

/// What [`super::fib_stats`] says.
pub fn fib_stats_json(place: &str, table: u32, stats: &FibStats) -> String {
    document(json!({
        "place": place,
        "route_table": table,
        "ipv4_trie": stats.trie,
        "ipv6_all_tables": stats.rt6,
        "ipv4_routes": by_length(&stats.v4_lengths),
        "ipv6_routes": by_length(&stats.v6_lengths),
    }))
}

/// What [`super::cleared`] says. What is left was counted by a dump afterwards.
pub fn cleared_json(place: &str, cleared: &Cleared) -> String {
    document(json!({
        "place": place,
        "ipv4_routes": cleared.v4,
        "ipv6_routes": cleared.v6,
        "nexthop_objects": cleared.nexthops,
        "one_by_one_routes": cleared.one_by_one,
        "removing_ns": cleared.removing_ns,
        "left_routes": cleared.left,
    }))
}
