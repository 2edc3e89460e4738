//! The receiver at one of the tester's ports: the kernel fills a ring, a thread of ours counts.
//!
//! The thread has real-time priority, like the one that polls the port, or the ring would overflow while
//! the sender spins; it sleeps until a block of frames is there, so that it takes a few percent of the CPU.

use super::Tap;
use super::counter::{Counter, SNAP_OCTETS};
use crate::tester::error::TesterError;
use crate::tester::machine::real_time::RealTime;
use crate::tester::ports::receiver::ReceiverPlan;
use crate::tester::ports::{RingCount, TrafficReceiver};
use mpps_ebpf::instruments::receiver::Received;
use mpps_linux::clock;
use mpps_linux::cpu::CpuSet;
use mpps_linux::netns::NetNs;
use mpps_linux::packet::{RxRing, RxSpec, RxWaiter};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// SCHED_FIFO priority of the counting thread: below the thread that polls the port.
const PRIORITY: u8 = 50;
/// The ring: 8 MiB, of small frames 50 000, of which a few at a time are in the CPU's caches.
const BLOCKS: usize = 64;
const BLOCK_OCTETS: usize = 1 << 17;
/// Frames wait in a block that does not fill at most so long, ms.
const RETIRE_MS: u32 = 2;
/// How soon the thread sees that it shall end, ms.
const WAIT_MS: i32 = 20;

struct State {
    ring: RxRing,
    counter: Counter,
    /// What ended the counting, if anything did.
    error: Option<mpps_linux::Error>,
}

struct Shared(Mutex<State>);

/// A receiver at work; it ends when this is dropped.
pub struct PacketReceiver {
    shared: Arc<Shared>,
    _thread: RealTime,
    _tap: Option<Tap>,
}

impl PacketReceiver {
    /// Receives at this port, counting on these CPUs; the tap is there for as long as the receiver.
    ///
    /// # Errors
    /// What the ring, or the thread's placement, said.
    pub fn attach(
        plan: ReceiverPlan,
        netns: &NetNs,
        port: &str,
        cpus: &CpuSet,
        tap: Option<Tap>,
    ) -> Result<Self, TesterError> {
        let spec = RxSpec {
            blocks: BLOCKS,
            block_octets: BLOCK_OCTETS,
            retire_ms: RETIRE_MS,
            snap_octets: SNAP_OCTETS,
        };
        let ring = netns.run(|| RxRing::open(port, spec))??;
        let waiter = ring.waiter()?;
        let state = State {
            ring,
            counter: Counter::new(plan),
            error: None,
        };
        let shared = Arc::new(Shared(Mutex::new(state)));
        let theirs = Arc::clone(&shared);
        let thread = RealTime::start("mpps-receive", cpus, PRIORITY, move |stop| {
            theirs.keep_counting(&waiter, stop);
        })?;
        Ok(Self {
            shared,
            _thread: thread,
            _tap: tap,
        })
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, TesterError> {
        let state = self.shared.lock();
        match &state.error {
            Some(error) => Err(error.clone().into()),
            None => Ok(state),
        }
    }
}

impl Shared {
    /// A panic of the counting thread is its own; what it counted so far is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep_counting(&self, waiter: &RxWaiter, stop: &AtomicBool) {
        while !stop.load(Ordering::Acquire) {
            let counted = match waiter.wait(WAIT_MS) {
                Ok(false) => continue,
                Ok(true) => self.lock().drain(),
                Err(error) => Err(error),
            };
            if let Err(error) = counted {
                self.lock().error = Some(error);
                return;
            }
        }
    }
}

impl State {
    /// Counts what lies in the ring. The frames' time is the realtime clock's, the tag's the monotonic:
    /// the two are held against each other at every draining, for the first may be set.
    fn drain(&mut self) -> Result<(), mpps_linux::Error> {
        let ahead = clock::realtime_ns().wrapping_sub(clock::monotonic_ns());
        let counter = &mut self.counter;
        self.ring
            .drain(|arrival| {
                let now_ns = arrival.realtime_ns.wrapping_sub(ahead);
                // Merged segments may be as long, together, as another frame that was sent.
                let length = if arrival.merged { 0 } else { arrival.length };
                counter.count(arrival.octets, length, now_ns);
            })
            .map(drop)
    }
}

impl TrafficReceiver for PacketReceiver {
    fn arm(&self, id: u16, canary_id: u16, sequences: u64, _: &[u16]) -> Result<(), TesterError> {
        let mut state = self.state()?;
        // What lies there was sent before.
        state.drain()?;
        state.counter.arm(id, canary_id, sequences);
        Ok(())
    }

    fn read(&self) -> Result<Received, TesterError> {
        Ok(self.state()?.counter.received())
    }

    fn by_length(&self, length: u16) -> Result<u64, TesterError> {
        Ok(self.state()?.counter.by_length(length))
    }

    fn seen(&self, sequences: u64) -> Result<Vec<u64>, TesterError> {
        Ok(self.state()?.counter.seen(sequences))
    }

    fn ring(&self) -> Result<Option<RingCount>, TesterError> {
        let counts = self.state()?.ring.counts()?;
        Ok(Some(RingCount {
            seen: counts.seen,
            dropped: counts.dropped,
        }))
    }
}
