//! Names of doubts that programs look for.

/// Of rates at overload and without loss that were measured in two states of the machine.
pub const DISTANCE_CHANGED: &str = "distance-changed";
/// Of frames that came back without having been routed.
pub const NOT_ROUTED: &str = "not-routed";
/// Of a simulated pair: nothing was measured.
pub const SIMULATED: &str = "simulated";
/// Frames were lost again after a recovery.
pub const LOST_LATER: &str = "lost-later";
/// Of a DUT that loses frames at a load that it should not feel.
pub const UNSTABLE: &str = "unstable";
/// Of a result that leaves out frames of disturbances.
pub const LOST_DISTURBED: &str = "lost-disturbed";
/// Of a result that lies close to, or at, what the tester can do.
pub const TESTER_NEAR_CEILING: &str = "tester-near-ceiling";
/// Of a frame's cost whose router's part may be too small.
pub const EXIT_UNTIMED: &str = "exit-untimed";
/// Of a CPU that did more than the threads that forward: the cost of a frame may miss a part.
pub const BUSY_UNCOUNTED: &str = "busy-uncounted";
/// Of a router whose work was done by other CPUs than its own too.
pub const WORK_ELSEWHERE: &str = "work-elsewhere";
