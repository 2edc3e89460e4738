//! Where the time of a frame goes, what limits the router, and what it could reach.
//!
//! The scheduler's accounts tell how long the router's threads were busy for a frame. Samples only split that time into
//! stages. Saturated trials take turns with others that are not sampled, so that the cost of looking is known. Lower
//! loads tell how the cost depends on how often the threads wake up, and what rate that predicts.

mod limit;
mod model;
pub(crate) mod split;

use super::fixed_load::FixedLoadPlan;
use super::sizes::{self, counts};
use super::throughput::{self, first_burst};
use super::{JobError, Judged, Phase, ResultObserver, Trials};
use crate::bed::Bed;
use crate::doubt::{self, Doubt, ProfileDoubts};
use crate::profile::{Completeness, Sampler, SamplerPlan, Symbols, completeness};
use crate::search::measurer::Measurer;
use crate::search::saturation::{FIRST_BURST, LITTLE_MORE, SENDER_MAX, block, through};
use crate::tester::{Fault, PlantedFault, ReceiverPlace, Tester, TesterError};
use crate::traffic::Traffic;
use crate::trial;
use mpps_linux::task;
use mpps_method::saturation::{Block, Interval, Saturation};
use mpps_method::{FrameSpec, LimitedBy, Offer, Rate, Span, Trial, Verdict, compare, statistics};
use mpps_record::{Looking, ProfileLine, ProfiledLoad};
use split::{Profiled, Stacks, interval};

/// Trials at saturation: fewer have no interval over trials.
pub const TRIALS_MIN: u32 = 3;
/// Loads below saturation, of what the router forwards at most.
const SHARES: [f64; 5] = [0.9, 0.75, 0.5, 0.25, 0.1];
/// Trials that tell how much to offer, at most.
const FIRST_TRIALS: u32 = 4;
/// Time for each half of the self-test.
const SELF_TEST: Span = Span::from_millis(300);

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
        let error = measure_size(bed, plan, frames, &mut size, trials).err();
        size.line.why = error.as_ref().map(ToString::to_string);
        (size, error)
    })
}

fn measure_size(
    bed: &Bed,
    plan: &ExplainPlan,
    frames: &FrameSpec,
    size: &mut SizeProfile,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    let offer = &plan.offer;
    let traffic = Traffic {
        frames: frames.clone(),
        ..offer.traffic.clone()
    };
    let frames_max = SENDER_MAX.frames_in(offer.time).max(FIRST_BURST);
    let (tester, sends) =
        throughput::raise(bed, &traffic, frames_max, offer.receiver, first_burst)?;
    if tester.dut_threads().is_empty() {
        return Err(JobError::NoThreads);
    }
    size.receiver = Some(tester.traffic.receiver);
    let burn = |delay_ns| {
        let fault = Fault {
            delay_ns,
            ..Fault::NONE
        };
        PlantedFault::plant_on_router(fault, bed, tester.ways()[0])
    };
    let _burning = plan.burn_ns.map(burn).transpose()?;
    let cpus = &bed.plan().cpus;
    let sampler = SamplerPlan::usual(&cpus.dut, cpus.sender());
    // After the last program was loaded, or it would have no name.
    let symbols = Symbols::read().map_err(TesterError::from)?;
    let tested = completeness(&sampler, &symbols, SELF_TEST)?;
    size.line.cpus.clone_from(&cpus.dut);
    let explainer = Explainer {
        tester,
        time: offer.time,
        symbols,
        sampler,
        void: 0,
        tried: Vec::new(),
    };
    explainer.explain(sends, offer.trials, &tested, size, trials)
}

/// A tester with the sampler beside it.
struct Explainer<'bed> {
    tester: Tester<'bed>,
    time: Span,
    symbols: Symbols,
    sampler: SamplerPlan,
    /// Void trials so far.
    void: u32,
    /// Those that count.
    tried: Vec<(Trial, Verdict)>,
}

