//! `mpps table read`.

use super::reading;
use crate::args::ReadArgs;
use crate::exit::Exit;
use crate::host;
use crate::route_options::{choose_options, read_options};
use crate::terminal;
use anyhow::Result;
use mpps_tables::{Source, read_routes};

/// Runs the verb.
pub fn run(args: &ReadArgs) -> Result<Exit> {
    let mut options = choose_options(&args.choose);
    host::keep_clear(&mut options)?;
    let source = Source::from_argument(args.file.file.clone());
    let mut progress = reading(&source, args.quiet);
    let read = read_routes(source, &read_options(&args.file), &options, &mut progress)?;
    drop(progress);
    terminal::out(&if args.list {
        terminal::prefixes(&read.chosen.table)
    } else if args.json {
        terminal::routes_json(&read)
    } else {
        terminal::routes(&read)
    });
    if let (true, Some(first)) = (args.list, &read.counts.first_damage) {
        let damaged = read.counts.damaged;
        terminal::note(&format!(
            "mpps: {name}: {damaged} damaged, left out; the first: {first}",
            name = read.from
        ));
    }
    Ok(Exit::Measured)
}
