//! A table in the DUT of a bed: by default all of it goes to the tester's receiving end.

use super::gateway::interface_of;
use super::{Cleared, FibError, Gateway, LoadPlan, Loaded, PROTOCOL, clear, load};
use crate::bed::{Bed, Side};
use crate::tables::Table;
use mpps_linux::links;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Next hops of a bed at most: each has a nexthop object of its own.
pub const NEXT_HOPS_MAX: u16 = 1_024;

/// Loads the table into the DUT's FIB and counts it back, as [`load`]. A plan without gateways means the
/// tester's receiving port. Other gateways become static neighbours of the DUT with the tester's MAC
/// address: nobody has to be asked for them, and their frames arrive. [`clear_from`] removes them.
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
    bed.netns(Side::B).run(|| {
        let loaded = add_neighbours(bed, &plan.via).and_then(|()| load(table, &plan, progress));
        if loaded.is_err() && super::contents(None).is_ok_and(|left| left.total() == 0) {
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
    bed.netns(Side::B).run(|| {
        let cleared = clear()?;
        remove_neighbours()?;
        Ok(cleared)
    })?
}

/// So many next hops of each family behind the DUT's outgoing port: the address of the tester's receiving port, and
/// those that follow it.
#[must_use]
pub fn next_hops(bed: &Bed, count: u16) -> Vec<Gateway> {
    let end = bed.port(Side::D);
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

fn add_neighbours(bed: &Bed, gateways: &[Gateway]) -> Result<(), FibError> {
    for gateway in gateways {
        let behind = interface_of(gateway)?;
        let sides = [(Side::B, Side::A), (Side::C, Side::D)];
        let side = sides
            .into_iter()
            .find(|(own, _)| bed.port(*own).ifindex == behind);
        let Some((own, tester)) = side else {
            let why = "it is behind none of the bed's links".to_owned();
            return Err(FibError::NotOnLink(gateway.to_string(), why));
        };
        let tester = bed.port(tester);
        // The bed made a neighbour of the tester itself.
        if gateway.address != IpAddr::V4(tester.v4) && gateway.address != IpAddr::V6(tester.v6) {
            let (link, address) = (&bed.port(own).name, gateway.address);
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
