//! `mpps limits`: arithmetic, and with `--measure` this machine's memory.

use crate::args::LimitsArgs;
use crate::exit::Exit;
use crate::host;
use crate::limits_plan::LimitsPlan;
use crate::terminal;
use anyhow::Result;
use mpps_method::limits::MemoryBandwidth;

/// Runs the verb.
pub fn run(args: &LimitsArgs) -> Result<Exit> {
    let plan = LimitsPlan::new(args)?;
    let measured = host::memory(args)?;
    let by_measuring = measured.as_ref().map(|measured| MemoryBandwidth {
        octets_per_s: measured.together_octets_per_s,
    });
    let memory = args.memory.or(by_measuring);
    terminal::out(&match args.json {
        true => terminal::limits_json(&plan, memory, measured.as_ref()),
        false => terminal::limits(&plan, memory, measured.as_ref()),
    });
    Ok(Exit::Measured)
}
