//! A file of routes, and which of its prefixes to use.

use super::quantity::{count, prefix};
use clap::Args;
use ipnet::IpNet;
use std::path::PathBuf;

/// A file of routes.
#[derive(Args, Debug)]
pub struct RouteFileArgs {
    /// Routes: MRT (TABLE_DUMP, TABLE_DUMP_V2; RFC 6396), the output of `bgpdump -m`, or one prefix a line. The file
    /// may be plain or packed by gzip, bzip2, zstd or xz, whatever its name. `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Keep the undamaged routes of a damaged file and count the damaged places
    #[arg(long)]
    pub lenient: bool,
}

/// Which prefixes of a table to use.
#[derive(Args, Debug)]
pub struct ChooseArgs {
    /// IPv4 only
    #[arg(
        short = '4',
        long,
        conflicts_with = "ipv6_only",
        help_heading = "Choose"
    )]
    pub ipv4_only: bool,
    /// IPv6 only
    #[arg(short = '6', long, help_heading = "Choose")]
    pub ipv6_only: bool,
    /// Leave out every prefix that overlaps one of these
    #[arg(long, value_name = "PREFIXES", value_delimiter = ',', value_parser = prefix, help_heading = "Choose")]
    pub exclude: Vec<IpNet>,
    /// Draw this many prefixes; of two samples with one seed, the smaller is part of the larger
    #[arg(long, value_name = "PREFIXES", value_parser = count, help_heading = "Choose")]
    pub sample: Option<u64>,
    /// Seed that decides which prefixes are drawn
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        requires = "sample",
        help_heading = "Choose"
    )]
    pub seed: u64,
    /// Keep this many prefixes at most: IPv4 first, lowest addresses first
    #[arg(long, value_name = "PREFIXES", value_parser = count, help_heading = "Choose")]
    pub max: Option<u64>,
    /// Keep 0.0.0.0/0 and ::/0
    #[arg(long, help_heading = "Choose")]
    pub keep_default_route: bool,
    /// Keep prefixes that are never a destination on the Internet: private, reserved, multicast ... (RFC 6890)
    #[arg(long, help_heading = "Choose")]
    pub keep_martians: bool,
}
