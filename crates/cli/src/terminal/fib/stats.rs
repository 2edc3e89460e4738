//! What the kernel tells about its FIB.

use super::{columns, table_name};
use crate::terminal::{grouped, routes::length_rows};
use mpps_lab::fib::{FibStats, LookupCounters, Rt6Stats, TrieStats};

/// The trie, the tree, the lengths.
pub fn fib_stats(place: &str, table: u32, stats: &FibStats) -> String {
    let trie = match &stats.trie {
        Some(trie) => trie_words(trie),
        None => "IPv4: no such table\n".to_owned(),
    };
    let rt6 = match &stats.rt6 {
        Some(rt6) => rt6_words(rt6),
        None => "IPv6: this kernel has none\n".to_owned(),
    };
    let lengths = columns(length_rows(&stats.v4_lengths, &stats.v6_lengths), &[0]);
    format!(
        "{place}, table {}\n\n{trie}\n{rt6}\n{lengths}",
        table_name(table)
    )
}

/// Two columns of words, two blanks in.
fn lines(rows: &[(&str, String)]) -> String {
    let row = |(name, value): &(&str, String)| [format!("  {name}"), value.clone()];
    columns(rows.iter().map(row), &[0, 1])
}

fn trie_words(trie: &TrieStats) -> String {
    let bits = trie.tnode_bits.iter();
    let bits = bits.map(|(bits, tnodes)| format!("{bits}: {}", grouped(*tnodes)));
    let null_percent = 100.0 * trie.null_pointers as f64 / trie.pointers.max(1) as f64;
    let null = grouped(trie.null_pointers);
    let each = trie.memory_octets as f64 / trie.prefixes.max(1) as f64;
    let kib = grouped(trie.memory_octets >> 10);
    let depth = (trie.average_depth, trie.max_depth);
    let mut rows = vec![
        ("prefixes", grouped(trie.prefixes)),
        ("leaves", grouped(trie.leaves)),
        (
            "depth",
            format!("{:.2} on average, {} at most", depth.0, depth.1),
        ),
        ("internal nodes", grouped(trie.tnodes)),
        (
            "  by bits they look at",
            bits.collect::<Vec<_>>().join(", "),
        ),
        ("pointers", grouped(trie.pointers)),
        ("null pointers", format!("{null} ({null_percent:.1} %)")),
        ("memory", format!("{kib} KiB, {each:.0} octets a prefix")),
    ];
    match &trie.counters {
        Some(counters) => rows.extend(counter_rows(counters)),
        None => rows.push((
            "look-ups",
            "not counted by this kernel (it was built without CONFIG_IP_FIB_TRIE_STATS)".to_owned(),
        )),
    }
    format!("IPv4, a trie (/proc/net/fib_triestat)\n{}", lines(&rows))
}

fn counter_rows(counters: &LookupCounters) -> [(&'static str, String); 6] {
    let each = counters.backtracks as f64 / counters.gets.max(1) as f64;
    let steps = grouped(counters.backtracks);
    [
        ("look-ups", grouped(counters.gets)),
        ("backtracks", format!("{steps} ({each:.2} a look-up)")),
        ("matches taken", grouped(counters.semantic_match_passed)),
        ("matches missed", grouped(counters.semantic_match_miss)),
        ("null pointers met", grouped(counters.null_node_hit)),
        ("resizings left out", grouped(counters.skipped_node_resize)),
    ]
}

fn rt6_words(rt6: &Rt6Stats) -> String {
    let rows = [
        ("routes", rt6.routes),
        ("nodes", rt6.nodes),
        ("nodes with routes", rt6.route_nodes),
        ("cached routes", rt6.cached_routes),
        ("destination entries", rt6.destination_entries),
        ("  ever made", rt6.destinations_made),
        ("routes ever removed", rt6.discarded_routes),
    ]
    .map(|(name, count)| (name, grouped(count)));
    format!("IPv6, all tables (/proc/net/rt6_stats)\n{}", lines(&rows))
}
