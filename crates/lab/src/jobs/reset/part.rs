//! The parts of a router that can be reset on a bed of ours, and how. Everything is changed within the DUT's namespace,
//! which goes with the bed.

use super::JobError;
use crate::bed::{self, Bed};
use crate::clock::wait_until;
use crate::fib;
use crate::routes;
use ipnet::IpNet;
use mpps_linux::clock::monotonic_ns;
use mpps_linux::links;
use mpps_linux::routes::{Bulk, Family, Request, Stamp};
use mpps_method::Span;
use mpps_tables::Table;
use std::fmt::Display;

/// What is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The router's outgoing port: down and up.
    Link,
    /// The loaded routes. Without any, the route of the outgoing port's network.
    Routes,
    /// The set-up script is run again.
    SetUp,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Link, Self::Routes, Self::SetUp];

    /// Those that a bed with a set-up script has, or one without.
    #[must_use]
    pub fn all_of(scripted: bool) -> Vec<Self> {
        let is_there = |part: &Self| scripted || *part != Self::SetUp;
        Self::ALL.into_iter().filter(is_there).collect()
    }

    /// The word on the command line and in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Routes => "routes",
            Self::SetUp => "set-up",
        }
    }

    pub(super) fn failed(self, error: &impl Display) -> JobError {
        JobError::Reset {
            reset: self.name(),
            why: error.to_string(),
        }
    }

    /// Notes what has to be put back after the reset.
    pub(super) fn prepare(self, bed: &Bed, ipv6: bool) -> Result<Ready, JobError> {
        Ok(Ready {
            part: self,
            loaded: fib::held(bed)?,
            connected: bed::connected(ipv6),
        })
    }
}

/// A part, and what it loses by the reset.
pub(super) struct Ready {
    part: Part,
    /// Our routes and how many next hops they have.
    loaded: Option<(Table, u16)>,
    /// The network behind the outgoing port.
    connected: IpNet,
}

impl Ready {
    /// Resets the part, and puts back what it lost.
    pub(super) fn reset(&self, bed: &Bed, hold: Span) -> Result<(), JobError> {
        let netns = fib::router(bed)?;
        let port = bed.dut().ports().map_or("", |[_, port]| &port.name);
        let held = || wait_until(monotonic_ns() + hold.as_nanos());
        let load = |(table, next_hops): &(Table, u16)| {
            routes::load(bed, table, *next_hops, &|_| ()).map(drop)
        };
        match (self.part, &self.loaded) {
            (Part::SetUp, _) => bed::run_set_up(bed).map_err(|error| self.part.failed(&error)),
            (Part::Link, loaded) => {
                netns.run(|| {
                    links::set_down(port)?;
                    held();
                    links::set_up(port)?;
                    bed::restore_exit()
                })??;
                let Some(loaded) = loaded else {
                    return Ok(());
                };
                // Neighbours and routes over other ports are left.
                routes::clear(bed)?;
                load(loaded)
            }
            (Part::Routes, Some(loaded)) => {
                routes::clear(bed)?;
                held();
                load(loaded)
            }
            (Part::Routes, None) => {
                let (address, bits) = (self.connected.addr(), self.connected.prefix_len());
                netns.run(|| {
                    remove(self.connected)?;
                    held();
                    links::add_route(address, bits, None, port)
                })??;
                Ok(())
            }
        }
    }
}

/// Removes a route from the main table, whoever made it.
fn remove(network: IpNet) -> Result<(), mpps_linux::Error> {
    let family = match network {
        IpNet::V4(_) => Family::V4,
        IpNet::V6(_) => Family::V6,
    };
    let stamp = Stamp {
        table: fib::MAIN_TABLE,
        protocol: 0,
        metric: None,
    };
    let mut bulk = Bulk::open()?;
    bulk.push(&Request::remove(family, &stamp), network, 1)?;
    bulk.finish().map(drop)
}
