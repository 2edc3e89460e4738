//! Reads `watch.bpf.c`: how long each CPU stood still or was slow.

use super::receiver::WINDOW_SHIFT;

skeleton!("watch");

plain! {
    watch_cpu: 104 {
        timer, last_ns, longest_ns, ticks, epoch, stalls, slow_times, worked, works, usual_fp, slow_from_ns, slow_to_ns
    }
    watch_stall: 16 { from_ns, to_ns }
    watch_apart: 32 { window, readings, took_ns, worked_ns }
    busy_mark: 24 { ns, run_ns, wakes }
    busy_window: 48 { first, last }
}

const _: () = assert!(size_of::<types::bpf_timer>() == 16);
// SAFETY: 16 octets of the kernel's own; their members' names differ with the age of its headers.
unsafe impl crate::Plain for types::bpf_timer {}

/// One CPU's standing still since the watch was last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Longest time between two ticks, ns (the period at least).
    pub longest_ns: u64,
    /// Ticks seen.
    pub ticks: u64,
    /// The epoch these belong to.
    pub epoch: u64,
    /// Stalls since; the last [`STALLS_MAX`] are kept.
    pub stalls: u64,
    /// Slow times since; as many are kept.
    pub slow_times: u64,
}

/// Stalls kept of each CPU, and slow times.
pub const STALLS_MAX: u32 = 4096;

/// Two ticks between which a CPU stood still or was slow, monotonic ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    /// The tick before.
    pub from_ns: u64,
    /// The tick after.
    pub to_ns: u64,
}

/// Cache lines in a reading.
const LINES: u64 = 8;

/// A cache line goes from one CPU to the other and back in the time of so many readings: each way its owner loses it, and
/// then it is read.
const READINGS_A_ROUND_TRIP: u64 = 4;

/// How far apart two CPUs were in a window of `1 << receiver::WINDOW_SHIFT` ns, and how fast the reading one was.
/// `receiver::WINDOWS_MAX` are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// Which window of monotonic time.
    pub window: u64,
    /// The way of a cache line from one to the other and back, ns.
    pub round_trip_ns: u64,
    /// A fixed piece of work, ns.
    pub work_ns: u64,
}

impl Apart {
    /// Of this window, where it was read in it.
    #[must_use]
    pub fn from_window(window: u64, read: types::watch_apart) -> Option<Self> {
        let round_trips_ns = READINGS_A_ROUND_TRIP * read.took_ns;
        (read.window == window).then_some(Self {
            window,
            round_trip_ns: round_trips_ns.checked_div(LINES * read.readings)?,
            work_ns: read.worked_ns.checked_div(read.readings)?,
        })
    }
}

/// Threads of the DUT that are accounted for, at most.
pub const THREADS_MAX: usize = 4;

/// What the DUT's threads had had at one moment: their time, and how often they were woken.
pub use types::busy_mark as BusyMark;

/// At the first tick of a window and at its last.
pub use types::busy_window as BusyWindow;

impl BusyWindow {
    /// Both marks, where they are of this window.
    #[must_use]
    pub fn marks(self, window: u64) -> Vec<BusyMark> {
        let mut marks = vec![self.first, self.last];
        marks.retain(|mark| mark.ns >> WINDOW_SHIFT == window);
        marks.dedup_by_key(|mark| mark.ns);
        marks
    }
}

impl From<types::watch_stall> for Stall {
    fn from(types::watch_stall { from_ns, to_ns }: types::watch_stall) -> Self {
        Self { from_ns, to_ns }
    }
}

impl From<types::watch_cpu> for Watched {
    fn from(cpu: types::watch_cpu) -> Self {
        Self {
            longest_ns: cpu.longest_ns,
            ticks: cpu.ticks,
            epoch: cpu.epoch,
            stalls: cpu.stalls,
            slow_times: cpu.slow_times,
        }
    }
}
