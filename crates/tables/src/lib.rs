//! Files of routes to prefixes: read ([`read()`]), chosen from ([`choose()`]), synthesized ([`synthesize()`]).
//!
//! A table here is prefixes alone: what a forwarding table has to find. Paths, next hops and attributes
//! of the file are counted and dropped. This crate knows no kernel: loading a table is for others to do.
#![cfg_attr(
    not(test),
    deny(clippy::too_many_lines, clippy::print_stdout, clippy::print_stderr)
)]
#![forbid(unsafe_code)]

mod changes;
mod choose;
mod collect;
mod error;
mod histogram;
pub mod martians;
mod read;
mod routes;
mod source;
mod stream;
mod synthetic;
mod text;
mod unpack;

pub use changes::{Change, Changes, ChangesError, read_changes, read_changes_from};
pub use choose::{ChooseOptions, Chosen, Class, Families, LeftOut, Sample, choose, prefix_hash};
pub use error::{InFile, ReadError};
pub use histogram::Histogram;
pub use read::{Counts, Progress, ReadOptions, ReadTable, read, read_from};
pub use routes::{Routes, RoutesError, choose_prefix, read_routes, routes_to_load};
pub use source::Source;
pub use synthetic::{SynthesizeError, synthesize};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// Distinct prefixes, in order of address and then length, host bits zero. 5 octets an IPv4 prefix,
/// 17 an IPv6 prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// IPv4, sorted, unique.
    pub v4: Vec<Ipv4Net>,
    /// IPv6, sorted, unique.
    pub v6: Vec<Ipv6Net>,
}

impl Table {
    /// The table of these prefixes, in any order, repeated or not, host bits set or not.
    #[must_use]
    pub fn from_prefixes(prefixes: impl IntoIterator<Item = IpNet>) -> Self {
        let mut collector = collect::Collector::unbounded();
        for prefix in prefixes {
            // Without a bound there is nothing to refuse.
            let _ = collector.add(prefix);
        }
        collector.finish().0
    }

    /// Prefixes of both families.
    #[must_use]
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Whether there is no prefix at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.v4.is_empty() && self.v6.is_empty()
    }

    /// Every prefix, IPv4 first.
    pub fn iter(&self) -> impl Iterator<Item = IpNet> + '_ {
        let v4 = self.v4.iter().copied().map(IpNet::V4);
        v4.chain(self.v6.iter().copied().map(IpNet::V6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn net(text: &str) -> IpNet {
        text.parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_table_is_sorted_unique_without_host_bits() {
        let table = Table::from_prefixes(
            [
                "2001:db8::/32",
                "10.0.0.0/9",
                "10.0.0.0/8",
                "10.9.8.7/8",
                "9.0.0.0/8",
            ]
            .map(net),
        );
        let listed: Vec<String> = table.iter().map(|prefix| prefix.to_string()).collect();
        assert_eq!(
            listed,
            ["9.0.0.0/8", "10.0.0.0/8", "10.0.0.0/9", "2001:db8::/32"]
        );
        assert_eq!((table.len(), table.is_empty()), (4, false));
        assert!(Table::default().is_empty());
    }

    #[test]
    fn a_prefix_costs_what_the_table_says() {
        assert_eq!((size_of::<Ipv4Net>(), size_of::<Ipv6Net>()), (5, 17));
    }
}
