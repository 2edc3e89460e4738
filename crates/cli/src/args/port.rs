//! What carries the frames at the tester's ports, and which ports those are.

use super::choice::{PORTS, RECEIVERS, one_of};
use clap::Args;
use mpps_lab::tester::{PortKind, ReceiverPlace};

/// The tester's ports.
#[derive(Args, Debug)]
#[command(next_help_heading = "Ports")]
pub struct PortArgs {
    /// Kind of the tester's ports: xdp (fastest, frames up to 3400), or af-packet (packet sockets: slower, any Ethernet
    /// port, frames up to 9216)
    /// [default: xdp; with --external af-packet where a port has no XDP]
    #[arg(long, value_name = "KIND", value_parser = one_of(PORTS), hide_possible_values = true)]
    pub port: Option<PortKind>,
    /// Where frames are received and counted: exit or port. The exit is the egress of the router's outgoing port; the
    /// tester's CPU then only sends. The port is the tester's own, behind the cable
    /// [default: exit where the tester has one CPU and the router lets frames pass there, else port]
    #[arg(long, value_name = "PLACE", value_parser = one_of(RECEIVERS), hide_possible_values = true)]
    pub receiver: Option<ReceiverPlace>,
    /// A real pair of ports of this host around any device, instead of a router of its own. The tester sends on OUT and
    /// receives on IN. Both leave the host for as long as the run takes, and come back as they were
    #[arg(long, value_name = "OUT,IN",
          conflicts_with_all = ["kept_bed", "nic", "queues", "rx_ring", "rss", "dut_cpus", "filters", "management_traffic", "dut_setup"])]
    pub external: Option<String>,
    /// The device's addresses at OUT and IN, the tester's next hops
    /// [default: 198.18.0.1,198.19.0.1; with IPv6 2001:2:0:1::1,2001:2:0:2::1]
    #[arg(long, value_name = "OUT,IN", requires = "external")]
    pub dut_address: Option<String>,
    /// The device's Ethernet addresses at OUT (and IN) [default: it is asked, by ARP or neighbour discovery]
    #[arg(long, value_name = "MAC[,MAC]", requires = "external")]
    pub dut_mac: Option<String>,
    /// The tester's address at OUT, from which it sends [default: 198.18.0.2; with IPv6 2001:2:0:1::2]
    #[arg(long, value_name = "ADDRESS", requires = "external")]
    pub out_address: Option<String>,
    /// The tester's address at IN, to which it sends [default: 198.19.0.2; with IPv6 2001:2:0:2::2]
    #[arg(long, value_name = "ADDRESS", requires = "external")]
    pub in_address: Option<String>,
}
