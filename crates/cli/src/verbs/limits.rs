//! `mpps limits`: arithmetic, and with `--measure` this machine's memory.

use crate::args::LimitsArgs;
use crate::exit::Exit;
use crate::plan::LimitsPlan;
use crate::terminal;
use anyhow::Result;
use mpps_lab::facts;
use mpps_lab::memory;
use mpps_method::limits::MemoryBandwidth;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy.
pub fn run(args: &LimitsArgs) -> Result<Exit> {
    let plan = LimitsPlan::new(args)?;
    let measured = args
        .measure
        .then(|| memory::measure(memory::largest(&facts::gather())))
        .transpose()?;
    let by_measuring = measured.as_ref().map(|measured| MemoryBandwidth {
        octets_per_s: measured.together_octets_per_s,
    });
    let memory = args.memory.or(by_measuring);
    terminal::out(&if args.json {
        terminal::limits_json(&plan, memory, measured.as_ref())
    } else {
        terminal::limits(&plan, memory, measured.as_ref())
    });
    Ok(Exit::Measured)
}
