//! `mpps explain`.

use super::quantity::{span, trial_length};
use super::{OutputArgs, PlaceArgs, SentArgs};
use clap::Args;
use mpps_lab::jobs::explain::TRIALS_MIN;
use mpps_lab::observe::CpuSet;
use mpps_method::Span;

/// Longest burn, ns: a frame that costs more leaves too few of them.
const BURN_MAX: u64 = 100_000;

/// A shorter look has too few samples, a longer one too many.
const LOOK_MIN: Span = Span::from_millis(500);
const LOOK_MAX: Span = Span::from_millis(300_000);

/// CPUs of this machine; `all` is the empty set.
pub fn watched_cpus(text: &str) -> Result<CpuSet, String> {
    match (text.trim(), text.parse::<CpuSet>()) {
        ("all", _) => Ok(CpuSet::default()),
        (_, Ok(cpus)) if !cpus.is_empty() => Ok(cpus),
        _ => Err("give CPUs such as 1, 2-5 or 0,2, or all".to_owned()),
    }
}

fn watched_time(text: &str) -> Result<Span, String> {
    span(text)
        .filter(|span| (LOOK_MIN..=LOOK_MAX).contains(span))
        .ok_or_else(|| {
            format!("give seconds (10, 0.5) or a unit (800ms, 2m), {LOOK_MIN} to {LOOK_MAX}")
        })
}

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
    /// Look at these CPUs of this host at its work (2-5, or all), and send nothing: all traffic is of others. No bed;
    /// nothing is changed. Interfaces are those of this network namespace
    #[arg(long, value_name = "CPUS", help_heading = "Host", value_parser = watched_cpus,
          conflicts_with_all = ["time", "trials", "burn", "TrafficArgs", "DestinationArgs", "PortArgs", "kept_bed", "nic", "queues", "rx_ring",
                                "rss", "kernel_interfaces", "dut_cpus", "tester_cpus", "filters", "dut_setup", "share", "dry_run"])]
    pub cpus: Option<CpuSet>,
    /// For so long
    #[arg(long = "for", value_name = "SECONDS", default_value = "10", value_parser = watched_time, requires = "cpus",
          help_heading = "Host")]
    pub look: Span,
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
