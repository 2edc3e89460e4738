//! A table in the DUT of a bed: every route to the tester's receiving port, loaded, counted back, cleared.

use super::Table;
use super::fib::{self, FibError, LoadPlan, Loaded, MAIN_TABLE, Pointing, Spread};
use crate::bed::{Bed, Side};
use crate::destinations::{BED_V4, BED_V6};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Loads the table into the DUT's main routing table, by port D, and counts it back. `progress` hears now and
/// then how many requests have been handled.
///
/// # Errors
/// As [`fib::load`]; routes of ours that are there already, for nobody could tell them from these afterwards.
pub fn load_on(
    bed: &Bed,
    table: &Table,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Loaded, FibError> {
    load_by(bed, table, 1, progress)
}

/// As [`load_on`], by so many next hops, all of them the tester's receiving port. A prefix has the same next hop
/// whatever else the table holds.
///
/// # Errors
/// As [`load_on`].
pub fn load_by(
    bed: &Bed,
    table: &Table,
    next_hops: u16,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Loaded, FibError> {
    let plan = LoadPlan {
        via: fib::next_hops(bed, next_hops),
        spread: Spread::Hash,
        pointing: Pointing::Best,
        table: MAIN_TABLE,
        metric: None,
    };
    let before = bed.netns(Side::B).run(|| fib::contents(None))??.total();
    if before > 0 {
        return Err(FibError::BadPlan(format!(
            "bed {name} holds {before} loaded routes already: clear them first (mpps table clear --bed {name})",
            name = bed.name()
        )));
    }
    fib::load_into(bed, table, &plan, progress)
}

/// The bed's own networks: no table may draw away what is delivered there.
#[must_use]
pub fn bed_networks() -> Vec<IpNet> {
    let v4 = Ipv4Net::new_assert(Ipv4Addr::from(BED_V4.0), BED_V4.1);
    let v6 = Ipv6Net::new_assert(Ipv6Addr::from(BED_V6.0), BED_V6.1);
    vec![v4.into(), v6.into()]
}

/// Clears from the DUT what [`load_on`] loaded. A bed that is lowered needs none.
///
/// # Errors
/// As [`fib::clear_from`].
pub fn clear_on(bed: &Bed) -> Result<(), FibError> {
    fib::clear_from(bed).map(drop)
}
