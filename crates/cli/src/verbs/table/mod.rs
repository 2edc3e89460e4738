//! `mpps table`: one file a verb.

#[cfg(feature = "measure")]
mod clear;
#[cfg(feature = "measure")]
mod load;
#[cfg(feature = "measure")]
mod owner;
mod read;
#[cfg(feature = "measure")]
mod show;
mod synthesize;

use crate::args::{TableArgs, TableVerb};
use crate::exit::Exit;
use crate::terminal::bar::bar;
use crate::terminal::grouped;
use anyhow::Result;
use mpps_tables::{Progress, ReadOptions, ReadTable, Source};
use std::fmt::Display;

/// Runs the verb.
pub fn run(args: &TableArgs) -> Result<Exit> {
    match &args.verb {
        TableVerb::Read(args) => read::run(args),
        TableVerb::Synthesize(args) => synthesize::run(args),
        #[cfg(feature = "measure")]
        TableVerb::Load(args) => load::run(args),
        #[cfg(feature = "measure")]
        TableVerb::Show(args) => show::show(args),
        #[cfg(feature = "measure")]
        TableVerb::Stats(args) => show::stats(args),
        #[cfg(feature = "measure")]
        TableVerb::Clear(args) => clear::run(args),
    }
}

/// Reads a file of routes and shows how far it is.
///
/// # Errors
/// Names file, record and octet.
pub fn read_with_progress(source: Source, options: &ReadOptions, quiet: bool) -> Result<ReadTable> {
    let mut progress = reading(&source, quiet);
    Ok(mpps_tables::read(source, options, &mut progress)?)
}

/// Shows how far routes have been read, until it is dropped.
pub fn reading<N: Display>(name: &N, quiet: bool) -> impl FnMut(Progress) + use<N> {
    let bar = bar(name.to_string(), None, quiet);
    move |progress| {
        if let Some(total) = progress.octets_total {
            bar.set_length(total);
        }
        bar.set_position(progress.octets_read);
        bar.set_message(format!("{} prefixes", grouped(progress.prefixes)));
    }
}
