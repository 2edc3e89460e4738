//! The current speed of each CPU of the bed: a fixed piece of work, timed between trials.
//!
//! A core of a shared machine may be 40 % slower for seconds: another guest uses its sibling thread, or its clock is
//! lowered. Stolen time and late ticks do not show this. The tester's ceiling and the DUT's rate then fall together.

use crate::tester::TesterError;
use mpps_linux::clock::monotonic_ns;
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::task;
use mpps_method::{CpuSpeed, Span};
use std::hint::black_box;

/// Turns of a piece of work: about 18 microseconds on a core of 2023. It fits between two polls of a receiver. Without
/// optimisation a turn takes 40 times as long.
const TURNS: u32 = if cfg!(debug_assertions) { 112 } else { 4_500 };
/// Pieces are repeated for this long, and the fastest one counts. Interruptions lengthen some of them, and a sleeping
/// core needs time to wake up.
const LONG_ENOUGH_NS: u64 = 1_000_000;
/// Fewest pieces.
const PIECES_MIN: u32 = 3;
/// Words worked on: a quarter of the smallest first-level cache.
const WORDS: usize = 512;
/// Independent chains of operations, enough to fill a core. A core that shares its units with a sibling then takes
/// longer.
const CHAINS: usize = 8;

/// Both readings beside a trial, by CPU.
#[must_use]
pub fn beside(before: &[(usize, Span)], after: &[(usize, Span)]) -> Vec<CpuSpeed> {
    let both = before.iter().zip(after);
    let speed = |(&(cpu, before), &(_, after)): (&(usize, Span), &(usize, Span))| CpuSpeed {
        cpu,
        before_ns: before.as_nanos(),
        after_ns: after.as_nanos(),
    };
    both.map(speed).collect()
}

/// How long a piece of work takes on each of these CPUs, one after the other. No other thread of the tester may run.
///
/// # Errors
/// A CPU that this process may not use.
pub fn read(cpus: &[usize]) -> Result<Vec<(usize, Span)>, TesterError> {
    let each = |&cpu| Ok((cpu, on(cpu)?));
    cpus.iter().map(each).collect()
}

fn on(cpu: usize) -> Result<Span, TesterError> {
    let work = || {
        cpu::pin_current_thread(&CpuSet::single(cpu))?;
        Ok(fastest())
    };
    let thread = std::thread::scope(|scope| scope.spawn(work).join());
    task::joined(thread, "the thread that times a CPU")?
}

fn fastest() -> Span {
    let mut words: [u64; WORDS] = std::array::from_fn(|place| place as u64);
    let begun = monotonic_ns();
    let (mut last, mut pieces, mut fastest) = (begun, 0, u64::MAX);
    while pieces < PIECES_MIN || last - begun < LONG_ENOUGH_NS {
        piece(black_box(&mut words));
        let now = monotonic_ns();
        fastest = fastest.min(now - last);
        (last, pieces) = (now, pieces + 1);
    }
    Span::from_nanos(fastest)
}

/// The work: whole numbers and the first-level cache, like the work for a packet.
fn piece(words: &mut [u64; WORDS]) {
    let mut chains: [u64; CHAINS] = std::array::from_fn(|chain| chain as u64);
    for turn in 0..TURNS {
        let place = (turn as usize * CHAINS) % WORDS;
        for (chain, word) in chains.iter_mut().zip(&mut words[place..place + CHAINS]) {
            *chain = (*chain ^ *word)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(23);
            *word = chain.wrapping_add(*word);
        }
    }
    black_box(chains);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Best of several readings: the machine itself has slow moments.
    fn best(cpu: usize) -> u64 {
        let each = (0..20).map(|_| on(cpu).expect("a speed").as_nanos());
        each.min().expect("one")
    }

    /// The same while another thread has the CPU as well.
    fn best_shared(cpu: usize) -> u64 {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                cpu::pin_current_thread(&CpuSet::single(cpu)).expect("pin");
                while !stop.load(Ordering::Relaxed) {
                    black_box(());
                }
            });
            let shared = best(cpu);
            stop.store(true, Ordering::Relaxed);
            shared
        })
    }

    /// Another guest on the core's other thread may come between the two readings, so they are read in turns.
    #[test]
    fn a_cpu_that_others_have_as_well_is_not_slow() {
        let cpu = cpu::available().expect("affinity").iter().next();
        let cpu = cpu.expect("a CPU");
        let mut read = Vec::new();
        let is_as_fast = (0..20).any(|_| {
            let (alone, shared) = (best(cpu), best_shared(cpu));
            read.push((alone, shared));
            shared < alone + alone / 4
        });
        assert!(is_as_fast, "ns alone and shared: {read:?}");
    }

    #[test]
    fn every_cpu_has_a_speed_and_a_wrong_one_is_named() {
        let available: Vec<usize> = cpu::available().expect("affinity").iter().collect();
        let read = read(&available).expect("speeds");
        assert_eq!(read.len(), available.len());
        assert!(read.iter().all(|(_, took)| *took > Span::ZERO), "{read:?}");
        let error = super::read(&[1_000]).expect_err("no such CPU");
        assert!(error.to_string().contains("1000"), "{error}");
    }
}
