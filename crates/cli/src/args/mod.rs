//! Arguments as typed: one file a verb. What they mean is for `plan` to say.

mod bed;
mod calibrate;
mod doctor;
mod fib;
mod fib_scale;
mod generate;
pub mod goal;
mod limits;
mod port;
pub mod quantity;
mod recover;
mod search;
mod simulate;
mod table;
mod throughput;
mod traffic;

pub use bed::{
    BedArgs, BedVerb, CpuArgs, InterfacesArg, NicArg, RssArg, SetUpArgs, ShellArgs, SideArg, UpArgs,
};
pub use calibrate::CalibrateArgs;
pub use doctor::DoctorArgs;
pub use fib::{
    ClearArgs, FibArgs, LoadArgs, PointingArg, RouteArgs, ShowArgs, SpreadArg, StatsArgs,
};
pub use fib_scale::FibScaleArgs;
pub use generate::{CompletionsArgs, ManArgs};
pub use limits::LimitsArgs;
pub use port::{PortArg, PortArgs};
pub use recover::RecoverArgs;
pub use search::{AcceptArg, KindArg, SearchArgs};
pub use table::{ChooseArgs, ReadArgs, RouteFileArgs, SynthesizeArgs, TableArgs, TableVerb};
pub use throughput::{OutputArgs, ThroughputArgs};
pub use traffic::{DestinationArgs, TrafficArgs, TransportArg};

use crate::exit::Exit;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

/// How wide help text may get, columns.
const HELP_WIDTH: usize = 100;

/// Measure how many packets per second a Linux router forwards.
#[derive(Debug, Parser)]
#[command(name = "mpps", version, max_term_width = HELP_WIDTH, after_help = EXIT_CODES)]
pub struct Cli {
    /// The job.
    #[command(subcommand)]
    pub verb: Verb,
}

const EXIT_CODES: &str = "Exit codes: 0 measured, 1 measured but an expectation was not met, 2 could not measure \
                          or bad input, 3 the host could not be restored (run `mpps recover`).";

/// The jobs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Find the highest load of which the DUT loses no frame (RFC 2544 section 26.1)
    Throughput(Box<ThroughputArgs>),
    /// Measure what routes and destinations cost: throughput against how many of each
    FibScale(Box<FibScaleArgs>),
    /// Prove the meter on this machine: plant faults of known size, see whether it finds them
    Calibrate(CalibrateArgs),
    /// What wire, bus and memory allow: frames per second and time for a frame, by arithmetic
    Limits(LimitsArgs),
    /// Read routing tables from files, or make them up; load them into a kernel's FIB, count, describe, clear
    Table(Box<TableArgs>),
    /// Raise, lower, list or enter test beds
    Bed(BedArgs),
    /// Say what this machine has and lacks for each job, what each lack costs, what to do about it
    Doctor(DoctorArgs),
    /// Put the host back after a crash: undo what runs that are dead had changed
    Recover(RecoverArgs),
    /// Write man pages, one a verb
    Man(ManArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
}

/// Reads the command line. `Err` when there is nothing to run: help was asked for, or the input is bad.
///
/// # Errors
/// The exit code, after help went to stdout or one line to stderr.
pub fn read() -> Result<Cli, Exit> {
    Cli::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            crate::terminal::keep_error(error.print());
            Exit::Measured
        }
        kind => {
            let typed = std::env::args_os().skip(1);
            let typed = typed.map(|word| word.to_string_lossy().into_owned());
            crate::terminal::error(&match kind {
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => missing_verb(typed),
                _ => one_line(&error.render().to_string(), typed),
            });
            Exit::CouldNotMeasure
        }
    })
}

/// The parser's message of several lines as one: what is wrong, the hint, where help is.
fn one_line(message: &str, typed: impl Iterator<Item = String>) -> String {
    let wanted = message.lines().map(str::trim).filter(|line| {
        !line.is_empty() && !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let joined = wanted
        .collect::<Vec<_>>()
        .join("; ")
        .replace(":; ", ": ")
        .replace("; [", " [");
    let root = Cli::command();
    let (verb, _) = command_of(&root, typed);
    format!(
        "{} (see {verb} --help)",
        joined.trim_start_matches("error: ")
    )
}

/// Which verbs there are, for who typed none.
fn missing_verb(typed: impl Iterator<Item = String>) -> String {
    let root = Cli::command();
    let (verb, command) = command_of(&root, typed);
    let known: Vec<&str> = command
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    format!(
        "what to do? give one of: {} (see {verb} --help)",
        known.join(", ")
    )
}

/// The program and as many verbs as were typed right, and what is known of the last.
fn command_of(
    root: &clap::Command,
    typed: impl Iterator<Item = String>,
) -> (String, &clap::Command) {
    let (mut verb, mut command) = (root.get_name().to_owned(), root);
    for word in typed {
        let Some(next) = command.find_subcommand(&word) else {
            break;
        };
        verb = format!("{verb} {word}");
        command = next;
    }
    (verb, command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    /// A job that doctor tells of can be typed, and one that it calls planned cannot yet.
    #[test]
    fn doctors_jobs_are_verbs() {
        for job in &mpps_lab::doctor::JOBS {
            let words = job.command.split(' ').chain(["--help"]);
            let typed = Cli::try_parse_from(std::iter::once("mpps").chain(words));
            let known = typed.is_err_and(|error| error.kind() == ErrorKind::DisplayHelp);
            let elsewhere = job.command.starts_with('(');
            assert_eq!(known, !job.planned && !elsewhere, "{}", job.command);
        }
    }

    #[test]
    fn help_is_named_for_the_verb_that_was_typed() {
        for (typed, verb) in [
            (vec!["throughput", "--flows", "x"], "mpps throughput"),
            (vec!["bed", "down"], "mpps bed down"),
            (vec!["thruput"], "mpps"),
            (vec![], "mpps"),
        ] {
            assert_eq!(
                command_of(&Cli::command(), typed.into_iter().map(str::to_owned)).0,
                verb
            );
        }
        let line = missing_verb(["bed"].into_iter().map(str::to_owned));
        assert!(
            line.contains("up, down, shell, list") && line.contains("mpps bed --help"),
            "{line}"
        );
    }

    #[test]
    fn a_bad_command_line_is_one_line_with_a_remedy() {
        for (words, wanted) in [
            (vec!["mpps", "throughput", "--flows", "many"], "--flows"),
            (vec!["mpps", "throughput", "--frames", "64"], "--frame"),
            (vec!["mpps", "thruput"], "throughput"),
            (vec!["mpps", "throughput", "--max-rate", "fast"], "1.5M"),
            (vec!["mpps", "bed", "down"], "NAME"),
        ] {
            let error = Cli::try_parse_from(&words).expect_err("bad input");
            let typed = words[1..].iter().map(|word| (*word).to_owned());
            let line = one_line(&error.render().to_string(), typed);
            assert!(!line.contains('\n') && !line.starts_with("error"), "{line}");
            assert!(line.contains(wanted) && line.contains("--help)"), "{line}");
        }
    }
}
