//! `mpps table read`.

use super::read_with_progress;
use crate::args::ReadArgs;
use crate::exit::Exit;
use crate::plan::{choose_options, read_options};
use crate::terminal::{self, RoutesRead};
use anyhow::Result;
use mpps_lab::tables::{Families, Source, Surroundings, choose};

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy.
pub fn run(args: &ReadArgs) -> Result<Exit> {
    let mut options = choose_options(&args.choose);
    Surroundings::here()?.keep_clear(&mut options);
    let source = Source::from_argument(args.file.file.clone());
    let name = source.to_string();
    let read = read_with_progress(source, &read_options(&args.file), args.quiet)?;
    let read = RoutesRead {
        source: name,
        counts: read.counts,
        distinct: Families::of(&read.table),
        chosen: choose(read.table, &options),
    };
    terminal::out(&if args.list {
        terminal::prefixes(&read.chosen.table)
    } else if args.json {
        terminal::routes_json(&read)?
    } else {
        terminal::routes(&read)
    });
    if let (true, Some(first)) = (args.list, &read.counts.first_damage) {
        let damaged = read.counts.damaged;
        terminal::note(&format!(
            "mpps: {name}: {damaged} damaged, left out; the first: {first}",
            name = read.source
        ));
    }
    Ok(Exit::Measured)
}
