//! `mpps table`.

#[cfg(feature = "measure")]
use super::fib::{ClearArgs, LoadArgs, ShowArgs, StatsArgs};
use super::quantity::count;
use super::route_file::{ChooseArgs, RouteFileArgs};
use clap::{Args, Subcommand};
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
