//! What the DUT forwarded in each short window of a trial, from the marks that the receiver's program writes.

use mpps_ebpf::instruments::receiver::{WINDOW_SHIFT, WindowMark};
use mpps_ebpf::instruments::watch::{Apart, BusyMark};
use mpps_method::saturation::{Busy, Window};
use mpps_method::{Disturbance, Span};

pub(super) const WINDOW_NS: u64 = 1 << WINDOW_SHIFT;
/// After a stall the rings fill and drain again. A window shows the DUT alone only after this time, ns.
const GUARD_NS: u64 = 3_000_000;

/// Windows of [`WINDOW_NS`], from the marks of each CPU of each receiver: frames counted by all of them together.
/// `stalls` are when a CPU of the bed stood still, was slow or ran another program, since `started_ns`; `apart` says how
/// far apart two of them were, `busy` what the DUT's threads had had.
pub fn windows(
    cpus: &[Vec<WindowMark>],
    started_ns: u64,
    stalls: &[Disturbance],
    apart: &[Apart],
    busy: &[BusyMark],
) -> Vec<Window> {
    let last = cpus
        .iter()
        .filter_map(|marks| marks.last())
        .map(|mark| mark.ns)
        .min();
    let (Some(first), Some(last)) = (first_window(cpus), last) else {
        return Vec::new();
    };
    let edges: Vec<u64> = (first..=last / WINDOW_NS).map(|n| n * WINDOW_NS).collect();
    let counted = |ns: u64| cpus.iter().map(|marks| counted_by(marks, ns)).sum::<f64>();
    let window = |edges: &[u64]| {
        let [from, to] = *edges else {
            return Window::default();
        };
        let place = apart.binary_search_by_key(&(from / WINDOW_NS), |one| one.window);
        let here = place.ok().and_then(|place| apart.get(place));
        Window {
            duration: Span::from_nanos(to - from),
            forwarded: (counted(to) - counted(from)).round().max(0.0) as u64,
            disturbed: is_disturbed(from, to, started_ns, stalls),
            round_trip_ns: here.map(|one| one.round_trip_ns),
            work_ns: here.map(|one| one.work_ns),
            busy: busy_between(busy, from, to),
        }
    };
    edges.windows(2).map(window).collect()
}

/// The number of the first window that all CPUs counted whole; `None` where none counted.
pub(super) fn first_window(cpus: &[Vec<WindowMark>]) -> Option<u64> {
    let begun = cpus.iter().filter_map(|marks| marks.first());
    let begun = begun.map(|mark| mark.ns).max();
    begun.map(|ns| ns / WINDOW_NS + 1)
}

/// What the DUT's threads had between two moments; `None` where the marks tell only a part of it.
fn busy_between(marks: &[BusyMark], from: u64, to: u64) -> Option<Busy> {
    let within = marks.first()?.ns <= from && marks.last()?.ns >= to;
    let between = |told: fn(&BusyMark) -> u64| {
        let at = |ns| count_at(marks, ns, |mark| (mark.ns, told(mark)));
        (at(to) - at(from)).round().max(0.0) as u64
    };
    within.then(|| Busy {
        time: Span::from_nanos(between(|mark| mark.run_ns)),
        wakes: between(|mark| mark.wakes),
    })
}

/// Frames one CPU had counted at a moment.
fn counted_by(marks: &[WindowMark], ns: u64) -> f64 {
    count_at(marks, ns, |mark| (mark.ns, mark.tagged))
}

/// A count at one moment. Each mark tells a time and a count. Between two marks the count is interpolated.
pub(super) fn count_at<T>(marks: &[T], ns: u64, told: impl Fn(&T) -> (u64, u64)) -> f64 {
    let after = marks.partition_point(|mark| told(mark).0 <= ns);
    let at = |place: usize| {
        let (ns, count) = told(marks.get(place)?);
        Some((ns as f64, count as f64))
    };
    match (after.checked_sub(1).and_then(at), at(after)) {
        (Some((from, before)), Some((to, then))) => {
            before + (then - before) * (ns as f64 - from) / (to - from)
        }
        (Some((_, before)), None) => before,
        (None, _) => 0.0,
    }
}

