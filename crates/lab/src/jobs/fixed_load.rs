//! A fixed load: offered as asked for, without ceiling and search, and everything counted. A wire in place of the
//! router at the same load tells what of that is the bed's own.

use super::{JobError, Observer, Phase, Report, throughput};
use crate::bed::Bed;
use crate::measurer::Measurer;
use crate::saturation::SENDER_MAX;
use crate::tester::{ReceiverPlace, Tester, Wire};
use crate::traffic::Traffic;
use crate::trial;
use mpps_method::{FrameSpec, Offer, Rate, Span, Trial, Verdict};
use std::fmt;

/// A disturbed trial is repeated so often at most.
const REPEATS: u32 = 3;
/// Frames of the burst that tells how many the sender can.
const FIRST_BURST: u64 = 150_000;

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
    /// Offered one after the other, for each size.
    pub loads: Vec<Load>,
    /// Length of each trial; at [`Load::Max`] about that.
    pub time: Span,
    /// Trials at each load.
    pub trials: u32,
    /// Where the tester receives; `None`: as throughput chooses.
    pub receiver: Option<ReceiverPlace>,
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

/// Offers every load for every frame size, on a tester as throughput's. `found` keeps what was known before an error.
///
/// # Errors
/// The bed, the tester, the probe or the record failed.
pub fn measure(
    bed: &Bed,
    plan: &FixedLoadPlan,
    observer: &mut dyn Observer,
    found: &mut Vec<Offered>,
) -> Result<(), JobError> {
    let most = |load: &Load| match load {
        Load::At(rate) => rate.frames_in(plan.time),
        Load::Max => SENDER_MAX.frames_in(plan.time).max(FIRST_BURST),
    };
    let frames_max = plan.loads.iter().map(most).max().unwrap_or(0).max(1);
    let mut told = 0;
    for frames in &plan.sizes {
        let traffic = Traffic {
            frames: frames.clone(),
            ..plan.traffic.clone()
        };
        let mut tester = throughput::raise(bed, &traffic, frames_max, plan.receiver)?;
        let mut runner = Runner {
            tester: &mut tester,
            observer,
            told: &mut told,
        };
        for &load in &plan.loads {
            let order = runner.order(load, plan.time)?;
            let trials = (0..plan.trials).map(|_| runner.repeat(order, Phase::Fixed));
            let trials = trials.collect::<Result<_, _>>()?;
            let wire = if bed.plan().is_external() {
                None
            } else {
                let _wire = Wire::lay(bed, &runner.tester.ways())?;
                Some(runner.repeat(order, Phase::Wire)?)
            };
            found.push(Offered {
                frames: frames.clone(),
                load,
                receiver: runner.tester.traffic.receiver,
                trials,
                wire,
            });
        }
    }
    Ok(())
}

/// What one trial is to send.
#[derive(Clone, Copy)]
enum Order {
    Paced(Offer),
    /// So many frames, as fast as the sender can.
    Burst(u64),
}

/// Runs trials and tells of each.
struct Runner<'a, 'bed> {
    tester: &'a mut Tester<'bed>,
    observer: &'a mut dyn Observer,
    told: &'a mut u32,
}

impl Runner<'_, '_> {
    /// Where it is all the sender can, a short burst tells how many frames that is.
    fn order(&mut self, load: Load, duration: Span) -> Result<Order, JobError> {
        let Load::At(rate) = load else {
            let first = self.run(Order::Burst(FIRST_BURST), Phase::Burst)?;
            let sends = first.trial.offered.min(SENDER_MAX);
            return Ok(Order::Burst(sends.frames_in(duration).max(1)));
        };
        Ok(Order::Paced(Offer { rate, duration }))
    }

    /// One trial, again while the machine disturbs it. Loss is no reason to repeat.
    fn repeat(&mut self, order: Order, phase: Phase) -> Result<Tried, JobError> {
        let mut disturbed = 0;
        loop {
            let tried = self.run(order, phase)?;
            if !matches!(tried.verdict, Verdict::Void(_)) || disturbed == REPEATS {
                return Ok(Tried { disturbed, ..tried });
            }
            disturbed += 1;
        }
    }

    fn run(&mut self, order: Order, phase: Phase) -> Result<Tried, JobError> {
        let trial = match order {
            Order::Paced(offer) => trial::run(self.tester, &offer)?,
            Order::Burst(frames) => {
                let trial = trial::run_burst(self.tester, frames)?;
                let sent = Rate::of(trial.counts().sent, trial.duration);
                Trial {
                    offered: sent.unwrap_or_default(),
                    ..trial
                }
            }
        };
        let offer = Offer {
            rate: trial.offered,
            duration: trial.duration,
        };
        let verdict = trial.judge(&self.tester.rules(&offer));
        let report = Report {
            frames: &self.tester.traffic.frames,
            phase,
            offer,
            trial: &trial,
            verdict: &verdict,
        };
        self.observer.trial(&report).map_err(JobError::Record)?;
        *self.told += 1;
        Ok(Tried {
            number: *self.told,
            trial,
            verdict,
            disturbed: 0,
        })
    }
}
