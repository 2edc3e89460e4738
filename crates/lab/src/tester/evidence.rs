//! Counters on the router's path that only `mpps explain` attaches: polls of its threads, and dropped packets by the
//! kernel's reason.

use crate::clock::{monotonic_ns, wait_until};
use crate::tester::Tester;
use crate::tester::error::TesterError;
use crate::tester::programs::drops::DropProbe;
use crate::tester::programs::{self, maps, trace};
use crate::tester::real_time::RealTime;
use crate::traffic::ReceiverPlace;
use libbpf_rs::{Link, MapHandle};
use mpps_ebpf::instruments::evidence::{EvidenceSkel, EvidenceSkelBuilder, Polls};
use mpps_linux::cpu::CpuSet;
use mpps_linux::netns::NetNs;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// The reason of frames that an exit's program takes.
pub(crate) const EXIT: &str = "TC_EGRESS";

const READ_POLLS: &str = "read the polls";
/// Frames whose polls are counted.
const FRAMES: u64 = 1 << 14;
/// Above the sender, whose CPU it is.
const PRIORITY: u8 = 70;
/// How often a thread looks how many there were.
const LOOK_NS: u64 = 10_000_000;

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
            let name = "name a thread whose polls count";
            maps::write(&polls.maps.threads, tid.cast_unsigned(), &0_u32, name)?;
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

    /// Counts polls until there were `FRAMES` frames in them, or until what this returned is dropped. Each poll that is
    /// counted costs the router time. `cpu` is where a thread looks how many there were.
    pub fn count_polls(&self, cpu: usize) -> Result<RealTime, TesterError> {
        let attached = "attach the probes of polls";
        let links = [
            trace(&self.polls.progs.cpumap_polls, attached)?,
            trace(&self.polls.progs.napi_polls, attached)?,
        ];
        let map = MapHandle::try_from(&self.polls.maps.polls);
        let map = map.map_err(|e| TesterError::bpf(READ_POLLS, &e))?;
        let frames = move || -> Result<u64, TesterError> {
            let polls: Vec<Polls> = maps::read_per_cpu(&map, 0, READ_POLLS)?;
            Ok(polls.iter().map(|cpu| cpu.frames).sum())
        };
        let before = frames()?;
        RealTime::start("mpps-polls", &CpuSet::single(cpu), PRIORITY, move |stop| {
            while !stop.load(Ordering::Acquire)
                && frames().is_ok_and(|frames| frames - before < FRAMES)
            {
                wait_until(monotonic_ns() + LOOK_NS);
            }
            drop(links);
        })
    }

    /// Begins to count drops. This costs each packet that is dropped some time.
    pub fn attach_drops(&self) -> Result<Link, TesterError> {
        self.drops.attach()
    }

    /// The polls so far, by CPU.
    pub fn polls(&self) -> Result<Vec<Polls>, TesterError> {
        maps::read_per_cpu(&self.polls.maps.polls, 0, READ_POLLS)
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
