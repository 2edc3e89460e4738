//! What carries the frames at the tester's ports.

use clap::{Args, ValueEnum};

/// A kind of port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PortArg {
    /// Live XDP frames out, an XDP program in.
    Xdp,
    /// Packet sockets with rings.
    AfPacket,
}

/// The tester's ports.
#[derive(Args, Debug)]
#[command(next_help_heading = "Ports")]
pub struct PortArgs {
    /// What sends and receives for the tester: xdp (fastest, frames up to 3400), or af-packet (packet
    /// sockets: slower, any Ethernet port, frames up to 9216)
    /// [default: xdp]
    #[arg(long, value_name = "KIND", value_enum, hide_possible_values = true)]
    pub port: Option<PortArg>,
}
