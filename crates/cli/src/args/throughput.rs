//! `mpps throughput`.

use super::quantity::{link_speed, rate, resolution, trial_length};
use super::{SetUpArgs, TrafficArgs};
use clap::{Args, ValueEnum};
use mpps_method::{LinkSpeed, Rate, Resolution, Span};
use std::path::PathBuf;

/// Arguments of `mpps throughput`.
#[derive(Args, Debug)]
pub struct ThroughputArgs {
    /// What is sent.
    #[command(flatten)]
    pub traffic: TrafficArgs,
    /// What is searched for.
    #[command(flatten)]
    pub search: SearchArgs,
    /// On a bed kept by `mpps bed up` instead of one of its own
    #[arg(long = "bed", value_name = "NAME", help_heading = "Bed",
          conflicts_with_all = ["nic", "queues", "rx_ring", "rss", "dut_cpus", "tester_cpus", "dut_setup"])]
    pub kept_bed: Option<String>,
    /// The bed it raises for itself.
    #[command(flatten)]
    pub bed: SetUpArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// When a load has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AcceptArg {
    /// One lossless trial at a load is enough.
    Any,
    /// Every trial at a load has to be lossless.
    All,
}

/// What is searched for.
#[derive(Args, Debug)]
#[command(next_help_heading = "Search")]
pub struct SearchArgs {
    /// Length of each trial, in seconds or with a unit (200ms, 5m); RFC 2544 section 24 asks for 60,
    /// below that the result is an estimate
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = trial_length)]
    pub time: Span,
    /// How closely to find the rate: a share of it, or frames/s, of which loads are then whole multiples
    #[arg(long, value_name = "1%|FPS", default_value = "1%", value_parser = resolution)]
    pub resolution: Resolution,
    /// Whole multiples of this many frames/s as loads (published: 50000); same as --resolution FPS
    #[arg(long, value_name = "FPS", value_parser = rate, conflicts_with = "resolution")]
    pub step_fps: Option<Rate>,
    /// Trials at each load at most: decided as soon as it is certain
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub trials_per_load: u32,
    /// How many of the trials at a load must be lossless; RFC 2544 section 26.1 knows one trial only
    /// (--trials-per-load 1)
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = AcceptArg::Any)]
    pub accept: AcceptArg,
    /// Highest load to offer, frames/s (k, M) [default: the tester's own ceiling]
    #[arg(long, value_name = "FPS", value_parser = rate)]
    pub max_rate: Option<Rate>,
    /// Lowest load to offer, frames/s (k, M) [default: 10k]
    #[arg(long, value_name = "FPS", value_parser = rate)]
    pub min_rate: Option<Rate>,
    /// Speed that "% of link" refers to, bit/s (M, G); notional: the bed has no wire
    #[arg(long, value_name = "SPEED", default_value = "40G", value_parser = link_speed)]
    pub link_speed: LinkSpeed,
}

/// Where results go.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Append every trial to this file, one JSON object a line
    /// [default: ~/.local/state/mpps/records/<date>-<run>.jsonl, below $XDG_STATE_HOME where that is set]
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// No progress on stderr
    #[arg(long)]
    pub quiet: bool,
    /// Print the plan and end; touches nothing
    #[arg(long)]
    pub dry_run: bool,
}
