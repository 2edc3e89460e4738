//! What `mpps recovery` is to offer.

use super::sending::Sending;
use super::{BedChoice, DestinationPlan, searched};
use crate::args::RecoveryArgs;
use anyhow::{Result, ensure};
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::recovery;

/// Where, what, and through which routes.
#[derive(Debug)]
pub struct RecoveryPlan {
    /// Where.
    pub bed: BedChoice,
    /// What.
    pub offer: recovery::RecoveryPlan,
    /// Routes to load into the DUT, and destinations to draw from them.
    pub destinations: Option<DestinationPlan>,
}

impl RecoveryPlan {
    /// What the arguments mean.
    ///
    /// # Errors
    /// One line that names the remedy.
    pub fn new(args: &RecoveryArgs) -> Result<Self> {
        let sending = Sending::new(&args.sent, &args.place, None)?;
        ensure!(recovery::can_step(&sending.traffic), JobError::NoStep);
        let measurement = searched(&sending, Some(args.budget), None)?;
        Ok(Self {
            bed: sending.bed,
            destinations: sending.destinations,
            offer: recovery::RecoveryPlan {
                measurement,
                searched: None,
                overload: args.time,
                after: args.time,
                trials: args.repeat,
            },
        })
    }
}
