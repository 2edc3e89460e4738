//! Chooses the prefixes of a table that are to be used. The rest is left out and counted by reason.

use super::Table;
use super::martians;
use ipnet::IpNet;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::net::IpAddr;

/// Why a prefix is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Of the family that is not wanted.
    Family,
    /// `0.0.0.0/0` or `::/0`.
    DefaultRoute,
    /// Never a destination on the Internet: see [`martians`](super::martians).
    Martian,
    /// Within a network or address that the machine has itself: it would draw away what is delivered there.
    Local,
    /// Holds an address that a user is logged in from: answers to it would go where the table says.
    LoggedInFrom,
    /// Overlaps with what the caller excluded.
    Excluded,
    /// Not drawn into the sample.
    NotSampled,
    /// Beyond the maximum.
    BeyondMaximum,
}

impl Class {
    /// Every class, in the order in which they are tried: the first that fits counts.
    pub const ALL: [Self; 8] = [
        Self::Family,
        Self::DefaultRoute,
        Self::Martian,
        Self::Local,
        Self::LoggedInFrom,
        Self::Excluded,
        Self::NotSampled,
        Self::BeyondMaximum,
    ];

    /// As printed and recorded.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Family => "other family",
            Self::DefaultRoute => "default route",
            Self::Martian => "martian",
            Self::Local => "local network",
            Self::LoggedInFrom => "covers the address you are logged in from",
            Self::Excluded => "excluded",
            Self::NotSampled => "not in the sample",
            Self::BeyondMaximum => "beyond the maximum",
        }
    }
}

/// A sample of this many prefixes, the same ones for the same seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Prefixes, both families together.
    pub prefixes: usize,
    /// Decides which. The smaller of two samples of one seed is part of the larger.
    pub seed: u64,
}

/// What to leave out. The default leaves out the default route and martians. The caller adds local networks and
/// the addresses that users are logged in from.
#[derive(Clone, Debug)]
pub struct ChooseOptions {
    /// Use IPv4.
    pub v4: bool,
    /// Use IPv6.
    pub v6: bool,
    /// Keep the default routes.
    pub keep_default_route: bool,
    /// Keep martians.
    pub keep_martians: bool,
    /// Networks and addresses of the machine the table is for.
    pub local: Vec<IpNet>,
    /// Addresses that users are logged in from.
    pub logged_in_from: Vec<IpAddr>,
    /// Leave out every prefix that overlaps one of these.
    pub exclude: Vec<IpNet>,
    /// Draw a sample.
    pub sample: Option<Sample>,
    /// Keep at most this many, IPv4 first, in order of address.
    pub max: Option<usize>,
}

impl Default for ChooseOptions {
    fn default() -> Self {
        Self {
            v4: true,
            v6: true,
            keep_default_route: false,
            keep_martians: false,
            local: Vec::new(),
            logged_in_from: Vec::new(),
            exclude: Vec::new(),
            sample: None,
            max: None,
        }
    }
}

/// How many were left out, by class and family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut([Families; Class::ALL.len()]);

/// Prefixes of each family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Families {
    /// IPv4.
    pub v4: u64,
    /// IPv6.
    pub v6: u64,
}

impl Families {
    /// Counts a table.
    #[must_use]
    pub fn from_table(table: &Table) -> Self {
        Self {
            v4: table.v4.len() as u64,
            v6: table.v6.len() as u64,
        }
    }

    /// Of both.
    #[must_use]
    pub fn total(self) -> u64 {
        self.v4 + self.v6
    }
}

impl LeftOut {
    /// Prefixes of this class.
    #[must_use]
    pub fn count(&self, class: Class) -> Families {
        self.0[class as usize]
    }

    /// Prefixes of all classes.
    #[must_use]
    pub fn total(&self) -> Families {
        let sum = |sum: Families, more: &Families| Families {
            v4: sum.v4 + more.v4,
            v6: sum.v6 + more.v6,
        };
        self.0.iter().fold(Families::default(), sum)
    }

    /// Classes and counts, only those there are.
    pub fn iter(&self) -> impl Iterator<Item = (Class, Families)> + '_ {
        let all = Class::ALL
            .into_iter()
            .map(|class| (class, self.count(class)));
        all.filter(|(_, count)| count.total() > 0)
    }

    /// Adds the difference of two counts.
    fn add(&mut self, class: Class, before: Families, after: Families) {
        let count = &mut self.0[class as usize];
        count.v4 += before.v4 - after.v4;
        count.v6 += before.v6 - after.v6;
    }
}

