//! Prefixes as they come, folded into a table: memory is bounded by the distinct ones.

use super::Table;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// Below this many waiting prefixes nothing is folded.
const FOLD_AT_LEAST: usize = 1 << 16;

/// More distinct prefixes than the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMany;

/// What was read so far.
#[derive(Debug)]
pub(super) struct Collector {
    v4: Folded<Ipv4Net>,
    v6: Folded<Ipv6Net>,
    /// Prefixes taken, repeated ones as often as they came.
    taken: u64,
    /// Prefixes that came with host bits.
    host_bits: u64,
    most: usize,
}

impl Collector {
    /// Refuses to hold more than `most` distinct prefixes of a family.
    pub(super) fn bounded(most: usize) -> Self {
        Self {
            v4: Folded::default(),
            v6: Folded::default(),
            taken: 0,
            host_bits: 0,
            most,
        }
    }

    /// Takes any number of prefixes.
    pub(super) fn unbounded() -> Self {
        Self::bounded(usize::MAX)
    }

    /// Takes a prefix; its host bits are cut.
    pub(super) fn add(&mut self, prefix: IpNet) -> Result<(), TooMany> {
        self.taken += 1;
        let network = prefix.trunc();
        self.host_bits += u64::from(network != prefix);
        match network {
            IpNet::V4(network) => self.v4.add(network, self.most),
            IpNet::V6(network) => self.v6.add(network, self.most),
        }
    }

    /// Prefixes taken so far.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// The table, and how many came with host bits.
    pub(super) fn finish(self) -> (Table, u64) {
        let table = Table {
            v4: self.v4.finish(),
            v6: self.v6.finish(),
        };
        (table, self.host_bits)
    }
}

/// Prefixes of one family; sorted and folded whenever they have doubled since the last time, so that
/// folding costs little and what is held stays below twice the distinct ones.
#[derive(Debug)]
struct Folded<T> {
    prefixes: Vec<T>,
    fold_at: usize,
    /// Each prefix so far came after the one before it: nothing to sort. Dumps are mostly written so.
    in_order: bool,
}

impl<T> Default for Folded<T> {
    fn default() -> Self {
        Self {
            prefixes: Vec::new(),
            fold_at: FOLD_AT_LEAST,
            in_order: true,
        }
    }
}

impl<T: Ord + Copy> Folded<T> {
    fn add(&mut self, prefix: T, most: usize) -> Result<(), TooMany> {
        match self.prefixes.last() {
            // The same prefix from the next peer: most of what is repeated.
            Some(last) if *last == prefix => return Ok(()),
            Some(last) if *last > prefix => self.in_order = false,
            _ => {}
        }
        if self.prefixes.len() >= self.fold_at {
            self.fold();
            if self.prefixes.len() > most {
                return Err(TooMany);
            }
            self.fold_at = (self.prefixes.len() * 2).max(FOLD_AT_LEAST);
        }
        self.prefixes.push(prefix);
        Ok(())
    }

    fn fold(&mut self) {
        if !self.in_order {
            self.prefixes.sort_unstable();
            self.prefixes.dedup();
            self.in_order = true;
        }
    }

    fn finish(mut self) -> Vec<T> {
        self.fold();
        self.prefixes.shrink_to_fit();
        self.prefixes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_repetitions_stay_few() {
        let mut collector = Collector::unbounded();
        for round in 0..20_u32 {
            for host in (0..10_000_u32).rev() {
                let address = std::net::Ipv4Addr::from(host << 8 | (round & 1));
                let prefix = Ipv4Net::new(address, 24).expect("a length");
                collector.add(prefix.into()).expect("no bound");
                assert!(collector.v4.prefixes.len() <= FOLD_AT_LEAST.max(20_000));
            }
        }
        assert_eq!(collector.taken(), 200_000);
        let (table, host_bits) = collector.finish();
        assert_eq!((table.v4.len(), host_bits), (10_000, 100_000));
        assert!(table.v4.is_sorted());
    }

    #[test]
    fn the_bound_holds() {
        let mut collector = Collector::bounded(FOLD_AT_LEAST);
        let refused = (0..4 * FOLD_AT_LEAST as u32).find(|&host| {
            let prefix = Ipv4Net::new(host.into(), 32).expect("a length");
            collector.add(prefix.into()).is_err()
        });
        assert_eq!(refused, Some(2 * FOLD_AT_LEAST as u32));
    }
}
