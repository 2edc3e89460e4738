//! This machine's memory by size of the working set: how long one access takes that waits for the one
//! before (a chase along random lines), and how much a copy moves. One CPU, ordinary pages: misses of the
//! TLB are part of it, as they are of a router's life.

use mpps_linux::clock::{monotonic_ns, thread_ns};
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::{procstat, task};
use mpps_method::limits::{MemoryMeasured, WorkingSet};
use mpps_method::random::Random;
use mpps_record::facts::Facts;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

/// Octets of a cache line.
const LINE_OCTETS: usize = 64;
/// Smallest working set: within the first cache.
const SMALLEST_OCTETS: usize = 16 << 10;
/// Accesses, or at least octets copied, between two looks at the clock.
const STEPS: usize = 1 << 14;
/// See `STEPS`.
const COPY_OCTETS: usize = 4 << 20;
/// The largest working set is so many times the largest cache, so that nearly every access misses it.
const BEYOND_CACHE: u64 = 4;
/// Largest working set where the caches are not known, octets.
const UNKNOWN_CACHE_OCTETS: u64 = 256 << 20;
/// Of the memory that is available so much is used at most: one in so many.
const MEMORY_PART: u64 = 4;
/// Length of one pass, ns of the thread's own time: what other programs take is not the memory's fault.
const PASS_NS: u64 = 8_000_000;
/// Passes; the best counts, for whatever disturbs makes it slower.
const PASSES: usize = 5;
/// Length of a pass of all CPUs together, ns on the clock: many copies.
const TOGETHER_NS: u64 = 20_000_000;

/// One line of memory; its first word names the next one.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u32; LINE_OCTETS / 4]);

/// The largest working set to measure on this machine: beyond its caches, well within its memory.
#[must_use]
pub fn largest(facts: &Facts) -> usize {
    let beyond = facts
        .cpu
        .last_cache_octets()
        .map_or(UNKNOWN_CACHE_OCTETS, |cache| {
            cache.saturating_mul(BEYOND_CACHE)
        });
    let available = facts.memory.available_octets.known();
    let most = available.map_or(beyond, |octets| octets / MEMORY_PART);
    usize::try_from(beyond.min(most)).unwrap_or(SMALLEST_OCTETS)
}

/// Measures working sets up to `largest_octets` on the calling thread, which stays on its last allowed
/// CPU meanwhile. About 50 ms a size, and what it takes to fill the memory.
///
/// # Errors
/// The CPUs could not be read or the thread not be moved, or a copying thread panicked.
pub fn measure(largest_octets: usize) -> mpps_linux::Result<MemoryMeasured> {
    let home = cpu::available()?;
    let cpu = home.iter().last().unwrap_or(0);
    cpu::pin_current_thread(&CpuSet::single(cpu))?;
    let (began_ns, own_ns, steal_before) = (monotonic_ns(), thread_ns(), steal_ns(cpu));
    let points = sizes(largest_octets).into_iter().map(point).collect();
    let took_ns = (monotonic_ns() - began_ns).max(1) as f64;
    let steal_share = steal_before
        .zip(steal_ns(cpu))
        .map(|(before, after)| after.saturating_sub(before) as f64 / took_ns);
    let others_share = 1.0 - (thread_ns() - own_ns) as f64 / took_ns;
    cpu::pin_current_thread(&home)?;
    let together_octets_per_s = together(&home, largest_octets)?;
    Ok(MemoryMeasured {
        cpu,
        points,
        together_octets_per_s,
        together_cpus: home.len(),
        steal_share,
        others_share: others_share.max(0.0),
    })
}

