//! The router of this machine's kernel, in a network namespace.

use super::{Dut, Port};
use mpps_linux::ipstat::{self, IpCounts};
use serde::{Deserialize, Serialize};

/// The veth's own ring, which the napi and softirq fronts receive with (drivers/net/veth.c, VETH_RING_SIZE).
pub const VETH_RING: u32 = 256;

/// Which part of the kernel receives at the DUT's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Front {
    /// A virtual NIC: RSS, rings of any size, a kthread a ring.
    Cpumap,
    /// The veth's own NAPI, in a thread.
    Napi,
    /// The veth's NAPI in softirq, RPS to the DUT's CPUs.
    Softirq,
}

impl Front {
    /// The word on the command line and in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpumap => "cpumap",
            Self::Napi => "napi",
            Self::Softirq => "softirq",
        }
    }
}

/// The router, with what the tester puts before it.
#[derive(Debug)]
pub struct KernelRouter {
    /// Its ports, before the tester's first and second.
    pub ports: [Port; 2],
    /// Which part of the kernel receives.
    pub front: Front,
    /// Frames that a ring of the virtual NIC holds.
    pub rx_ring: u32,
}

impl Dut for KernelRouter {
    fn next_hops(&self) -> [[u8; 6]; 2] {
        self.ports.each_ref().map(|port| port.mac)
    }

    fn ports(&self) -> Option<[&Port; 2]> {
        Some(self.ports.each_ref())
    }

    fn front(&self) -> Option<Front> {
        Some(self.front)
    }

    fn ring_frames(&self) -> Option<u32> {
        Some(match self.front {
            Front::Cpumap => self.rx_ring,
            Front::Napi | Front::Softirq => VETH_RING,
        })
    }

    fn ip_counts(&self, ipv6: bool) -> Result<Option<IpCounts>, mpps_linux::Error> {
        let read = if ipv6 { ipstat::ipv6 } else { ipstat::ipv4 };
        self.ports[0].netns.run(read)?.map(Some)
    }
}
