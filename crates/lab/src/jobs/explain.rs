//! Where the time of a frame goes, what limits the router, and what it could reach.
//!
//! The scheduler's accounts tell how long the router's threads were busy for a frame. Samples only split that time into
//! stages. Saturated trials take turns with others that are not sampled, so that the cost of looking is known. Lower
//! loads tell how the cost depends on how often the threads wake up, and what rate that predicts.

pub mod against;
mod evidence;
mod hardware;
mod limit;
mod model;
pub(crate) mod split;
pub mod sweep;

use super::fixed_load::FixedLoadPlan;
use super::sizes::{self, counts};
use super::throughput::{self, first_burst};
use super::{JobError, Judged, Phase, ResultObserver, Trials};
use crate::bed::Bed;
use crate::doubt::{self, Doubt, ProfileDoubts};
use crate::profile::{Completeness, Profile, Sampler, SamplerPlan, Symbols, completeness, symbols};
use crate::search::measurer::Measurer;
use crate::search::saturation::{FIRST_BURST, LITTLE_MORE, SENDER_MAX, block, through};
use crate::tester::{EvidenceProbe, Fault, PlantedFault, ReceiverPlace, Tester, TesterError};
use crate::traffic::Traffic;
use crate::trial;
use evidence::Counters;
use hardware::HardwareCounters;
use model::Tried;
use mpps_linux::task;
use mpps_method::saturation::{Block, Interval, Saturation};
use mpps_method::{FrameSpec, LimitedBy, Offer, Rate, Span, Trial, Verdict, compare, statistics};
use mpps_record::{Evidence, Looking, ProfileLine, ProfiledLoad};
use split::{Profiled, interval};

pub use split::{Divided, Stacks};

/// Trials at saturation: fewer have no interval over trials.
pub const TRIALS_MIN: u32 = 3;
/// Loads below saturation, of what the router forwards at most.
const SHARES: [f64; 5] = [0.9, 0.75, 0.5, 0.25, 0.1];
/// Trials below saturation after each pair at it.
const LOADS_A_TURN: usize = 3;
/// Trials that tell how much to offer, at most.
const FIRST_TRIALS: u32 = 4;
/// Time for each half of the self-test.
const SELF_TEST: Span = Span::from_millis(300);

/// What is sent before all trials; it tells what the sender can.
type First = fn(&mut Tester<'_>) -> Result<Rate, JobError>;

/// How much is measured of a frame size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// The cost at saturation.
    Saturation,
    /// Lower loads as well, with the maximum that they predict.
    LowerLoads,
    /// All that the tester can offer as well.
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

/// What came of one frame size.
#[derive(Clone, Debug)]
pub struct SizeProfile {
    /// Its line, without what stands beside it here.
    pub line: ProfileLine,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// What keeps the router from forwarding more.
    pub limited_by: Option<LimitedBy>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
}

/// Explains one frame size after the other on the bed, and tells each; returns what ended the run, or a size.
pub fn measure(
    bed: &Bed,
    plan: &ExplainPlan,
    observer: &mut dyn ResultObserver<SizeProfile>,
) -> Option<JobError> {
    sizes::each_size(&plan.offer.sizes, None, observer, |frames, trials| {
        let mut size = SizeProfile {
            line: ProfileLine {
                frame: frames.to_string(),
                burnt_ns: plan.burn_ns,
                ..ProfileLine::default()
            },
            receiver: None,
            limited_by: None,
            doubts: Vec::new(),
        };
        let depth = Depth::LowerLoads;
        let error = measure_size(bed, plan, frames, (depth, first_burst), &mut size, trials).err();
        size.line.why = error.as_ref().map(ToString::to_string);
        (size, error)
    })
}

/// Measures what the first of the two says; the other tells what the sender can, before all trials. Returns the forwarding
/// rate under all that the tester can offer, where that was measured.
fn measure_size(
    bed: &Bed,
    plan: &ExplainPlan,
    frames: &FrameSpec,
    (depth, first): (Depth, First),
    size: &mut SizeProfile,
    trials: &mut Trials<'_>,
) -> Result<Option<f64>, JobError> {
    let offer = &plan.offer;
    let traffic = Traffic {
        frames: frames.clone(),
        ..offer.traffic.clone()
    };
    let frames_max = SENDER_MAX.frames_in(offer.time).max(FIRST_BURST);
    let (tester, sends) = throughput::raise(bed, &traffic, frames_max, offer.receiver, first)?;
    if tester.dut_threads().is_empty() {
        return Err(JobError::NoThreads);
    }
    size.receiver = Some(tester.traffic.receiver);
    let _burning = burn(&tester, plan.burn_ns)?;
    let cpus = &bed.plan().cpus;
    let sampler = SamplerPlan::usual(&cpus.dut, cpus.sender());
    let probe = EvidenceProbe::load(&tester)?;
    // After the last program was loaded, or it would have no name.
    let symbols = symbols().map_err(TesterError::from)?;
    let tested = completeness(&sampler, &symbols, SELF_TEST)?;
    size.line.cpus.clone_from(&cpus.dut);
    size.line.interrupted_share = interrupted(&tested);
    let explainer = Explainer {
        tester,
        depth,
        time: offer.time,
        symbols,
        sampler,
        probe,
        hardware: HardwareCounters::start(&cpus.dut),
        sends,
        void: 0,
        throttled: 0,
        tried: Vec::new(),
    };
    explainer.explain(offer.trials, &tested, size, trials)
}

/// Share of the DUT's CPUs that interrupts and the hypervisor take.
fn interrupted(tested: &[Completeness]) -> Option<f64> {
    let shares: Vec<f64> = tested.iter().map(|cpu| cpu.interrupted).collect();
    statistics::mean(&shares)
}

/// Plants a program on the router's path that spins so long for each frame.
fn burn(tester: &Tester<'_>, ns: Option<u64>) -> Result<Option<PlantedFault>, TesterError> {
    let plant = |delay_ns| {
        let fault = Fault {
            delay_ns,
            ..Fault::NONE
        };
        PlantedFault::plant_on_router(fault, tester.bed, tester.ways()[0])
    };
    ns.map(plant).transpose()
}

/// A tester with the sampler beside it.
struct Explainer<'bed> {
    tester: Tester<'bed>,
    depth: Depth,
    time: Span,
    symbols: Symbols,
    sampler: SamplerPlan,
    probe: EvidenceProbe,
    hardware: HardwareCounters,
    /// What the sender can send at most.
    sends: Rate,
    /// Void trials so far.
    void: u32,
    /// How often the kernel stopped the sampling.
    throttled: u64,
    /// Those that count.
    tried: Vec<(Trial, Verdict)>,
}

