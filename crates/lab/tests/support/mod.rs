//! What the bed tests share: a bed of their own, and the right to say "skipped".
#![allow(dead_code)]

use mpps_lab::bed::{Bed, BedPlan, CpuSplit, Front, RssKey};
use mpps_lab::traffic::Traffic;
use mpps_linux::{cpu, kernel};

/// Whether bed tests can run here. Root on a kernel that is new enough must: a skip there is a failure.
pub fn can_run() -> bool {
    if kernel::effective_uid() != 0 {
        println!("SKIP: needs root for namespaces and eBPF");
        return false;
    }
    let release = kernel::release().expect("a kernel has a release");
    if !release.at_least(6, 8) {
        println!("SKIP: needs Linux 6.8 (docs/kernels.md), this is {release:?}");
        return false;
    }
    true
}

pub fn plan() -> BedPlan {
    let available = cpu::available().expect("affinity");
    BedPlan {
        name: None,
        nic: Front::Cpumap,
        queues: 1,
        rx_ring: 4096,
        rss: RssKey::Default,
        cpus: CpuSplit::choose(&available, None, None).expect("a split"),
        dut_setup: None,
    }
}

pub fn bed() -> Bed {
    Bed::raise(&plan()).unwrap_or_else(|error| panic!("raise: {error}"))
}

pub fn traffic() -> Traffic {
    Traffic::default()
}
