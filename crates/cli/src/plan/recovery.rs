//! What `mpps recovery` is to offer.

use super::sending::Sending;
use super::{Planned, searched};
use crate::args::RecoveryArgs;
use anyhow::{Result, ensure};
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::recovery;

/// Where, what, and through which routes.
pub type RecoveryPlan = Planned<recovery::RecoveryPlan>;

impl RecoveryPlan {
    /// What the arguments mean.
    pub fn new(args: &RecoveryArgs) -> Result<Self> {
        let sending = Sending::new(&args.run.sent, &args.run.place, None)?;
        ensure!(recovery::can_step(&sending.traffic), JobError::NoStep);
        let measurement = searched(&sending, Some(args.budget), None)?;
        Ok(sending.planned(recovery::RecoveryPlan {
            measurement,
            searched: None,
            overload: args.time,
            after: args.time,
            trials: args.repeat,
        }))
    }
}
