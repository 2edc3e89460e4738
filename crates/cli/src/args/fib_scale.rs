//! `mpps fib-scale`.

use super::choice::{PORTS, one_of};
use super::quantity::{count, routes};
use super::search::SearchArgs;
use super::traffic::{RouteChangesArg, route_changes};
use super::{BedChoiceArgs, OutputArgs, TrafficArgs};
use clap::Args;
use mpps_lab::fib::NEXT_HOPS_MAX;
use mpps_lab::routes::NETWORKS_MAX;
use mpps_lab::tester::PortKind;
use mpps_method::destinations::Draw;
use std::path::PathBuf;

/// Arguments of `mpps fib-scale`.
#[derive(Args, Debug)]
pub struct FibScaleArgs {
    /// What changes.
    #[command(flatten)]
    pub scale: ScaleArgs,
    /// What is sent.
    #[command(flatten)]
    pub traffic: TrafficArgs,
    /// Any of these adds a search for the rate without loss.
    #[command(flatten)]
    pub search: SearchArgs,
    /// Which bed.
    #[command(flatten)]
    pub bed: BedChoiceArgs,
    /// Kind of the tester's ports: xdp (fastest, frames up to 3400), or af-packet (packet sockets: slower, frames up to
    /// 9216) [default: xdp]
    #[arg(long, value_name = "KIND", value_parser = one_of(PORTS), hide_possible_values = true, help_heading = "Ports")]
    pub port: Option<PortKind>,
    /// Write the plot to this file, SVG [default: beside the record]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What changes from point to point.
#[derive(Args, Debug)]
#[command(next_help_heading = "Routes and destinations")]
pub struct ScaleArgs {
    /// The largest table: MRT, `bgpdump -m`, or one prefix a line
    /// [default: a synthetic table with the Internet's prefix lengths]
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// The largest table is N networks of 198.18.0.0/15 (with -6 2001:2::/48), 1 to 8192 (RFC 2544 section 12 has 256)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(NETWORKS_MAX)), conflicts_with = "table")]
    pub networks: Option<u16>,
    /// Routes to load, from the highest count down, each with the most destinations; full is all of the table
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', value_parser = routes,
          default_value = "0,1,10,100,1k,10k,100k,full")]
    pub routes: Vec<u64>,
    /// Different destinations, from the highest count down, each with the most routes; all, if the table has fewer
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', value_parser = count,
          default_value = "1,10,100,1k,10k,100k,1M,4M")]
    pub destinations: Vec<u64>,
    /// As many destinations as routes (the counts of --routes)
    #[arg(long, conflicts_with = "destinations")]
    pub coupled: bool,
    /// Next hops of the routes, 1 to 1024. They are neighbours of the router, all of them the tester. A hash of its
    /// prefix gives each route one of them
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=i64::from(NEXT_HOPS_MAX)))]
    pub next_hops: u16,
    /// How destinations are drawn: per-prefix, per-address, zipf:S, sequential (see `mpps throughput --help`)
    /// [default: per-prefix; with --networks per-address]
    #[arg(long, value_name = "HOW")]
    pub draw: Option<Draw>,
    /// Replay route changes into the DUT's FIB during each trial (see `mpps throughput --help`), at each point those of
    /// its own routes. All routes then have one next hop, and changes another. Needs --table
    #[arg(long, value_name = "FILE[,speed=SPEED]", value_parser = route_changes, requires = "table", conflicts_with_all = ["next_hops", "networks"])]
    pub route_changes: Option<RouteChangesArg>,
    /// Keep prefixes that are never a destination on the Internet: private, reserved ... (RFC 6890)
    #[arg(long, requires = "table")]
    pub keep_martians: bool,
}
