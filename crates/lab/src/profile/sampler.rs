//! Samples CPUs from its start to its stop.

use super::resolve::{Taken, resolve};
use super::{Profile, Segment, Symbols};
use crate::clock::{monotonic_ns, wait_until};
use crate::tester::TesterError;
use crate::tester::real_time::RealTime;
use mpps_linux::cpu::CpuSet;
use mpps_linux::perf::{CpuSampler, SamplingClock, why_not};
use mpps_linux::{Error, Result};
use mpps_method::random::Random;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Pages of each CPU's ring. 4 MiB hold some 9 000 samples of 50 calls: 2 s of them, longer than most trials.
const RING_PAGES: usize = 1 << 10;
/// A ring is read during the sampling only when it is fuller than this.
const FULL: f64 = 0.5;
/// Octets read from it at once, so that the tester's CPU is not taken for long.
const READ_AT_ONCE: usize = 256 << 10;
/// SCHED_FIFO priority of the thread that changes periods: above the tester's others, or a sender that spins keeps it
/// from running.
pub(super) const PRIORITY: u8 = 70;
/// Cycles of a period for each of its ns. With it even a CPU of 4.8 GHz is sampled no more often than by the timer's
/// shortest mean period.
const CYCLES_PER_NS: u64 = 3;

/// How to sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplerPlan {
    /// The CPUs to sample: the DUT's.
    pub cpus: Vec<usize>,
    /// The CPU of the thread that changes periods: one of the tester's.
    pub reader: usize,
    /// Periods are drawn from here, ns. A fixed one sees only some parts of a load that repeats with it.
    pub periods_ns: RangeInclusive<u64>,
    /// Each CPU gets a new period after a time drawn from here, ns.
    pub redraw_ns: RangeInclusive<u64>,
    /// Of the draws.
    pub seed: u64,
}

impl SamplerPlan {
    /// The usual periods. With 13 us a sample, as on a virtual machine, they take 1.2 % of each sampled CPU.
    #[must_use]
    pub fn usual(cpus: &[usize], reader: usize) -> Self {
        Self {
            cpus: cpus.to_vec(),
            reader,
            periods_ns: 750_000..=1_400_000,
            redraw_ns: 20_000_000..=50_000_000,
            seed: monotonic_ns(),
        }
    }
}

/// CPUs that are being sampled; dropping it ends that too.
pub struct Sampler {
    clock: SamplingClock,
    from_ns: u64,
    thread: RealTime,
    ended: Receiver<Result<Vec<Observed>>>,
}

/// One CPU, and what was read of it so far.
pub(super) struct Observed {
    pub(super) event: CpuSampler,
    taken: Taken,
    /// The current one.
    period: u64,
    /// What the clock had counted when the current segment began. `None`: the clock is the timer.
    counted: Option<u64>,
}

impl Sampler {
    /// Starts to sample, by cycles where each of the CPUs has a PMU, else by timers.
    ///
    /// # Errors
    /// No right, a CPU that is not there, no memory for the rings.
    pub fn start(plan: &SamplerPlan) -> std::result::Result<Self, TesterError> {
        let mut draws = Draws::new(plan);
        let (clock, mut cpus) = open(&mut draws)?;
        for observed in &mut cpus {
            observed.begin(CpuSampler::enable)?;
        }
        let from_ns = monotonic_ns();
        let (end, ended) = channel();
        let reader = CpuSet::single(plan.reader);
        let thread = RealTime::start("mpps-sample", &reader, PRIORITY, move |stop| {
            mind(cpus, &mut draws, stop, &end);
        })?;
        Ok(Self {
            clock,
            from_ns,
            thread,
            ended,
        })
    }

    /// Ends the sampling, up to [`SamplerPlan::redraw_ns`] later, and names what was sampled. Symbols have to be read
    /// after all programs are loaded that may be in a call chain.
    ///
    /// # Errors
    /// A CPU went offline; the kernel's records are of another layout.
    pub fn stop(self, symbols: &Symbols) -> std::result::Result<Profile, TesterError> {
        drop(self.thread);
        let gone = || Error::from_text("sample CPUs", "of the DUT", "the thread has panicked");
        let observed = self.ended.recv().map_err(|_| gone())??;
        let taken: Vec<Taken> = observed.into_iter().map(|cpu| cpu.taken).collect();
        Ok(resolve(self.clock, self.from_ns, &taken, symbols)?)
    }
}

/// Random periods and times to change them.
pub(super) struct Draws {
    plan: SamplerPlan,
    random: Random,
    clock: SamplingClock,
}

impl Draws {
    pub(super) fn new(plan: &SamplerPlan) -> Self {
        Self {
            plan: plan.clone(),
            random: Random::from_seed(plan.seed),
            clock: SamplingClock::Cycles,
        }
    }

    /// In units of the clock.
    pub(super) fn period(&mut self) -> u64 {
        let period_ns = draw(&mut self.random, &self.plan.periods_ns);
        match self.clock {
            SamplingClock::Timer => period_ns,
            SamplingClock::Cycles => period_ns * CYCLES_PER_NS,
        }
    }
}

