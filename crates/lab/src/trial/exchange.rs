//! The current distance between the tester's CPU and the DUT's: the round trip of a cache line between them.
//!
//! Each frame goes from one CPU to the other. A hypervisor moves the CPUs of its guest. For some seconds both are on one
//! core (about 60 ns), then on two (about 310 ns), and a frame costs the DUT a quarter more. Stalls, stolen time and the
//! speed of one CPU do not show this.

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
/// Batches. Their median counts, because interrupts fall into a few of them.
const BATCHES: u32 = 31;
/// SCHED_FIFO priority, so that no other program delays either thread.
const PRIORITY: u8 = 60;

/// A pair of cache lines, because some CPUs fetch lines in pairs.
#[repr(align(128))]
struct Line(AtomicU32);

/// The round trip between the sender's CPU and the first of the DUT's. `None`: they share a CPU, or the DUT has none
/// here. No other thread of the tester may run meanwhile.
///
/// # Errors
/// A CPU that this process may not use.
pub fn read(bed: &Bed) -> Result<Option<Span>, TesterError> {
    let ends = bed.plan().cpus.ends();
    ends.map(|(sender, dut)| between(sender, dut)).transpose()
}

/// The round trip between two CPUs.
///
/// Neither thread may spin before both are on their CPUs. Both start on the CPU of this thread. If one spun there at a
/// real-time priority, the other could not leave. After 950 ms the kernel prefers ordinary tasks for up to 50 ms (the
/// fair server). The thread that polls the receiving port would then wait too, and its ring would overflow at the
/// beginning of a trial.
fn between(one: usize, other: usize) -> Result<Span, TesterError> {
    let line = Line(AtomicU32::new(0));
    let (both_placed, refused) = (Barrier::new(2), AtomicBool::new(false));
    let both_on = |cpu: usize| {
        let placed = place(cpu);
        refused.fetch_or(placed.is_err(), Ordering::AcqRel);
        both_placed.wait();
        placed.map(|()| !refused.load(Ordering::Acquire))
    };
    let thread = "the thread that times the CPU distance";
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
        let asked = task::joined(asking.join(), thread)?;
        task::joined(answering.join(), thread)??;
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
