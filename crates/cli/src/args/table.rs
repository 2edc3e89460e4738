//! `mpps table`.

#[cfg(feature = "measure")]
use super::fib::{ClearArgs, LoadArgs, ShowArgs, StatsArgs};
use super::quantity::{count, prefix};
use clap::{Args, Subcommand};
use ipnet::IpNet;
use std::path::PathBuf;

/// Arguments of `mpps table`.
#[derive(Args, Debug)]
pub struct TableArgs {
    /// What to do with a table.
    #[command(subcommand)]
    pub verb: TableVerb,
}

/// What can be done with a routing table.
#[derive(Debug, Subcommand)]
pub enum TableVerb {
    /// Read a table from a file; show its routes, the routes left out, and its prefix lengths
    Read(ReadArgs),
    /// Synthesize a table of any size with the prefix lengths of a real one; print it, one prefix a line
    Synthesize(SynthesizeArgs),
    /// Load a table into a kernel's FIB and count it back
    #[cfg(feature = "measure")]
    Load(Box<LoadArgs>),
    /// Show the loaded routes by table, next hop and length
    #[cfg(feature = "measure")]
    Show(ShowArgs),
    /// Show the kernel's statistics of its FIB: depth, nodes, memory, prefix lengths
    #[cfg(feature = "measure")]
    Stats(StatsArgs),
    /// Clear exactly the loaded routes, also after a crash, and check that none is left
    #[cfg(feature = "measure")]
    Clear(ClearArgs),
}

/// Arguments of `mpps table read`.
#[derive(Args, Debug)]
pub struct ReadArgs {
    /// The file, and how to read it.
    #[command(flatten)]
    pub file: RouteFileArgs,
    /// What to leave out.
    #[command(flatten)]
    pub choose: ChooseArgs,
    /// Print the prefixes that are left, one a line, and nothing else
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub list: bool,
    /// Print the result as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Show no progress
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
}

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

/// Arguments of `mpps table synthesize`.
#[derive(Args, Debug)]
pub struct SynthesizeArgs {
    /// IPv4 prefixes, such as 1000000 or 4M
    #[arg(long, value_name = "PREFIXES", value_parser = count, default_value = "0")]
    pub ipv4: u64,
    /// IPv6 prefixes
    #[arg(long, value_name = "PREFIXES", value_parser = count, default_value = "0")]
    pub ipv6: u64,
    /// Seed of the prefixes: the same seed makes the same table
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Take the prefix lengths from this file of routes, not from the Internet's (RIPE RIS RRC00, 2026-10-04)
    #[arg(long, value_name = "FILE")]
    pub like: Option<PathBuf>,
}
