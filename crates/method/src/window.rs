//! Short windows of a trial.

use crate::units::Span;

/// Windows of a trial that tell of it.
pub const WINDOWS_MIN: usize = 3;
/// They tell of the whole trial if they cover so much of it.
const COVERED: f64 = 0.8;

/// A part of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// How long it was.
    pub duration: Span,
    /// Frames that left the DUT in it.
    pub forwarded: u64,
    /// Whether something that is not the DUT had one of the bed's CPUs in it.
    pub disturbed: bool,
    /// The round trip of a cache line between the tester's CPU and the DUT's in it, ns; `None` where nobody timed it.
    pub round_trip_ns: Option<u64>,
    /// A fixed piece of work on the DUT's CPU in it, ns; `None` where nobody timed it.
    pub work_ns: Option<u64>,
    /// What the DUT's threads had in it; `None` where nobody accounts for them by the window.
    pub busy: Option<Busy>,
}

/// What the DUT's threads had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// CPU time.
    pub time: Span,
    /// How often they were put on their CPU.
    pub wakes: u64,
}

/// Those that nothing disturbed.
pub(crate) fn undisturbed(windows: &[Window]) -> Vec<Window> {
    let undisturbed = windows.iter().filter(|window| !window.disturbed);
    undisturbed.copied().collect()
}

/// CPU time of the DUT's threads for each frame, ns, over those of these windows that know it; `None` where they are less
/// than half, or forwarded nothing.
#[must_use]
pub fn ns_per_frame(windows: &[Window]) -> Option<f64> {
    let known = windows.iter();
    let known = known.filter_map(|one| Some((one.busy?.time.as_nanos(), one.forwarded)));
    let known: Vec<(u64, u64)> = known.collect();
    let frames = known.iter().map(|(_, forwarded)| *forwarded).sum::<u64>();
    let ns = known.iter().map(|(ns, _)| *ns).sum::<u64>();
    (frames > 0 && 2 * known.len() >= windows.len()).then(|| ns as f64 / frames as f64)
}

/// What a frame took in undisturbed windows of a trial so long, as a multiple of what it took in all of it. `None` where
/// nothing disturbed a window, too few are undisturbed, or they do not tell: they do not know their busy time, or cover too
/// little, as those of a very long trial, which are of its end alone.
pub(crate) fn undisturbed_cost(windows: &[Window], duration: Span) -> Option<f64> {
    let covered: u64 = windows.iter().map(|one| one.duration.as_nanos()).sum();
    let covers_most = covered as f64 >= COVERED * duration.as_nanos() as f64;
    let undisturbed = undisturbed(windows);
    let is_enough = undisturbed.len() >= WINDOWS_MIN && undisturbed.len() < windows.len();
    let both = ns_per_frame(&undisturbed).zip(ns_per_frame(windows));
    both.filter(|_| covers_most && is_enough)
        .map(|(here, all)| here / all)
        .filter(|ratio| ratio.is_finite())
}
