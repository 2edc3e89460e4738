//! Samples of a trial, each at its place, and the busy time of a frame split by them.

use crate::jobs::Judged;
use crate::profile::{CpuProfile, Profile, Sample, SamplingClock, SymbolId};
use crate::search::saturation::block;
use mpps_method::distance::{At, MachineState};
use mpps_method::saturation::Block;
use mpps_method::stage::{self, Cost, Lateness, Placed, Router, Split, Stage, place, place_late};
use mpps_method::statistics::quantile;
use mpps_method::{Span, Trial};
use mpps_record::{Evidence, FoldedStack, PartCost, ProfiledLoad};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

/// The part of the samples that fire in time, by definition.
const USUAL: f64 = 0.95;
/// Of the intervals' draws.
const SEED: u64 = 1;
/// Octets that stacks may take in a line.
const STACKS_MAX: usize = 500_000;
/// Stacks are merged into this one beyond that.
const REST: &str = "[rest]";

/// A trial and what its samples say.
pub(super) struct Profiled {
    pub judged: Judged,
    /// How often the router's threads woke up in it.
    pub wakes: u64,
    /// Polls of them that took frames, for each frame; `None` where nobody counted.
    pub polls_a_frame: Option<f64>,
    /// What it counted.
    pub evidence: Evidence,
    /// `None` without the sampler.
    pub clock: Option<&'static str>,
    pub split: Option<Split>,
    /// Sampled time of the router's threads by their busy time.
    pub seen: Option<f64>,
    pub lost: u64,
    pub stacks: Stacks,
    /// CPU time of a frame, which the samples split.
    pub frame_ns: Option<f64>,
    /// The state of the machine whose windows count; `None`: all do.
    pub in_state: Option<MachineState>,
    /// The samples, and the router's threads.
    pub sampled: Option<(Profile, Vec<i32>)>,
}

impl Profiled {
    pub fn new(judged: Judged, wakes: u64, profile: Option<Profile>, tids: &[i32]) -> Self {
        let mut profiled = Self {
            judged,
            wakes,
            polls_a_frame: None,
            evidence: Evidence::default(),
            clock: None,
            split: None,
            seen: None,
            lost: 0,
            stacks: Stacks::default(),
            frame_ns: None,
            in_state: None,
            sampled: profile.map(|profile| (profile, tids.to_vec())),
        };
        let trial = profiled.judged.trial.clone();
        profiled.look(&trial);
        profiled
    }

    /// Leaves out all but the windows of this state. Whether these are enough for its cost and have samples.
    pub fn narrow(&mut self, state: &MachineState) -> bool {
        let here = self.judged.trial.only_in(state);
        // A trial that was there all the time has the cost of all of it.
        let is_whole = here.windows.iter().all(|window| !window.disturbed);
        if !is_whole && here.undisturbed_cost().is_none() {
            return false;
        }
        self.in_state = Some(*state);
        self.look(&here);
        self.split.is_some()
    }

    /// What it forwarded, in the state that it was narrowed to.
    pub fn block(&self) -> Block {
        let whole = block(&self.judged.trial);
        let here = self.in_state.and_then(|state| whole.at(&state));
        here.unwrap_or(whole)
    }

    /// The state of the machine in it.
    pub fn at(&self) -> Option<At> {
        match self.in_state {
            Some(_) => self.block().distance.steady(),
            None => At::mostly(&self.judged.trial),
        }
    }

    /// Its samples are needed no more: those of a long trial are many.
    pub fn without_samples(self) -> Self {
        Self {
            sampled: None,
            ..self
        }
    }

    pub fn frame_ns(&self) -> Option<f64> {
        self.frame_ns
    }

    pub fn wakes_a_frame(&self) -> Option<f64> {
        let frames = self.judged.trial.ledger().nic_accepted;
        (frames > 0).then(|| self.wakes as f64 / frames as f64)
    }