impl Explainer<'_> {
    fn explain(
        mut self,
        turns: u32,
        tested: &[Completeness],
        size: &mut SizeProfile,
        trials: &mut Trials<'_>,
    ) -> Result<Option<f64>, JobError> {
        let mut stacks = Stacks::default();
        let mut lower = Vec::new();
        let saturated = self.saturate(turns, (&mut stacks, &mut lower), size, trials)?;
        let limited_by = limit::limited_by(&saturated, &self.tester);
        size.limited_by = Some(limited_by);
        size.line.limit_text = Some(limit::in_words(&saturated.load, limited_by));
        size.line.stacks = stacks.folded();
        if let Some(evidence) = &mut size.line.evidence {
            let by_cycles = size.line.clock.as_deref() == Some("cycles");
            evidence.locks_in = limit::most_locked(&size.line.stacks, by_cycles);
        }
        size.line.loads.push(saturated.load);
        let tried = |one: &Profiled| Tried::new(one, self.sends);
        let points: Vec<Tried> = lower.iter().filter_map(|(_, one)| tried(one)).collect();
        let overload = match self.depth {
            Depth::Overload => forwards(&self.trial(SENDER_MAX, Phase::Overload, false, trials)?),
            Depth::Saturation | Depth::LowerLoads => None,
        };
        let threads = self.tester.dut_threads().len() as u32;
        match model::fit(&saturated.tried, &points, threads, limited_by) {
            Ok(model) => size.line.model = Some(model),
            Err(why) => size.line.no_model = Some(why),
        }
        for share in SHARES {
            let of_share = lower.extract_if(.., |(of, _)| *of == share);
            let of_share: Vec<Profiled> = of_share.map(|(_, one)| one).collect();
            size.line.loads.extend(load_of(&of_share, self.sends));
        }
        let around = self.tester.surroundings();
        size.doubts = doubt::profile_doubts(&ProfileDoubts {
            around: &around,
            line: &size.line,
            tested,
            limited_by,
            throttled: self.throttled,
            void: (self.void, self.tried.len() as u32 + self.void),
            trials: &self.tried,
        });
        Ok(overload)
    }

    /// Trials at a load a little above what the router forwards, with the sampler and without it in turns.
    fn saturate(
        &mut self,
        turns: u32,
        (stacks, lower): (&mut Stacks, &mut Vec<(f64, Profiled)>),
        size: &mut SizeProfile,
        trials: &mut Trials<'_>,
    ) -> Result<Saturated, JobError> {
        let (mut sampled, mut ratios) = (Vec::new(), Vec::new());
        // The first ones tell the rate; a burst is too short to tell it well. Then the load only rises.
        let mut most = 0.0_f64;
        for _ in 0..FIRST_TRIALS {
            let first = self.trial(self.sends, Phase::Overload, false, trials)?;
            most = forwards(&first).unwrap_or(0.0);
            if most > 0.0 {
                break;
            }
        }
        for turn in 0..turns {
            let mut both = [None, None];
            // The same load for both.
            let rate = match most {
                0.0 => self.sends,
                most => Rate::from_fps(most * LITTLE_MORE),
            };
            for looks in [turn % 2 == 0, turn % 2 == 1] {
                let profiled = self.trial(rate, Phase::Overload, looks, trials)?;
                both[usize::from(looks)] = forwards(&profiled);
                most = most.max(forwards(&profiled).unwrap_or(0.0));
                if looks {
                    sampled.push(profiled);
                }
            }
            if let [Some(without), Some(with)] = both {
                ratios.push(with / without);
            }
            if self.depth == Depth::Saturation {
                continue;
            }
            let rates: Vec<f64> = sampled.iter().filter_map(forwards).collect();
            let maximum = statistics::median(&rates).unwrap_or(most);
            for share in SHARES
                .iter()
                .cycle()
                .skip(LOADS_A_TURN * turn as usize)
                .take(LOADS_A_TURN)
            {
                let rate = Rate::from_fps(maximum * share);
                let profiled = self.trial(rate, Phase::Fixed, true, trials)?;
                if counts(&profiled.judged) {
                    lower.push((*share, profiled));
                }
            }
        }
        size.line.looking = Interval::from_samples(&ratios).map(|ratio| Looking {
            ratio: interval(ratio),
            pairs: ratios.len() as u32,
        });
        size.line.clock = sampled.iter().find_map(|one| one.clock.map(str::to_owned));
        // One more, in which drops are counted. That costs each packet time, so the trial tells nothing else.
        let dropping = self.probe.attach_drops()?;
        let rate = if most > 0.0 {
            Rate::from_fps(most * LITTLE_MORE)
        } else {
            self.sends
        };
        let dropped = self.trial(rate, Phase::Overload, true, trials)?.evidence;
        drop(dropping);
        size.line.evidence = sampled.last().map(|last| Evidence {
            drops: dropped.drops,
            ..last.evidence.clone()
        });
        // What the machine disturbed is left out, unless there is nothing else.
        let is_whole = |one: &Profiled| counts(&one.judged);
        if sampled.iter().any(is_whole) {
            sampled.retain(is_whole);
        }
        *stacks = Stacks::mean(&mut sampled);
        Saturated::new(&sampled, self.sends)
    }

    /// One trial, again while it is void, with the sampler or without it.
    fn trial(
        &mut self,
        rate: Rate,
        phase: Phase,
        looks: bool,
        trials: &mut Trials<'_>,
    ) -> Result<Profiled, JobError> {
        let offer = Offer {
            rate: rate.min(SENDER_MAX),
            duration: self.time,
        };
        let look = looks.then_some((&self.sampler, &self.symbols));
        let tester = &mut self.tester;
        let mut looked = None;
        let _counted = looks.then(|| self.probe.attach_polls()).transpose()?;
        let (judged, void) = sizes::repeat_void(|| {
            let before = Counters::read(tester, &self.probe, &self.hardware)?;
            let (judged, beside) = run_beside(tester, look, phase, offer, trials)?;
            looked = Some((
                beside,
                before,
                Counters::read(tester, &self.probe, &self.hardware)?,
            ));
            Ok(judged)
        })?;
        self.void += void;
        self.tried.push((judged.trial.clone(), judged.verdict));
        let (beside, before, after) = looked.ok_or(JobError::NoThreads)?;
        self.throttled += beside.throttled();
        let evidence = after.evidence(&before, &judged.trial);
        Ok(Profiled {
            polls: looks.then(|| after.polls_since(&before)),
            evidence,
            ..beside.profiled(judged, tester)
        })
    }
}

