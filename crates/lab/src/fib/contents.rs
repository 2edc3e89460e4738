//! Our routes in the FIB, by a dump: counts by table, family, next hop and length.

use super::{Family, FibError, PROTOCOL, collect};
use mpps_linux::links;
use mpps_linux::routes::{Filter, Route};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Routes of one table and family.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The groups that have routes: by table, family, next hop.
    pub groups: Vec<Group>,
    /// Routes by length, in the order of their fields.
    pub lengths: Vec<Length>,
}

/// Routes that share table, family and length.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Length {
    /// Routing table; 254 is main.
    #[serde(rename = "route_table")]
    pub table: u32,
    /// Family.
    pub family: Family,
    /// Of the prefix.
    #[serde(rename = "length_bits")]
    pub bits: u8,
    /// Routes.
    pub routes: u64,
}

/// Routes that share table, family and next hop.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Group {
    /// Routing table; 254 is main.
    #[serde(rename = "route_table")]
    pub table: u32,
    /// Family.
    pub family: Family,
    /// Metric.
    pub metric: u32,
    /// Gateway; `None` where the kernel does not tell it.
    pub gateway: Option<IpAddr>,
    /// Interface; by number where it has gone.
    pub interface: Option<String>,
    /// Id of the nexthop object.
    #[serde(rename = "nexthop_object")]
    pub nexthop: Option<u32>,
    /// Routes.
    pub routes: u64,
}

impl Contents {
    /// Routes of a family, in all tables.
    #[must_use]
    pub fn count(&self, family: Family) -> u64 {
        let groups = self.groups.iter().filter(|group| group.family == family);
        groups.map(|group| group.routes).sum()
    }

    /// Routes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.groups.iter().map(|group| group.routes).sum()
    }
}

/// Counts our loaded routes, in one table or in all.
///
/// # Errors
/// The FIB could not be dumped.
pub fn contents(table: Option<u32>) -> Result<Contents, FibError> {
    let names: BTreeMap<u32, String> = links::list()?
        .into_iter()
        .map(|link| (link.index, link.name))
        .collect();
    let mut contents = Contents::default();
    for family in Family::ALL {
        let filter = Filter {
            table,
            protocol: Some(PROTOCOL),
        };
        add(&mut contents, family, &collect(family, &filter)?, &names);
    }
    contents.groups.sort();
    contents.lengths.sort_unstable();
    Ok(contents)
}

fn add(contents: &mut Contents, family: Family, routes: &[Route], names: &BTreeMap<u32, String>) {
    type Key = (u32, u32, Option<IpAddr>, Option<u32>, Option<u32>);
    let mut groups: BTreeMap<Key, u64> = BTreeMap::new();
    let mut lengths: BTreeMap<(u32, u8), u64> = BTreeMap::new();
    for route in routes {
        let key = (
            route.table,
            route.metric,
            route.gateway,
            route.interface,
            route.nexthop,
        );
        *groups.entry(key).or_default() += 1;
        *lengths
            .entry((route.table, route.prefix.prefix_len()))
            .or_default() += 1;
    }
    let name = |index: u32| names.get(&index).cloned().unwrap_or(index.to_string());
    for ((table, metric, gateway, interface, nexthop), routes) in groups {
        contents.groups.push(Group {
            table,
            family,
            metric,
            gateway,
            interface: interface.map(name),
            nexthop,
            routes,
        });
    }
    let lengths = lengths.into_iter();
    let length = lengths.map(|((table, bits), routes)| Length {
        table,
        family,
        bits,
        routes,
    });
    contents.lengths.extend(length);
}
