//! `mpps campaign`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Arguments of `mpps campaign`.
#[derive(Args, Debug)]
pub struct CampaignArgs {
    /// What to do with campaigns.
    #[command(subcommand)]
    pub verb: CampaignVerb,
}

/// What can be done with campaigns.
#[derive(Debug, Subcommand)]
pub enum CampaignVerb {
    /// Run each cell of a plan as a run of mpps. To continue, give the same command and --record again.
    ///
    /// The whole plan is checked before the first cell runs (docs/campaign.md describes plans). Each cell is in the record
    /// as soon as it is known. Cells that failed or had no whole answer (exit code 4) are run again when the campaign goes on.
    Run(RunCampaignArgs),
    /// List the plans that are part of mpps
    List,
}

/// Arguments of `mpps campaign run`.
#[derive(Args, Debug)]
pub struct RunCampaignArgs {
    /// A plan's file, or the name of one that `mpps campaign list` shows
    #[arg(value_name = "PLAN")]
    pub plan: String,
    /// Use the shorter flags that the plan names for --quick
    #[arg(long)]
    pub quick: bool,
    /// Only the cells with these ids
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// The record of all cells; where it has some of them already, the campaign goes on
    /// [default: ~/.local/state/mpps/records/<date>-<run>-<plan>.jsonl, below $XDG_STATE_HOME where that is set]
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Also run cells that change settings of the whole machine; the settings are put back
    #[arg(long)]
    pub allow_system_changes: bool,
    /// Print all cells with their commands and times, and end; bad input is refused as in a run
    #[arg(long)]
    pub dry_run: bool,
    /// With --dry-run: print the commands of each set-up script too
    #[arg(long, requires = "dry_run")]
    pub scripts: bool,
    /// No progress on stderr
    #[arg(long)]
    pub quiet: bool,
}
