//! How far apart the tester's CPU and the DUT's are just now: the round trip of a cache line between them.
//!
//! Each frame goes from the one to the other. A hypervisor moves its guest's CPUs about: for some seconds both are on one
//! core (some 60 ns), then on two (some 310 ns), and a frame costs the DUT a quarter more. No stall, no stolen time and
//! no piece of work on one CPU alone shows that.

use crate::bed::Bed;
use crate::tester::TesterError;
use mpps_linux::clock::monotonic_ns;
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::task;
use mpps_method::Span;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Round trips timed together.
const BATCH: u32 = 50;
/// Batches; their median counts, for an interrupt falls into a few of them.
const BATCHES: u32 = 31;
/// SCHED_FIFO priority, so that no other program delays either thread.
const PRIORITY: u8 = 60;

/// One cache line, and on a CPU that fetches lines in pairs the next as well.
#[repr(align(128))]
struct Line(AtomicU32);

/// The line, and whether one side could not begin.
struct Shared {
    line: Line,
    given_up: AtomicBool,
}

/// The round trip between the sender's CPU and the first of the DUT's; `None` where they share one, or the DUT has none
/// here. Nothing else of ours may run.
///
/// # Errors
/// A CPU that this process may not use.
pub fn read(bed: &Bed) -> Result<Option<Span>, TesterError> {
    let cpus = &bed.plan().cpus;
    let Some(&dut) = cpus.dut.first().filter(|_| !cpus.shared()) else {
        return Ok(None);
    };
    between(cpus.sender(), dut).map(Some)
}

fn between(one: usize, other: usize) -> Result<Span, TesterError> {
    let shared = Shared {
        line: Line(AtomicU32::new(0)),
        given_up: AtomicBool::new(false),
    };
    let give_up = |_: &TesterError| shared.given_up.store(true, Ordering::Release);
    let failed = || TesterError::Panicked("the thread that times the CPU distance");
    std::thread::scope(|scope| {
        let answering = scope.spawn(|| {
            place(other).inspect_err(give_up)?;
            answer(&shared);
            Ok::<_, TesterError>(())
        });
        let asking = scope.spawn(|| {
            place(one).inspect_err(give_up)?;
            Ok::<_, TesterError>(ask(&shared))
        });
        let asked = asking.join().map_err(|_| failed())?;
        answering.join().map_err(|_| failed())??;
        asked
    })
}

fn place(cpu: usize) -> Result<(), TesterError> {
    cpu::pin_current_thread(&CpuSet::single(cpu))?;
    cpu::set_fifo(task::current_tid(), PRIORITY)?;
    Ok(())
}

/// Adds one to each odd number, until the last.
fn answer(shared: &Shared) {
    for turn in 0..BATCHES * BATCH {
        if !shared.wait_for(2 * turn + 1) {
            return;
        }
        shared.line.0.store(2 * turn + 2, Ordering::Release);
    }
}

fn ask(shared: &Shared) -> Span {
    let mut took: Vec<u64> = Vec::with_capacity(BATCHES as usize);
    let mut turn = 0;
    for _ in 0..BATCHES {
        let begun = monotonic_ns();
        for _ in 0..BATCH {
            shared.line.0.store(2 * turn + 1, Ordering::Release);
            if !shared.wait_for(2 * turn + 2) {
                return Span::ZERO;
            }
            turn += 1;
        }
        took.push((monotonic_ns() - begun) / u64::from(BATCH));
    }
    took.sort_unstable();
    Span::from_nanos(took.get(took.len() / 2).copied().unwrap_or(0))
}

impl Shared {
    /// `false` when the other side could not begin.
    fn wait_for(&self, wanted: u32) -> bool {
        while self.line.0.load(Ordering::Acquire) != wanted {
            if self.given_up.load(Ordering::Relaxed) {
                return false;
            }
            std::hint::spin_loop();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_is_not_there_is_named() {
        let here = cpu::available().expect("affinity").iter().next();
        let error = between(here.expect("a CPU"), 1_000).expect_err("no such CPU");
        assert!(error.to_string().contains("1000"), "{error}");
        let error = between(1_000, here.expect("a CPU")).expect_err("no such CPU");
        assert!(error.to_string().contains("1000"), "{error}");
    }

    #[test]
    fn a_round_trip_takes_nanoseconds() {
        let cpus: Vec<usize> = cpu::available().expect("affinity").iter().collect();
        let [one, other, ..] = cpus[..] else {
            println!("SKIP: needs 2 CPUs");
            return;
        };
        match between(one, other) {
            Ok(took) => assert!(took > Span::ZERO && took < Span::from_millis(1), "{took:?}"),
            Err(error) => println!("SKIP: {error}"),
        }
    }
}
