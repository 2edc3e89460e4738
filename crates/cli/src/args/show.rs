//! `mpps show`.

use super::quantity::what_if;
use clap::Args;
use mpps_method::sweep::WhatIf;
use std::path::PathBuf;

/// Arguments of `mpps show`.
#[derive(Args, Debug)]
pub struct ShowRecordArgs {
    /// The record: its path, or the name of a run that `mpps records list` shows, or the beginning of that name
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// One of its runs, by its name, or a cell of a campaign by its id; without this all of them, or the campaign
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Predict what a frame would cost elsewhere, from this record of `mpps explain` alone. freq=3.6GHz:
    /// another clock. cores=8: several cores. routes=2M: a place on the axis of its --sweep
    #[arg(long, value_name = "WHAT=VALUE,...", value_parser = what_if, conflicts_with = "verbose")]
    pub what_if: Option<WhatIf>,
    /// Print the result as JSON, one object a run
    #[arg(long)]
    pub json: bool,
    /// Show every detail, and why each doubt matters
    #[arg(long, short)]
    pub verbose: bool,
}
