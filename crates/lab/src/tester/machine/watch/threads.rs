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
use mpps_ebpf::instruments::watch::{Stall, Watched};
use mpps_linux::clock::monotonic_ns;
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::task;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// SCHED_FIFO priority of the threads: the highest there is.
const PRIORITY: u8 = 99;

/// Running threads; they end when this is dropped.
pub struct Threads {
    shared: Arc<Shared>,
    threads: Vec<(usize, JoinHandle<()>)>,
}

/// What threads and reader tell each other.
struct Shared {
    stop: AtomicBool,
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
            stop: AtomicBool::new(false),
            epoch: AtomicU64::new(0),
            seen: cpus.iter().map(|_| Seen::default()).collect(),
        });
        let mut started = Self {
            shared: Arc::clone(&shared),
            threads: Vec::new(),
        };
        for (place, &on) in cpus.iter().enumerate() {
            let shared = Arc::clone(&shared);
            let (tell, told) = std::sync::mpsc::channel();
            let thread = std::thread::Builder::new()
                .name(format!("mpps-watch/{on}"))
                .spawn(move || {
                    let placed = cpu::pin_current_thread(&CpuSet::single(on))
                        .and_then(|()| cpu::set_fifo(task::current_tid(), PRIORITY));
                    let go = placed.is_ok();
                    // Nobody listens any more: the other threads could not be started.
                    let _heard = tell.send(placed);
                    if go {
                        shared.tick(&shared.seen[place]);
                    }
                })
                .map_err(|e| mpps_linux::Error::from_io("start thread", "machine watch", &e))?;
            started.threads.push((on, thread));
            told.recv().unwrap_or(Ok(()))?;
        }
        Ok(started)
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
        let read = |((cpu, _), seen): (&(usize, JoinHandle<()>), &Seen)| {
            // The epoch first: what is read after it is of that epoch or a later one.
            let epoch = seen.epoch.load(Ordering::Acquire);
            let watched = Watched {
                longest_ns: seen.longest_ns.load(Ordering::Acquire),
                ticks: seen.ticks.load(Ordering::Acquire),
                epoch,
                stalls: seen.stalls().len() as u64,
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
    fn tick(&self, seen: &Seen) {
        let mut last = monotonic_ns();
        while !self.stop.load(Ordering::Acquire) {
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

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        for (_, thread) in self.threads.drain(..) {
            // A thread that panicked watches no more; nothing is left to undo.
            let _ended = thread.join();
        }
    }
}
