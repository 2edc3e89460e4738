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

macro_rules! dispatch {
    ($($(#[$about:meta])* $($feature:literal)? $verb:ident($args:ty) $module:ident::$run:ident
       $(, cell $cell:literal)?;)*) => {
        fn run_verb(verb: &Verb) -> anyhow::Result<Exit> {
            match verb {$(
                $(#[cfg(feature = $feature)])?
                Verb::$verb(args) => verbs::$module::$run(args),
            )*}
        }
    };
}
args::each_verb!(dispatch);

fn run(cli: &Cli) -> Exit {
    run_verb(&cli.verb).unwrap_or_else(|error| {
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
