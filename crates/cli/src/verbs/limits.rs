//! `mpps limits`: arithmetic, and with `--measure` this machine's memory.

use crate::args::LimitsArgs;
use crate::exit::Exit;
use crate::host;
use crate::limits_plan::LimitsPlan;
use crate::terminal;
use anyhow::Result;

/// Runs the verb.
pub fn run(args: &LimitsArgs) -> Result<Exit> {
    let mut plan = LimitsPlan::new(args)?;
    plan.add_memory(host::memory(args)?);
    terminal::out(&match args.json {
        true => terminal::limits_json(&plan),
        false => terminal::fitted(&terminal::limits(&plan)),
    });
    Ok(Exit::Measured)
}
