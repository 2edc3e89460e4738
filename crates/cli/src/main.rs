//! The `mpps` command: the only room that reads arguments, prints, writes records and knows exit codes.
//!
//! An error that a person sees is one line that names the remedy. A verb that ends with one has lowered its beds by then.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod args;
#[cfg(feature = "measure")]
mod beside;
#[cfg(feature = "measure")]
mod campaign;
mod exit;
mod expectation;
mod folder;
#[cfg_attr(not(feature = "measure"), path = "no_host.rs")]
mod host;
mod limits_plan;
#[cfg_attr(
    not(feature = "measure"),
    allow(dead_code, reason = "only a run that ends has an exit code and a plot")
)]
mod outcome;
#[cfg(feature = "measure")]
mod plan;
mod print;
mod profile_change;
#[cfg(feature = "measure")]
mod record;
#[cfg(feature = "measure")]
mod recorder;
mod records;
mod route_options;
#[cfg(feature = "measure")]
mod scratch;
mod terminal;
mod verbs;
#[cfg_attr(
    not(feature = "measure"),
    allow(dead_code, reason = "only a run says how it will search")
)]
mod words;

use args::{Cli, Verb};
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    host::survive_file_limit();
    let exit = match args::read() {
        Ok(cli) => run(&cli),
        Err(exit) => exit,
    };
    settle(exit).into()
}

fn run(cli: &Cli) -> Exit {
    let ended = match &cli.verb {
        #[cfg(feature = "measure")]
        Verb::Throughput(args) => verbs::throughput::run(args),
        #[cfg(feature = "measure")]
        Verb::Trial(args) => verbs::trial::run(args),
        #[cfg(feature = "measure")]
        Verb::Loss(args) => verbs::loss::run(args),
        #[cfg(feature = "measure")]
        Verb::Compare(args) => verbs::compare::run(args),
        #[cfg(not(feature = "measure"))]
        Verb::Compare(args) => verbs::compare_records::run(&args.finished, args.json),
        #[cfg(feature = "measure")]
        Verb::Latency(args) => verbs::latency::run(args),
        #[cfg(feature = "measure")]
        Verb::BackToBack(args) => verbs::back_to_back::run(args),
        #[cfg(feature = "measure")]
        Verb::Recovery(args) => verbs::recovery::run(args),
        #[cfg(feature = "measure")]
        Verb::Reset(args) => verbs::reset::run(args),
        #[cfg(feature = "measure")]
        Verb::Explain(args) => verbs::explain::run(args),
        #[cfg(feature = "measure")]
        Verb::Top(args) => verbs::top::run(args),
        #[cfg(feature = "measure")]
        Verb::Rfc2544(args) => verbs::rfc2544::run(args),
        #[cfg(feature = "measure")]
        Verb::FibScale(args) => verbs::fib_scale::run(args),
        #[cfg(feature = "measure")]
        Verb::Campaign(args) => verbs::campaign::run(args),
        #[cfg(feature = "measure")]
        Verb::Calibrate(args) => verbs::calibrate::run(args),
        Verb::Report(args) => verbs::report::run(args),
        Verb::Show(args) => verbs::show::run(args),
        Verb::Records(args) => verbs::records::run(args),
        Verb::Limits(args) => verbs::limits::run(args),
        Verb::Table(args) => verbs::table::run(args),
        Verb::Tune(args) => verbs::tune::run(args),
        #[cfg(feature = "measure")]
        Verb::Bed(args) => verbs::bed::run(args),
        #[cfg(feature = "measure")]
        Verb::Doctor(args) => verbs::doctor::run(args),
        #[cfg(feature = "measure")]
        Verb::Recover(args) => verbs::recover::run(args),
        Verb::Man(args) => verbs::generate::man(args),
        Verb::Completions(args) => verbs::generate::completions(args),
    };
    ended.unwrap_or_else(|error| {
        terminal::error(&args::shortened(&format!("{error:#}"), &args::typed()));
        host::exit_of(&error)
    })
}

/// Adds two things that no verb returns: lost output, and a bed that was dropped and could not be put back.
fn settle(mut exit: Exit) -> Exit {
    if let Some(error) = terminal::lost_output() {
        terminal::error(&format!("write standard output: {error}"));
        exit = exit.worse(Exit::Failed);
    }
    for error in host::not_restored() {
        terminal::error(&error);
        exit = exit.worse(Exit::NotRestored);
    }
    exit
}
