//! `mpps explain`.

use super::quantity::trial_length;
use super::{OutputArgs, PlaceArgs, SentArgs};
use clap::Args;
use mpps_lab::jobs::explain::TRIALS_MIN;
use mpps_method::Span;

/// Longest burn, ns: a frame that costs more leaves too few of them.
const BURN_MAX: u64 = 100_000;

/// Arguments of `mpps explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// Length of each trial, in seconds or with a unit (200ms, 5m)
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = trial_length, help_heading = "Load")]
    pub time: Span,
    /// Trials at saturation that are sampled, each beside one that is not; more make the intervals narrower
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Load",
          value_parser = clap::value_parser!(u32).range(i64::from(TRIALS_MIN)..=100))]
    pub trials: u32,
    /// Let a program on the router's path spin so many ns for each frame, where it receives: the stage RX has to cost
    /// that much more, and what the program costs beside its spin. It tests the profile itself
    #[arg(long, value_name = "NS", help_heading = "Load", value_parser = clap::value_parser!(u64).range(1..=BURN_MAX))]
    pub burn: Option<u64>,
    /// What is sent.
    #[command(flatten)]
    pub sent: SentArgs,
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}
