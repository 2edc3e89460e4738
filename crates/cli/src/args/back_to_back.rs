//! `mpps back-to-back`.

use super::quantity::{budget, trial_length};
use super::{RunArgs, SimulateArgs};
use clap::Args;
use mpps_method::Span;

/// Arguments of `mpps back-to-back`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub struct BurstArgs {
    /// Searches for each frame size (RFC 2544 section 26.4 asks for 50)
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Length of the longest burst tried, in seconds or with a unit (200ms, 5m); RFC 2544 section 26.4 asks for 2
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = trial_length)]
    pub time: Span,
    /// Time for each frame size (30s, 2m). When it is spent, the searches that ended by then are the result
    /// [default: as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub budget: Option<Span>,
    /// What is sent, where, and where results go.
    #[command(flatten)]
    pub run: RunArgs,
    /// Or a simulated pair.
    #[command(flatten)]
    pub pair: SimulateArgs,
}
