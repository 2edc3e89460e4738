//! This machine's memory by size of the working set: how long one access takes that waits for the one
//! before (a chase along random lines), and how much a copy moves. One CPU, ordinary pages: misses of the
//! TLB are part of it, as they are of a router's life.

use mpps_linux::clock::monotonic_ns;
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::procstat;
use mpps_method::random::Random;
use std::hint::black_box;
use std::sync::Barrier;

/// Octets of a cache line.
const LINE_OCTETS: usize = 64;
/// Smallest working set: within the first cache.
const SMALLEST_OCTETS: usize = 16 << 10;
/// Accesses, or at least octets copied, between two looks at the clock.
const STEPS: usize = 1 << 14;
/// See `STEPS`.
const COPY_OCTETS: usize = 4 << 20;
/// Octets that all CPUs copy in together: beyond the caches, within the memory.
const TOGETHER_OCTETS: usize = 1 << 30;
/// Length of one pass, ns.
const PASS_NS: u64 = 8_000_000;
/// Passes; the best counts, for whatever disturbs makes it slower.
const PASSES: usize = 3;

/// One line of memory; its first word names the next one.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u32; LINE_OCTETS / 4]);

/// One size of working set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Octets in use.
    pub working_set_octets: u64,
    /// Time of one access that depends on the one before, ns.
    pub latency_ns: f64,
    /// Octets per second of a copy inside the working set, read and written together.
    pub copy_octets_per_s: f64,
}

/// What was measured, and how far it can be believed.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryMeasured {
    /// The CPU it ran on.
    pub cpu: usize,
    /// By rising size; each four times the one before, and the largest.
    pub points: Vec<Point>,
    /// Octets per second that all CPUs copy at once, each within a working set of its own of the largest
    /// size or its share of it; read and written together.
    pub together_octets_per_s: f64,
    /// How many CPUs that were.
    pub together_cpus: usize,
    /// Share of the time that the hypervisor took the one CPU away; `None` where the kernel does not say.
    pub steal_share: Option<f64>,
}

impl MemoryMeasured {
    /// The largest working set: memory itself, where that is beyond every cache.
    #[must_use]
    pub fn memory(&self) -> Option<Point> {
        self.points.last().copied()
    }
}

/// Measures working sets up to `largest_octets` on the calling thread, which stays on its last allowed
/// CPU meanwhile. About 50 ms a size, and what it takes to fill the memory.
///
/// # Errors
/// The CPUs could not be read or the thread not be moved.
pub fn measure(largest_octets: usize) -> mpps_linux::Result<MemoryMeasured> {
    let home = cpu::available()?;
    let cpu = home.iter().last().unwrap_or(0);
    cpu::pin_current_thread(&CpuSet::single(cpu))?;
    let (began_ns, steal_before) = (monotonic_ns(), steal_ns(cpu));
    let points = sizes(largest_octets).into_iter().map(point).collect();
    let steal_share = steal_before
        .zip(steal_ns(cpu))
        .map(|(before, after)| after.saturating_sub(before) as f64)
        .map(|stolen| stolen / (monotonic_ns() - began_ns).max(1) as f64);
    cpu::pin_current_thread(&home)?;
    let together_octets_per_s = together(&home, largest_octets);
    Ok(MemoryMeasured {
        cpu,
        points,
        together_octets_per_s,
        together_cpus: home.len(),
        steal_share,
    })
}

/// What all CPUs copy at once: the memory's own bandwidth, where one CPU alone cannot use it up.
fn together(cpus: &CpuSet, largest_octets: usize) -> f64 {
    let octets = (TOGETHER_OCTETS / cpus.len().max(1))
        .clamp(SMALLEST_OCTETS, largest_octets.max(SMALLEST_OCTETS));
    let start = Barrier::new(cpus.len());
    let one = &|cpu: usize| {
        // A CPU that went meanwhile copies from another one.
        let _moved = cpu::pin_current_thread(&CpuSet::single(cpu));
        start.wait();
        copy_octets_per_s(octets)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = cpus
            .iter()
            .map(|cpu| scope.spawn(move || one(cpu)))
            .collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .sum()
    })
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

fn point(octets: usize) -> Point {
    Point {
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
    let half = octets / 2;
    let (from, mut to) = (vec![1u8; half], vec![2u8; half]);
    let times = COPY_OCTETS.div_ceil(half);
    let per_octet = best(|| {
        for _ in 0..times {
            to.copy_from_slice(black_box(&from));
            black_box(&mut to);
        }
        2 * half * times
    });
    1e9 / per_octet
}

/// The shortest time for one unit, ns, of `work` that tells how many it did.
fn best(mut work: impl FnMut() -> usize) -> f64 {
    // Once unmeasured: the caches hold what fits.
    black_box(work());
    let mut best = f64::INFINITY;
    for _ in 0..PASSES {
        let began = monotonic_ns();
        let (mut units, mut took) = (0, 0);
        while took < PASS_NS {
            units += work();
            took = monotonic_ns() - began;
        }
        best = best.min(took as f64 / units as f64);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

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
