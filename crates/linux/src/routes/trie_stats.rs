//! The IPv4 FIB as the kernel describes it: an LC-trie in /proc/net/fib_triestat
//! (net/ipv4/fib_trie.c, `fib_triestat_seq_show`).

use crate::error::{Error, Result};
use serde::Serialize;
use std::collections::BTreeMap;

const PATH: &str = "/proc/thread-self/net/fib_triestat";

/// One table's trie.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TrieStats {
    /// Its table; 254 is main, 255 local. Without rules of its own the kernel keeps both in one trie and
    /// tells of it twice.
    #[serde(skip)]
    pub table: u32,
    /// Depth of a leaf, on average.
    pub average_depth: f64,
    /// Depth of the deepest leaf.
    pub max_depth: u64,
    /// Leaves: distinct network addresses.
    pub leaves: u64,
    /// Prefixes: routes, all metrics of one prefix counted.
    pub prefixes: u64,
    /// Internal nodes (tnodes).
    #[serde(rename = "internal_nodes")]
    pub tnodes: u64,
    /// How many tnodes look at so many bits at once.
    #[serde(rename = "internal_nodes_by_bits")]
    pub tnode_bits: BTreeMap<u32, u64>,
    /// Child pointers of all tnodes.
    pub pointers: u64,
    /// Child pointers that lead nowhere.
    pub null_pointers: u64,
    /// Size of leaves, prefixes, tnodes and pointers.
    pub memory_octets: u64,
    /// What look-ups met, where the kernel counts it (CONFIG_IP_FIB_TRIE_STATS).
    pub counters: Option<LookupCounters>,
}

/// What look-ups met since the table is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LookupCounters {
    /// Look-ups.
    pub gets: u64,
    /// Steps back to a shorter prefix.
    pub backtracks: u64,
    /// Leaves whose route was taken.
    pub semantic_match_passed: u64,
    /// Leaves whose routes did not fit.
    pub semantic_match_miss: u64,
    /// Child pointers that led nowhere.
    pub null_node_hit: u64,
    /// Resizings left out for want of memory.
    pub skipped_node_resize: u64,
}

/// Every table's trie, in the calling thread's namespace. The kernel walks all of them: about 0.1 s for
/// a million routes.
///
/// # Errors
/// The file could not be read or is not what it was.
pub fn trie_stats() -> Result<Vec<TrieStats>> {
    let text = std::fs::read_to_string(PATH).map_err(|e| Error::from_io("read", PATH, &e))?;
    parse(&text).map_err(|line| {
        Error::from_text("read", PATH, format!("line not understood: {line}"))
            .with_remedy("this kernel uses another format; please report the line")
    })
}

fn parse(text: &str) -> std::result::Result<Vec<TrieStats>, String> {
    let mut tables: Vec<TrieStats> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(table) = table_of(line) {
            tables.push(TrieStats {
                table,
                ..TrieStats::default()
            });
        } else if let Some(stats) = tables.last_mut() {
            read_line(line, stats).ok_or_else(|| line.trim().to_owned())?;
        }
    }
    Ok(tables)
}

/// `Main:`, `Local:`, `Default:` or `Id 100:` at the beginning of a line.
fn table_of(line: &str) -> Option<u32> {
    match line.trim_end() {
        "Main:" => Some(254),
        "Local:" => Some(255),
        other => other.strip_prefix("Id ")?.strip_suffix(':')?.parse().ok(),
    }
}

fn read_line(line: &str, stats: &mut TrieStats) -> Option<()> {
    let Some((name, value)) = line.split_once([':', '=']) else {
        // The rule below "Counters:".
        return line.starts_with("---").then_some(());
    };
    let (name, value) = (name.trim(), value.trim());
    if name.parse::<u32>().is_ok() {
        stats.tnode_bits = tnode_bits(line)?;
        return Some(());
    }
    let count = || value.parse::<u64>().ok();
    match name {
        "Aver depth" => stats.average_depth = value.parse().ok()?,
        "Max depth" => stats.max_depth = count()?,
        "Leaves" => stats.leaves = count()?,
        "Prefixes" => stats.prefixes = count()?,
        "Internal nodes" => stats.tnodes = count()?,
        "Pointers" => stats.pointers = count()?,
        "Null ptrs" => stats.null_pointers = count()?,
        "Total size" => {
            let kib: u64 = value.strip_suffix("kB")?.trim().parse().ok()?;
            stats.memory_octets = kib.checked_mul(1024)?;
        }
        "Counters" => stats.counters = Some(LookupCounters::default()),
        _ => read_counter(name, count()?, stats.counters.as_mut()?),
    }
    Some(())
}

fn read_counter(name: &str, count: u64, counters: &mut LookupCounters) {
    let counter = match name {
        "gets" => &mut counters.gets,
        "backtracks" => &mut counters.backtracks,
        "semantic match passed" => &mut counters.semantic_match_passed,
        "semantic match miss" => &mut counters.semantic_match_miss,
        "null node hit" => &mut counters.null_node_hit,
        "skipped node resize" => &mut counters.skipped_node_resize,
        // A counter of a newer kernel.
        _ => return,
    };
    *counter = count;
}

/// `  1: 2  2: 98008  18: 1`: bits and tnodes.
fn tnode_bits(text: &str) -> Option<BTreeMap<u32, u64>> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let pair = |pair: &[&str]| {
        let (bits, tnodes) = (pair.first()?.strip_suffix(':')?, pair.get(1)?);
        Some((bits.parse().ok()?, tnodes.parse().ok()?))
    };
    words.chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests;
