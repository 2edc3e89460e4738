//! `mpps calibrate`.

use super::choice::{FAULTS, INTERFACES, RECEIVERS, one_of};
use super::{CpuArgs, DestinationArgs, OutputArgs};
use clap::{Args, value_parser};
use mpps_lab::bed::{FILTERS_MAX, Interfaces};
use mpps_lab::jobs::calibrate::FaultKind;
use mpps_lab::tester::{QUERIES_MAX, ReceiverPlace};

/// Arguments of `mpps calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateArgs {
    /// Only these faults: loss, duplicates, reordering, policer, ring, cost, delay [default: all]
    #[arg(long, value_name = "FAULTS", value_delimiter = ',', value_parser = one_of(FAULTS), hide_possible_values = true)]
    pub only: Vec<FaultKind>,
    /// Use a bed kept by `mpps bed up NAME --queues 1`, not a new one
    #[arg(long = "bed", value_name = "NAME", help_heading = "Bed",
          conflicts_with_all = ["rx_ring", "kernel_interfaces", "dut_cpus", "tester_cpus", "filters"])]
    pub kept_bed: Option<String>,
    /// Size of the receive ring, which the meter must find: 1024 to 16384 frames [default: 4096]
    #[arg(long, value_name = "FRAMES", help_heading = "Bed")]
    pub rx_ring: Option<u32>,
    /// Kernel interfaces that the tester uses: newest, or oldest (those of Linux 6.1)
    #[arg(long, value_name = "AGE", value_parser = one_of(INTERFACES), default_value = "newest", hide_possible_values = true,
          help_heading = "Bed")]
    pub kernel_interfaces: Interfaces,
    /// Where frames are received and counted: exit (at the egress of the router's outgoing port) or port (at the tester's
    /// own port) [default: exit where the tester has one CPU, else port]
    #[arg(long, value_name = "PLACE", value_parser = one_of(RECEIVERS), hide_possible_values = true,
          help_heading = "Bed")]
    pub receiver: Option<ReceiverPlace>,
    /// Number of nft rules in the router's forward path; only the last one matches, and it accepts (RFC 2544 11.4)
    #[arg(long, value_name = "N", help_heading = "Bed", value_parser = value_parser!(u16).range(1..=i64::from(FILTERS_MAX)))]
    pub filters: Option<u16>,
    /// Queries to the router itself each second of a trial, 1 to 100 (RFC 2544 11.2). Without N it is 1
    #[arg(long, value_name = "N", help_heading = "Traffic", num_args = 0..=1, default_missing_value = "1",
          value_parser = value_parser!(u16).range(1..=i64::from(QUERIES_MAX)))]
    pub management_traffic: Option<u16>,
    /// Routes to load, destinations to draw from them, and changes of these routes.
    #[command(flatten)]
    pub destinations: DestinationArgs,
    /// The CPUs of the bed it raises for itself.
    #[command(flatten)]
    pub cpus: CpuArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}
