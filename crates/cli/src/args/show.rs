//! `mpps show`.

use clap::Args;
use std::path::PathBuf;

/// Arguments of `mpps show`.
#[derive(Args, Debug)]
pub struct ShowRecordArgs {
    /// The record, as --record named it or in its usual place
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// One of its runs, by its name; all of them without this
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Print the result as JSON, one object a run
    #[arg(long)]
    pub json: bool,
    /// Show every detail, and why each doubt matters
    #[arg(long, short)]
    pub verbose: bool,
}
