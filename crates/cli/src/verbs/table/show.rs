//! `mpps table show` and `mpps table stats`: look, change nothing.

use super::owner::FibOwner;
use crate::args::{ShowArgs, StatsArgs};
use crate::exit::Exit;
use crate::terminal;
use anyhow::Result;
use mpps_lab::fib;

/// What of ours is loaded.
pub fn show(args: &ShowArgs) -> Result<Exit> {
    let owner = FibOwner::to_look_at(args.kept_bed.as_deref())?;
    let contents = owner.run(|| fib::contents(args.route_table))?;
    terminal::out(&match args.json {
        true => terminal::contents_json(&owner.name(), &contents),
        false => terminal::contents(&owner.name(), &contents),
    });
    Ok(Exit::Measured)
}

/// What the kernel tells about a table of its FIB.
pub fn stats(args: &StatsArgs) -> Result<Exit> {
    let owner = FibOwner::to_look_at(args.kept_bed.as_deref())?;
    let stats = owner.run(|| fib::stats(args.route_table))?;
    terminal::out(&match args.json {
        true => terminal::fib_stats_json(&owner.name(), args.route_table, &stats),
        false => terminal::fib_stats(&owner.name(), args.route_table, &stats),
    });
    Ok(Exit::Measured)
}
