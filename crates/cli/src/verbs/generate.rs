//! `mpps man` and `mpps completions`.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::exit::Exit;
use crate::terminal;
use anyhow::{Context, Result};
use clap::{Command, CommandFactory};

/// Writes a man page for the program and for each verb.
///
/// # Errors
/// The folder cannot be made or written to.
pub fn man(args: &ManArgs) -> Result<Exit> {
    let folder = &args.folder;
    let mut command = without_help(Cli::command());
    command.build();
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(with_short_synopsis(command), folder))
        .with_context(|| {
            let folder = folder.display();
            format!("write man pages to {folder} (name a folder that can be written to)")
        })?;
    Ok(Exit::Measured)
}

/// Without the verb `help` of each level: its pages would say once more what there is.
fn without_help(command: Command) -> Command {
    let command = command.disable_help_subcommand(true);
    command.mut_subcommands(without_help)
}

/// The usage line of `--help` as each page's synopsis: the list of all flags would lack their values.
fn with_short_synopsis(mut command: Command) -> Command {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    command
        .override_usage(usage)
        .mut_subcommands(with_short_synopsis)
}

/// Prints a shell's completions.
pub fn completions(args: &CompletionsArgs) -> Result<Exit> {
    let (mut command, mut text) = (Cli::command(), Vec::new());
    clap_complete::generate(args.shell, &mut command, "mpps", &mut text);
    terminal::out(&String::from_utf8_lossy(&text));
    Ok(Exit::Measured)
}
