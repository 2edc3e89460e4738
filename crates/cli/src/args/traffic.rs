//! What is sent: the flags that describe frames, flows and addresses.

use clap::{Args, ValueEnum};

/// What is sent.
#[derive(Args, Debug)]
#[command(next_help_heading = "Traffic")]
pub struct TrafficArgs {
    /// Frame sizes in octets, FCS included, measured one after the other (RFC 2544 section 9): sizes
    /// (64,512), sweeps (64-1518/128), mixes by name (imix, ams-ix-2015, intel-2016, internet-2009,
    /// internet-2009-approx) or of your own (mix:64=7,594=4,1518=1)
    /// [default: 64,imix,1518; with IPv6 78,mix:78=7,594=4,1518=1,1518]
    #[arg(long, value_name = "SIZES")]
    pub frame: Option<String>,
    /// Flows in each direction, taking turns; ports from 1024, source and destination moving together
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub flows: u32,
    /// Frames each flow lives; then a new one, with ports not used before, takes its place [default: for ever]
    #[arg(long, value_name = "FRAMES")]
    pub flow_length: Option<u32>,
    /// What stands behind the IP header: udp, tcp (segments no offload can merge), tcp-stream (each
    /// continues the one before: GRO may merge them)
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = TransportArg::Udp, hide_possible_values = true)]
    pub l4: TransportArg,
    /// Send IPv4 (198.18.0.0/15, RFC 2544 C.2.2); the default
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,
    /// Send IPv6 (2001:2::/48, RFC 5180)
    #[arg(short = '6', long)]
    pub ipv6: bool,
    /// Send both ways at once (RFC 2544 section 14); rates are the sum of both
    #[arg(long)]
    pub bidirectional: bool,
    /// Differentiated services code point, 0 to 63 (RFC 2474)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub dscp: u8,
    /// Seed of everything drawn at random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// What stands behind the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TransportArg {
    /// Datagrams.
    Udp,
    /// Segments each of which stands where the one before it did.
    Tcp,
    /// Segments each of which stands where the one before it ended.
    TcpStream,
}