/// What was seen beside a trial.
#[derive(Default)]
struct Beside {
    wakes: u64,
    /// `None` without the sampler.
    profile: Option<Profile>,
}

impl Beside {
    /// How often the kernel stopped the sampling.
    fn throttled(&self) -> u64 {
        let cpus = self.profile.iter().flat_map(|profile| &profile.cpus);
        cpus.map(|cpu| cpu.throttled).sum()
    }

    fn profiled(&self, judged: Judged, tester: &Tester<'_>) -> Profiled {
        let tids: Vec<i32> = tester.dut_threads().iter().map(|(tid, _)| *tid).collect();
        Profiled::new(judged, self.wakes, self.profile.as_ref(), &tids)
    }
}

/// One trial, with the sampler beside it where there is one.
fn run_beside(
    tester: &mut Tester<'_>,
    look: Option<(&SamplerPlan, &Symbols)>,
    phase: Phase,
    offer: Offer,
    trials: &mut Trials<'_>,
) -> Result<(Judged, Beside), JobError> {
    let before = slices(tester)?;
    let sampler = look.map(|(plan, _)| Sampler::start(plan)).transpose()?;
    let judged = through(tester, phase, offer, trials, |tester| {
        trial::run(tester, &offer)
    })?;
    let profile = sampler.zip(look);
    let profile = profile.map(|(sampler, (_, symbols))| sampler.stop(symbols));
    let beside = Beside {
        profile: profile.transpose()?,
        wakes: slices(tester)? - before,
    };
    // Only a wire may be lacking.
    Ok((judged.ok_or(JobError::NoThreads)?, beside))
}

