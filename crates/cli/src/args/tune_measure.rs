//! `mpps tune measure`.

use super::RunArgs;
use super::compare::share;
use super::measuring::on_own_bed;
use super::quantity::budget;
use super::tune::names;
use clap::Args;
use mpps_method::Span;
use mpps_method::tune::GROUPS;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:\n  \
    mpps tune measure --only rp_filter,conntrack,forward_rules,gro\n  \
    mpps tune measure --group netfilter --budget 15m\n  \
    mpps tune measure --screen --only rp_filter,conntrack,nat --record screen.jsonl\n  \
    mpps tune measure --screen --only rp_filter,conntrack,nat --resume screen.jsonl    goes on where that was killed\n  \
    mpps tune measure --dry-run                            what would be measured, and what is inert here";

/// Arguments of `mpps tune measure`.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, mut_args(on_own_bed), next_help_heading = "Settings")]
pub struct MeasureSettingsArgs {
    /// Only these settings (mpps tune list has them all) [default: all that can act on the bed]
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Only settings of this group
    #[arg(long, value_name = "GROUP", hide_possible_values = true, value_parser = names(&GROUPS))]
    pub group: Option<String>,
    /// Also switch settings that hold for the whole machine; they are put back
    #[arg(long)]
    pub allow_system_changes: bool,
    /// A difference smaller than this need not be found: a setting ends when its interval lies within it
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = share)]
    pub within: f64,
    /// Time for all turns (30s, 2m); it ends earlier when all is known [default: enough for 40 pairs of each setting]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub budget: Option<Span>,
    /// Switch about half of the settings in each turn, by a design of Plackett and Burman with fold-over. Each turn tells of
    /// all settings, so intervals are narrower in the same time. The result names pairs that do not add. A whole screen may
    /// take longer than one setting at a time; --dry-run prints the time
    #[arg(long)]
    pub screen: bool,
    /// After all turns, profile each setting that was found to act, at both levels. The result says what each stage takes
    /// more
    #[arg(long)]
    pub by_stage: bool,
    /// Go on with a run of the same plan that ended early. Its turns are in this record, and new ones are appended to
    /// it
    #[arg(long, value_name = "RECORD", conflicts_with = "record")]
    pub resume: Option<PathBuf>,
    /// Write the plot to this file, SVG [default: beside the record]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,
    /// What is sent, where, and where results go.
    #[command(flatten)]
    pub run: RunArgs,
}
