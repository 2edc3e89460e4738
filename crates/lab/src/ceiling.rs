//! The tester's own ceiling: how many frames a second it can send and receive without a loss of its own,
//! on the trial's CPUs, with the frames the receiver will really get: skbs through the virtual NIC and
//! a wire in place of the router.

use crate::jobs::throughput;
use crate::jobs::{JobError, Observer, Phase};
use crate::tester::{Tester, Wire};
use crate::trial;
use mpps_method::{Accept, Ceiling, Goal, Outcome, Rate, Resolution, Span};

/// No sender of ours is faster on any machine we know; bounds memory, not results.
pub const SENDER_MAX: Rate = Rate::from_fps(12_000_000.0);
/// Frames of the burst that says where to begin.
const BURST: u64 = 400_000;
/// Closeness of the ceiling: it is a bound, not a result.
const RESOLUTION: f64 = 0.05;
/// A trial of the ceiling is no longer than this.
const TRIAL_MAX: Span = Span::from_millis(500);

/// Finds the ceiling for this tester's traffic.
///
/// # Errors
/// The tester or the record failed.
pub fn find(
    tester: &mut Tester<'_>,
    trial: Span,
    observer: &mut dyn Observer,
) -> Result<Rate, JobError> {
    let _wire = Wire::lay(tester.bed, &tester.ways())?;
    let start = starting_rate(tester)?;
    let goal = Goal {
        trial: trial.min(TRIAL_MAX),
        resolution: Resolution::Fraction(RESOLUTION),
        trials_per_load: 2,
        accept: Accept::Any,
        maximum: Ceiling::Tester(start),
        minimum: Rate::from_fps(start.fps() / 64.0),
    };
    match throughput::search(tester, goal, Phase::Ceiling, observer)?.outcome {
        Outcome::Found { lossless, .. } => Ok(lossless),
        outcome => Err(JobError::NoCeiling(outcome)),
    }
}

/// Where to begin: a little above what comes back of an unpaced burst, for then sender, wire and
/// receiver all run flat out. Only a starting point; what it is too high by, the search finds.
fn starting_rate(tester: &mut Tester<'_>) -> Result<Rate, JobError> {
    let burst = trial::run_burst(tester, BURST)?;
    let back = burst.forwarding_rate().unwrap_or_default().fps() * 1.1;
    Ok(Rate::from_fps(back).min(SENDER_MAX))
}
