//! A fixed load: offered as asked for, without ceiling and search, and everything counted. A wire in place of the
//! router at the same load tells what of that is the bed's own.

use super::throughput::{self, first_burst};
use super::{JobError, Judged, Phase, ResultObserver, Trials, keep, on_ports};
use crate::bed::Bed;
use crate::search::measurer::Measurer;
use crate::search::saturation::{FIRST_BURST, SENDER_MAX};
use crate::tester::{PortKind, ReceiverPlace, Tester, TesterError, Wire};
use crate::traffic::Traffic;
use crate::trial;
use mpps_method::{FrameSpec, Offer, Rate, Span, Trial, Verdict};
use std::fmt;

/// A disturbed trial is repeated so often at most.
const REPEATS: u32 = 3;
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

/// A trial, repeated while the machine disturbed it.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Its number, from 1, among all that the observer got.
    pub number: u32,
    /// The last one.
    pub trial: Trial,
    /// Its verdict; void where the machine disturbed every one.
    pub verdict: Verdict,
    /// Disturbed ones before it.
    pub disturbed: u32,
}

/// What came of one load.
#[derive(Clone, Debug)]
pub struct Offered {
    /// Frame sizes sent.
    pub frames: FrameSpec,
    /// What was asked for.
    pub load: Load,
    /// Where the tester received.
    pub receiver: ReceiverPlace,
    /// Through the router, in their order.
    pub trials: Vec<Tried>,
    /// Through a wire in its place; `None` before a device of somebody else's.
    pub wire: Option<Tried>,
}

/// Offers every load for every frame size, on a tester as throughput's; the observer gets each load as soon as it is
/// measured. A size that fails takes no other's away. Returns what ended the run, or else a size.
pub fn measure(
    bed: &Bed,
    plan: &FixedLoadPlan,
    observer: &mut dyn ResultObserver<Offered>,
) -> Option<JobError> {
    let (mut error, mut told) = (None, 0);
    for frames in &plan.sizes {
        let ended = measure_size(bed, plan, frames, &mut told, observer).err();
        if ended.is_some_and(|ended| keep(&mut error, ended).is_break()) {
            break;
        }
    }
    error
}

fn measure_size(
    bed: &Bed,
    plan: &FixedLoadPlan,
    frames: &FrameSpec,
    told: &mut u32,
    observer: &mut dyn ResultObserver<Offered>,
) -> Result<(), JobError> {
    let frames_max = SENDER_MAX.frames_in(plan.time).max(FIRST_BURST);
    let traffic = Traffic {
        frames: frames.clone(),
        ..plan.traffic.clone()
    };
    let mut tester = throughput::raise(bed, &traffic, frames_max, plan.receiver, first_burst)?.0;
    for &load in &plan.loads {
        let mut trials = Trials::after(*told, &mut *observer);
        let offered = offer(bed, plan, &mut tester, load, &mut trials);
        *told = trials.told();
        observer.result(&offered?).map_err(JobError::Record)?;
    }
    Ok(())
}

/// All trials at one load, and one through a wire in the DUT's place.
fn offer(
    bed: &Bed,
    plan: &FixedLoadPlan,
    tester: &mut Tester<'_>,
    load: Load,
    told: &mut Trials<'_>,
) -> Result<Offered, JobError> {
    let rate = match load {
        Load::At(rate) => rate,
        Load::Max => sent(&trial::run_burst(tester, FIRST_BURST)?).min(SENDER_MAX),
    };
    let offer = Offer {
        rate,
        duration: plan.time,
    };
    let mut repeat = |tester: &mut Tester<'_>, phase| repeat(tester, load, offer, phase, told);
    let trials = (0..plan.trials).map(|_| repeat(tester, Phase::Fixed));
    let trials = trials.collect::<Result<_, _>>()?;
    let wire = Wire::lay(bed, &tester.ways())?;
    let through_wire = wire.as_ref().map(|_| repeat(tester, Phase::Wire));
    let through_wire = through_wire.transpose()?;
    drop(wire);
    Ok(Offered {
        frames: tester.traffic.frames.clone(),
        load,
        receiver: tester.traffic.receiver,
        trials,
        wire: through_wire,
    })
}

/// One trial, again while the machine disturbs it. Loss is no reason to repeat.
fn repeat(
    tester: &mut Tester<'_>,
    load: Load,
    offer: Offer,
    phase: Phase,
    told: &mut Trials<'_>,
) -> Result<Tried, JobError> {
    let mut disturbed = 0;
    loop {
        let trial = match load {
            Load::At(_) => trial::run(tester, &offer)?,
            Load::Max => {
                let frames = offer.rate.frames_in(offer.duration).max(1);
                let trial = trial::run_burst(tester, frames)?;
                let offered = sent(&trial);
                Trial { offered, ..trial }
            }
        };
        let offered = offer_of(&trial);
        let (frames, rules) = (&tester.traffic.frames, tester.rules(&offered));
        let Judged {
            number,
            trial,
            verdict,
        } = told.judged(phase, frames, offered, &rules, trial)?;
        if !matches!(verdict, Verdict::Void(_)) || disturbed == REPEATS {
            return Ok(Tried {
                number,
                trial,
                verdict,
                disturbed,
            });
        }
        disturbed += 1;
    }
}

fn sent(trial: &Trial) -> Rate {
    Rate::from_frames(trial.counts().sent, trial.duration).unwrap_or_default()
}

fn offer_of(trial: &Trial) -> Offer {
    Offer {
        rate: trial.offered,
        duration: trial.duration,
    }
}
