//! `mpps recover`.

use crate::args::RecoverArgs;
use crate::exit::Exit;
use crate::terminal;
use anyhow::Result;
use mpps_lab::{facts, recover};

/// Runs the verb: puts back what can be put back, and says what could not.
///
/// # Errors
/// The journals could not be read.
pub fn run(args: &RecoverArgs) -> Result<Exit> {
    facts::check()?;
    let recovery = recover::recover()?;
    let text = terminal::recovery(&recovery);
    if text.is_empty() && recovery.failed.is_empty() && !args.quiet {
        terminal::out("nothing to recover\n");
    }
    terminal::out(&text);
    for (bed, why) in &recovery.failed {
        terminal::error(&format!("{bed} could not be restored: {why}"));
    }
    Ok(if recovery.failed.is_empty() {
        Exit::Measured
    } else {
        Exit::NotRestored
    })
}
