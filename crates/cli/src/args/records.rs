//! `mpps records`.

use super::quantity::{age, count};
use super::show::ShowRecordArgs;
use clap::{ArgGroup, Args, Subcommand};
use std::time::Duration;

/// Arguments of `mpps records`.
#[derive(Args, Debug)]
pub struct RecordsArgs {
    /// What to do with records.
    #[command(subcommand)]
    pub verb: RecordsVerb,
}

/// What can be done with the records of this user.
#[derive(Debug, Subcommand)]
pub enum RecordsVerb {
    /// List them, newest first
    List(ListArgs),
    /// Show the results of one again, as `mpps show` does
    Show(ShowRecordArgs),
    /// Remove old ones; runs that may be under way keep theirs
    Prune(PruneArgs),
}

/// Arguments of `mpps records list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `mpps records prune`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("which").required(true))]
pub struct PruneArgs {
    /// Remove the records whose last line is older than this (30d, 12h)
    #[arg(long, value_name = "AGE", value_parser = age, group = "which")]
    pub older_than: Option<Duration>,
    /// Remove all but this many of the newest
    #[arg(long, value_name = "RECORDS", value_parser = count, group = "which")]
    pub keep: Option<u64>,
    /// Remove nothing; show what would be removed
    #[arg(long)]
    pub dry_run: bool,
}