    /// Splits what a frame cost in the undisturbed windows of this trial, which is its own or a part of it.
    fn look(&mut self, trial: &Trial) {
        self.frame_ns = trial.ns_per_frame();
        let Some((profile, tids)) = &self.sampled else {
            return;
        };
        self.clock = Some(match profile.clock {
            SamplingClock::Cycles => "cycles",
            SamplingClock::Timer => "cpu-clock",
        });
        self.lost = profile.cpus.iter().map(|cpu| cpu.lost).sum();
        let Some((begun, frame_ns)) = trial.begun.zip(self.frame_ns) else {
            return;
        };
        // The busy time is read after the drain, and the router has nothing to do then.
        let begun_ns = begun.as_nanos();
        let mut samples: Vec<&Sample> = (profile.of_tasks(tids))
            .filter(|sample| sample.time_ns >= begun_ns)
            .collect();
        let sampled: u64 = samples.iter().map(|sample| sample.weight).sum();
        let busy_ns: u64 = trial.busy.iter().map(|cpu| cpu.run_ns).sum();
        self.seen = match profile.clock {
            SamplingClock::Timer => Some(sampled as f64 / busy_ns.max(1) as f64),
            SamplingClock::Cycles => {
                let ended_ns = begun_ns + trial.duration.as_nanos();
                let seen = |cpu: &CpuProfile| cpu.seen(begun_ns, ended_ns).share();
                let shares = profile.cpus.iter().filter_map(seen);
                shares.min_by(f64::total_cmp)
            }
        };
        // Those of windows that are not in the cost split none of it.
        if trial.undisturbed_cost().is_some() {
            let is_in = |sample: &&Sample| {
                let window = trial.window_at(Span::from_nanos(sample.time_ns));
                window.is_some_and(|window| !window.disturbed)
            };
            samples.retain(is_in);
        }
        let divided = Divided::new(profile, &samples, Router::OnBed, frame_ns);
        (self.split, self.stacks) = (divided.split, divided.stacks);
    }
}

/// A profile as parts of a frame's time.
pub struct Divided {
    /// `None` without a sample.
    pub split: Option<Split>,
    /// Its call stacks.
    pub stacks: Stacks,
}

impl Divided {
    /// Divides the time of a frame by samples.
    #[must_use]
    pub fn new(profile: &Profile, samples: &[&Sample], router: Router, frame_ns: f64) -> Self {
        let placed = placed(profile, samples, router);
        let sampled: f64 = placed.iter().map(|sample| sample.weight).sum();
        let weights = samples.iter().zip(&placed);
        let weights = weights.map(|(sample, placed)| {
            let ns = placed.weight * frame_ns / sampled;
            // The time of a shadow is its owner's.
            let owner = usize::from(placed.placed.shadow);
            let stack = sample.stack.get(owner..).unwrap_or_default();
            (stack, placed.placed.stage, ns)
        });
        Self {
            split: stage::split(&placed, frame_ns, SEED),
            stacks: Stacks::new(profile, router, weights),
        }
    }
}

/// A sample's names, the function that ran first. User space has none.
pub(crate) fn names<'p>(profile: &'p Profile, stack: &[SymbolId]) -> Vec<&'p str> {
    match stack {
        [SymbolId::USER] => Vec::new(),
        _ => stack.iter().map(|id| profile.name(*id)).collect(),
    }
}

/// The samples at their places. A stack is placed once, in time and late.
pub(crate) fn placed<'p>(
    profile: &'p Profile,
    samples: &[&'p Sample],
    router: Router,
) -> Vec<stage::Sample<'p>> {
    let mut known: HashMap<(&'p [SymbolId], Option<bool>), Placed<'p>> = HashMap::new();
    let mut place_as = |stack: &'p [SymbolId], later: Option<bool>| {
        *known.entry((stack, later)).or_insert_with(|| {
            let late = later.map(|later| Lateness {
                ns: u64::from(later),
                usual_ns: 0,
            });
            let names = names(profile, stack);
            match profile.clock {
                SamplingClock::Timer => place_late(&names, late, router),
                SamplingClock::Cycles => place(&names, router),
            }
        })
    };
    // Only a function that enables interrupts makes a shadow where the lateness is not known.
    let mut usual: Vec<f64> = Vec::new();
    for sample in samples {
        let enables = place_as(&sample.stack, None).shadow;
        usual.extend(sample.lateness_ns.filter(|_| !enables).map(|ns| ns as f64));
    }
    let usual = quantile(&usual, USUAL);
    let place_one = |sample: &&'p Sample| {
        let later = sample.lateness_ns.zip(usual);
        stage::Sample {
            at_ns: sample.time_ns,
            weight: sample.weight as f64,
            placed: place_as(&sample.stack, later.map(|(ns, usual)| ns as f64 > usual)),
        }
    };
    samples.iter().map(place_one).collect()
}

/// Call stacks by their functions from the outermost and the stage of each, with ns a frame.
#[derive(Default)]
pub struct Stacks(BTreeMap<(String, Vec<u8>), f64>);

impl Stacks {
    /// Stacks with the stage of the function that ran, and ns. Each is named once, because samples are many.
    fn new<'p>(
        profile: &'p Profile,
        router: Router,
        samples: impl Iterator<Item = (&'p [SymbolId], Stage, f64)>,
    ) -> Self {
        let mut stacks = Self::default();
        let mut by_stack: HashMap<(&[SymbolId], Stage), f64> = HashMap::new();
        for (stack, leaf, ns) in samples {
            *by_stack.entry((stack, leaf)).or_default() += ns;
        }
        for ((stack, leaf), ns) in by_stack {
            let names = names(profile, stack);
            let stage_of = |at: usize| match at {
                0 => leaf,
                _ => place(&names[at..], router).stage,
            };
            let stages = (0..names.len()).rev().map(|at| number(stage_of(at)));
            let frames: Vec<&str> = names.iter().rev().copied().collect();
            let key = (frames.join(";"), stages.collect());
            *stacks.0.entry(key).or_default() += ns;
        }
        stacks
    }

