//! Where the time of a frame goes, what limits the router, and what it could reach.
//!
//! The scheduler's accounts tell how long the router's threads were busy for a frame. Samples only split that time into
//! stages. In other trials all loads take turns, and so does the sampler. They tell how the cost depends on how often the
//! threads wake up, what rate that predicts, and the cost of looking.

pub mod against;
pub mod by_stage;
mod evidence;
mod hardware;
mod limit;
mod load;
mod look;
mod lower;
mod model;
mod paired;
pub(crate) mod split;
pub mod sweep;
mod turned;
mod wire;

use super::fixed_load::FixedLoadPlan;
use super::sizes;
use super::throughput::{self, first_burst};
use super::{JobError, Phase, ResultObserver, Trials};
use crate::bed::Bed;
use crate::doubt::{self, ProfileDoubts};
use crate::line::{self, interval};
use crate::profile::Completeness;
use crate::search::exit_program;
use crate::search::measurer::Measurer;
use crate::search::saturation::{FIRST_BURST, SENDER_MAX, little_more, taken_by_port};
use crate::tester::{EvidenceProbe, Fault, PlantedFault, Tester, TesterError};
use crate::trial;
use load::{Saturated, forwards, is_overloaded, load_of};
use look::{Beside, Look};
use model::Tried;
use mpps_method::distance::{Distance, select_one_distance};
use mpps_method::interval::Interval;
use mpps_method::{FrameSpec, Offer, Rate, Span, Trial, Verdict, statistics};
use mpps_record::{Looking, ProfileLine};
use split::Profiled;
use turned::Turned;
use wire::Wires;

pub use lower::IN_TURNS;
pub use split::{Divided, Stacks};

/// Trials at saturation: fewer have no interval over trials.
pub const TRIALS_MIN: u32 = 3;
/// Loads below saturation, of what the router forwards at most.
const SHARES: [f64; 5] = [0.9, 0.75, 0.5, 0.25, 0.1];
/// Trials that tell how much to offer, at most.
const FIRST_TRIALS: u32 = 4;

/// What is sent before all trials; it tells what the sender can.
type First = fn(&mut Tester<'_>) -> Result<Rate, JobError>;

/// How much is measured of a frame size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// The cost at saturation.
    Saturation,
    /// Lower loads as well, with the maximum that they predict, and the bed's part by a wire in the router's place.
    LowerLoads,
    /// Lower loads without a wire, and all that the tester can offer.
    Overload,
}

/// What to explain; the bed is raised by then.
#[derive(Clone, Debug)]
pub struct ExplainPlan {
    /// What is sent, the length of a trial, and the trials at saturation, each with one that is not sampled.
    pub offer: FixedLoadPlan,
    /// A program on the router's path spins so long for each frame, ns.
    pub burn_ns: Option<u64>,
}

/// Explains one frame size after the other on the bed, and tells each; returns what ended the run, or a size.
pub fn measure(
    bed: &Bed,
    plan: &ExplainPlan,
    observer: &mut dyn ResultObserver<ProfileLine>,
) -> Option<JobError> {
    sizes::each_size(&plan.offer.sizes, None, observer, |frames, trials| {
        let mut line = ProfileLine {
            frame: frames.to_string(),
            burnt_ns: plan.burn_ns,
            ..ProfileLine::default()
        };
        let depth = Depth::LowerLoads;
        let error = measure_size(bed, plan, frames, (depth, first_burst), &mut line, trials).err();
        line.why = error.as_ref().map(ToString::to_string);
        (Some(line), error)
    })
}

/// Measures what the first of the two says; the other tells what the sender can, before all trials. Returns the forwarding
/// rate under all that the tester can offer, where that was measured.
fn measure_size(
    bed: &Bed,
    plan: &ExplainPlan,
    frames: &FrameSpec,
    (depth, first): (Depth, First),
    line: &mut ProfileLine,
    trials: &mut Trials<'_>,
) -> Result<Option<f64>, JobError> {
    let offer = &plan.offer;
    let traffic = offer.traffic.with_frames(frames);
    let longest = offer.time.max(IN_TURNS);
    let frames_max = SENDER_MAX.frames_in(longest).max(FIRST_BURST);
    let (tester, sends) = throughput::raise(bed, &traffic, frames_max, offer.receiver, first)?;
    if tester.dut_threads().is_empty() {
        return Err(JobError::NoThreads);
    }
    line.receiver = Some(tester.traffic.receiver.into());
    let burning = burn(&tester, plan.burn_ns)?;
    let cpus = &bed.plan().cpus;
    let probe = EvidenceProbe::load(&tester)?;
    let look = Look::new(cpus, Some(probe))?;
    let tested = look.test()?;
    line.cpus.clone_from(&cpus.dut);
    line.interrupted_share = look::interrupted(&tested);
    let explainer = Explainer {
        tester,
        depth,
        time: offer.time,
        look,
        sends,
        void: 0,
        at_most: Vec::new(),
        elsewhere: Vec::new(),
        tried: Vec::new(),
        maximum_in_turns: None,
        turned: Vec::new(),
        looking: Vec::new(),
    };
    let overload = explainer.explain(offer.trials, &tested, line, trials)?;
    line.burnt_measured_ns = burnt(burning.as_ref())?;
    Ok(overload)
}

