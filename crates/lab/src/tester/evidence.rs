//! Counters on the router's path that only `mpps explain` attaches: polls of its threads.

use crate::tester::error::TesterError;
use crate::tester::programs::{self, maps, trace};
use libbpf_rs::{Link, MapCore, MapFlags};
use mpps_ebpf::instruments::evidence::{EvidenceSkel, EvidenceSkelBuilder, Polls};

/// Loaded counters. They count while what [`PollCounter::attach`] returns lives.
pub struct PollCounter {
    skel: EvidenceSkel<'static>,
}

impl PollCounter {
    /// Loads what counts the polls of these threads.
    pub fn load(threads: &[(i32, usize)]) -> Result<Self, TesterError> {
        let open = programs::open(EvidenceSkelBuilder::default(), "open the counters of polls")?;
        let skel = programs::load(open, "load the counters of polls")?;
        for (tid, _) in threads {
            let value = 0_u32.to_ne_bytes();
            let done = (skel.maps.threads).update(&tid.to_ne_bytes(), &value, MapFlags::ANY);
            done.map_err(|e| TesterError::bpf("name a thread whose polls count", &e))?;
        }
        Ok(Self { skel })
    }

    /// Begins to count.
    pub fn attach(&self) -> Result<[Link; 2], TesterError> {
        let attached = "attach the counters of polls";
        Ok([
            trace(&self.skel.progs.cpumap_polls, attached)?,
            trace(&self.skel.progs.napi_polls, attached)?,
        ])
    }

    /// The polls so far, by CPU.
    pub fn read(&self) -> Result<Vec<Polls>, TesterError> {
        maps::read_per_cpu(&self.skel.maps.polls, 0, "read the polls")
    }
}
