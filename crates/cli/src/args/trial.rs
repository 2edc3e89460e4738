//! `mpps trial`.

use super::quantity::{rate, trial_length};
use super::{RunArgs, SimulateArgs};
use clap::Args;
use mpps_lab::jobs::fixed_load::Load;
use mpps_method::Span;

/// Arguments of `mpps trial`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub struct TrialArgs {
    /// Loads to offer, one after the other, frames/s over all directions (400k, 1.5M, 1e6); max is the most that the
    /// tester can offer
    #[arg(long, value_name = "FPS,...", value_delimiter = ',', required = true, value_parser = load)]
    pub rate: Vec<Load>,
    /// Length of each trial, in seconds or with a unit (200ms, 5m); with --rate max the trial lasts about as long
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = trial_length)]
    pub time: Span,
    /// Trials at each load; each is shown
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub trials: u32,
    /// Offer nothing through a wire in place of the router; the bed's part of a frame's cost is unknown then
    #[arg(long)]
    pub no_wire: bool,
    /// What is sent, where, and where results go.
    #[command(flatten)]
    pub run: RunArgs,
    /// Or a simulated pair.
    #[command(flatten)]
    pub pair: SimulateArgs,
}

fn load(text: &str) -> Result<Load, String> {
    if text == "max" {
        return Ok(Load::Max);
    }
    let wrong = |error| format!("{error}; or max, which is all that the tester can offer");
    rate(text).map(Load::At).map_err(wrong)
}
