//! A table in the DUT of a bed. By default all routes point to the tester's receiving port, D.

use super::gateway::interface_of;
use super::{
    Cleared, Family, FibError, Gateway, LoadPlan, Loaded, PROTOCOL, clear, contents, load, ours,
};
use crate::bed::Bed;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use mpps_linux::links;
use mpps_linux::netns::NetNs;
use mpps_tables::Table;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Next hops of a bed at most: each has a nexthop object of its own.
pub const NEXT_HOPS_MAX: u16 = 1_024;

/// The networks of each bed: no loaded prefix may draw away what the DUT delivers or answers there.
#[must_use]
pub fn bed_networks() -> Vec<IpNet> {
    let v4 = Ipv4Net::new_assert(Ipv4Addr::new(198, 18, 0, 0), 15);
    let v6 = Ipv6Net::new_assert(Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48);
    vec![v4.into(), v6.into()]
}

/// Loads the table for a measurement: into an empty main table of the DUT, by this many next hops, all of them the
/// tester's receiving port. A prefix has the same next hop whatever else the table holds.
///
/// # Errors
/// As [`load_into`]; routes of ours are there already, and could not be told from these.
pub fn load_by(
    bed: &Bed,
    table: &Table,
    next_hops: u16,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Loaded, FibError> {
    let before = router(bed)?.run(|| contents(None))??.total();
    if before > 0 {
        return Err(FibError::BadPlan(format!(
            "bed {name} holds {before} loaded routes already: clear them first (mpps table clear --bed {name})",
            name = bed.name()
        )));
    }
    let plan = LoadPlan::new(self::next_hops(bed, next_hops));
    load_into(bed, table, &plan, progress)
}

/// Loads the table into the DUT's FIB and counts it back, as [`load`]. A plan without gateways means the
/// tester's receiving port. Other gateways become static neighbours of the DUT with the tester's MAC
/// address, so that their frames arrive without a resolution. [`clear_from`] removes them.
///
/// # Errors
/// As [`load`]; a gateway that is on none of the DUT's two links.
pub fn load_into(
    bed: &Bed,
    table: &Table,
    plan: &LoadPlan,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Loaded, FibError> {
    let mut plan = plan.clone();
    if plan.via.is_empty() {
        plan.via = next_hops(bed, 1);
    }
    router(bed)?.run(|| {
        let loaded = add_neighbours(bed, &plan.via).and_then(|()| load(table, &plan, progress));
        if loaded.is_err() && contents(None).is_ok_and(|left| left.total() == 0) {
            // The first error is the one to tell.
            let _removed = remove_neighbours();
        }
        loaded
    })?
}

/// Clears the DUT's FIB as [`clear`], and removes the neighbours that [`load_into`] added.
///
/// # Errors
/// As [`clear`]; a neighbour could not be removed.
pub fn clear_from(bed: &Bed) -> Result<Cleared, FibError> {
    router(bed)?.run(|| {
        let cleared = clear()?;
        remove_neighbours()?;
        Ok(cleared)
    })?
}

/// Our routes in the DUT, and how many next hops they have; `None` without any.
///
/// # Errors
/// The FIB could not be dumped; the DUT's owner alone gets at it.
pub fn held(bed: &Bed) -> Result<Option<(Table, u16)>, FibError> {
    router(bed)?.run(|| {
        let (mut prefixes, mut next_hops) = (Vec::new(), 0);
        for family in Family::ALL {
            let routes = ours(family)?;
            let gateways: BTreeSet<_> = routes.iter().map(|route| route.gateway).collect();
            next_hops = next_hops.max(gateways.len());
            prefixes.extend(routes.iter().map(|route| route.prefix));
        }
        let next_hops = u16::try_from(next_hops).unwrap_or(NEXT_HOPS_MAX);
        Ok((next_hops > 0).then(|| (Table::from_prefixes(prefixes), next_hops)))
    })?
}

/// Where the router of a bed has its routes.
///
/// # Errors
/// The DUT's owner alone gets at them.
pub fn router(bed: &Bed) -> Result<&NetNs, FibError> {
    let refuse = || {
        FibError::BadPlan(
            "an external device has its own FIB: load routes on the device itself".to_owned(),
        )
    };
    bed.dut().netns().ok_or_else(refuse)
}

/// This many next hops of each family behind the DUT's outgoing port: the address of the tester's receiving port, and
/// those that follow it.
pub(super) fn next_hops(bed: &Bed, count: u16) -> Vec<Gateway> {
    let [_, end] = bed.tester();
    let gateway = |address: IpAddr| Gateway {
        address,
        interface: None,
    };
    let each = |n: u16| {
        [
            gateway(Ipv4Addr::from(u32::from(end.v4) + u32::from(n)).into()),
            gateway(Ipv6Addr::from(u128::from(end.v6) + u128::from(n)).into()),
        ]
    };
    (0..count.max(1)).flat_map(each).collect()
}

pub(super) fn add_neighbours(bed: &Bed, gateways: &[Gateway]) -> Result<(), FibError> {
    for gateway in gateways {
        let behind = interface_of(gateway)?;
        let links = bed.dut().ports().into_iter().flatten().zip(bed.tester());
        let Some((own, tester)) = links.into_iter().find(|(own, _)| own.ifindex == behind) else {
            let why = "it is behind none of the bed's links".to_owned();
            return Err(FibError::NotOnLink(gateway.to_string(), why));
        };
        // The bed made a neighbour of the tester itself.
        if gateway.address != IpAddr::V4(tester.v4) && gateway.address != IpAddr::V6(tester.v6) {
            let (link, address) = (&own.name, gateway.address);
            links::add_neighbour_by(link, address, tester.mac, PROTOCOL)?;
        }
    }
    Ok(())
}

fn remove_neighbours() -> Result<(), FibError> {
    for neighbour in links::neighbours()? {
        if neighbour.protocol == PROTOCOL {
            links::remove_neighbour(&neighbour)?;
        }
    }
    Ok(())
}
