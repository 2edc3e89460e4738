//! The machine watch: how long each CPU of the bed stood still or was slow, whoever took it away (a hypervisor,
//! firmware, code with interrupts off). Something ticks on every CPU of the bed once a millisecond; the
//! longest time between two ticks is the longest the CPU stood still. It sees no frame, so what it says
//! of a trial is blind to the trial's loss.

mod threads;
mod timers;

use crate::clock::wait_for;
use crate::tester::error::TesterError;
use mpps_ebpf::instruments::watch::{Apart, BusyMark, Stall, Watched};
use std::cell::Cell;
use std::os::fd::BorrowedFd;
use threads::Threads;
pub use timers::Timers;

/// Time between two ticks, ns. What it cannot see: stops shorter than this.
pub const PERIOD_NS: u64 = 1_000_000;
/// A longer time between two ticks is a stall, ns.
pub const STALL_NS: u64 = 1_500_000;
/// A hypervisor's CPU is slow when a piece of work takes over so many times its usual time. A guest on the core's other
/// thread lengthens it by less.
pub const SLOW_FACTOR: u64 = 2;
/// And so long after that, ns, because its speed comes back step by step.
pub const SLOW_TAIL_NS: u64 = 20_000_000;
/// A tick that has not come after so long is missing, ns.
const TICK_LIMIT_NS: u64 = 10_000_000_000;

mpps_method::named! {
    /// What ticks on each CPU, to see it stand still.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum StallWatch {
        /// eBPF timers bound to their CPU (Linux 6.7).
        Timers = "timers",
        /// Threads at the highest real-time priority.
        Threads = "threads",
    }
}

/// A running watch; it ends when this is dropped.
pub struct Watch {
    ticks: Ticks,
    epoch: Cell<u64>,
}

/// What timers tell beside stalls.
pub struct Timed<'a> {
    /// How far apart these two CPUs are: the tester's and the DUT's.
    pub between: (usize, usize),
    /// How long these threads of the DUT run.
    pub threads: Vec<i32>,
    /// The clock by which the scheduler accounts for them.
    pub clock: BorrowedFd<'a>,
}

/// What ticks.
enum Ticks {
    Timers(Box<Timers>),
    Threads(Threads),
}

impl Watch {
    /// Starts to tick on these CPUs. Timers also tell what is asked for.
    pub fn start(
        cpus: &[usize],
        timed: Option<&Timed<'_>>,
        by: StallWatch,
    ) -> Result<Self, TesterError> {
        let ticks = match by {
            StallWatch::Timers => Ticks::Timers(Box::new(Timers::start(cpus, timed)?)),
            StallWatch::Threads => Ticks::Threads(Threads::start(cpus)?),
        };
        Ok(Self {
            ticks,
            epoch: Cell::new(0),
        })
    }

    const fn timers(&self) -> Option<&Timers> {
        match &self.ticks {
            Ticks::Timers(timers) => Some(timers),
            Ticks::Threads(_) => None,
        }
    }

    /// Takes no work of these threads for a stall, and none of the tasks in this network namespace. Only timers can tell it from
    /// one.
    pub fn except(&mut self, threads: &[i32], netns: u64) -> Result<(), TesterError> {
        match &mut self.ticks {
            Ticks::Timers(timers) => timers.except(threads, netns),
            Ticks::Threads(_) => Ok(()),
        }
    }

    /// Forgets what was seen, and waits until every CPU has ticked since.
    ///
    /// # Errors
    /// What the kernel said; a CPU that ticks no more.
    pub fn clear(&self) -> Result<(), TesterError> {
        let epoch = self.epoch.get() + 1;
        self.epoch.set(epoch);
        match &self.ticks {
            Ticks::Timers(timers) => timers.begin(epoch)?,
            Ticks::Threads(threads) => threads.begin(epoch),
        }
        let mut silent = None;
        let here = || {
            let behind = |(_, watched): &&(usize, Watched)| watched.epoch != epoch;
            silent = self.read()?.iter().find(behind).map(|(cpu, _)| *cpu);
            Ok::<_, TesterError>(silent.is_none())
        };
        wait_for(TICK_LIMIT_NS, PERIOD_NS, here)?;
        silent.map_or(Ok(()), |cpu| {
            Err(TesterError::NoTimer(cpu, "is the CPU online?".to_owned()))
        })
    }

    /// The stalls of each watched CPU since the last clear: pairs of ticks more than `STALL_NS` apart.
    pub fn stalls(&self) -> Result<Vec<(usize, Stall)>, TesterError> {
        match &self.ticks {
            Ticks::Timers(timers) => timers.stalls(),
            Ticks::Threads(threads) => Ok(threads.stalls()),
        }
    }

    /// When each watched CPU was slow since the last clear. Only timers on a hypervisor's CPUs can tell.
    pub fn slow(&self) -> Result<Vec<(usize, Stall)>, TesterError> {
        self.timers().map_or(Ok(Vec::new()), Timers::slow)
    }

    /// Makes all watched CPUs look slow, for a test. Returns whether this watch looks for slow times.
    pub fn plant_slow(&mut self, planted: bool) -> bool {
        match &mut self.ticks {
            Ticks::Timers(timers) => timers.plant_slow(planted),
            Ticks::Threads(_) => false,
        }
    }

    /// How far apart the two CPUs were in each window of this time, as far as that is known.
    pub fn apart(&self, from_ns: u64, to_ns: u64) -> Result<Vec<Apart>, TesterError> {
        self.timers()
            .map_or(Ok(Vec::new()), |timers| timers.apart(from_ns, to_ns))
    }

    /// What the DUT's threads had had, by marks in each window of this time.
    pub fn busy(&self, from_ns: u64, to_ns: u64) -> Result<Vec<BusyMark>, TesterError> {
        self.timers()
            .map_or(Ok(Vec::new()), |timers| timers.busy(from_ns, to_ns))
    }

    /// What each watched CPU saw since the last clear.
    pub fn read(&self) -> Result<Vec<(usize, Watched)>, TesterError> {
        match &self.ticks {
            Ticks::Timers(timers) => timers.read(),
            Ticks::Threads(threads) => Ok(threads.read()),
        }
    }
}
