//! `mpps table show` and `mpps table stats`: look, change nothing.

use super::place::Place;
use crate::args::{ShowArgs, StatsArgs};
use crate::exit::Exit;
use crate::terminal;
use anyhow::Result;
use mpps_lab::fib;

/// What of ours is loaded.
pub fn show(args: &ShowArgs) -> Result<Exit> {
    let place = Place::to_look_at(args.kept_bed.as_deref())?;
    let contents = place.run(|| fib::contents(args.route_table))?;
    terminal::out(&match args.json {
        true => terminal::contents_json(&place.name(), &contents),
        false => terminal::contents(&place.name(), &contents),
    });
    Ok(Exit::Measured)
}

/// What the kernel tells about a table of its FIB.
pub fn stats(args: &StatsArgs) -> Result<Exit> {
    let place = Place::to_look_at(args.kept_bed.as_deref())?;
    let stats = place.run(|| fib::stats(args.route_table))?;
    terminal::out(&match args.json {
        true => terminal::fib_stats_json(&place.name(), args.route_table, &stats),
        false => terminal::fib_stats(&place.name(), args.route_table, &stats),
    });
    Ok(Exit::Measured)
}
