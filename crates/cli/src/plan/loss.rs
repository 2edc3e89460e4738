//! What `mpps loss` is to offer.

use super::sending::Sending;
use super::{Planned, searched};
use crate::args::LossArgs;
use anyhow::{Result, ensure};
use mpps_lab::jobs::lasting::LastingPlan;
use mpps_lab::jobs::loss::LossPlan;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::jobs::{JobError, recovery};
use mpps_lab::search::saturation::SENDER_MAX;
use mpps_method::{Accept, Rate, Resolution, SearchPlan, Span};

/// What the arguments mean; a lasting overload, where that is asked for instead.
pub fn loss(args: &LossArgs) -> Result<(Planned<LossPlan>, Option<LastingPlan>)> {
    if let Some(rate) = args.max_rate {
        let lowest = Rate::from_fps(rate.fps() * args.step);
        ensure!(
            rate <= SENDER_MAX && lowest.frames_in(args.time) > 0,
            "--max-rate {rate}: give at most {SENDER_MAX}, and at least one frame in {} at the lowest load",
            args.time
        );
    }
    ensure!(
        args.overload.is_none() || args.pair.simulate.is_none(),
        "--overload with --simulate: a simulated pair counts frames of a whole trial, so there are no seconds to \
        watch; leave out one of them"
    );
    let sending = Sending::new(&args.sent, &args.place, Some(&args.pair))?;
    let measurement = ThroughputPlan {
        search: trials_of(args.time),
        minimum: Rate::ZERO,
        maximum: args.max_rate,
        budget: args.budget,
        ..searched(&sending, None, args.warm_up)?
    };
    let can_step = recovery::can_step(&measurement.traffic);
    ensure!(args.overload.is_none() || can_step, JobError::NoStep);
    let lasting = args.overload.map(|overload| LastingPlan {
        measurement: measurement.clone(),
        overload,
        lasts: args.lasts,
    });
    let offer = LossPlan {
        measurement,
        step: args.step,
        passed: None,
    };
    Ok((sending.planned(offer), lasting))
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
