//! Which part of the kernel receives for a router of ours.

use serde::{Deserialize, Serialize};

/// The veth's own ring, which the napi and softirq fronts receive with (drivers/net/veth.c, VETH_RING_SIZE).
pub const VETH_RING: u32 = 256;

mpps_method::named! {
    /// Which part of the kernel receives at the DUT's port.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Front {
        /// A virtual NIC: RSS, rings of any size, a kthread a ring.
        Cpumap = "cpumap",
        /// The veth's own NAPI, in a thread.
        Napi = "napi",
        /// The veth's NAPI in softirq, RPS to the DUT's CPUs.
        Softirq = "softirq",
    }
}
