//! What `mpps loss` is to offer.

use super::{BedChoice, BedWish, DestinationPlan, bed_name, external, port, receiver_for, traffic};
use crate::args::LossArgs;
use anyhow::{Result, ensure};
use mpps_lab::jobs::loss;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::search::link::Link;
use mpps_lab::search::saturation::SENDER_MAX;
use mpps_lab::traffic::Traffic;
use mpps_method::{Accept, Rate, Resolution, SearchPlan, Span};

/// Where, what, and through which routes.
#[derive(Debug)]
pub struct LossPlan {
    /// Where.
    pub bed: BedChoice,
    /// What.
    pub offer: loss::LossPlan,
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
        let bed = match (&args.kept_bed, args.simulate) {
            (Some(name), _) => BedChoice::Kept(bed_name(name)?),
            (None, Some(pair)) => BedChoice::Simulated(pair),
            (None, None) => BedChoice::Own(BedWish {
                dut: external::dut(&args.ports, &args.traffic)?,
                ..BedWish::new(&args.bed, None)?
            }),
        };
        let port = port(&args.ports, &bed);
        let sizes = traffic::sizes(&args.traffic, port)?;
        let traffic = Traffic {
            port,
            ..traffic::of(&args.traffic, &sizes)?
        };
        let measurement = ThroughputPlan {
            receiver: receiver_for(&args.ports, &bed, &traffic)?,
            sizes,
            port: args.ports.port.map(|named| super::port_kind(Some(named))),
            search: trials_of(args.time),
            warm_up: args.warm_up.unwrap_or(Span::ZERO),
            minimum: Rate::ZERO,
            maximum: args.max_rate,
            link: Link::NOTIONAL,
            budget: args.budget,
            traffic,
        };
        let (typed, sent) = (&args.destinations, &measurement.traffic);
        Ok(Self {
            destinations: super::destinations(typed, &bed, sent)?,
            bed,
            offer: loss::LossPlan {
                measurement,
                step: args.step,
            },
        })
    }
}

/// Trials of this length; nothing is searched.
fn trials_of(trial: Span) -> SearchPlan {
    SearchPlan::Bisection {
        trial,
        resolution: Resolution::Fraction(1.0),
        trials_per_load: 1,
        accept: Accept::All,
    }
}
