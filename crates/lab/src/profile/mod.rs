//! What the CPUs of a bed did: samples with the kernel's call chains, each with the time it stands for.
//!
//! Samples say where time went, not how much there was. Two things have to hold before they say that: they are complete
//! ([`completeness`], [`CpuProfile::seen`]), and their period is no multiple of the load's ([`SamplerPlan::periods_ns`]).

mod completeness;
mod in_turns;
mod lattice;
mod programs;
mod resolve;
mod sampler;

pub use completeness::{Completeness, completeness};
pub use in_turns::TurnSampler;
pub use lattice::Segment;
pub use mpps_linux::perf::SamplingClock;
pub use mpps_linux::symbols::{Symbol, Symbols};
pub use programs::symbols;
pub use resolve::{Taken, resolve};
pub use sampler::{Sampler, SamplerPlan, why_timer};

use std::collections::BTreeMap;

/// A name in [`Profile::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub u32);

impl SymbolId {
    /// No function of the kernel's, or one that was loaded after the symbols were read.
    pub const UNKNOWN: Self = Self(0);
    /// A program ran, not the kernel.
    pub const USER: Self = Self(1);
}

/// One sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When, ns of the monotonic clock.
    pub time_ns: u64,
    /// What it stands for, in units of the clock ([`Segment::weight`]).
    pub weight: u64,
    /// How much later than the promptest samples around it came, ns: the time that interrupts were off for, at most.
    /// `None`: not known, as with the clock [`SamplingClock::Cycles`].
    pub lateness_ns: Option<u64>,
    /// The task that ran, by thread id: 0 is the idle task. An interrupt's work is found under whatever task ran.
    pub task: i32,
    /// Address of the instruction that ran.
    pub ip: u64,
    /// The call chain, the function that ran first. Never empty.
    pub stack: Box<[SymbolId]>,
}

/// Samples of one CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuProfile {
    /// Its number.
    pub cpu: usize,
    /// In the order of their times.
    pub samples: Vec<Sample>,
    /// Samples that found no room in the ring.
    pub lost: u64,
    /// How often the kernel stopped the sampling because samples came too often.
    pub throttled: u64,
    /// The periods it was sampled with.
    pub segments: Vec<Segment>,
}

/// Samples that should have come, and that came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// As many as the clock should have given.
    pub expected: f64,
    /// As many as there are.
    pub got: u64,
}

impl Seen {
    /// The share of the samples that came. `None`: none was expected. A CPU that a hypervisor takes away, and one whose
    /// idle time is not sampled, has less than 1.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.expected >= 1.0).then(|| self.got as f64 / self.expected)
    }
}

impl CpuProfile {
    /// How complete the samples are from one moment until before another, ns of the monotonic clock. All tasks count.
    #[must_use]
    pub fn seen(&self, from_ns: u64, to_ns: u64) -> Seen {
        let expected = self.segments.iter().map(|s| s.expected(from_ns, to_ns));
        let is_within = |sample: &&Sample| (from_ns..to_ns).contains(&sample.time_ns);
        Seen {
            expected: expected.sum(),
            got: self.samples.iter().filter(is_within).count() as u64,
        }
    }
}

/// Samples of some CPUs over one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What decided when a sample was taken; the unit of weights: ns of the timer, or cycles.
    pub clock: SamplingClock,
    /// Since when all CPUs were sampled, ns of the monotonic clock.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// A profile for each CPU.
    pub cpus: Vec<CpuProfile>,
    /// Names of functions, each once, by [`SymbolId`].
    pub names: Vec<Box<str>>,
    /// Names of the tasks that ran, as far as they still lived at the end.
    pub tasks: BTreeMap<i32, String>,
}

impl Profile {
    /// A function's name.
    ///
    /// # Panics
    /// The id is of another profile.
    #[must_use]
    pub fn name(&self, symbol: SymbolId) -> &str {
        &self.names[symbol.0 as usize]
    }

    /// All samples, one CPU after the other.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.cpus.iter().flat_map(|cpu| &cpu.samples)
    }

    /// The samples in which one of these tasks ran: the router's threads, if it works in threads. Interrupts that came
    /// meanwhile are among them.
    pub fn of_tasks<'a>(&'a self, tids: &[i32]) -> impl Iterator<Item = &'a Sample> + use<'a> {
        let tids = tids.to_vec();
        self.samples()
            .filter(move |sample| tids.contains(&sample.task))
    }

    /// Call chains as flame graphs take them, the outermost function first, with their weights; by name.
    #[must_use]
    pub fn fold<'a>(&self, samples: impl Iterator<Item = &'a Sample>) -> Vec<(String, u64)> {
        let mut by_stack = BTreeMap::new();
        for sample in samples {
            *by_stack.entry(&sample.stack).or_default() += sample.weight;
        }
        let words = |stack: &[SymbolId]| {
            let names: Vec<&str> = stack.iter().rev().map(|id| self.name(*id)).collect();
            names.join(";")
        };
        let folded = by_stack.into_iter();
        let mut folded: Vec<(String, u64)> = folded
            .map(|(stack, weight)| (words(stack), weight))
            .collect();
        folded.sort_unstable();
        folded
    }
}

#[cfg(test)]
mod tests;
