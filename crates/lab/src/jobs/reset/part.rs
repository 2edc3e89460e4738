//! The parts of a router that can be reset on a bed of ours, and how. Everything is changed within the DUT's namespace,
//! which goes with the bed.

use super::JobError;
use crate::bed::{self, Bed};
use crate::clock::{wait_for, wait_until};
use crate::fib;
use crate::routes;
use crate::tester::{Nic, Swap, Tester};
use ipnet::IpNet;
use mpps_linux::clock::monotonic_ns;
use mpps_linux::links;
use mpps_linux::netns::NetNs;
use mpps_linux::routes::{Bulk, Family, Request, Stamp};
use mpps_linux::task::{self, Signal};
use mpps_method::Span;
use mpps_tables::Table;
use std::fmt::Display;
use std::path::PathBuf;

/// A killed process dies within this time, ns. It is looked at so often.
const DEATH_LIMIT_NS: u64 = 5_000_000_000;
const DEATH_STEP_NS: u64 = 100_000;

mpps_method::named! {
    /// What is reset.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Part {
        /// The router's outgoing port: down and up.
        Link = "link",
        /// The loaded routes. Without any, the route of the outgoing port's network.
        Routes = "routes",
        /// The set-up script is run again.
        SetUp = "set-up",
        /// A process in the router's namespace: killed, and started again by a script.
        Process = "process",
        /// The XDP program of the incoming port: another takes its place.
        Program = "program",
    }
}

/// How parts are taken away and put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Away {
    /// How long a part stays away before it is put back.
    pub hold: Span,
    /// The process of [`Part::Process`].
    pub process: Option<Process>,
}

/// A process that is reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// As /proc/PID/comm has it. All of this name in the router's namespace are meant.
    pub name: String,
    /// A script that starts it again.
    pub start: PathBuf,
}

impl Process {
    /// Those that live.
    fn pids(&self, router: &NetNs) -> Result<Vec<(i32, u64)>, mpps_linux::Error> {
        let all = router.pids()?.into_iter();
        let named = all.filter(|&pid| task::comm(pid).is_ok_and(|name| name == self.name));
        // A process that has just ended has no time.
        Ok(named
            .filter_map(|pid| Some((pid, task::start_time(pid).ok()?)))
            .collect())
    }

    /// Kills them. Returns when none lives.
    fn kill(&self, router: &NetNs) -> Result<(), JobError> {
        let all_dead = wait_for(DEATH_LIMIT_NS, DEATH_STEP_NS, || {
            let pids = self.pids(router)?;
            for &(pid, started) in &pids {
                task::kill_exact(pid, started, Signal::SIGKILL)?;
            }
            Ok::<_, mpps_linux::Error>(pids.is_empty())
        })?;
        match all_dead {
            true => Ok(()),
            false => Err(Part::Process.failed(&format!("{} does not die", self.name))),
        }
    }
}

impl Part {
    /// Those that a bed has, with a set-up script or without, and with a process to reset or none.
    #[must_use]
    pub fn all_of(scripted: bool, has_process: bool) -> Vec<Self> {
        let is_there = |part: &Self| match part {
            Self::Link | Self::Routes => true,
            Self::SetUp => scripted,
            Self::Process => has_process,
            // On a bed it is the virtual NIC's, so only its name asks for it.
            Self::Program => false,
        };
        Self::ALL.into_iter().filter(is_there).collect()
    }

    pub(super) fn failed(self, error: &impl Display) -> JobError {
        JobError::Reset {
            reset: self.name(),
            why: error.to_string(),
        }
    }

    /// Prepares the reset, and notes what has to be put back after it.
    pub(super) fn prepare<'a>(
        self,
        tester: &mut Tester<'_>,
        away: &'a Away,
    ) -> Result<Ready<'a>, JobError> {
        let bed = tester.bed;
        if let (Self::Process, Some(process)) = (self, &away.process)
            && process.pids(fib::router(bed)?)?.is_empty()
        {
            let name = &process.name;
            return Err(self.failed(&format!("no process {name} runs in the router's namespace")));
        }
        let nic = tester.nics.first_mut();
        let swap = nic.filter(|_| self == Self::Program).map(Nic::swap);
        Ok(Ready {
            part: self,
            away,
            loaded: fib::held(bed)?,
            connected: bed::connected(tester.traffic.ipv6),
            swap: swap.transpose()?,
        })
    }
}

/// A part, and what it loses by the reset.
pub(super) struct Ready<'a> {
    part: Part,
    away: &'a Away,
    /// Our routes and how many next hops they have.
    loaded: Option<(Table, u16)>,
    /// The network behind the outgoing port.
    connected: IpNet,
    swap: Option<Swap>,
}

impl Ready<'_> {
    /// Resets the part, and puts back what it lost.
    pub(super) fn reset(&self, bed: &Bed) -> Result<(), JobError> {
        let netns = fib::router(bed)?;
        let port = bed.dut().ports().map_or("", |[_, port]| &port.name);
        let held = || wait_until(monotonic_ns() + self.away.hold.as_nanos());
        let load = |(table, next_hops): &(Table, u16)| {
            routes::load(bed, table, *next_hops, &|_| ()).map(drop)
        };
        match (self.part, &self.loaded) {
            (Part::SetUp, _) => bed::run_set_up(bed).map_err(|error| self.part.failed(&error)),
            (Part::Program, _) => match &self.swap {
                Some(swap) => Ok(swap.run()?),
                None => Err(self.part.failed(&"the incoming port has no program")),
            },
            (Part::Process, _) => match &self.away.process {
                Some(process) => {
                    process.kill(netns)?;
                    held();
                    bed::run_start(bed, &process.start).map_err(|error| self.part.failed(&error))
                }
                None => Err(self.part.failed(&"no process is named")),
            },
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