    /// The mean over trials, whose own are taken away.
    pub(super) fn mean(trials: &mut [Profiled]) -> Self {
        let (mut mean, count) = (Self::default(), trials.len() as f64);
        for trial in trials {
            for (stack, ns) in std::mem::take(&mut trial.stacks.0) {
                *mean.0.entry(stack).or_default() += ns / count;
            }
        }
        mean
    }

    /// The largest first, the smallest as one.
    #[must_use]
    pub fn folded(self) -> Vec<FoldedStack> {
        let stack = |((frames, stages), ns)| FoldedStack { frames, stages, ns };
        let mut stacks: Vec<FoldedStack> = self.0.into_iter().map(stack).collect();
        stacks.sort_by(|one, other| other.ns.total_cmp(&one.ns));
        let mut octets = 0;
        let fits = |stack: &&FoldedStack| {
            octets += stack.frames.len() + 2 * stack.stages.len() + 60;
            octets <= STACKS_MAX
        };
        let kept = stacks.iter().take_while(fits).count();
        let rest: f64 = stacks.drain(kept..).map(|stack| stack.ns).sum();
        if rest > 0.0 {
            stacks.push(FoldedStack {
                frames: REST.to_owned(),
                stages: vec![number(Stage::Other)],
                ns: rest,
            });
        }
        stacks
    }
}

/// A stage's place among all.
fn number(stage: Stage) -> u8 {
    Stage::ALL.iter().position(|&one| one == stage).unwrap_or(0) as u8
}

/// What the samples of these trials say of a load.
pub(super) fn fill(load: &mut ProfiledLoad, tried: &[Profiled]) {
    let splits: Vec<Split> = tried.iter().filter_map(|one| one.split.clone()).collect();
    if let Some(split) = stage::combine(&splits) {
        fill_with(load, &split);
    }
}

/// What a split says of a load.
pub(crate) fn fill_with(load: &mut ProfiledLoad, split: &Split) {
    load.router_ns = split.router_ns();
    load.samples = split.samples;
    load.unclassified_share = split.unclassified;
    load.shadow_share = split.shadow;
    load.stages = split.stages.iter().map(part).collect();
    load.causes = split.causes.iter().map(part).collect();
    load.unplaced = split.unplaced.clone();
}

