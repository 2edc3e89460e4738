//! Resets of `mpps reset` as their lines have them.

use super::recovery::trial;
use super::result::{doubt, whole_fps};
use mpps_lab::jobs::reset::{PartResets, ResetPlan, ResetTrial, SizeResets};
use mpps_method::Span;
use mpps_record::{Other, RecoveryTrial, ResetLine};

/// The lines of a frame size, one a part.
#[must_use]
pub fn reset_lines(size: &SizeResets, plan: &ResetPlan) -> Vec<ResetLine> {
    let line = |part: &PartResets| ResetLine {
        frame: size.frames.to_string(),
        receiver: size.receiver.map(Into::into),
        reset: part.part.name().to_owned(),
        hold_ns: plan.away.hold.as_nanos(),
        load_fps: size.rate.map(whole_fps),
        trials: part.trials.iter().map(reset_trial).collect(),
        frame_loss_ns: part
            .median(|told| Some(told.frame_loss))
            .map(Span::as_nanos),
        time_stamp_ns: part.median(|told| told.time_stamp).map(Span::as_nanos),
        why: part.why.clone(),
        doubts: part.doubts.iter().map(doubt).collect(),
        other: Other::new(),
    };
    size.parts.iter().map(line).collect()
}

fn reset_trial(reset: &ResetTrial) -> mpps_record::ResetTrial {
    let told = &reset.told;
    mpps_record::ResetTrial {
        tried: RecoveryTrial {
            lost_frames: told.lost,
            ..trial(&reset.tried)
        },
        time_stamp_ns: told.time_stamp.map(Span::as_nanos),
        disturbed_lost_frames: Some(told.elsewhere),
        unsent_frames: Some(told.unsent),
        resolution_ns: told.resolution.as_nanos(),
        took_ns: told.took.as_nanos(),
        rest_ns: told.rest.as_nanos(),
        before_fps: told.rates.map(|[before, _]| whole_fps(before)),
        after_fps: told.rates.map(|[_, after]| whole_fps(after)),
    }
}