/// The load at saturation, with what tells its limit.
struct Saturated {
    load: ProfiledLoad,
    blocks: Vec<Block>,
    tried: Vec<Tried>,
    lost: bool,
}

impl Saturated {
    fn new(sampled: &[Profiled], sends: Rate) -> Result<Self, JobError> {
        let load = load_of(sampled, sends).filter(|load| !load.stages.is_empty());
        Ok(Self {
            load: load.ok_or(JobError::NoSamples {
                trials: sampled.len(),
            })?,
            blocks: blocks(sampled),
            tried: (sampled.iter())
                .filter_map(|one| Tried::new(one, sends))
                .collect(),
            lost: sampled.iter().any(|one| {
                let ledger = one.judged.trial.ledger();
                ledger.lost_nic_ring + ledger.lost_in_dut > 0
            }),
        })
    }
}

/// How often the DUT's threads were put on a CPU so far. A thread that has a CPU of its own is put there when it wakes up.
fn slices(tester: &Tester<'_>) -> Result<u64, TesterError> {
    let mut slices = 0;
    for (tid, _) in tester.dut_threads() {
        slices += task::schedstat(*tid)?.slices;
    }
    Ok(slices)
}

/// What the router forwarded in undisturbed windows, frames/s.
fn forwards(profiled: &Profiled) -> Option<f64> {
    compare::rate(&block(profiled.judged.trial.clone()))
}

fn blocks(tried: &[Profiled]) -> Vec<Block> {
    tried
        .iter()
        .map(|one| block(one.judged.trial.clone()))
        .collect()
}

/// Trials at one load as the record has them. `None` where nothing tells what a frame cost.
fn load_of(tried: &[Profiled], sends: Rate) -> Option<ProfiledLoad> {
    let frame_ns: Vec<f64> = tried.iter().filter_map(Profiled::frame_ns).collect();
    let frame = Interval::from_samples(&frame_ns)?;
    let saturation = Saturation::from_blocks(&blocks(tried));
    let over = |number: fn(&Profiled) -> Option<f64>| {
        statistics::mean(&tried.iter().filter_map(number).collect::<Vec<_>>())
    };
    let waits = tried.iter().filter_map(|one| one.sender_waits(sends));
    let waits: Vec<f64> = waits.collect();
    let forwarded = over(|one| Some(one.judged.trial.forwarding_rate()?.fps()))?;
    let whole = Interval {
        low: forwarded,
        middle: forwarded,
        high: forwarded,
    };
    let mut load = ProfiledLoad {
        offered_fps: over(|one| Some(one.judged.trial.sent_rate()?.fps()))?,
        forwarding_fps: interval(saturation.map_or(whole, |found| found.forwarding)),
        trials: tried.iter().map(|one| one.judged.number).collect(),
        busy_share: over(|one| one.judged.trial.busiest_share())?.min(1.0),
        frame_ns: mpps_record::Interval {
            // The stages sum to the mean.
            median: statistics::mean(&frame_ns)?,
            ..interval(frame)
        },
        wake_ups_per_frame: over(Profiled::wakes_a_frame),
        polls_per_frame: over(Profiled::polls_a_frame),
        sender_waits_share: statistics::mean(&waits),
        seen_share: over(|one| one.seen),
        lost_samples: tried.iter().map(|one| one.lost).sum(),
        ..ProfiledLoad::default()
    };
    split::fill(&mut load, tried);
    Some(load)
}
