//! A recovery of `mpps recovery` as its line has it.

use super::result::{doubt, whole_fps};
use super::words;
use mpps_lab::jobs::recovery::{self, Recovery, RecoveryPlan, SizeRecovery};
use mpps_method::Span;
use mpps_record::{Other, Recovered, RecoveryLine, RecoveryTrial};

/// The line of a frame size.
#[must_use]
pub fn recovery_line(size: &SizeRecovery, plan: &RecoveryPlan) -> RecoveryLine {
    RecoveryLine {
        frame: size.frames.to_string(),
        receiver: size.receiver.map(Into::into),
        throughput_fps: size.throughput.map(whole_fps),
        overload_fps: size.overload.map(whole_fps),
        overload_ns: plan.overload.as_nanos(),
        after_ns: plan.after.as_nanos(),
        trials: size.trials.iter().map(trial).collect(),
        average_ns: size.average().map(Span::as_nanos),
        why: size.why.clone(),
        doubts: size.doubts.iter().map(doubt).collect(),
        other: Other::new(),
    }
}

/// One trial.
pub(super) fn trial(tried: &recovery::RecoveryTrial) -> RecoveryTrial {
    let (recovered, time) = match tried.recovery {
        Recovery::After(time) => (Recovered::Recovered, Some(time)),
        Recovery::NotRecovered => (Recovered::NotRecovered, None),
        Recovery::NotOverloaded => (Recovered::NotOverloaded, None),
        Recovery::NotMeasured => (Recovered::NotMeasured, None),
    };
    let judged = &tried.judged;
    RecoveryTrial {
        trial: judged.number,
        void_trials: tried.void,
        verdict: words::verdict(&judged.verdict),
        verdict_text: judged.verdict.to_string(),
        recovered,
        recovery_ns: time.map(Span::as_nanos),
        lost_frames: judged.trial.lost_at_dut(),
    }
}