fn draw(random: &mut Random, range: &RangeInclusive<u64>) -> u64 {
    range.start() + random.below(range.end().saturating_sub(*range.start()) + 1)
}

/// Opens an event on each CPU: of the cycles, or else a timer. [`why_timer`] says why.
pub(super) fn open(draws: &mut Draws) -> Result<(SamplingClock, Vec<Observed>)> {
    match open_by(draws, SamplingClock::Cycles) {
        Ok(cpus) => Ok((SamplingClock::Cycles, cpus)),
        Err(_) => Ok((SamplingClock::Timer, open_by(draws, SamplingClock::Timer)?)),
    }
}

fn open_by(draws: &mut Draws, clock: SamplingClock) -> Result<Vec<Observed>> {
    draws.clock = clock;
    let cpus = draws.plan.cpus.clone();
    let open = |cpu| Observed::open(cpu, clock, draws.period());
    cpus.into_iter().map(open).collect()
}

/// Why a sampler would sample by timers; `None` where it would by cycles.
#[must_use]
pub fn why_timer(plan: &SamplerPlan) -> Option<String> {
    let opened = open_by(&mut Draws::new(plan), SamplingClock::Cycles);
    opened.err().as_ref().map(why_not)
}

/// Changes periods, and reads rings that are half full, until it is told to stop.
fn mind(
    mut cpus: Vec<Observed>,
    draws: &mut Draws,
    stop: &AtomicBool,
    end: &Sender<Result<Vec<Observed>>>,
) {
    let mut change = |cpus: &mut Vec<Observed>| -> Result<()> {
        while !stop.load(Ordering::Acquire) {
            wait_until(monotonic_ns() + draw(&mut draws.random, &draws.plan.redraw_ns));
            for observed in cpus.iter_mut() {
                observed.change(draws.period())?;
                if observed.event.fill() > FULL {
                    observed.read(READ_AT_ONCE)?;
                }
            }
        }
        cpus.iter_mut().try_for_each(Observed::end)
    };
    let ended = change(&mut cpus).map(|()| cpus);
    // Nobody listens when the sampler was dropped.
    let _told = end.send(ended);
}

impl Observed {
    fn open(cpu: usize, clock: SamplingClock, period: u64) -> Result<Self> {
        Ok(Self {
            event: CpuSampler::open(cpu, clock, period, RING_PAGES)?,
            taken: Taken {
                cpu,
                octets: Vec::new(),
                segments: Vec::new(),
            },
            period,
            counted: (clock == SamplingClock::Cycles).then_some(0),
        })
    }

    /// Begins a segment with the current period, which this sets.
    fn begin(&mut self, set: impl FnOnce(&CpuSampler) -> Result<()>) -> Result<()> {
        let asked_ns = monotonic_ns();
        set(&self.event)?;
        let set_ns = monotonic_ns();
        self.taken.segments.push(Segment {
            asked_ns,
            set_ns,
            to_ns: set_ns,
            period: self.period,
            counted: self.counted.map(|_| 0),
        });
        Ok(())
    }

    /// Ends the current segment at this time.
    fn close(&mut self, to_ns: u64) -> Result<()> {
        let Some(current) = self.taken.segments.last_mut() else {
            return Ok(());
        };
        current.to_ns = to_ns;
        if let Some(counted) = &mut self.counted {
            let now = self.event.counted()?;
            current.counted = Some(now - *counted);
            *counted = now;
        }
        Ok(())
    }

    fn change(&mut self, period: u64) -> Result<()> {
        self.close(monotonic_ns())?;
        self.period = period;
        self.begin(|event| event.set_period(period))
    }

    fn read(&mut self, at_most: usize) -> Result<()> {
        self.event.drain(at_most, &mut self.taken.octets)
    }

    fn end(&mut self) -> Result<()> {
        self.close(monotonic_ns())?;
        self.event.disable()?;
        self.read(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_periods_cost_less_than_2_percent() {
        // On a virtual machine; a timer takes 3.4 us of a real one.
        const SAMPLE_NS: f64 = 13_000.0;
        let mut draws = Draws::new(&SamplerPlan::usual(&[1], 0));
        for (clock, per_ns) in [(SamplingClock::Timer, 1.0), (SamplingClock::Cycles, 4.8)] {
            draws.clock = clock;
            let rates = (0..10_000).map(|_| per_ns / draws.period() as f64);
            let share = rates.sum::<f64>() / 10_000.0 * SAMPLE_NS;
            assert!((0.01..0.025).contains(&share), "{clock:?}: {share}");
            assert!(clock == SamplingClock::Cycles || share < 0.02, "{share}");
        }
    }

    #[test]
    fn draws_cover_their_range_and_no_more() {
        let mut random = Random::from_seed(1);
        let drawn: Vec<u64> = (0..1_000).map(|_| draw(&mut random, &(5..=8))).collect();
        for value in 5..=8 {
            assert!(drawn.contains(&value), "{value}");
        }
        assert!(drawn.iter().all(|value| (5..=8).contains(value)));
        assert_eq!(draw(&mut random, &(7..=7)), 7);
    }
}
