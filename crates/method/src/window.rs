//! Short windows of a trial.

use crate::units::Span;

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
