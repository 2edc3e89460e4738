//! `mpps reset`.

use super::RunArgs;
use super::measuring::on_a_bed;
use super::quantity::{rate, span, trial_length};
use clap::Args;
use mpps_lab::jobs::reset::Part;
use mpps_method::{Rate, Span};
use std::path::PathBuf;

/// Arguments of `mpps reset`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Reset", mut_args(on_a_bed))]
pub struct ResetArgs {
    /// The reset in each trial; may be given several times. link: the router's outgoing link goes down and up. routes:
    /// the loaded routes, or that of the outgoing port, are flushed and loaded. set-up: the --dut-setup script runs
    /// again. process: the --process is killed, then --process-start runs. program: another XDP program takes the place
    /// of that on the router's incoming port [default: each of these that the bed has, except program]
    #[arg(long, value_name = "NAME", value_parser = part)]
    pub reset: Vec<Part>,
    /// A process that the set-up script started, such as a routing daemon: its name in /proc/PID/comm. All of this name in
    /// the router's namespace are killed
    #[arg(long, value_name = "NAME", requires = "process_start", value_parser = process_name)]
    pub process: Option<String>,
    /// A program that starts the killed process again. It runs as the set-up script does, and the reset lasts until it ends
    #[arg(long, value_name = "SCRIPT", requires = "process")]
    pub process_start: Option<PathBuf>,
    /// How long link, routes and process stay away before they are put back (200ms, 1)
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = hold)]
    pub hold: Span,
    /// Trials for each reset and frame size
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Load, frames/s, such as 400k [default: half of the highest]
    ///
    /// The highest is the maximum forwarding rate, which is measured first.
    #[arg(long, value_name = "FPS", value_parser = rate, help_heading = "Load")]
    pub rate: Option<Rate>,
    /// Length of each trial, in seconds or with a unit (200ms, 5m); the reset begins after a quarter of it
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = trial_length, help_heading = "Load")]
    pub time: Span,
    /// What is sent, where, and where results go.
    #[command(flatten)]
    pub run: RunArgs,
}

fn part(text: &str) -> Result<Part, String> {
    let known = Part::ALL.into_iter().find(|part| part.name() == text);
    known.ok_or_else(|| format!("give {}", Part::ALL.map(Part::name).join(", ")))
}

fn process_name(text: &str) -> Result<String, String> {
    // The kernel keeps so many octets of a task's name.
    match text.len() {
        1..=15 => Ok(text.to_owned()),
        _ => Err("give the name in /proc/PID/comm: 1 to 15 octets".to_owned()),
    }
}

fn hold(text: &str) -> Result<Span, String> {
    span(text).ok_or_else(|| "give a time such as 200ms or 1".to_owned())
}
