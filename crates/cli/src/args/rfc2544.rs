//! `mpps rfc2544`.

use super::RunArgs;
use super::quantity::{budget, rate, trial_length};
use clap::Args;
use mpps_method::{Rate, Span};

/// Help of `--frame`, whose default is another one than that of other verbs.
pub const FRAME: &str = "Frame sizes, as of mpps throughput [default: the RFC's]";

/// Arguments of `mpps rfc2544`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Suite")]
pub struct SuiteArgs {
    /// Finish within 15 minutes: frames of 64, 512 and 1518 octets, trials of 1 s, few repetitions, at most 30 s for a
    /// search. The output says what that is short of
    #[arg(long)]
    pub quick: bool,
    /// Only these parts: throughput, latency, loss, back-to-back, recovery, reset
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// All parts but these
    #[arg(
        long,
        value_name = "PARTS",
        value_delimiter = ',',
        conflicts_with = "only"
    )]
    pub except: Vec<String>,
    /// Length of each trial, in seconds or with a unit (200ms, 5m); RFC 2544 section 24 asks for 60
    /// [default: 60; with --quick 1]
    #[arg(long, value_name = "SECONDS", value_parser = trial_length)]
    pub time: Option<Span>,
    /// Time for each part of each frame size (30s, 2m). When it is spent, the part's result is what is known by then
    /// [default: as long as it takes; with --quick 30s]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub budget: Option<Span>,
    /// Rate without loss that every frame size has to reach, frames/s (400k, 1.5M, 1e6). If one does not, the exit code
    /// is 1, or 4 if another try may show it
    #[arg(long, value_name = "FPS", value_parser = rate)]
    pub expect_min: Option<Rate>,
    /// What is sent, where, and where results go.
    #[command(flatten)]
    pub run: RunArgs,
}