impl Explainer<'_> {
    fn explain(
        mut self,
        sends: Rate,
        turns: u32,
        tested: &[Completeness],
        size: &mut SizeProfile,
        trials: &mut Trials<'_>,
    ) -> Result<(), JobError> {
        let mut stacks = Stacks::default();
        let saturated = self.saturate(sends, turns, &mut stacks, size, trials)?;
        let limited_by = limit::limited_by(&saturated, &self.tester);
        let maximum = saturated.load.forwarding_fps.median;
        size.limited_by = Some(limited_by);
        size.line.limit_text = Some(limit::in_words(&saturated.load, limited_by));
        size.line.stacks = stacks.folded();
        size.line.loads.push(saturated.load);
        for share in SHARES {
            let rate = Rate::from_fps(maximum * share);
            let profiled = self.trial(rate, Phase::Fixed, true, trials)?;
            let found = load_of(std::slice::from_ref(&profiled));
            size.line
                .loads
                .extend(found.filter(|_| counts(&profiled.judged)));
        }
        let threads = self.tester.dut_threads().len() as u32;
        match model::fit(&size.line.loads, threads, limited_by) {
            Ok(model) => size.line.model = Some(model),
            Err(why) => size.line.no_model = Some(why),
        }
        let around = self.tester.surroundings();
        size.doubts = doubt::profile_doubts(&ProfileDoubts {
            around: &around,
            line: &size.line,
            tested,
            limited_by,
            void: (self.void, self.tried.len() as u32 + self.void),
            trials: &self.tried,
        });
        Ok(())
    }

    /// Trials at a load a little above what the router forwards, with the sampler and without it in turns.
    fn saturate(
        &mut self,
        sends: Rate,
        turns: u32,
        stacks: &mut Stacks,
        size: &mut SizeProfile,
        trials: &mut Trials<'_>,
    ) -> Result<Saturated, JobError> {
        let (mut sampled, mut ratios) = (Vec::new(), Vec::new());
        // The first ones tell the rate; a burst is too short to tell it well. Then the load only rises.
        let mut most = 0.0_f64;
        for _ in 0..FIRST_TRIALS {
            let first = self.trial(sends, Phase::Overload, false, trials)?;
            most = forwards(&first).unwrap_or(0.0);
            if most > 0.0 {
                break;
            }
        }
        for turn in 0..turns {
            let mut both = [None, None];
            // The same load for both.
            let rate = match most {
                0.0 => sends,
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
        }
        size.line.looking = Interval::from_samples(&ratios).map(|ratio| Looking {
            ratio: interval(ratio),
            pairs: ratios.len() as u32,
        });
        size.line.clock = sampled.iter().find_map(|one| one.clock.map(str::to_owned));
        // What the machine disturbed is left out, unless there is nothing else.
        let is_whole = |one: &Profiled| counts(&one.judged);
        if sampled.iter().any(is_whole) {
            sampled.retain(is_whole);
        }
        for one in &mut sampled {
            stacks.add(std::mem::take(&mut one.stacks), 1.0);
        }
        stacks.divide(sampled.len() as f64);
        let load = load_of(&sampled).filter(|load| !load.stages.is_empty());
        Ok(Saturated {
            load: load.ok_or(JobError::NoSamples {
                trials: sampled.len(),
            })?,
            blocks: blocks(&sampled),
            lost: sampled.iter().any(|one| {
                let ledger = one.judged.trial.ledger();
                ledger.lost_nic_ring + ledger.lost_in_dut > 0
            }),
        })
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
        let (mut wakes, mut profile) = (0, None);
        let (judged, void) = sizes::repeat_void(|| {
            let before = slices(&self.tester)?;
            let sampler = looks.then(|| Sampler::start(&self.sampler)).transpose()?;
            let judged = through(&mut self.tester, phase, offer, trials, |tester| {
                trial::run(tester, &offer)
            })?;
            profile = sampler.map(|s| s.stop(&self.symbols)).transpose()?;
            wakes = slices(&self.tester)? - before;
            // Only a wire may be lacking.
            judged.ok_or(JobError::NoThreads)
        })?;
        self.void += void;
        self.tried.push((judged.trial.clone(), judged.verdict));
        let tids: Vec<i32> = self
            .tester
            .dut_threads()
            .iter()
            .map(|(tid, _)| *tid)
            .collect();
        Ok(Profiled::new(judged, wakes, profile.as_ref(), &tids))
    }
}

/// The load at saturation, with what tells its limit.
struct Saturated {
    load: ProfiledLoad,
    blocks: Vec<Block>,
    lost: bool,
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
fn load_of(tried: &[Profiled]) -> Option<ProfiledLoad> {
    let frame_ns: Vec<f64> = tried.iter().filter_map(Profiled::frame_ns).collect();
    let frame = Interval::from_samples(&frame_ns)?;
    let saturation = Saturation::from_blocks(&blocks(tried));
    let over = |number: fn(&Profiled) -> Option<f64>| {
        statistics::mean(&tried.iter().filter_map(number).collect::<Vec<_>>())
    };
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
        seen_share: over(|one| one.seen),
        lost_samples: tried.iter().map(|one| one.lost).sum(),
        ..ProfiledLoad::default()
    };
    split::fill(&mut load, tried);
    Some(load)
}
