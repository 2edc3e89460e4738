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
use std::sync::Barrier;
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

/// Neither thread spins before both are on their CPUs. Both are started on this thread's CPU: one that spins there at
/// once, at a real-time priority, keeps the other from leaving it. After 950 ms the kernel lets ordinary tasks go before
/// real-time ones for up to 50 ms (the fair server). The thread that polls the receiving port waits with them then, and
/// its ring overflows at the beginning of a trial.
fn between(one: usize, other: usize) -> Result<Span, TesterError> {
    let line = Line(AtomicU32::new(0));
    let (both_placed, refused) = (Barrier::new(2), AtomicBool::new(false));
    let both_on = |cpu: usize| {
        let placed = place(cpu);
        refused.fetch_or(placed.is_err(), Ordering::AcqRel);
        both_placed.wait();
        placed.map(|()| !refused.load(Ordering::Acquire))
    };
    let failed = || TesterError::Panicked("the thread that times the CPU distance");
    std::thread::scope(|scope| {
        let answering = scope.spawn(|| {
            if both_on(other)? {
                answer(&line);
            }
            Ok::<_, TesterError>(())
        });
        let asking = scope.spawn(|| {
            let both = both_on(one)?;
            Ok::<_, TesterError>(if both { ask(&line) } else { Span::ZERO })
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
fn answer(line: &Line) {
    for turn in 0..BATCHES * BATCH {
        line.wait_for(2 * turn + 1);
        line.0.store(2 * turn + 2, Ordering::Release);
    }
}

fn ask(line: &Line) -> Span {
    let mut took: Vec<u64> = Vec::with_capacity(BATCHES as usize);
    let mut turn = 0;
    for _ in 0..BATCHES {
        let begun = monotonic_ns();
        for _ in 0..BATCH {
            line.0.store(2 * turn + 1, Ordering::Release);
            line.wait_for(2 * turn + 2);
            turn += 1;
        }
        took.push((monotonic_ns() - begun) / u64::from(BATCH));
    }
    took.sort_unstable();
    Span::from_nanos(took.get(took.len() / 2).copied().unwrap_or(0))
}

impl Line {
    fn wait_for(&self, wanted: u32) {
        while self.0.load(Ordering::Acquire) != wanted {
            std::hint::spin_loop();
        }
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
