//! A network interface, as facts tell of it.

use crate::facts::Reading;
use serde::{Deserialize, Serialize};

/// One interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nic {
    /// Its name.
    pub name: String,
    /// `up`, `down`, `unknown`...
    pub state: Reading<String>,
    /// The speed that the link settled on.
    pub link_mbit_per_s: Reading<u64>,
    /// Largest frame's payload.
    pub mtu_octets: Reading<u64>,
    /// The kernel module that drives it.
    pub driver: Reading<Driver>,
    /// Its place on PCI Express.
    pub pcie: Reading<PcieLink>,
    /// Memory node it is at.
    pub numa_node: Reading<i32>,
    /// CPUs of that node ("0-3").
    pub local_cpus: Reading<String>,
    /// Interrupt vectors in use.
    pub interrupt_vectors: Reading<usize>,
    /// Receive queues.
    pub rx_queues: Reading<usize>,
    /// Transmit queues.
    pub tx_queues: Reading<usize>,
    /// Channels, now and at most.
    pub channels: Reading<Channels>,
    /// Entries of its rings, now and at most.
    pub rings: Reading<Rings>,
    /// When it interrupts.
    pub coalescing: Reading<Coalescing>,
    /// Offloads that are on.
    pub offloads_on: Reading<Vec<String>>,
    /// XDP features of its driver.
    pub xdp: Reading<Vec<String>>,
}

/// A driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Driver {
    /// Name.
    pub name: String,
    /// Version of the driver, as it says.
    pub version: String,
    /// Version of the device's firmware; empty where the driver has none.
    pub firmware: String,
    /// Address of the device.
    pub bus: String,
}

/// A PCI Express link against the device's best.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PcieLink {
    /// As the kernel writes it: `8.0 GT/s PCIe`.
    pub speed: Reading<String>,
    /// The device's best.
    pub speed_max: Reading<String>,
    /// How many are in use.
    pub lanes: Reading<u8>,
    /// The device's most.
    pub lanes_max: Reading<u8>,
}

/// Channels (`ethtool -l`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Channels {
    /// That only receive.
    pub rx: u32,
    /// That only transmit.
    pub tx: u32,
    /// That do both.
    pub combined: u32,
    /// Most that only receive.
    pub rx_max: u32,
    /// Most that only transmit.
    pub tx_max: u32,
    /// Most that do both.
    pub combined_max: u32,
}

/// Rings (`ethtool -g`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rings {
    /// Receive.
    pub rx_frames: u32,
    /// Receive, at most.
    pub rx_frames_max: u32,
    /// Transmit.
    pub tx_frames: u32,
    /// Transmit, at most.
    pub tx_frames_max: u32,
}

/// Interrupt coalescing (`ethtool -c`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coalescing {
    /// Time after a frame.
    pub rx_us: u32,
    /// Frames.
    pub rx_frames: u32,
    /// Whether the driver adapts both.
    pub rx_adaptive: bool,
}
