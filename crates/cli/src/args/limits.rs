//! `mpps limits`.

use super::quantity::{link_speed, memory_bandwidth, pcie};
use clap::Args;
use mpps_method::LinkSpeed;
use mpps_method::limits::{Bus, MemoryBandwidth, Packets};

/// Arguments of `mpps limits`.
#[derive(Args, Debug)]
pub struct LimitsArgs {
    /// Speeds of links, bit/s (25G, 25GbE)
    #[arg(long, value_name = "SPEEDS", value_delimiter = ',', default_value = "10G,40G,100G", value_parser = link_speed)]
    pub link_speed: Vec<LinkSpeed>,
    /// Frame sizes in octets, FCS included, as `mpps throughput --frame` takes them
    #[arg(
        long,
        value_name = "SIZES",
        default_value = "64,128,256,512,1024,1280,1518,imix"
    )]
    pub frame: String,
    /// PCI Express between NIC and memory: generation 1 to 7, and lanes
    #[arg(long, value_name = "GENxLANES", default_value = "3x8", value_parser = pcie, help_heading = "Bus")]
    pub pcie: Bus,
    /// Payload of a PCI Express packet at most, octets (128 to 4096; `lspci -vv` shows it as MaxPayload)
    #[arg(long, value_name = "OCTETS", default_value_t = Packets::MAX_PAYLOAD, help_heading = "Bus")]
    pub max_payload: u16,
    /// Octets of header, framing and check around each payload (20 with addresses of 32 bits)
    #[arg(long, value_name = "OCTETS", default_value_t = Packets::OVERHEAD, help_heading = "Bus")]
    pub tlp_overhead: u16,
    /// Octets of a frame's descriptor, moved by cache lines; 0 counts none
    #[arg(long, value_name = "OCTETS", default_value_t = Packets::DESCRIPTOR, help_heading = "Bus")]
    pub descriptor: u16,
    /// Bandwidth of the memory, octets/s (M, G), or a double data rate bus by clock in MHz and width in bits (1600x64)
    #[arg(long, value_name = "RATE", value_parser = memory_bandwidth, help_heading = "Memory")]
    pub memory: Option<MemoryBandwidth>,
    /// Measure this machine's memory: access time and copy rate by size on one CPU, and the copy rate of all CPUs at once
    #[cfg(feature = "measure")]
    #[arg(long, conflicts_with = "memory", help_heading = "Memory")]
    pub measure: bool,
    /// Print the result as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}
