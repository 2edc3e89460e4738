//! `mpps table load|show|stats|clear`: a table in the kernel's FIB.

use super::choice::{NEXT_HOPS, SPREADS, one_of};
use super::quantity::routing_table;
use super::route_file::{ChooseArgs, RouteFileArgs};
use clap::Args;
use mpps_lab::fib::{Gateway, MAIN_TABLE, Pointing, Spread};

/// Whose FIB.
#[derive(Args, Debug)]
pub struct FibArgs {
    /// The router of this kept bed (see `mpps bed up`)
    #[arg(id = "bed", long, value_name = "NAME", help_heading = "Where")]
    pub kept_bed: Option<String>,
    /// This machine's own FIB, in the network namespace mpps runs in; `mpps recover` clears the routes of a killed load
    #[arg(long, help_heading = "Where", conflicts_with = "bed")]
    pub allow_system_changes: bool,
}

/// Arguments of `mpps table load`.
#[derive(Args, Debug)]
pub struct LoadArgs {
    /// The file, and how to read it.
    #[command(flatten)]
    pub file: RouteFileArgs,
    /// Whose FIB.
    #[command(flatten)]
    pub fib: FibArgs,
    /// How.
    #[command(flatten)]
    pub route: RouteArgs,
    /// What to leave out.
    #[command(flatten)]
    pub choose: ChooseArgs,
    /// Print the result as JSON, every refused prefix included
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Show no progress
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
}

/// How routes are added.
#[derive(Args, Debug)]
#[command(next_help_heading = "Routes")]
pub struct RouteArgs {
    /// Next hops, addresses of neighbours, of each family the table has; with an interface as fe80::1%eth0
    /// [default on a bed: the tester's receiving end]
    #[arg(long, value_name = "GATEWAYS", value_delimiter = ',')]
    pub via: Vec<Gateway>,
    /// How prefixes are spread over several next hops. With round-robin they take turns in the order of the table. With
    /// hash a prefix keeps its next hop whatever else the table holds
    #[arg(long, value_name = "HOW", value_parser = one_of(SPREADS), default_value = "round-robin", hide_possible_values = true)]
    pub spread: Spread,
    /// Next hops as objects (nexthop objects, Linux 5.3), plain (a gateway for each route), or auto: objects
    /// where the kernel has them
    #[arg(long, value_name = "WHAT", value_parser = one_of(NEXT_HOPS), default_value = "auto", hide_possible_values = true)]
    pub next_hops: Pointing,
    /// Routing table of the kernel, by number; without a rule the kernel uses only main (254)
    #[arg(long, value_name = "NUMBER", value_parser = routing_table, default_value_t = MAIN_TABLE)]
    pub route_table: u32,
    /// Metric of each route [default: the kernel's, 0 for IPv4 and 1024 for IPv6]
    #[arg(long, value_name = "NUMBER")]
    pub metric: Option<u32>,
}

/// Arguments of `mpps table show`.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// The router of this kept bed [default: this machine's own FIB]
    #[arg(long = "bed", value_name = "NAME")]
    pub kept_bed: Option<String>,
    /// In this routing table only, by number [default: all]
    #[arg(long, value_name = "NUMBER", value_parser = routing_table)]
    pub route_table: Option<u32>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `mpps table stats`.
#[derive(Args, Debug)]
pub struct StatsArgs {
    /// The router of this kept bed [default: this machine's own FIB]
    #[arg(long = "bed", value_name = "NAME")]
    pub kept_bed: Option<String>,
    /// Routing table, by number
    #[arg(long, value_name = "NUMBER", value_parser = routing_table, default_value_t = MAIN_TABLE)]
    pub route_table: u32,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `mpps table clear`.
#[derive(Args, Debug)]
pub struct ClearArgs {
    /// Whose FIB.
    #[command(flatten)]
    pub fib: FibArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}
