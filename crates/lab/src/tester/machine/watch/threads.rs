//! The watch by threads, one bound to each CPU, for kernels whose eBPF timers cannot be (before 6.7: a
//! timer started on an idle CPU moves to a busy one and stays there, so that nobody watches the idle one).
//!
//! The threads have the highest real-time priority, so that only what stops the CPU itself stops them.
//! What a tick costs is a wake-up and two task switches, 2 to 5 microseconds: 0.2 to 0.5 % of the CPU, against
//! 0.1 to 0.25 % for a timer. The kernel may keep a sleeping thread's timer on another CPU; if that one stands still,
//! two CPUs seem to: then too much time counts as disturbed, never too little.

use super::{PERIOD_NS, STALL_NS};
use crate::clock::wait_until;
use crate::tester::error::TesterError;
use crate::tester::machine::real_time::RealTime;
use mpps_ebpf::instruments::watch::{Stall, Watched};
use mpps_linux::clock::monotonic_ns;
use mpps_linux::cpu::CpuSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// SCHED_FIFO priority of the threads: the highest there is.
const PRIORITY: u8 = 99;

/// Running threads; they end when this is dropped.
pub struct Threads {
    shared: Arc<Shared>,
    threads: Vec<(usize, RealTime)>,
}

/// What threads and reader tell each other.
struct Shared {
    epoch: AtomicU64,
    seen: Vec<Seen>,
}

/// One CPU; written by its thread alone. On cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Seen {
    longest_ns: AtomicU64,
    ticks: AtomicU64,
    epoch: AtomicU64,
    /// Read seldom, so the thread hardly ever waits for it.
    stalls: Mutex<Vec<Stall>>,
}

impl Threads {
    /// Starts to tick on these CPUs.
    ///
    /// # Errors
    /// A thread could not be bound or have its priority.
    pub fn start(cpus: &[usize]) -> Result<Self, TesterError> {
        let shared = Arc::new(Shared {
            epoch: AtomicU64::new(0),
            seen: cpus.iter().map(|_| Seen::default()).collect(),
        });
        let start = |(place, &cpu): (usize, &usize)| {
            let (shared, name) = (Arc::clone(&shared), format!("mpps-watch/{cpu}"));
            let tick = move |stop: &AtomicBool| shared.tick(&shared.seen[place], stop);
            Ok((
                cpu,
                RealTime::start(&name, &CpuSet::single(cpu), PRIORITY, tick)?,
            ))
        };
        let threads = cpus.iter().enumerate().map(start);
        Ok(Self {
            threads: threads.collect::<Result<_, TesterError>>()?,
            shared,
        })
    }

    /// Has everything older than this epoch forgotten, at the next tick of each CPU.
    pub fn begin(&self, epoch: u64) {
        self.shared.epoch.store(epoch, Ordering::Release);
    }

    /// The stalls that each watched CPU saw in its epoch.
    pub fn stalls(&self) -> Vec<(usize, Stall)> {
        let of_cpus = self.threads.iter().zip(&self.shared.seen);
        let each = of_cpus.flat_map(|((cpu, _), seen)| {
            let stalls = seen.stalls().clone();
            stalls.into_iter().map(|stall| (*cpu, stall))
        });
        each.collect()
    }

    /// What each watched CPU saw in its epoch.
    pub fn read(&self) -> Vec<(usize, Watched)> {
        let read = |((cpu, _), seen): (&(usize, RealTime), &Seen)| {
            // The epoch first: what is read after it is of that epoch or a later one.
            let epoch = seen.epoch.load(Ordering::Acquire);
            let watched = Watched {
                longest_ns: seen.longest_ns.load(Ordering::Acquire),
                ticks: seen.ticks.load(Ordering::Acquire),
                epoch,
                stalls: seen.stalls().len() as u64,
                slow_times: 0,
            };
            (*cpu, watched)
        };
        self.threads
            .iter()
            .zip(&self.shared.seen)
            .map(read)
            .collect()
    }
}

impl Seen {
    /// A thread that panicked while it held the list left it whole.
    fn stalls(&self) -> MutexGuard<'_, Vec<Stall>> {
        self.stalls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn tick(&self, seen: &Seen, stop: &AtomicBool) {
        let mut last = monotonic_ns();
        while !stop.load(Ordering::Acquire) {
            wait_until(last + PERIOD_NS);
            let now = monotonic_ns();
            let epoch = self.epoch.load(Ordering::Acquire);
            if seen.epoch.load(Ordering::Relaxed) == epoch {
                seen.longest_ns.fetch_max(now - last, Ordering::Release);
                if now - last > STALL_NS {
                    let (from_ns, to_ns) = (last, now);
                    seen.stalls().push(Stall { from_ns, to_ns });
                }
            } else {
                seen.longest_ns.store(0, Ordering::Release);
                seen.ticks.store(0, Ordering::Release);
                seen.stalls().clear();
                seen.epoch.store(epoch, Ordering::Release);
            }
            seen.ticks.fetch_add(1, Ordering::Release);
            last = now;
        }
    }
}
