//! A fixed load: offered as asked for, without ceiling and search, and everything counted. A wire in place of the
//! router at the same load tells what of that is the bed's own.

use super::sizes::repeat_void;
use super::throughput::{self, first_burst};
use super::{JobError, Judged, Phase, ResultObserver, Trials, UnderTest, keep, on_ports};
use crate::bed::Bed;
use crate::doubt;
use crate::line;
use crate::search::measurer::Measurer;
use crate::search::saturation::{FIRST_BURST, SENDER_MAX};
use crate::search::simulated::SimulatedPair;
use crate::tester::{PortKind, ReceiverPlace, TesterError};
use crate::traffic::Traffic;
use crate::trial;
use mpps_method::{FrameSpec, Offer, Rate, Span, Trial};
use mpps_record::doubts::WORK_ELSEWHERE;
use mpps_record::{LoadLine, LoadTrial, Other};
use std::fmt;

/// What to offer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// So many frames/s, over all directions.
    At(Rate),
    /// All that the sender can.
    Max,
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(rate) => rate.fmt(f),
            Self::Max => f.pad("max"),
        }
    }
}

/// What to offer, how long and how often.
#[derive(Clone, Debug)]
pub struct FixedLoadPlan {
    /// One after the other.
    pub sizes: Vec<FrameSpec>,
    /// All other properties of the traffic (its frame sizes are replaced).
    pub traffic: Traffic,
    /// What carries the frames; `None`: what both ports around a device can.
    pub port: Option<PortKind>,
    /// Offered one after the other, for each size.
    pub loads: Vec<Load>,
    /// Length of each trial; at [`Load::Max`] about that.
    pub time: Span,
    /// Trials at each load.
    pub trials: u32,
    /// Whether one trial at each load goes through a wire in the router's place.
    pub wire: bool,
    /// Where the tester receives; `None`: as throughput chooses.
    pub receiver: Option<ReceiverPlace>,
}

impl FixedLoadPlan {
    /// The plan as it is carried out on this bed, whose ports count where the user named none.
    ///
    /// # Errors
    /// The ports could not be asked.
    pub fn on_bed(&self, bed: &Bed) -> Result<Self, TesterError> {
        Ok(Self {
            traffic: on_ports(bed, &self.traffic, self.port, &self.sizes)?,
            ..self.clone()
        })
    }
}

/// Offers every load for every frame size, on a tester as throughput's; the observer gets each load as soon as it is
/// measured. A size that fails takes no other's away. Returns what ended the run, or else a size.
pub fn measure(
    on: UnderTest<'_>,
    plan: &FixedLoadPlan,
    observer: &mut dyn ResultObserver<LoadLine>,
) -> Option<JobError> {
    let frames_max = SENDER_MAX.frames_in(plan.time).max(FIRST_BURST);
    let mut error = None;
    for frames in &plan.sizes {
        let ended = match on {
            UnderTest::Bed(bed) => {
                let traffic = plan.traffic.with_frames(frames);
                throughput::raise(bed, &traffic, frames_max, plan.receiver, first_burst)
                    .and_then(|(mut tester, _)| measure_size(&mut tester, plan, observer))
            }
            UnderTest::Simulated(router) => {
                let mut pair = SimulatedPair::new(frames.clone(), router);
                measure_size(&mut pair, plan, observer)
            }
        };
        let ended = ended.err();
        if ended.is_some_and(|ended| keep(&mut error, ended).is_break()) {
            break;
        }
    }
    error
}

fn measure_size(
    measurer: &mut dyn Measurer,
    plan: &FixedLoadPlan,
    observer: &mut dyn ResultObserver<LoadLine>,
) -> Result<(), JobError> {
    for &load in &plan.loads {
        let offered = offer(measurer, plan, load, &mut Trials::new(&mut *observer));
        observer.result(&offered?).map_err(JobError::Record)?;
    }
    Ok(())
}