/// Plants a program on the router's path that spins so long for each frame.
fn burn(tester: &Tester<'_>, ns: Option<u64>) -> Result<Option<PlantedFault>, TesterError> {
    let plant = |delay_ns| {
        let fault = Fault::spin(delay_ns);
        PlantedFault::plant_on_router(fault, tester.bed, tester.ways()[0])
    };
    ns.map(plant).transpose()
}

/// How long it spun for a frame in the mean, by its own clock, ns.
fn burnt(burning: Option<&PlantedFault>) -> Result<Option<f64>, TesterError> {
    Ok(burning.map(PlantedFault::held_ns).transpose()?.flatten())
}

/// A tester with the sampler beside it.
struct Explainer<'bed> {
    tester: Tester<'bed>,
    depth: Depth,
    time: Span,
    look: Look,
    /// What the sender can send at most.
    sends: Rate,
    /// Void trials so far, without those through a wire.
    void: u32,
    /// Trials of all that the tester can offer, in turns with the saturated ones, where they are asked for.
    at_most: Vec<Profiled>,
    /// What a frame cost in the saturated trials at another distance of the CPUs, ns.
    elsewhere: Vec<f64>,
    /// Those that count.
    tried: Vec<(Trial, Verdict)>,
    /// The maximum, frames/s, of which the loads that take turns are shares.
    maximum_in_turns: Option<f64>,
    /// Trials whose loads took turns.
    turned: Vec<Turned>,
    /// What the router forwarded in turns with the sampler, as parts of what it forwarded in those beside them.
    looking: Vec<f64>,
}

