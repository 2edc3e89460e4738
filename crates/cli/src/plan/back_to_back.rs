//! What `mpps back-to-back` is to offer.

use super::loss::trials_of;
use super::sending::Sending;
use super::{Planned, searched};
use crate::args::BurstArgs;
use anyhow::Result;
use mpps_lab::jobs::back_to_back;
use mpps_lab::jobs::throughput::ThroughputPlan;

/// Where, what, and through which routes.
pub type BurstPlan = Planned<back_to_back::BurstPlan>;

impl BurstPlan {
    /// What the arguments mean.
    pub fn new(args: &BurstArgs) -> Result<Self> {
        let sending = Sending::new(&args.run.sent, &args.run.place, Some(&args.pair))?;
        let measurement = ThroughputPlan {
            search: trials_of(args.time),
            budget: args.budget,
            ..searched(&sending, args.budget, None)?
        };
        Ok(sending.planned(back_to_back::BurstPlan {
            measurement,
            repeats: args.repeat,
        }))
    }
}
