//! Faults that bound what the DUT can: a policer, and a ring too short for a burst.

use super::Ruler;
use crate::bed::Bed;
use crate::jobs::{JobError, Phase, Trials, back_to_back};
use crate::search::bisect;
use crate::tester::{Fault, PlantedFault, Tester};
use crate::traffic::Traffic;
use crate::trial::rules;
use mpps_method::{Accept, Ceiling, Goal, Outcome, Rate, Resolution, Span};
use mpps_record::CalibrationLine;

const POLICE_FPS: u64 = 300_000;
const POLICE_STEP: f64 = 5_000.0;
/// Below step x time, or the bucket would hide an overload of a step; large, or it would see the bunches in
/// which the DUT works off its ring.
const POLICE_BURST: u64 = 4_096;
/// The DUT spins so long for each frame of a burst that fills its ring.
const SLOW_NS: u64 = 20_000;
/// The ring may be off by this share.
const RING_TOLERANCE: f64 = 0.05;

pub(super) const POLICER: Ruler = Ruler("a policer", POLICE_STEP, "frames/s");

/// A policer is the sharpest DUT there is: the search must end within one step of it.
pub(super) fn policed(
    tester: &mut Tester<'_>,
    trials: &mut Trials<'_>,
) -> Result<CalibrationLine, JobError> {
    let fault = Fault {
        police_fps: POLICE_FPS,
        police_burst: POLICE_BURST,
        ..Fault::NONE
    };
    let _planted = PlantedFault::plant(fault, tester.bed, tester.ways()[0])?;
    let goal = Goal {
        trial: Span::from_millis(1_000),
        resolution: Resolution::StepFps(POLICE_STEP),
        trials_per_load: 2,
        accept: Accept::Any,
        maximum: Ceiling::Tester(Rate::from_fps(400_000.0)),
        minimum: Rate::from_fps(200_000.0),
    };
    let found = match bisect(tester, goal, Phase::Calibration, trials)? {
        Outcome::Found { lossless, .. } => lossless.fps(),
        // Everything from two thirds of the rate on was lost: found, and wrong.
        Outcome::NoneLossless { .. } => 0.0,
        Outcome::CouldNotMeasure { why, .. } => return Err(JobError::CouldNotMeasure(why)),
    };
    Ok(POLICER.row(POLICE_FPS as f64, found))
}

/// The ring may be off by a share of itself.
pub(super) fn ring_ruler(bed: &Bed, traffic: &Traffic) -> Ruler {
    let tolerance = f64::from(rules::ring(bed, traffic)) * RING_TOLERANCE;
    Ruler("the receive ring", tolerance, "frames")
}

/// The longest burst through a slow DUT implies the ring that the user chose.
pub(super) fn ring(
    tester: &mut Tester<'_>,
    trials: &mut Trials<'_>,
) -> Result<CalibrationLine, JobError> {
    let slow = Fault::spin(SLOW_NS);
    let _slow = PlantedFault::plant(slow, tester.bed, tester.ways()[0])?;
    let ring = u64::from(rules::ring(tester.bed, &tester.traffic));
    let burst = back_to_back::longest_burst(tester, (ring / 4, ring * 2), 0.005, trials)?;
    let ruler = ring_ruler(tester.bed, &tester.traffic);
    Ok(ruler.row(ring as f64, burst.buffer_frames))
}
