//! `mpps loss`.

use super::lasting::LastingArgs;
use super::quantity::{budget, percent, rate, trial_length, warm_up};
use super::{RunArgs, SimulateArgs};
use clap::Args;
use mpps_method::{Rate, Span};
use std::path::PathBuf;

/// Arguments of `mpps loss`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub struct LossArgs {
    /// From one load to the next, as a share of the highest, 1% to 10% (RFC 2544 section 26.3: 10% at most)
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = step)]
    pub step: f64,
    /// Length of each trial, in seconds or with a unit (200ms, 5m); RFC 2544 section 24 asks for 60
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = trial_length)]
    pub time: Span,
    /// Highest load to offer, frames/s (400k, 1.5M, 1e6) [default: the most that tester and link can]
    #[arg(long, value_name = "FPS", value_parser = rate)]
    pub max_rate: Option<Rate>,
    /// Warm-up before each trial: frames sent at its load for this long do not count (200ms, 1)
    #[arg(long, value_name = "SECONDS", value_parser = warm_up, conflicts_with = "simulate")]
    pub warm_up: Option<Span>,
    /// Time for each frame size: when it is spent, the loads offered by then are the result (30s, 2m). With --overload,
    /// each measurement of the maximum forwarding rate takes a fifth of it, 6 s at most
    /// [default: as long as it takes; with --overload 30s]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub budget: Option<Span>,
    /// Or a lasting overload.
    #[command(flatten)]
    pub lasting: LastingArgs,
    /// What is sent, where, and where results go.
    #[command(flatten)]
    pub run: RunArgs,
    /// Or a simulated pair.
    #[command(flatten)]
    pub pair: SimulateArgs,
    /// Write the plot here, SVG [default: beside the record]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,
}

fn step(text: &str) -> Result<f64, String> {
    let step = percent(text).filter(|step| (0.01..=0.1).contains(step));
    step.ok_or_else(|| "give 1% to 10%".to_owned())
}
