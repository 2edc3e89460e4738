//! `mpps recovery`.

use super::RunArgs;
use super::quantity::{budget, trial_length};
use clap::Args;
use mpps_method::Span;

/// Arguments of `mpps recovery`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub struct RecoveryArgs {
    /// Length of the overload, and of the lower load after it, in seconds or with a unit (200ms, 5m). RFC 2544 section
    /// 26.5 asks for 60 s of overload
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = trial_length)]
    pub time: Span,
    /// Trials for each frame size
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Time to search the throughput of each frame size (30s, 2m)
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = budget)]
    pub budget: Span,
    /// What is sent, where, and where results go.
    #[command(flatten)]
    pub run: RunArgs,
}
