//! What `mpps reset` is to do.

use super::sending::Sending;
use super::{BedChoice, Planned, searched};
use crate::args::ResetArgs;
use anyhow::{Result, ensure};
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::recovery::can_step;
use mpps_lab::jobs::reset::{self, Part};

/// Where, what, and through which routes.
pub type ResetPlan = Planned<reset::ResetPlan>;

impl ResetPlan {
    /// What the arguments mean.
    ///
    /// # Errors
    /// One line that names the remedy.
    pub fn new(args: &ResetArgs) -> Result<Self> {
        let sending = Sending::new(&args.sent, &args.place, None)?;
        ensure!(
            sending.bed.dut().planned().takes_routes(),
            "--external: mpps resets only the router of its own bed; leave it out"
        );
        ensure!(can_step(&sending.traffic), JobError::NoGap);
        let mut parts = args.reset.clone();
        // A kept bed tells later whether it has a script.
        if let BedChoice::Own(wish) = &sending.bed {
            choose(&mut parts, wish.dut_setup.is_some())?;
        }
        let offer = reset::ResetPlan {
            measurement: searched(&sending, None, None)?,
            parts,
            rate: args.rate,
            time: args.time,
            hold: args.hold,
            trials: args.repeat,
        };
        Ok(sending.planned(offer))
    }
}

/// Checks what is to be reset on a bed with a set-up script, or without. Where nothing was named, it is all that the bed has.
///
/// # Errors
/// One line that names the remedy.
pub fn choose(parts: &mut Vec<Part>, scripted: bool) -> Result<()> {
    if parts.is_empty() {
        *parts = Part::all_of(scripted);
    }
    ensure!(
        scripted || !parts.contains(&Part::SetUp),
        "--reset set-up: the bed has no set-up script to run again: give one with --dut-setup"
    );
    Ok(())
}
