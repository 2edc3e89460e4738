//! What a bed is to be.

use super::{BedError, CpuSplit, DutPlan, names};
use crate::dut::Front;
use mpps_ebpf::instruments::nic::{QUEUES_MAX, RING_MAX};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

mpps_method::named! {
    /// Key of the RSS hash.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum RssKey {
        /// Microsoft's, as most drivers have it.
        Default = "default",
        /// Both directions of a flow on one queue.
        Symmetric = "symmetric",
    }
}

mpps_method::named! {
    /// Which of the kernel's interfaces the tester works with, where there is an older and a newer one.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Interfaces {
        /// The newer wherever this kernel has it.
        #[default]
        Newest = "newest",
        /// Those that Linux 6.1 has, on every kernel: to compare kernels with the same tester.
        Oldest = "oldest",
        /// The same without programs for traffic control, as of a kernel with neither tcx nor filters.
        Fewest = "fewest",
    }
}

/// Frames a receive ring holds when nothing else is asked for, as many a NIC's.
pub const RX_RING: u32 = 4096;

/// A bed to raise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BedPlan {
    /// The user's name for it; without one the run's id serves.
    pub name: Option<String>,
    /// The front.
    pub nic: Front,
    /// Receive queues, 1 to 64.
    pub queues: u16,
    /// Frames a receive ring holds, 8 to 16384 (cpumap front).
    pub rx_ring: u32,
    /// Key of the RSS hash.
    pub rss: RssKey,
    /// Who runs where.
    pub cpus: CpuSplit,
    /// Which of the kernel's interfaces the tester works with.
    #[serde(default)]
    pub interfaces: Interfaces,
    /// The user's own configuration, run in the DUT's namespace.
    pub dut_setup: Option<PathBuf>,
    /// Filters that each forwarded frame passes, 1 to [`FILTERS_MAX`](super::FILTERS_MAX).
    #[serde(default)]
    pub filters: Option<u16>,
    /// What is under test.
    #[serde(default)]
    pub dut: DutPlan,
}

impl BedPlan {
    /// What a bed is when nothing but its CPUs is said: one queue of the virtual NIC with a ring of [`RX_RING`] frames, the
    /// newest interfaces, a DUT as the kernel makes it. What else is wanted is said over it (`..BedPlan::usual(cpus)`).
    #[must_use]
    pub const fn usual(cpus: CpuSplit) -> Self {
        Self {
            name: None,
            nic: Front::Cpumap,
            queues: 1,
            rx_ring: RX_RING,
            rss: RssKey::Default,
            cpus,
            interfaces: Interfaces::Newest,
            dut_setup: None,
            filters: None,
            dut: DutPlan::Kernel,
        }
    }

    /// Queues of each port of the cables: as many as the DUT receives with, or as CPUs transmit.
    #[must_use]
    pub fn port_queues(&self) -> u32 {
        u32::from(self.queues).max(u32::try_from(self.cpus.dut.len()).unwrap_or(1))
    }

    /// Receive queues if only the first `cpus` CPUs of the DUT serve them. Each CPU keeps its number of queues: more queues on
    /// a CPU would cost more, and uneven ones fill one CPU first.
    #[must_use]
    pub fn queues_on(&self, cpus: Option<usize>) -> u16 {
        let all = self.cpus.dut.len().max(1);
        let queues = usize::from(self.queues) * cpus.unwrap_or(all).min(all) / all;
        u16::try_from(queues.max(1)).unwrap_or(self.queues)
    }

    /// Refuses what no bed can be.
    ///
    /// # Errors
    /// The first member that makes no sense.
    pub fn check(&self) -> Result<(), BedError> {
        if let Some(name) = &self.name {
            names::check(name)?;
        }
        if self.queues == 0 || usize::from(self.queues) > QUEUES_MAX {
            return Err(BedError::BadPlan(format!(
                "{} queues: give 1 to {QUEUES_MAX}",
                self.queues
            )));
        }
        if self.queues > 1 && self.nic != Front::Cpumap {
            return Err(BedError::BadPlan(format!(
                "{} queues with --nic {}: a veth puts all that one CPU sends into one queue; take --nic cpumap, or --queues 1",
                self.queues,
                self.nic.name()
            )));
        }
        if !(8..=RING_MAX).contains(&self.rx_ring) {
            return Err(BedError::BadPlan(format!(
                "a ring of {} frames: give 8 to {RING_MAX}",
                self.rx_ring
            )));
        }
        let no_dut = self.cpus.dut.is_empty() && self.dut.planned().needs_cpus();
        if no_dut || self.cpus.tester.is_empty() {
            return Err(BedError::BadPlan(
                "no CPU for DUT or tester: give one each".to_owned(),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_cpus_have_as_many_queues_each() {
        let plan = |queues| BedPlan {
            queues,
            ..BedPlan::usual(CpuSplit {
                dut: vec![1, 2, 3, 4],
                tester: vec![0],
            })
        };
        let on = [Some(1), Some(3), Some(4), Some(9), None];
        assert_eq!(on.map(|cpus| plan(4).queues_on(cpus)), [1, 3, 4, 4, 4]);
        assert_eq!(on.map(|cpus| plan(8).queues_on(cpus)), [2, 6, 8, 8, 8]);
        assert_eq!(on.map(|cpus| plan(1).queues_on(cpus)), [1; 5]);
    }
}
