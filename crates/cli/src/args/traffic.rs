//! What is sent: the flags that describe frames, flows and addresses.

use super::choice::{TRANSPORTS, one_of};
use super::quantity::{count, prefix};
use clap::{Args, value_parser};
use ipnet::IpNet;
use mpps_lab::routes::NETWORKS_MAX;
use mpps_lab::tester::QUERIES_MAX;
use mpps_method::destinations::Draw;
use mpps_method::{ChangeSpeed, Transport};
use std::path::PathBuf;

/// What is sent.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Traffic")]
pub struct TrafficArgs {
    /// Frame sizes in octets, FCS included, measured one after the other (RFC 2544 section 9). Sizes: 64,512. A sweep:
    /// 64-1518/128. Mixes: imix (with IPv6 imix6), ams-ix-2015, intel-2016, internet-2009, internet-2009-approx. A mix
    /// of your own: mix:64=7,594=4,1518=1. An IMIX genome in exact order (RFC 6985): genome:aaafg. With sizes of your
    /// own: genome:aaA,A=594
    /// [default: 64,imix,1518; with IPv6 78,imix,1518]
    #[arg(long, value_name = "SIZES")]
    pub frame: Option<String>,
    /// Flows in each direction, taking turns; ports from 1024, source and destination moving together
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub flows: u32,
    /// Frames of each flow; then a new one, with ports not used before, takes its place [default: for ever]
    #[arg(long, value_name = "FRAMES")]
    pub flow_length: Option<u32>,
    /// Transport behind the IP header: udp, tcp (segments no offload can merge), tcp-stream (each
    /// continues the one before: GRO may merge them)
    #[arg(long, value_name = "WHAT", value_parser = one_of(TRANSPORTS), default_value = "udp", hide_possible_values = true)]
    pub l4: Transport,
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
    /// Queries to the router itself each second of a trial, 1 to 100 (RFC 2544 11.2), at a port of its own. The result
    /// says how many it answers. Without N it is 1
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1",
          value_parser = value_parser!(u16).range(1..=i64::from(QUERIES_MAX)))]
    pub management_traffic: Option<u16>,
    /// Seed of everything drawn at random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Where frames go beyond the DUT.
#[derive(Args, Debug)]
#[command(next_help_heading = "Routes and destinations")]
pub struct DestinationArgs {
    /// Routes to load into the DUT and to draw destinations from: MRT, `bgpdump -m`, or one prefix a line. `-` is
    /// standard input (`mpps table read --list` prepares one). `synthetic:1M` synthesizes 1M prefixes, as `mpps table
    /// synthesize` does
    #[arg(long, value_name = "FILE", conflicts_with = "dst_prefix")]
    pub table: Option<PathBuf>,
    /// One route to load into the DUT; its addresses are the destinations
    #[arg(long, value_name = "PREFIX", value_parser = prefix)]
    pub dst_prefix: Option<IpNet>,
    /// Load routes for N networks of 198.18.0.0/15 (with -6 2001:2::/48), 1 to 8192 (RFC 2544 section 12 has 256).
    /// Destinations are drawn evenly over them
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=i64::from(NETWORKS_MAX)), conflicts_with_all = ["table", "dst_prefix"])]
    pub networks: Option<u16>,
    /// Different destinations, each frame to the next one, such as 65536 or 4M
    /// [default: 1M, or all there are; without routes to load one, the tester's own address]
    #[arg(long, value_name = "N", value_parser = count)]
    pub destinations: Option<u64>,
    /// How to draw them. per-prefix: prefixes take turns. per-address: all addresses are equally likely. zipf:S: the k-th
    /// gets frames as 1 / k^S. sequential: in order, without chance. missing: no route, so the DUT must drop the frames
    /// [default: per-prefix; with --networks per-address]
    #[arg(long, value_name = "HOW")]
    pub draw: Option<Draw>,
    /// Replay route changes into the DUT's FIB during each trial (RFC 2544 section 11.3). FILE has MRT updates, their
    /// `bgpdump -m`, or lines `A PREFIX` and `W PREFIX`, with a Unix time before them or none. Their speed= is changes
    /// a second (12.5k/s), a multiple of the file's own times (10x) or max [default: 1000/s]. Destinations are then
    /// drawn from prefixes that no change withdraws
    #[arg(long, value_name = "FILE[,speed=SPEED]", value_parser = route_changes)]
    pub route_changes: Option<RouteChangesArg>,
    /// Keep prefixes that are never a destination on the Internet: private, reserved ... (RFC 6890); the bed's own
    /// networks and the default route are left out all the same
    #[arg(long, requires = "table")]
    pub keep_martians: bool,
}

/// A file of route changes, and how fast they are made.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteChangesArg {
    /// The file.
    pub file: PathBuf,
    /// How fast.
    pub speed: ChangeSpeed,
}

/// Changes a second where nobody says how many.
const CHANGES_PER_S: f64 = 1_000.0;

/// Reads `FILE[,speed=SPEED]`.
pub fn route_changes(text: &str) -> Result<RouteChangesArg, String> {
    let (file, speed) = match text.rsplit_once(",speed=") {
        Some((file, speed)) => (file, speed.parse()?),
        None => (text, ChangeSpeed::PerSecond(CHANGES_PER_S)),
    };
    if file.is_empty() || file == "-" {
        return Err("name a file: it is hashed as it lies there".to_owned());
    }
    Ok(RouteChangesArg {
        file: file.into(),
        speed,
    })
}