/// What all CPUs copy at once: the memory's own bandwidth, where one CPU alone cannot use it up. The best of several
/// windows, the same on the clock for all, so that CPUs that take turns do not count as if they copied together.
fn together(cpus: &CpuSet, largest_octets: usize) -> mpps_linux::Result<f64> {
    let octets = (largest_octets / cpus.len().max(1)).max(SMALLEST_OCTETS);
    let (start, from_ns) = (Barrier::new(cpus.len()), AtomicU64::new(0));
    let one = &|cpu: usize| {
        // A CPU that went meanwhile copies from another one.
        let _moved = cpu::pin_current_thread(&CpuSet::single(cpu));
        let mut copy = copier(octets);
        copy();
        if start.wait().is_leader() {
            from_ns.store(monotonic_ns(), Ordering::Relaxed);
        }
        start.wait();
        by_window(from_ns.load(Ordering::Relaxed), monotonic_ns, copy)
    };
    let each: mpps_linux::Result<Vec<[usize; PASSES]>> = std::thread::scope(|scope| {
        let threads: Vec<_> = cpus
            .iter()
            .map(|cpu| scope.spawn(move || one(cpu)))
            .collect();
        threads
            .into_iter()
            .map(|thread| task::joined(thread.join(), "a copying thread"))
            .collect()
    });
    let each = each?;
    let of_window = |window: usize| each.iter().map(|moved| moved[window]).sum::<usize>();
    let most = (0..PASSES).map(of_window).max().unwrap_or(0);
    Ok(most as f64 * 1e9 / TOGETHER_NS as f64)
}

/// Units of work that ended in each window since `from_ns`.
fn by_window(
    from_ns: u64,
    now_ns: impl Fn() -> u64,
    mut work: impl FnMut() -> usize,
) -> [usize; PASSES] {
    let mut done = [0; PASSES];
    loop {
        let units = work();
        let window = now_ns().saturating_sub(from_ns) / TOGETHER_NS;
        let Some(of_window) = done.get_mut(window as usize) else {
            return done;
        };
        *of_window += units;
    }
}

fn steal_ns(cpu: usize) -> Option<u64> {
    let times = procstat::cpu_times().ok()?;
    times.iter().find(|of| of.cpu == cpu).map(|of| of.steal_ns)
}

/// Working sets to try, in octets.
fn sizes(largest: usize) -> Vec<usize> {
    let largest = largest.max(SMALLEST_OCTETS);
    let mut sizes: Vec<usize> = std::iter::successors(Some(SMALLEST_OCTETS), |size| Some(size * 4))
        .take_while(|&size| size < largest)
        .collect();
    sizes.push(largest);
    sizes
}

fn point(octets: usize) -> WorkingSet {
    WorkingSet {
        working_set_octets: octets as u64,
        latency_ns: latency_ns(octets),
        copy_octets_per_s: copy_octets_per_s(octets),
    }
}

fn latency_ns(octets: usize) -> f64 {
    let lines = cycle(octets / LINE_OCTETS);
    let mut at = 0u32;
    let per_step = best(|| {
        for _ in 0..STEPS {
            at = lines[at as usize].0[0];
        }
        STEPS
    });
    black_box(at);
    per_step
}

/// Lines that lead from each to every other and back, in random order (Sattolo's shuffle): no prefetcher
/// knows the next.
fn cycle(count: usize) -> Vec<Line> {
    let mut lines = vec![Line([0; LINE_OCTETS / 4]); count.max(2)];
    for (place, line) in (0u32..).zip(&mut lines) {
        line.0[0] = place;
    }
    let mut random = Random::from_seed(count as u64);
    for last in (1..lines.len()).rev() {
        lines.swap(last, (random.next_u64() % last as u64) as usize);
    }
    lines
}

fn copy_octets_per_s(octets: usize) -> f64 {
    1e9 / best(copier(octets))
}

/// Copies one half of a working set onto the other, some MiB at a call, and tells the octets read and written.
fn copier(octets: usize) -> impl FnMut() -> usize {
    let half = octets / 2;
    let (from, mut to) = (vec![1u8; half], vec![2u8; half]);
    let (piece, times) = (half.min(COPY_OCTETS), COPY_OCTETS.div_ceil(half));
    let mut at = 0;
    move || {
        for _ in 0..times {
            // The rest of a half that is shorter than a piece is left out.
            at = if at + piece > half { 0 } else { at };
            to[at..at + piece].copy_from_slice(black_box(&from[at..at + piece]));
            black_box(&mut to);
            at += piece;
        }
        2 * piece * times
    }
}

