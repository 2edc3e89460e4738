//! `mpps loss`.

use super::quantity::{budget, lasting, percent, rate, trial_length, warm_up};
use super::{OutputArgs, PlaceArgs, SentArgs, SimulateArgs};
use clap::Args;
use mpps_lab::jobs::lasting::Overload;
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
    /// each measurement of the maximum forwarding rate takes a third of it
    /// [default: as long as it takes; with --overload 30s]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub budget: Option<Span>,
    /// Offer one lasting overload instead: a multiple of the maximum forwarding rate (5x), or all that the tester can
    /// (max). The result says whether the router holds its rate and its management path answers. It also says when the
    /// router is as before
    #[arg(long, value_name = "FACTOR", value_parser = overload,
          conflicts_with_all = ["step", "time", "max_rate", "warm_up"])]
    pub overload: Option<Overload>,
    /// How long the overload lasts (30s, 10m, 2h); the receiver keeps a bit for each frame, so memory bounds it
    #[arg(long = "for", value_name = "TIME", default_value = "60s", value_parser = lasting, requires = "overload")]
    pub lasts: Span,
    /// What is sent.
    #[command(flatten)]
    pub sent: SentArgs,
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Or a simulated pair.
    #[command(flatten)]
    pub pair: SimulateArgs,
    /// Write the plot here, SVG [default: beside the record]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

fn overload(text: &str) -> Result<Overload, String> {
    if text == "max" {
        return Ok(Overload::Max);
    }
    let factor = text
        .strip_suffix('x')
        .and_then(|factor| factor.parse().ok());
    let factor = factor.filter(|factor: &f64| (1.1..=1000.0).contains(factor));
    let overload = factor.map(Overload::Times);
    overload.ok_or_else(|| "give 1.1x to 1000x of the maximum forwarding rate, or max".to_owned())
}

fn step(text: &str) -> Result<f64, String> {
    let step = percent(text).filter(|step| (0.01..=0.1).contains(step));
    step.ok_or_else(|| "give 1% to 10%".to_owned())
}
