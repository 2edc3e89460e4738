//! A table in the DUT of a bed: by default all of it goes to the tester's receiving end.

use super::gateway::interface_of;
use super::{FibError, Gateway, LoadPlan, Loaded, load};
use crate::bed::{Bed, Side};
use crate::tables::Table;
use mpps_linux::links;
use std::net::IpAddr;

/// Loads the table into the DUT's FIB and counts it back, as [`load`]. A plan without gateways means the
/// tester's receiving port. Other gateways become static neighbours of the DUT with the tester's MAC
/// address: nobody has to be asked for them, and their frames arrive.
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
        plan.via = receiving_end(bed);
    }
    bed.netns(Side::B).run(|| {
        add_neighbours(bed, &plan.via)?;
        load(table, &plan, progress)
    })?
}

/// The tester's receiving port, by both families.
fn receiving_end(bed: &Bed) -> Vec<Gateway> {
    let end = bed.port(Side::D);
    let gateway = |address: IpAddr| Gateway {
        address,
        interface: None,
    };
    vec![gateway(end.v4.into()), gateway(end.v6.into())]
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
        let mac = bed.port(tester).mac;
        links::add_neighbour(&bed.port(own).name, gateway.address, mac)?;
    }
    Ok(())
}