impl Explainer<'_> {
    fn explain(
        mut self,
        turns: u32,
        tested: &[Completeness],
        line: &mut ProfileLine,
        trials: &mut Trials<'_>,
    ) -> Result<Option<f64>, JobError> {
        let mut stacks = Stacks::default();
        let mut lower = Vec::new();
        let mut saturated = self.saturate(turns, (&mut stacks, &mut lower), line, trials)?;
        let around = self.tester.surroundings();
        let limited_by = limit::limited_by(&saturated, &self.tester);
        let is_cpu = limit::is_cpu(limited_by, &saturated);
        line.limited_by = Some(limited_by.into());
        let is_split = line.wire.is_some();
        line.stacks = stacks.folded();
        if let Some(evidence) = &mut line.evidence {
            evidence.locks_in = limit::most_locked(&line.stacks);
        }
        let evidence = line.evidence.as_ref();
        line.limit_text = Some(limit::in_words(&saturated, evidence, is_split, limited_by));
        let overload = load::forwards_alike(&self.at_most, &saturated.load);
        match self.model(turns, is_cpu, (&mut saturated, &mut lower), trials)? {
            Ok(model) => line.model = Some(model),
            Err(why) => line.no_model = Some(why.to_string()),
        }
        line.loads.push(saturated.load);
        for share in SHARES {
            let of_share = lower.extract_if(.., |(of, _)| *of == share);
            let of_share: Vec<Profiled> = of_share.map(|(_, one)| one).collect();
            line.loads.extend(load_of(&of_share));
        }
        let doubts = doubt::profile_doubts(&ProfileDoubts {
            around: &around,
            line,
            tested,
            is_cpu,
            throttled: self.look.throttled,
            why_timer: self.look.why_timer.as_deref(),
            void: (self.void, self.tried.len() as u32 + self.void),
            elsewhere: &self.elsewhere,
            trials: &self.tried,
        });
        line.doubts = line::doubts(&doubts);
        Ok(overload)
    }

    /// Trials at the lower overload, with the sampler and without it in turns.
    fn saturate(
        &mut self,
        turns: u32,
        (stacks, lower): (&mut Stacks, &mut Vec<(f64, Profiled)>),
        line: &mut ProfileLine,
        trials: &mut Trials<'_>,
    ) -> Result<Saturated, JobError> {
        let mut sampled = Vec::new();
        let mut wires = Wires::new(&self.tester)?;
        let mut most = self.find_rate(trials)?;
        for turn in 0..turns {
            // The same load for both.
            let rate = overload_rate(most, self.sends);
            let mut tried = wires.turn(self, (turn, rate), trials)?;
            let rates = tried.router.iter().flatten().filter_map(forwards);
            most = rates.fold(most, f64::max);
            wires.add(&mut tried);
            let [_, looked] = tried.router;
            sampled.extend(looked);
            if self.depth == Depth::Overload {
                let all = self.trial(SENDER_MAX, Phase::Overload, Beside::Nothing, trials)?;
                self.at_most.push(all);
            }
            let rates: Vec<f64> = sampled.iter().filter_map(forwards).collect();
            let maximum = statistics::median(&rates).unwrap_or(most);
            // Lower loads are shares of what the router forwards. Where all trials so far were void, that is not known.
            if self.depth == Depth::Saturation || maximum == 0.0 {
                continue;
            }
            self.lower_loads(turn, maximum, lower, trials)?;
            self.loads_in_turns(maximum, trials)?;
        }
        line.looking = Interval::from_samples(&self.looking).map(|ratio| Looking {
            ratio: interval(ratio),
            pairs: self.looking.len() as u32,
        });
        line.clock = sampled.iter().find_map(|one| one.clock.map(str::to_owned));
        line.evidence = sampled.last().map(|last| last.evidence.clone());
        if let Some(evidence) = &mut line.evidence
            && self.depth == Depth::LowerLoads
        {
            // One more, in which drops are counted. That costs each of them time, so the trial tells nothing else.
            let last = self.trial(
                overload_rate(most, self.sends),
                Phase::Overload,
                Beside::Drops,
                trials,
            )?;
            evidence.drops = last.evidence.drops;
        }
        keep_whole(&mut sampled);
        let tried = sampled.iter().filter_map(Tried::new).collect();
        self.keep_alike(&mut sampled);
        if self.depth == Depth::LowerLoads {
            let exit = match wires.has_pairs() {
                true => {
                    let loads = [most, wires.most].map(little_more);
                    exit_program::measure(&mut self.tester, loads, None, trial::run_overload)?
                }
                false => None,
            };
            match wires.tell(&sampled, exit) {
                Ok(wire) => line.wire = Some(Box::new(wire)),
                Err(why) => line.no_wire = Some(why),
            }
        }
        *stacks = Stacks::mean(&mut sampled);
        Ok(Saturated {
            tried,
            ..Saturated::new(&sampled)?
        })
    }

    /// What the router forwards, frames/s: a burst is too short to tell it well, and the machine may disturb the sender in
    /// it. So a load that the router forwards is doubled.
    fn find_rate(&mut self, trials: &mut Trials<'_>) -> Result<f64, JobError> {
        let (mut most, mut load) = (0.0_f64, self.sends);
        for _ in 0..FIRST_TRIALS {
            let first = self.trial(load, Phase::Overload, Beside::Nothing, trials)?;
            let Some(rate) = forwards(&first) else {
                continue;
            };
            most = most.max(rate);
            if is_overloaded(&first) {
                break;
            }
            load = Rate::from_fps(load.fps() * 2.0);
        }
        Ok(most)
    }

    /// Leaves out what was measured at another distance of the CPUs, as the forwarding rate beside it does.
    fn keep_alike(&mut self, sampled: &mut Vec<Profiled>) {
        let distances = sampled.iter();
        let distances = distances.map(|one| Distance::from_trial(&one.judged.trial));
        let here = select_one_distance(&distances.collect::<Vec<_>>());
        let mut kept = Vec::new();
        for (place, one) in sampled.drain(..).enumerate() {
            if here.contains(&place) {
                kept.push(one);
            } else {
                self.elsewhere.extend(one.frame_ns());
            }
        }
        *sampled = kept;
    }

    /// One trial, again while it is void.
    fn trial(
        &mut self,
        rate: Rate,
        phase: Phase,
        beside: Beside,
        trials: &mut Trials<'_>,
    ) -> Result<Profiled, JobError> {
        let offer = Offer::new(rate.min(SENDER_MAX), self.time);
        let mut looked = None;
        let (judged, void) = sizes::repeat_void(|| {
            let one = (self.look).trial(&mut self.tester, (phase, offer), beside, trials)?;
            let judged = one.judged.clone();
            looked = Some(one.without_samples());
            Ok(judged)
        })?;
        self.void += void;
        self.sends = self.sends.max(taken_by_port(&judged.trial));
        self.tried.push((judged.trial, judged.verdict));
        looked.ok_or(JobError::NoThreads)
    }
}

/// The lower overload of what is forwarded at most, frames/s; all that the sender can where that is not known.
fn overload_rate(most: f64, sends: Rate) -> Rate {
    match most {
        0.0 => sends,
        most => little_more(most),
    }
}

/// Leaves out what the machine disturbed, unless there is nothing else.
fn keep_whole(sampled: &mut Vec<Profiled>) {
    let is_whole = |one: &Profiled| one.judged.verdict.counts();
    if sampled.iter().any(is_whole) {
        sampled.retain(is_whole);
    }
}
