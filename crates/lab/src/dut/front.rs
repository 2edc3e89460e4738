//! Which part of the kernel receives for a router of ours.

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
