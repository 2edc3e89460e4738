//! What most verbs ask for alike: what is sent on which bed, through which routes, and where it is received.

use super::{BedChoice, DestinationPlan, Planned, measurement, port, traffic, trials_of};
use crate::args::{PlaceArgs, PortArgs, SearchArgs, SentArgs, SimulateArgs, TrafficArgs};
use anyhow::{Result, ensure};
use mpps_lab::jobs::fixed_load::{FixedLoadPlan, Load};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::search::saturation::SENDER_MAX;
use mpps_lab::tester::{PortKind, ReceiverPlace, TesterError, exit_refuses};
use mpps_lab::traffic::Traffic;
use mpps_method::{FrameSpec, Rate, Span};

/// What is sent, where and through which routes.
#[derive(Debug)]
pub struct Sending {
    /// Where.
    pub bed: BedChoice,
    /// One after the other.
    pub sizes: Vec<FrameSpec>,
    /// All that stays the same over the sizes.
    pub traffic: Traffic,
    /// What carries the frames, where the user named it.
    pub port: Option<PortKind>,
    /// Where frames are received, where the user named it.
    pub receiver: Option<ReceiverPlace>,
    /// Routes to load into the DUT, and destinations to draw from them.
    pub destinations: Option<DestinationPlan>,
}

impl Sending {
    /// What the arguments mean; `pair` where the verb can be simulated.
    pub fn new(sent: &SentArgs, place: &PlaceArgs, pair: Option<&SimulateArgs>) -> Result<Self> {
        let ports = &place.ports;
        let simulated = pair
            .and_then(|pair| pair.simulate)
            .map(BedChoice::Simulated);
        let bed = match simulated {
            Some(bed) => bed,
            None => BedChoice::new(&place.bed, Some((ports, &sent.traffic)))?,
        };
        let (sizes, traffic) = frames(&sent.traffic, port(ports, &bed))?;
        let receiver = receiver_for(ports, &bed, &traffic)?;
        let destinations = DestinationPlan::from_args(&sent.destinations, &traffic)?;
        ensure!(
            destinations.is_none() || bed.dut().planned().takes_routes(),
            "--external with destinations: mpps loads routes only into the router of its own bed, not into an external device; leave out --table, --dst-prefix and --networks"
        );
        Ok(Self {
            bed,
            sizes,
            traffic,
            port: ports.port,
            receiver,
            destinations,
        })
    }

    /// A search with these frames.
    pub fn measurement(&self, search: &SearchArgs) -> Result<ThroughputPlan> {
        ensure!(
            search.warm_up.is_none() || !matches!(self.bed, BedChoice::Simulated(_)),
            "--warm-up with --simulate: a simulated pair is never cold; leave out one of them"
        );
        Ok(ThroughputPlan {
            port: self.port,
            receiver: self.receiver,
            ..measurement(self.sizes.clone(), self.traffic.clone(), search)?
        })
    }

    /// The search of a job that needs the throughput first: the quick one of `mpps throughput`, in this time.
    pub fn searched(&self, budget: Option<Span>, warm_up: Option<Span>) -> Result<ThroughputPlan> {
        self.measurement(&SearchArgs {
            budget,
            warm_up,
            ..SearchArgs::default()
        })
    }

    /// Trials of this length without a search.
    pub fn trials_of(
        &self,
        trial: Span,
        budget: Option<Span>,
        warm_up: Option<Span>,
    ) -> Result<ThroughputPlan> {
        Ok(ThroughputPlan {
            search: trials_of(trial),
            minimum: Rate::ZERO,
            budget,
            ..self.searched(None, warm_up)?
        })
    }

    /// These loads for so long and so often; through a wire too.
    pub fn fixed_load(&self, loads: &[Load], time: Span, trials: u32) -> FixedLoadPlan {
        FixedLoadPlan {
            sizes: self.sizes.clone(),
            traffic: self.traffic.clone(),
            port: self.port,
            loads: loads.to_vec(),
            time,
            trials,
            wire: true,
            receiver: self.receiver,
        }
    }

    /// With what is to be done there.
    pub fn planned<J>(self, offer: J) -> Planned<J> {
        Planned {
            bed: self.bed,
            offer,
            destinations: self.destinations,
        }
    }
}

/// Refuses a load that no trial of this length can offer.
pub fn check_load(which: &str, rate: Rate, time: Span) -> Result<()> {
    ensure!(
        rate <= SENDER_MAX && rate.frames_in(time) > 0,
        "{which}: {rate} cannot be offered: give at most {SENDER_MAX}, and at least one frame in {time}"
    );
    Ok(())
}

/// The frame sizes, and all that stays the same over them.
pub fn frames(typed: &TrafficArgs, port: PortKind) -> Result<(Vec<FrameSpec>, Traffic)> {
    let sizes = traffic::sizes(typed, port)?;
    let traffic = Traffic {
        port,
        ..traffic::from_args(typed, &sizes)?
    };
    Ok((sizes, traffic))
}

/// The place that was asked for, where this traffic can be received there.
fn receiver_for(
    typed: &PortArgs,
    bed: &BedChoice,
    traffic: &Traffic,
) -> Result<Option<ReceiverPlace>> {
    let place = typed.receiver;
    let refused = exit_refuses(traffic, bed.dut());
    match refused.filter(|_| place == Some(ReceiverPlace::Exit)) {
        Some(why) => Err(TesterError::NoExit(why).into()),
        None => Ok(place),
    }
}
