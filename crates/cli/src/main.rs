//! The `mpps` command: the only room that reads arguments, prints, writes records and knows exit codes.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod args;
mod beside;
mod exit;
mod expectation;
mod outcome;
mod plan;
mod print;
mod record;
mod recorder;
mod terminal;
mod verbs;
mod words;

use args::{Cli, Verb};
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    // A limit for files (`ulimit -f`) makes a write fail, so that the host is put back as after any other error.
    let _handled = mpps_lab::interrupt::survive_file_limit();
    let exit = match args::read() {
        Ok(cli) => run(&cli),
        Err(exit) => exit,
    };
    settle(exit).into()
}

fn run(cli: &Cli) -> Exit {
    let ended = match &cli.verb {
        Verb::Throughput(args) => verbs::throughput::run(args),
        Verb::Trial(args) => verbs::trial::run(args),
        Verb::Loss(args) => verbs::loss::run(args),
        Verb::Compare(args) => verbs::compare::run(args),
        Verb::FibScale(args) => verbs::fib_scale::run(args),
        Verb::Calibrate(args) => verbs::calibrate::run(args),
        Verb::Report(args) => verbs::report::run(args),
        Verb::Show(args) => verbs::show::run(args),
        Verb::Limits(args) => verbs::limits::run(args),
        Verb::Table(args) => verbs::table::run(args),
        Verb::Bed(args) => verbs::bed::run(args),
        Verb::Doctor(args) => verbs::doctor::run(args),
        Verb::Recover(args) => verbs::recover::run(args),
        Verb::Man(args) => verbs::generate::man(args),
        Verb::Completions(args) => verbs::generate::completions(args),
    };
    ended.unwrap_or_else(|error| {
        terminal::error(&args::shortened(&format!("{error:#}"), &args::typed()));
        verbs::exit_of(&error)
    })
}

/// Adds two things that no verb returns: lost output, and a bed that was dropped and could not be put back.
fn settle(mut exit: Exit) -> Exit {
    if let Some(error) = terminal::lost_output() {
        terminal::error(&format!("write standard output: {error}"));
        exit = exit.worse(Exit::Failed);
    }
    for error in mpps_lab::bed::not_restored() {
        terminal::error(&error.to_string());
        exit = exit.worse(Exit::NotRestored);
    }
    exit
}
