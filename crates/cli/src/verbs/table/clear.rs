//! `mpps table clear`.

use super::owner::FibOwner;
use crate::args::ClearArgs;
use crate::exit::Exit;
use crate::terminal;
use anyhow::Result;
use mpps_lab::fib;

/// Runs the verb.
pub fn run(args: &ClearArgs) -> Result<Exit> {
    let owner = FibOwner::to_change(&args.fib)?;
    let cleared = match &owner {
        FibOwner::Bed(bed) => fib::clear_from(bed)?,
        FibOwner::Host => fib::clear_host()?,
    };
    terminal::out(&match args.json {
        true => terminal::cleared_json(&owner.name(), &cleared),
        false => terminal::cleared(&owner.name(), &cleared),
    });
    Ok(Exit::Measured)
}
