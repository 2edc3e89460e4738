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
    /// What the arguments mean. A kept bed tells later whether it has a set-up script.
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
        let scripted = match &sending.bed {
            BedChoice::Own(wish) => wish.dut_setup.is_some(),
            _ => true,
        };
        let parts = if args.reset.is_empty() {
            Part::ALL.to_vec()
        } else {
            check(&args.reset, scripted)?;
            args.reset.clone()
        };
        let is_there = |part: &Part| scripted || *part != Part::SetUp;
        let measurement = searched(&sending, None, None)?;
        Ok(sending.planned(reset::ResetPlan {
            measurement,
            parts: parts.into_iter().filter(is_there).collect(),
            rate: args.rate,
            time: args.time,
            hold: args.hold,
            trials: args.repeat,
        }))
    }
}

/// Whether these can be reset on a bed with a set-up script, or without.
///
/// # Errors
/// One line that names the remedy.
pub fn check(parts: &[Part], scripted: bool) -> Result<()> {
    ensure!(
        scripted || !parts.contains(&Part::SetUp),
        "--reset set-up: the bed has no set-up script to run again: give one with --dut-setup"
    );
    Ok(())
}
