//! `mpps calibrate`.

use super::choice::{INTERFACES, RECEIVERS, one_of};
use super::{CpuArgs, OutputArgs};
use clap::Args;
use mpps_lab::bed::Interfaces;
use mpps_lab::tester::ReceiverPlace;

/// Arguments of `mpps calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateArgs {
    /// Use a bed kept by `mpps bed up NAME --queues 1`, not a new one
    #[arg(long = "bed", value_name = "NAME", help_heading = "Bed",
          conflicts_with_all = ["rx_ring", "kernel_interfaces", "dut_cpus", "tester_cpus"])]
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
    #[arg(
        long,
        value_name = "PLACE",
        value_parser = one_of(RECEIVERS),
        hide_possible_values = true,
        help_heading = "Bed"
    )]
    pub receiver: Option<ReceiverPlace>,
    /// The CPUs of the bed it raises for itself.
    #[command(flatten)]
    pub cpus: CpuArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}