/// What was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The prefixes to use.
    pub table: Table,
    /// Those left out of the table that was given.
    pub left_out: LeftOut,
}

/// Chooses. Each prefix that is not in the result stands in exactly one class.
#[must_use]
pub fn choose(table: Table, options: &ChooseOptions) -> Chosen {
    let mut left_out = LeftOut::default();
    let mut table = table;
    table.v4.retain(|&prefix| {
        let class = class_of(prefix.into(), options);
        class
            .inspect(|&class| left_out.0[class as usize].v4 += 1)
            .is_none()
    });
    table.v6.retain(|&prefix| {
        let class = class_of(prefix.into(), options);
        class
            .inspect(|&class| left_out.0[class as usize].v6 += 1)
            .is_none()
    });
    let before = Families::from_table(&table);
    if let Some(sample) = options.sample {
        draw(&mut table, sample);
    }
    let sampled = Families::from_table(&table);
    left_out.add(Class::NotSampled, before, sampled);
    if let Some(max) = options.max {
        table.v4.truncate(max);
        table.v6.truncate(max - table.v4.len());
    }
    left_out.add(Class::BeyondMaximum, sampled, Families::from_table(&table));
    table.v4.shrink_to_fit();
    table.v6.shrink_to_fit();
    Chosen { table, left_out }
}

fn class_of(prefix: IpNet, options: &ChooseOptions) -> Option<Class> {
    let wanted = match prefix {
        IpNet::V4(_) => options.v4,
        IpNet::V6(_) => options.v6,
    };
    if !wanted {
        return Some(Class::Family);
    }
    if prefix.prefix_len() == 0 {
        return (!options.keep_default_route).then_some(Class::DefaultRoute);
    }
    if !options.keep_martians && martians::is_martian(prefix) {
        return Some(Class::Martian);
    }
    if options.local.iter().any(|local| local.contains(&prefix)) {
        return Some(Class::Local);
    }
    if options
        .logged_in_from
        .iter()
        .any(|from| prefix.contains(from))
    {
        return Some(Class::LoggedInFrom);
    }
    let excluded = |other: &IpNet| other.contains(&prefix) || prefix.contains(other);
    options
        .exclude
        .iter()
        .any(excluded)
        .then_some(Class::Excluded)
}

/// Keeps those whose keyed hash is lowest. A prefix has its hash from itself and the seed alone, so that
/// samples of one seed nest, and one prefix more or less in the table changes one in the sample.
fn draw(table: &mut Table, sample: Sample) {
    if table.len() <= sample.prefixes {
        return;
    }
    let Some(last) = sample.prefixes.checked_sub(1) else {
        *table = Table::default();
        return;
    };
    let mut hashes: Vec<u64> = table
        .iter()
        .map(|prefix| prefix_hash(prefix, sample.seed))
        .collect();
    let (_, &mut bound, _) = hashes.select_nth_unstable(last);
    // Equal hashes are so rare that one prefix too many is the worst: the last ones go.
    let (v4, v6) = (&mut table.v4, &mut table.v6);
    v4.retain(|&prefix| prefix_hash(prefix.into(), sample.seed) <= bound);
    v6.retain(|&prefix| prefix_hash(prefix.into(), sample.seed) <= bound);
    v4.truncate(sample.prefixes);
    v6.truncate(sample.prefixes - v4.len());
}

/// A prefix and a seed, mixed to 64 bits that look random: three steps of splitmix64.
#[must_use]
pub fn prefix_hash(prefix: IpNet, seed: u64) -> u64 {
    let (high, low) = match prefix {
        IpNet::V4(prefix) => (0, u64::from(u32::from(prefix.addr())) | 1 << 40),
        IpNet::V6(prefix) => {
            let address = u128::from(prefix.addr());
            ((address >> 64) as u64, address as u64)
        }
    };
    let length = u64::from(prefix.prefix_len()) << 56;
    mix(mix(mix(seed).wrapping_add(high)).wrapping_add(low ^ length))
}

fn mix(value: u64) -> u64 {
    SplitMix64::seed_from_u64(value).next_u64()
}

#[cfg(test)]
mod tests;
