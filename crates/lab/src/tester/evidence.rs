//! Counters on the router's path that only `mpps explain` attaches: polls of its threads, and dropped packets by the
//! kernel's reason.

use crate::tester::Tester;
use crate::tester::error::TesterError;
use crate::tester::programs::drops::DropProbe;
use crate::tester::programs::{self, maps, trace};
use crate::traffic::ReceiverPlace;
use libbpf_rs::{Link, MapCore, MapFlags};
use mpps_ebpf::instruments::evidence::{EvidenceSkel, EvidenceSkelBuilder, Polls};
use mpps_linux::netns::NetNs;
use std::collections::BTreeMap;

/// The reason of frames that an exit's program takes.
const EXIT: &str = "TC_EGRESS";

/// Loaded counters. They count while what attaching returned lives.
pub struct EvidenceProbe {
    polls: EvidenceSkel<'static>,
    drops: DropProbe,
    /// Where the receiver's program takes frames off the DUT's path.
    exits: Vec<u32>,
}

impl EvidenceProbe {
    /// Loads what counts the polls of the DUT's threads and the drops in its namespace.
    pub fn load(tester: &Tester<'_>) -> Result<Self, TesterError> {
        let open = programs::open(EvidenceSkelBuilder::default(), "open the probes of polls")?;
        let polls = programs::load(open, "load the probes of polls")?;
        for (tid, _) in tester.dut_threads() {
            let value = 0_u32.to_ne_bytes();
            let done = (polls.maps.threads).update(&tid.to_ne_bytes(), &value, MapFlags::ANY);
            done.map_err(|e| TesterError::bpf("name a thread whose polls count", &e))?;
        }
        let at_exit = tester.traffic.receiver == ReceiverPlace::Exit;
        let ways = tester.ways().into_iter().filter(|_| at_exit);
        let exits = ways.filter_map(|way| Some(way.dut?.outgoing.ifindex));
        Ok(Self {
            polls,
            drops: DropProbe::load(tester.bed.dut().netns().map_or(0, NetNs::inode))?,
            exits: exits.collect(),
        })
    }

    /// Begins to count polls.
    pub fn attach_polls(&self) -> Result<[Link; 2], TesterError> {
        let attached = "attach the probes of polls";
        Ok([
            trace(&self.polls.progs.cpumap_polls, attached)?,
            trace(&self.polls.progs.napi_polls, attached)?,
        ])
    }

    /// Begins to count drops. This costs each packet that is dropped some time.
    pub fn attach_drops(&self) -> Result<Link, TesterError> {
        self.drops.attach()
    }

    /// The polls so far, by CPU.
    pub fn polls(&self) -> Result<Vec<Polls>, TesterError> {
        maps::read_per_cpu(&self.polls.maps.polls, 0, "read the polls")
    }

    /// Packets dropped so far, by reason. A frame that was received at the exit is none.
    pub fn drops(&self) -> Result<BTreeMap<String, u64>, TesterError> {
        let mut drops = BTreeMap::new();
        for (dropped, packets) in self.drops.read()? {
            if dropped.reason != EXIT || !self.exits.contains(&dropped.ifindex) {
                *drops.entry(dropped.reason).or_default() += packets;
            }
        }
        Ok(drops)
    }
}
