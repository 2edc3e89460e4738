//! What `mpps loss` is to offer.

use super::sending::Sending;
use super::{BedChoice, DestinationPlan};
use crate::args::LossArgs;
use anyhow::{Result, ensure};
use mpps_lab::jobs::lasting::LastingPlan;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::jobs::{JobError, loss, recovery};
use mpps_lab::search::link::Link;
use mpps_lab::search::saturation::SENDER_MAX;
use mpps_method::{Accept, Rate, Resolution, SearchPlan, Span};

/// Where, what, and through which routes.
#[derive(Debug)]
pub struct LossPlan {
    /// Where.
    pub bed: BedChoice,
    /// What.
    pub offer: loss::LossPlan,
    /// A lasting overload instead.
    pub lasting: Option<LastingPlan>,
    /// Routes to load into the DUT, and destinations to draw from them.
    pub destinations: Option<DestinationPlan>,
}

impl LossPlan {
    /// What the arguments mean.
    ///
    /// # Errors
    /// One line that names the remedy.
    pub fn new(args: &LossArgs) -> Result<Self> {
        if let Some(rate) = args.max_rate {
            let lowest = Rate::from_fps(rate.fps() * args.step);
            ensure!(
                rate <= SENDER_MAX && lowest.frames_in(args.time) > 0,
                "--max-rate {rate}: give at most {SENDER_MAX}, and at least one frame in {} at the lowest load",
                args.time
            );
        }
        let sending = Sending::new(&args.sent, &args.place, Some(&args.pair))?;
        let measurement = ThroughputPlan {
            sizes: sending.sizes,
            traffic: sending.traffic,
            port: sending.port,
            search: trials_of(args.time),
            warm_up: args.warm_up.unwrap_or(Span::ZERO),
            minimum: Rate::ZERO,
            maximum: args.max_rate,
            link: Link::NOTIONAL,
            budget: args.budget,
            receiver: sending.receiver,
        };
        let can_step = recovery::can_step(&measurement.traffic);
        ensure!(args.overload.is_none() || can_step, JobError::NoStep);
        let lasting = args.overload.map(|overload| LastingPlan {
            measurement: measurement.clone(),
            overload,
            lasts: args.lasts,
        });
        Ok(Self {
            bed: sending.bed,
            destinations: sending.destinations,
            lasting,
            offer: loss::LossPlan {
                measurement,
                step: args.step,
            },
        })
    }
}

/// Trials of this length; nothing is searched.
pub fn trials_of(trial: Span) -> SearchPlan {
    SearchPlan::Bisection {
        trial,
        resolution: Resolution::Fraction(1.0),
        trials_per_load: 1,
        accept: Accept::All,
    }
}