/// The shortest time for one unit, ns, of `work` that tells how many it did.
fn best(mut work: impl FnMut() -> usize) -> f64 {
    // Once unmeasured: the caches hold what fits.
    black_box(work());
    let mut best = f64::INFINITY;
    for _ in 0..PASSES {
        let began = thread_ns();
        let (mut units, mut took) = (0, 0);
        while took < PASS_NS {
            units += work();
            took = thread_ns() - began;
        }
        best = best.min(took as f64 / units as f64);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{
        self,
        tests::planted::{Planted, ROUTER},
    };
    use mpps_record::facts::Reading;

    #[test]
    fn work_counts_in_the_window_in_which_it_ends() {
        // The second piece takes two windows, as on a CPU that another guest has meanwhile.
        let ends_ms = [7, 50, 55, 79, 101];
        let clock = ends_ms.map(|ms| 1_000 + ms * 1_000_000);
        let at = std::cell::Cell::new(0);
        let now_ns = || clock[at.replace(at.get() + 1)];
        assert_eq!(by_window(1_000, now_ns, || 10), [10, 0, 20, 10, 0]);
    }

    #[test]
    fn a_large_set_is_copied_in_pieces() {
        for octets in [SMALLEST_OCTETS, 5 * COPY_OCTETS] {
            let mut copy = copier(octets);
            let each = [copy(), copy(), copy()];
            assert_eq!(each, [2 * COPY_OCTETS; 3], "{octets}");
        }
    }

    #[test]
    fn a_chase_comes_by_every_line_once() {
        for count in [2, 3, 64, 1000] {
            let lines = cycle(count);
            let (mut at, mut seen) = (0, vec![false; count]);
            for _ in 0..count {
                assert!(!seen[at], "{count}: line {at} twice");
                seen[at] = true;
                at = lines[at].0[0] as usize;
            }
            assert_eq!(at, 0, "{count}: not a circle");
        }
    }

    #[test]
    fn the_largest_set_exceeds_caches_and_fits_memory() {
        let of = |files: &[(&str, &str)], name: &str| {
            let planted = Planted::new(name, files);
            largest(&facts::read(&planted.root(), Reading::Known(1), None))
        };
        // 25 MiB of cache, 64 MiB available.
        assert_eq!(of(ROUTER, "memory-small"), 16 << 20);
        let large = ("/proc/meminfo", "MemAvailable: 8388608 kB\n");
        let mut router = ROUTER.to_vec();
        router.push(large);
        assert_eq!(of(&router, "memory-large"), 4 * (25_600 << 10));
        assert_eq!(of(&[large], "memory-unknown"), 256 << 20);
    }

    #[test]
    fn sizes_rise_to_the_largest() {
        assert_eq!(sizes(100 << 10), [16 << 10, 64 << 10, 100 << 10]);
        assert_eq!(sizes(64 << 10), [16 << 10, 64 << 10]);
        assert_eq!(sizes(1), [16 << 10]);
    }

    #[test]
    fn memory_is_slower_than_the_first_cache() {
        let before = cpu::available().unwrap();
        let measured = measure(64 << 20).unwrap();
        assert_eq!(cpu::available().unwrap(), before, "back on every CPU");
        let (first, last) = (measured.points[0], measured.memory().unwrap());
        assert_eq!(last.working_set_octets, 64 << 20);
        // Some ns against tens of them, on any machine and in a build without optimisation.
        assert!(last.latency_ns > 2.0 * first.latency_ns, "{measured:?}");
        assert!(
            first.latency_ns > 0.1 && last.latency_ns < 10_000.0,
            "{measured:?}"
        );
        assert!(last.copy_octets_per_s > 1e7, "{measured:?}");
        assert!((0.0..1.0).contains(&measured.others_share), "{measured:?}");
        assert!(
            measured.together_octets_per_s > last.copy_octets_per_s / 4.0,
            "{measured:?}"
        );
        assert_eq!(measured.together_cpus, before.len());
        assert!(
            measured
                .steal_share
                .is_none_or(|share| (0.0..=1.1).contains(&share))
        );
    }
}
