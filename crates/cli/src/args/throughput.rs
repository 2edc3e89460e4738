//! `mpps throughput`.

use super::search::SearchArgs;
use super::{OutputArgs, PlaceArgs, SentArgs, SimulateArgs};
use clap::Args;

/// Arguments of `mpps throughput`.
#[derive(Args, Debug)]
pub struct ThroughputArgs {
    /// What is sent.
    #[command(flatten)]
    pub sent: SentArgs,
    /// What is searched for.
    #[command(flatten)]
    pub search: SearchArgs,
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Or a simulated pair.
    #[command(flatten)]
    pub pair: SimulateArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}
