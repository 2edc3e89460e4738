//! What the kernel and a dump tell about its FIB.

use super::{Family, FibError, collect};
use mpps_linux::routes::{self, Filter, Rt6Stats, TrieStats};

/// Figures of one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FibStats {
    /// The IPv4 trie; `None` where the table has none.
    pub trie: Option<TrieStats>,
    /// Whether the kernel counts what look-ups meet (CONFIG_IP_FIB_TRIE_STATS): then the trie has counters.
    pub rt6: Option<Rt6Stats>,
    /// IPv4 routes of the table by prefix length: index 0 to 32, everybody's.
    pub v4_lengths: Vec<u64>,
    /// IPv6 routes of the table by prefix length: index 0 to 128, everybody's.
    pub v6_lengths: Vec<u64>,
}

/// Gathers the figures of a table; 254 is main.
///
/// # Errors
/// /proc could not be read or understood, or the FIB not be dumped.
pub fn stats(table: u32) -> Result<FibStats, FibError> {
    let tries = routes::trie_stats()?;
    Ok(FibStats {
        trie: tries.into_iter().find(|trie| trie.table == table),
        rt6: routes::rt6_stats()?,
        v4_lengths: lengths(Family::V4, table, 32)?,
        v6_lengths: lengths(Family::V6, table, 128)?,
    })
}

/// Routes of one family in this network namespace's FIB, everybody's, by the kernel's own counters: no dump.
/// (Addresses of the router and networks of its links are among them.)
#[must_use]
pub fn routes_in_fib(ipv6: bool) -> Option<u64> {
    if ipv6 {
        return routes::rt6_stats().ok()?.map(|stats| stats.routes);
    }
    // Two names of one trie while there are no rules: the largest, not the sum.
    let tries = routes::trie_stats().ok()?;
    tries.iter().map(|trie| trie.prefixes).max()
}

/// Size of this network namespace's IPv4 trie, everybody's routes in it.
pub(super) fn trie_octets() -> Option<u64> {
    let tries = routes::trie_stats().ok()?;
    tries.iter().map(|trie| trie.memory_octets).max()
}

fn lengths(family: Family, table: u32, bits: usize) -> Result<Vec<u64>, FibError> {
    let filter = Filter {
        table: Some(table),
        protocol: None,
    };
    let mut lengths = vec![0; bits + 1];
    for route in collect(family, &filter)? {
        if let Some(count) = lengths.get_mut(usize::from(route.prefix.prefix_len())) {
            *count += 1;
        }
    }
    Ok(lengths)
}
