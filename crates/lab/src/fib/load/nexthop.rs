//! Nexthop objects for the gateways of a load: existing ones of ours are used again, missing ones made.

use super::{FibError, Job, Via};
use crate::fib::clear::objects;
use crate::fib::{NEXTHOPS, PROTOCOL};
use mpps_linux::routes::nexthops::{self, Nexthop};

/// Says where each family's routes point, and makes the nexthop objects for it.
pub(super) fn point(jobs: &mut [Job<'_>], by_objects: bool) -> Result<(), FibError> {
    if !by_objects {
        for job in jobs {
            let plain = |(gateway, interface): &(&super::Gateway, u32)| {
                Via::Gateway(gateway.address, *interface)
            };
            job.via = job.gateways.iter().map(plain).collect();
        }
        return Ok(());
    }
    let mut there = objects()?;
    let mut made = Vec::new();
    let pointed = jobs
        .iter_mut()
        .try_for_each(|job| point_job(job, &mut there, &mut made));
    if pointed.is_err() {
        for id in made {
            // The first error is the one to tell; no route points to it yet.
            let _gone = nexthops::delete(id);
        }
    }
    pointed
}

fn point_job(
    job: &mut Job<'_>,
    there: &mut Vec<Nexthop>,
    made: &mut Vec<u32>,
) -> Result<(), FibError> {
    for (gateway, interface) in &job.gateways {
        let fits = |object: &&Nexthop| {
            object.gateway == Some(gateway.address) && object.interface == Some(*interface)
        };
        let id = match there.iter().find(fits) {
            Some(object) => object.id,
            None => {
                let object = make(gateway, *interface, there)?;
                made.push(object.id);
                there.push(object);
                object.id
            }
        };
        job.via.push(Via::Nexthop(id));
    }
    Ok(())
}

fn make(gateway: &super::Gateway, interface: u32, there: &[Nexthop]) -> Result<Nexthop, FibError> {
    let free = |id: &u32| there.iter().all(|object| object.id != *id);
    let id = NEXTHOPS.clone().find(free).ok_or(FibError::NoNexthopLeft)?;
    nexthops::add(id, gateway.address, interface, PROTOCOL)?;
    Ok(Nexthop {
        id,
        protocol: PROTOCOL,
        gateway: Some(gateway.address),
        interface: Some(interface),
    })
}