fn part<K: Display>(cost: &Cost<K>) -> PartCost {
    PartCost {
        part: cost.of.to_string(),
        ns: [cost.low, cost.ns, cost.high].into(),
        samples: cost.samples,
        top: cost.top.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::saturation::{Busy, Window};
    use mpps_method::{CpuBusy, Direction, Disturbance, Ledger, Verdict};

    #[test]
    fn samples_of_disturbed_windows_split_no_cost() {
        const TID: i32 = 7;
        let sample = |ms: u64| Sample {
            time_ns: ms * 1_000_000,
            weight: 1_000_000,
            lateness_ns: None,
            task: TID,
            ip: 0,
            stack: [SymbolId(2)].into(),
        };
        let profile = Profile {
            clock: SamplingClock::Timer,
            from_ns: 0,
            to_ns: u64::MAX,
            cpus: vec![CpuProfile {
                cpu: 1,
                // The trial begins at 100 ms and lasts 100 ms. The router empties its ring until 205 ms.
                samples: [99, 110, 120, 150, 180, 202].map(sample).into(),
                lost: 0,
                throttled: 0,
                segments: Vec::new(),
            }],
            names: ["", "", "ip_forward"].map(Into::into).into(),
            tasks: BTreeMap::new(),
        };
        let ms = Span::from_millis;
        let mut trial = Trial {
            begun: Some(ms(100)),
            duration: ms(100),
            directions: vec![Direction {
                ledger: Ledger {
                    nic_accepted: 100,
                    ..Ledger::default()
                },
                ..Direction::default()
            }],
            busy: vec![CpuBusy {
                cpu: 1,
                run_ns: 5_000_000,
                ..CpuBusy::default()
            }],
            slow: vec![Disturbance {
                cpu: 1,
                from: ms(15),
                to: ms(50),
            }],
            ..Trial::default()
        };
        let profiled = |trial: &Trial| {
            let judged = Judged {
                number: 1,
                trial: trial.clone(),
                verdict: Verdict::Lossless,
            };
            Profiled::new(judged, 0, Some(profile.clone()), &[TID])
        };
        let samples = |found: &Profiled| {
            assert_eq!(found.seen, Some(1.0));
            found.split.as_ref().expect("samples").samples
        };
        // Without windows the slow time is in the cost, and so is the drain.
        assert_eq!(samples(&profiled(&trial)), 5);
        // With them, windows are left out of both.
        let window = Window {
            duration: ms(8),
            forwarded: 8,
            busy: Some(Busy {
                time: ms(1),
                wakes: 0,
            }),
            ..Window::default()
        };
        trial.windows_from = Some(ms(100));
        trial.windows = vec![window; 12];
        for slow in &mut trial.windows[1..=6] {
            slow.disturbed = true;
        }
        assert_eq!(samples(&profiled(&trial)), 1);
        // A state of the machine that the first half is in, where a frame takes twice as long.
        for (number, window) in trial.windows.iter_mut().enumerate() {
            let far = if number < 6 { 2 } else { 1 };
            window.disturbed = false;
            window.round_trip_ns = Some(300 * far);
            window.work_ns = Some(200);
            window.busy = Some(Busy {
                time: ms(far),
                wakes: 0,
            });
        }
        let mut found = profiled(&trial);
        let whole_ns = found.frame_ns().expect("a cost");
        let first_half = &trial.windows[..6];
        let state = MachineState::from_pair(first_half, first_half, 6).expect("a state");
        assert!(found.narrow(&state));
        // Those at 110 and 120 ms; that at 150 ms is in the seventh window.
        assert_eq!(samples(&found), 2);
        let ns = found.frame_ns().expect("a cost");
        assert!(
            (ns / whole_ns - 4.0 / 3.0).abs() < 1e-9,
            "{ns} of {whole_ns}"
        );
        assert_eq!(found.block().windows.len(), 6);
        assert_eq!(found.at().map(|at| at.round_trip_ns), Some(600.0));
        let none = MachineState::from_pair(&[window; 6], &[window; 6], 6);
        assert_eq!(none, None, "nobody timed them");
        // One that was there all the time.
        trial.windows.truncate(6);
        let mut there = profiled(&trial);
        let before = there.frame_ns();
        assert!(there.narrow(&state) && there.frame_ns() == before);
    }

    #[test]
    fn the_owner_of_a_shadow_is_the_leaf_of_its_stack() {
        let names = [
            "",
            "",
            "ip_forward",
            "free_pcp",
            "_raw_spin_unlock_irqrestore",
        ];
        let profile = Profile {
            clock: SamplingClock::Timer,
            from_ns: 0,
            to_ns: 1,
            cpus: Vec::new(),
            names: names.map(Into::into).into(),
            tasks: BTreeMap::new(),
        };
        let sample = |lateness_ns, stack: &[u32]| Sample {
            time_ns: 0,
            weight: 1,
            lateness_ns,
            task: 1,
            ip: 0,
            stack: stack.iter().map(|&id| SymbolId(id)).collect(),
        };
        let shadow = [4, 3, 2];
        let samples = [
            sample(Some(100), &[2]),
            sample(Some(9_000), &shadow),
            sample(Some(50), &shadow),
        ];
        let samples: Vec<&Sample> = samples.iter().collect();
        let folded = Divided::new(&profile, &samples, Router::OnBed, 300.0)
            .stacks
            .folded();
        let ns = |frames: &str| {
            let stack = folded.iter().find(|stack| stack.frames == frames);
            stack.map(|stack| (stack.stages.len(), stack.ns.round()))
        };
        assert_eq!(ns("ip_forward;free_pcp"), Some((2, 100.0)));
        // This one fired in time.
        let unlock = "ip_forward;free_pcp;_raw_spin_unlock_irqrestore";
        assert_eq!(ns(unlock), Some((3, 100.0)));
    }

    #[test]
    fn stacks_that_do_not_fit_become_the_rest() {
        let mut stacks = Stacks::default();
        for number in 0..5_000_u32 {
            let frames = format!("cpu_map_kthread_run;{}{number}", "f".repeat(200));
            let ns = f64::from(number);
            stacks.0.insert((frames, vec![0, 1]), ns);
        }
        let folded = stacks.folded();
        let rest = folded.last().expect("a rest");
        assert_eq!(rest.frames, REST);
        assert!(folded.len() > 100 && folded.len() < 5_000);
        assert_eq!(folded[0].ns, 4_999.0);
        let whole: f64 = folded.iter().map(|stack| stack.ns).sum();
        assert!((whole - 4_999.0 * 2_500.0).abs() < 1.0, "{whole}");
        let octets = serde_json::to_vec(&folded).expect("JSON").len();
        assert!(octets < 1 << 20, "{octets}");
    }
}
