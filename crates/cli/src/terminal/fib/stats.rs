//! What the kernel tells about its FIB.

use super::{columns, table_name};
use crate::terminal::grouped;
use mpps_lab::fib::{FibStats, LookupCounters, Rt6Stats, TrieStats};
use std::fmt::Write;

/// The trie, the tree, the lengths.
#[must_use]
pub fn fib_stats(place: &str, table: u32, stats: &FibStats) -> String {
    let mut text = format!("{place}, table {}\n\n", table_name(table));
    match &stats.trie {
        Some(trie) => text += &trie_words(trie),
        None => text += "IPv4: no such table\n",
    }
    text.push('\n');
    match &stats.rt6 {
        Some(rt6) => text += &rt6_words(rt6),
        None => text += "IPv6: this kernel has none\n",
    }
    text.push('\n');
    text + &lengths(&stats.v4_lengths, &stats.v6_lengths)
}

fn line(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "  {name:<25}{value}");
}

fn trie_words(trie: &TrieStats) -> String {
    let mut text = "IPv4, a trie (/proc/net/fib_triestat)\n".to_owned();
    line(&mut text, "prefixes", &grouped(trie.prefixes));
    line(&mut text, "leaves", &grouped(trie.leaves));
    let depth = format!(
        "{:.2} on average, {} at most",
        trie.average_depth, trie.max_depth
    );
    line(&mut text, "depth", &depth);
    line(&mut text, "internal nodes", &grouped(trie.tnodes));
    let bits: Vec<String> = trie
        .tnode_bits
        .iter()
        .map(|(bits, tnodes)| format!("{bits}: {}", grouped(*tnodes)))
        .collect();
    line(&mut text, "  by bits they look at", &bits.join(", "));
    line(&mut text, "pointers", &grouped(trie.pointers));
    let share = 100.0 * trie.null_pointers as f64 / trie.pointers.max(1) as f64;
    let null = format!("{} ({share:.1} %)", grouped(trie.null_pointers));
    line(&mut text, "null pointers", &null);
    let each = trie.total_size_kib as f64 * 1024.0 / trie.prefixes.max(1) as f64;
    let size = format!(
        "{} KiB, {each:.0} octets a prefix",
        grouped(trie.total_size_kib)
    );
    line(&mut text, "memory", &size);
    match &trie.counters {
        Some(counters) => counter_words(&mut text, counters),
        None => line(
            &mut text,
            "look-ups",
            "not counted by this kernel (it was built without CONFIG_IP_FIB_TRIE_STATS)",
        ),
    }
    text
}

fn counter_words(text: &mut String, counters: &LookupCounters) {
    line(text, "look-ups", &grouped(counters.gets));
    let each = counters.backtracks as f64 / counters.gets.max(1) as f64;
    let steps = format!("{} ({each:.2} a look-up)", grouped(counters.backtracks));
    line(text, "backtracks", &steps);
    line(
        text,
        "matches taken",
        &grouped(counters.semantic_match_passed),
    );
    line(
        text,
        "matches missed",
        &grouped(counters.semantic_match_miss),
    );
    line(text, "null pointers met", &grouped(counters.null_node_hit));
    line(
        text,
        "resizings left out",
        &grouped(counters.skipped_node_resize),
    );
}

fn rt6_words(rt6: &Rt6Stats) -> String {
    let mut text = "IPv6, all tables (/proc/net/rt6_stats)\n".to_owned();
    for (name, count) in [
        ("routes", rt6.routes),
        ("nodes", rt6.nodes),
        ("nodes with routes", rt6.route_nodes),
        ("cached routes", rt6.cached_routes),
        ("destination entries", rt6.destination_entries),
        ("  ever made", rt6.destinations_made),
        ("routes ever removed", rt6.discarded_routes),
    ] {
        line(&mut text, name, &grouped(count));
    }
    text
}

/// Everybody's routes of the table.
fn lengths(v4: &[u64], v6: &[u64]) -> String {
    let mut rows = vec![["length", "IPv4", "IPv6"].map(str::to_owned).to_vec()];
    let or_blank = |count: u64| {
        if count > 0 {
            grouped(count)
        } else {
            String::new()
        }
    };
    for length in 0..v4.len().max(v6.len()) {
        let of = |lengths: &[u64]| lengths.get(length).copied().unwrap_or(0);
        let (v4, v6) = (of(v4), of(v6));
        if v4 + v6 > 0 {
            rows.push(vec![format!("/{length}"), or_blank(v4), or_blank(v6)]);
        }
    }
    columns(&rows, &[0])
}
