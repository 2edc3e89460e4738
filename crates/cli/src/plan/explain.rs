//! What `mpps explain` is to profile.

use super::sending::Sending;
use super::{BedChoice, DestinationPlan};
use crate::args::ExplainArgs;
use anyhow::{Result, ensure};
use mpps_lab::bed::Front;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::explain;
use mpps_lab::jobs::fixed_load::{FixedLoadPlan, Load};

/// Where, what, and through which routes.
#[derive(Debug)]
pub struct ExplainPlan {
    /// Where.
    pub bed: BedChoice,
    /// What.
    pub offer: explain::ExplainPlan,
    /// Routes to load into the DUT, and destinations to draw from them.
    pub destinations: Option<DestinationPlan>,
}

impl ExplainPlan {
    /// What the arguments mean.
    ///
    /// # Errors
    /// One line that names the remedy.
    pub fn new(args: &ExplainArgs) -> Result<Self> {
        let sending = Sending::new(&args.sent, &args.place, None)?;
        let softirq = matches!(&sending.bed, BedChoice::Own(wish) if wish.nic == Front::Softirq);
        let external = sending.bed.dut().planned().host_ports().is_some();
        ensure!(!softirq && !external, JobError::NoThreads);
        Ok(Self {
            bed: sending.bed,
            destinations: sending.destinations,
            offer: explain::ExplainPlan {
                burn_ns: args.burn,
                offer: FixedLoadPlan {
                    sizes: sending.sizes,
                    traffic: sending.traffic,
                    port: sending.port,
                    loads: vec![Load::Max],
                    time: args.time,
                    trials: args.trials,
                    receiver: sending.receiver,
                },
            },
        })
    }
}
