//! What most verbs that measure have in common: what is sent, on which bed, and where results go.

use super::simulate::simulated;
use super::{DestinationArgs, PortArgs, SetUpArgs, TrafficArgs};
use clap::{Arg, Args};
use mpps_method::simulate::Properties;
use std::path::PathBuf;

/// What is sent, and where to.
#[derive(Args, Debug)]
pub struct SentArgs {
    /// What is sent.
    #[command(flatten)]
    pub traffic: TrafficArgs,
    /// Where frames go.
    #[command(flatten)]
    pub destinations: DestinationArgs,
}

/// A kept bed, or one of its own.
#[derive(Args, Debug)]
pub struct BedChoiceArgs {
    /// Measure on a bed kept by `mpps bed up`, not a new one
    #[arg(long = "bed", value_name = "NAME", help_heading = "Bed",
          conflicts_with_all = ["nic", "queues", "rx_ring", "rss", "kernel_interfaces", "dut_cpus", "tester_cpus", "filters", "dut_setup"])]
    pub kept_bed: Option<String>,
    /// The bed it raises for itself.
    #[command(flatten)]
    pub set_up: SetUpArgs,
}

/// The flags of a verb that measures a router of our own only: the help shows none that it refuses.
pub fn on_a_bed(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "external" | "dut_address" | "dut_mac" | "out_address" | "in_address" => arg.hide(true),
        _ => arg,
    }
}

/// The flags of a verb that raises a bed of its own for one frame size.
pub fn on_own_bed(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "kept_bed" => arg.hide(true),
        "frame" => arg.help("Frame size, octets with FCS, or one mix [default: 64; -6: 78]"),
        _ => on_a_bed(arg),
    }
}

/// The bed, and the tester's ports on it.
#[derive(Args, Debug)]
pub struct PlaceArgs {
    /// Which bed.
    #[command(flatten)]
    pub bed: BedChoiceArgs,
    /// What carries the frames.
    #[command(flatten)]
    pub ports: PortArgs,
}

/// What a verb has that measures on a bed only.
#[derive(Args, Debug)]
pub struct RunArgs {
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

/// A simulated pair in place of a bed.
#[derive(Args, Debug)]
pub struct SimulateArgs {
    /// Simulate tester and router instead of a bed, to try goals and searches. This needs no rights. The router has
    /// capacity= (frames/s), ring= (frames), noise= (share of the capacity missing at worst) and loss= (of each frame).
    /// With wander= loss comes and goes with load (450k:600k:10%@900k). With stalls= the machine stalls, seen; with
    /// pauses= the router pauses, unseen (length@share of the seconds). tester= is the tester's ceiling (frames/s), and
    /// seed= decides what chance decides
    #[arg(long, value_name = "KEY=VALUE,...", help_heading = "Bed", value_parser = simulated,
          conflicts_with_all = ["kept_bed", "nic", "queues", "rx_ring", "rss", "dut_cpus", "tester_cpus", "filters", "dut_setup",
                                "table", "dst_prefix", "networks", "management_traffic", "external", "receiver"])]
    pub simulate: Option<Properties>,
}

/// Where results go.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Append every trial to this file, one JSON object a line
    /// [default: ~/.local/state/mpps/records/<date>-<run>.jsonl, below $XDG_STATE_HOME where that is set]
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// No progress on stderr; not with --verbose
    #[arg(long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Measure beside another run on this host; without this flag, wait for it
    #[arg(long)]
    pub share: bool,
    /// Show every trial, all details, and the reason and next step of each doubt
    #[arg(long, short)]
    pub verbose: bool,
    /// Print the plan and end; bad input is refused as in a run
    #[arg(long)]
    pub dry_run: bool,
}