/// All trials at one load, and one through a wire in the DUT's place where the plan has it.
fn offer(
    measurer: &mut dyn Measurer,
    plan: &FixedLoadPlan,
    load: Load,
    observed: &mut Trials<'_>,
) -> Result<LoadLine, JobError> {
    let rate = match load {
        Load::At(rate) => rate,
        Load::Max => sent(&measurer.burst(FIRST_BURST)?).min(SENDER_MAX),
    };
    let offer = Offer::new(rate, plan.time);
    let (mut trials, mut tried) = (Vec::new(), Vec::new());
    for _ in 0..plan.trials {
        let (judged, disturbed) = repeat(measurer, load, offer, Phase::Fixed, observed)?;
        trials.push(load_trial(&judged, disturbed));
        tried.push((judged.trial, judged.verdict));
    }
    let wire = match plan.wire {
        true => measurer.wire()?,
        false => None,
    };
    let through_wire = wire
        .as_ref()
        .map(|_| repeat(measurer, load, offer, Phase::Wire, observed));
    let through_wire = through_wire.transpose()?;
    drop(wire);
    let run = match load {
        Load::At(_) => trial::run,
        Load::Max => trial::run_overload,
    };
    let program = match &through_wire {
        Some(_) => measurer.exit_program([rate; 2], None, run)?,
        None => None,
    };
    let around = measurer.surroundings();
    let doubts = doubt::trials_doubts(&around, &tried);
    let is_elsewhere = doubts.iter().any(|doubt| doubt.name == WORK_ELSEWHERE);
    // The port's receiver has no program at the exit, so all that the wire costs is the bed's.
    let more_ns = match around.receiver {
        Some(ReceiverPlace::Exit) => program.map(|program| program.more_ns.middle),
        _ => Some(0.0),
    };
    let wire_ns = through_wire
        .as_ref()
        .and_then(|(judged, _)| judged.trial.ns_per_frame());
    let bed_ns = wire_ns.zip(more_ns).map(|(wire, more)| wire - more);
    let bed_ns = bed_ns.filter(|_| !is_elsewhere);
    Ok(LoadLine {
        frame: measurer.frames().to_string(),
        load: load.to_string(),
        receiver: around.receiver.map(Into::into),
        trials,
        wire: through_wire.map(|(judged, disturbed)| load_trial(&judged, disturbed)),
        bed_ns: bed_ns.map(line::tenths),
        doubts: line::doubts(&doubts),
        other: Other::new(),
    })
}

/// The entry of a trial, with the disturbed ones before it.
#[must_use]
pub fn load_trial(judged: &Judged, disturbed: u32) -> LoadTrial {
    let trial = &judged.trial;
    let (counts, ledger) = (trial.counts(), trial.ledger());
    let outside = ledger.lost_before_nic + ledger.lost_nic_ring + ledger.lost_receiver_ring;
    let stolen = trial.steal.iter().map(|steal| trial.stolen_share(steal));
    LoadTrial {
        trial: judged.number,
        disturbed_tries: disturbed,
        sent_fps: trial.sent_rate().map(Rate::fps),
        forwarding_fps: trial.forwarding_rate().map(Rate::fps),
        busiest_share: trial.busiest_share(),
        ns_per_frame: trial.ns_per_frame(),
        stolen_share: stolen.fold(0.0, f64::max),
        forwarded_frames: counts.received,
        lost_frames: counts.lost,
        lost_before_nic_frames: ledger.lost_before_nic,
        lost_nic_ring_frames: ledger.lost_nic_ring,
        // At the DUT and not by its ring; canaries are none of them.
        lost_inside_frames: counts.lost.saturating_sub(outside),
        lost_receiver_ring_frames: ledger.lost_receiver_ring,
    }
}

/// One trial, again while the machine disturbs it. Loss is no reason to repeat.
fn repeat(
    measurer: &mut dyn Measurer,
    load: Load,
    offer: Offer,
    phase: Phase,
    observed: &mut Trials<'_>,
) -> Result<(Judged, u32), JobError> {
    repeat_void(|| {
        let trial = match load {
            Load::At(_) => measurer.trial_once(&offer)?,
            Load::Max => {
                let trial = measurer.burst(offer.frames())?;
                let offered = sent(&trial);
                Trial { offered, ..trial }
            }
        };
        let offered = offer_of(&trial);
        measurer.judge(phase, offered, trial, observed)
    })
}

fn sent(trial: &Trial) -> Rate {
    Rate::from_frames(trial.counts().sent, trial.duration).unwrap_or_default()
}

fn offer_of(trial: &Trial) -> Offer {
    Offer::new(trial.offered, trial.duration)
}
