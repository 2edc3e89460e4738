//! What `mpps reset` is to do.

use super::sending::Sending;
use super::{BedChoice, Planned, searched};
use crate::args::ResetArgs;
use anyhow::{Result, bail, ensure};
use mpps_lab::bed;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::recovery::can_step;
use mpps_lab::jobs::reset::{self, Away, Part, Process};

/// Where, what, and through which routes.
pub type ResetPlan = Planned<reset::ResetPlan>;

impl ResetPlan {
    /// What the arguments mean. A kept bed tells later whether it has a set-up script.
    pub fn new(args: &ResetArgs) -> Result<Self> {
        let sending = Sending::new(&args.run.sent, &args.run.place, None)?;
        ensure!(
            sending.bed.dut().planned().takes_routes(),
            "--external: mpps resets only the router of its own bed; leave it out"
        );
        ensure!(can_step(&sending.traffic), JobError::NoGap);
        let scripted = match &sending.bed {
            BedChoice::Own(wish) => wish.dut_setup.is_some(),
            _ => true,
        };
        let process = args.process.clone().zip(args.process_start.clone());
        let away = Away {
            hold: args.hold,
            process: process.map(|(name, start)| Process { name, start }),
        };
        let parts = if args.reset.is_empty() {
            Part::all_of(scripted, away.process.is_some())
        } else {
            args.reset.clone()
        };
        check(&parts, scripted, &away)?;
        let measurement = searched(&sending, None, None)?;
        Ok(sending.planned(reset::ResetPlan {
            measurement,
            parts,
            rate: args.rate,
            time: args.time,
            away,
            trials: args.repeat,
        }))
    }
}

/// Whether these can be reset on a bed with a set-up script, or without.
pub fn check(parts: &[Part], scripted: bool, away: &Away) -> Result<()> {
    match (&away.process, parts.contains(&Part::Process)) {
        (None, true) => bail!("--reset process: name it with --process, and give --process-start"),
        (Some(_), false) => bail!("--process: leave it out, or give --reset process too"),
        (Some(process), true) => bed::check_start(&process.start)?,
        (None, false) => {}
    }
    ensure!(
        scripted || !parts.contains(&Part::SetUp),
        "--reset set-up: the bed has no set-up script to run again: give one with --dut-setup"
    );
    Ok(())
}
