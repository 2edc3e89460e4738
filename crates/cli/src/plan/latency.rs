//! What `mpps latency` is to offer.

use super::sending::Sending;
use super::{Planned, searched};
use crate::args::LatencyArgs;
use anyhow::{Result, ensure};
use mpps_lab::jobs::latency::{self, LatencyLoad};
use mpps_lab::search::saturation::SENDER_MAX;
use mpps_method::Rate;
use mpps_report::number::percent_given;

/// Where, what, and through which routes.
pub type LatencyPlan = Planned<latency::LatencyPlan>;

impl LatencyPlan {
    /// What the arguments mean.
    pub fn new(args: &LatencyArgs) -> Result<Self> {
        let at = |load: &LatencyLoad| match (load, args.throughput) {
            (LatencyLoad::At(rate), _) => Some(("--load".to_owned(), *rate)),
            (LatencyLoad::Share(share), most) => most.map(|most| {
                let rate = Rate::from_fps(most.fps() * share);
                (format!("{} of --throughput", percent_given(*share)), rate)
            }),
        };
        for (which, rate) in args.load.iter().filter_map(at) {
            ensure!(
                rate <= SENDER_MAX && rate.frames_in(args.time) > 0,
                "{which}: {rate} cannot be offered: give at most {SENDER_MAX}, and at least one frame in {}",
                args.time
            );
        }
        let sending = Sending::new(&args.run.sent, &args.run.place, None)?;
        let measurement = searched(&sending, Some(args.budget), args.warm_up)?;
        Ok(sending.planned(latency::LatencyPlan {
            measurement,
            throughput: args.throughput,
            searched: None,
            loads: args.load.clone(),
            time: args.time,
            may_sleep: args.sleep,
        }))
    }
}
