//! `mpps doctor`.

use crate::args::DoctorArgs;
use crate::exit::Exit;
use crate::host::Interrupted;
use crate::terminal;
use anyhow::{Result, ensure};
use mpps_lab::{doctor, interrupt};

/// Runs the verb. Without root it says what can be known without.
///
/// # Errors
/// A bed it raised could not be lowered.
pub fn run(args: &DoctorArgs) -> Result<Exit> {
    // Ctrl-C: the bed is lowered first.
    interrupt::install()?;
    let examination = doctor::examine()?;
    // Half an examination would call good parts bad.
    ensure!(!interrupt::requested(), Interrupted("interrupted"));
    terminal::out(&match args.json {
        true => terminal::doctor_json(&examination),
        false => terminal::fitted(&terminal::doctor(&examination)),
    });
    Ok(if examination.main_job_can_run() {
        Exit::Measured
    } else {
        Exit::NotMet
    })
}
