//! The ledger's tracepoints: what the sending ports and the virtual NIC's rings took and refused.

use crate::tester::error::TesterError;
use crate::tester::programs::{self, maps, trace};
use libbpf_rs::Link;
use mpps_ebpf::instruments::ledger::{LedgerSkel, LedgerSkelBuilder, Taken};
use std::os::fd::{AsFd, BorrowedFd};

/// Attached tracepoints; they are gone when this is dropped.
pub struct LedgerProbe {
    skel: LedgerSkel<'static>,
    _links: [Link; 2],
}

/// A sending port: its namespace's inode and its interface index.
pub type SendingPort = (u64, u32);

impl LedgerProbe {
    /// Watches these sending ports, by direction.
    pub fn attach(ports: &[SendingPort]) -> Result<Self, TesterError> {
        let mut open = programs::open(
            LedgerSkelBuilder::default(),
            "open the ledger's tracepoints",
        )?;
        let rodata = programs::constants(&mut open.maps.rodata_data, "ledger rodata")?;
        for (way, (netns, ifindex)) in ports.iter().enumerate() {
            rodata.port_netns[way] = u32::try_from(*netns).unwrap_or(0);
            rodata.port_ifindex[way] = *ifindex;
        }
        let skel = programs::load(open, "load the ledger's tracepoints")?;
        let attached = "attach the ledger's tracepoints";
        let links = [
            trace(&skel.progs.port_transmits, attached)?,
            trace(&skel.progs.ring_enqueues, attached)?,
        ];
        Ok(Self {
            skel,
            _links: links,
        })
    }

    /// Counts these rings (CPUMAP ids) for a direction.
    pub fn watch_rings(&self, ids: &[u32], way: u32) -> Result<(), TesterError> {
        for id in ids {
            maps::write(&self.skel.maps.rings, *id, &way, "watch a ring")?;
        }
        Ok(())
    }

    /// The map of the counts, for the sender, which backs off by it.
    #[must_use]
    pub fn counts(&self) -> BorrowedFd<'_> {
        self.skel.maps.counts.as_fd()
    }

    /// What was taken and refused so far in a direction.
    pub fn read(&self, way: u32) -> Result<Taken, TesterError> {
        let counts = maps::read_per_cpu(&self.skel.maps.counts, way, "read the ledger")?;
        Ok(Taken::from_cpus(&counts))
    }
}