fn is_disturbed(from: u64, to: u64, started_ns: u64, stalls: &[Disturbance]) -> bool {
    stalls.iter().any(|stall| {
        let began = started_ns.saturating_add(stall.from.as_nanos());
        let ended = started_ns.saturating_add(stall.to.as_nanos() + GUARD_NS);
        began < to && ended > from
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks of a CPU that counts so many frames a window, the first timed frame 1 us into each.
    fn marks(first: u64, windows: u64, frames: u64) -> Vec<WindowMark> {
        let mark = |n: u64| WindowMark {
            ns: (first + n) * WINDOW_NS + 1_000,
            tagged: n * frames,
        };
        (0..windows).map(mark).collect()
    }

    #[test]
    fn frames_of_all_cpus_add_up_in_whole_windows() {
        let cpus = [marks(100, 6, 8_000), marks(101, 5, 4_000)];
        let found = windows(&cpus, 0, &[], &[], &[]);
        assert_eq!(found.len(), 3);
        for window in found {
            assert_eq!(window.duration.as_nanos(), WINDOW_NS);
            assert!(window.forwarded.abs_diff(12_000) <= 1, "{window:?}");
            assert!(!window.disturbed);
        }
    }

    #[test]
    fn a_window_has_the_distance_that_was_read_in_it() {
        let apart = [(101, 75), (103, 420)].map(|(window, round_trip_ns)| Apart {
            window,
            round_trip_ns,
            work_ns: 130,
        });
        let found = windows(&[marks(100, 6, 8_000)], 0, &[], &apart, &[]);
        let known: Vec<Option<u64>> = found.iter().map(|window| window.round_trip_ns).collect();
        assert_eq!(known, [Some(75), None, Some(420), None]);
    }

    #[test]
    fn a_window_has_the_time_between_its_marks() {
        // The threads run for a quarter of windows 100 and 101, for half of the others; a mark 1 us before and after each edge.
        let quarters = |n: u64| n - 100 + n.saturating_sub(102);
        let mark = |n: u64, ns| BusyMark {
            ns,
            run_ns: quarters(n) * WINDOW_NS / 4,
            wakes: n * 10,
        };
        let busy: Vec<BusyMark> = (100..=104)
            .flat_map(|n| {
                [
                    mark(n, n * WINDOW_NS - 1_000),
                    mark(n, n * WINDOW_NS + 1_000),
                ]
            })
            .collect();
        let found = windows(&[marks(100, 7, 8_000)], 0, &[], &[], &busy);
        let parts: Vec<Option<(u64, u64)>> = (found.iter())
            .map(|window| window.busy.map(|busy| (busy.time.as_nanos(), busy.wakes)))
            .collect();
        let (quarter, half) = (Some((WINDOW_NS / 4, 10)), Some((WINDOW_NS / 2, 10)));
        // The last window ends behind the last mark.
        assert_eq!(parts, [quarter, half, half, None, None]);
    }

    #[test]
    fn a_window_without_a_mark_is_part_of_its_neighbours() {
        // Nothing was counted for two windows: the next mark makes up for none of it.
        let mut cpu = marks(100, 3, 8_000);
        cpu.push(WindowMark {
            ns: 105 * WINDOW_NS,
            tagged: 16_000,
        });
        let frames: Vec<u64> = windows(&[cpu], 0, &[], &[], &[])
            .iter()
            .map(|window| window.forwarded)
            .collect();
        assert!(frames[0].abs_diff(8_000) <= 1, "{frames:?}");
        assert_eq!(frames[2..], [0, 0]);
    }

    #[test]
    fn windows_around_a_stall_are_disturbed() {
        let cpus = [marks(100, 7, 8_000)];
        let started_ns = 100 * WINDOW_NS;
        let stall = Disturbance {
            cpu: 1,
            from: Span::from_nanos(2 * WINDOW_NS + 10),
            to: Span::from_nanos(3 * WINDOW_NS - 20),
        };
        let found = windows(&cpus, started_ns, &[stall], &[], &[]);
        let disturbed: Vec<bool> = found.iter().map(|window| window.disturbed).collect();
        // From the second window on; the guard reaches into the one after.
        assert_eq!(disturbed, [false, true, true, false, false]);
        assert!(windows(&[], started_ns, &[stall], &[], &[]).is_empty());
    }
}
