//! The IPv6 FIB as the kernel counts it: /proc/net/rt6_stats (net/ipv6/route.c, `rt6_stats_seq_show`).

use crate::error::{Error, Result};
use serde::Serialize;

const PATH: &str = "/proc/thread-self/net/rt6_stats";

/// What the namespace's IPv6 tables hold, all of them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rt6Stats {
    /// Nodes of the trees (`fib_nodes`).
    pub nodes: u64,
    /// Nodes that have routes (`fib_route_nodes`).
    #[serde(rename = "nodes_with_routes")]
    pub route_nodes: u64,
    /// Destination entries made since the namespace is there (`fib_rt_alloc`, ip6_dst_alloc()).
    #[serde(rename = "destination_entries_made")]
    pub destinations_made: u64,
    /// Routes in the tables (`fib_rt_entries`).
    pub routes: u64,
    /// Routes cached for one destination (`fib_rt_cache`).
    pub cached_routes: u64,
    /// Destination entries there are: what forwarding keeps of a route once it was used.
    pub destination_entries: u64,
    /// Routes removed since the namespace is there (`fib_discarded_routes`).
    #[serde(rename = "routes_removed")]
    pub discarded_routes: u64,
}

/// The counters of the calling thread's namespace; `None` on a kernel without IPv6.
///
/// # Errors
/// The file could not be read or is not what it was.
pub fn rt6_stats() -> Result<Option<Rt6Stats>> {
    match std::fs::read_to_string(PATH) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::from_io("read", PATH, &e)),
        Ok(text) => match parse(&text) {
            Some(stats) => Ok(Some(stats)),
            None => Err(
                Error::from_text("read", PATH, format!("not understood: {}", text.trim()))
                    .with_remedy("this kernel uses another format; please report the line"),
            ),
        },
    }
}

/// Seven hexadecimal numbers.
fn parse(text: &str) -> Option<Rt6Stats> {
    let numbers: Option<Vec<u64>> = text
        .split_ascii_whitespace()
        .map(|word| u64::from_str_radix(word, 16).ok())
        .collect();
    let [
        nodes,
        route_nodes,
        allocated,
        routes,
        cached,
        entries,
        discarded,
    ] = numbers?[..]
    else {
        return None;
    };
    Some(Rt6Stats {
        nodes,
        route_nodes,
        destinations_made: allocated,
        routes,
        cached_routes: cached,
        destination_entries: entries,
        discarded_routes: discarded,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_hexadecimal_numbers() {
        let stats = parse("001a 0010 0022 0012 0003 0007 000b\n").unwrap();
        assert_eq!((stats.nodes, stats.routes), (26, 18));
        assert_eq!((stats.cached_routes, stats.discarded_routes), (3, 11));
        assert_eq!(parse("0001 0002"), None);
        assert_eq!(parse("0001 0002 0003 0004 0005 0006 zzzz"), None);
    }

    #[test]
    fn this_kernels_file_is_understood() {
        assert!(rt6_stats().is_ok());
    }
}
