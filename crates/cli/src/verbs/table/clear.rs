//! `mpps table clear`.

use super::place::Place;
use crate::args::ClearArgs;
use crate::exit::Exit;
use crate::terminal;
use anyhow::Result;
use mpps_lab::fib;

/// Runs the verb.
pub fn run(args: &ClearArgs) -> Result<Exit> {
    let place = Place::to_change(&args.fib)?;
    let cleared = match &place {
        Place::Bed(bed) => fib::clear_from(bed)?,
        Place::Here => fib::clear_host()?,
    };
    terminal::out(&match args.json {
        true => terminal::cleared_json(&place.name(), &cleared),
        false => terminal::cleared(&place.name(), &cleared),
    });
    Ok(Exit::Measured)
}
