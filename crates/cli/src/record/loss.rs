//! A curve of `mpps loss` as its line has it.

use super::result::{doubt, whole_fps};
use super::words;
use mpps_lab::jobs::loss::{Curve, LoadTried, LossPlan};
use mpps_method::{Rate, Span, Trial, Verdict};
use mpps_record::{CurveLine, CurvePoint, Measured, Other, StandsOn};

/// The line of a curve.
#[must_use]
pub fn curve_line(curve: &Curve, plan: &LossPlan, simulated: bool, stands: StandsOn) -> CurveLine {
    CurveLine {
        frame: curve.frames.to_string(),
        simulated,
        receiver: curve.receiver.map(Into::into),
        highest_fps: curve.highest.map(|(highest, _)| whole_fps(highest)),
        highest_limited_by: curve.highest.map(|(_, limit)| words::limited_by(limit)),
        step_share: plan.step,
        trial_ns: plan.time().as_nanos(),
        loads: curve.loads.iter().map(point).collect(),
        end: curve.end.into(),
        why: curve.why.clone(),
        overload_trials: stands.overload_trials,
        doubts: curve.doubts.iter().map(doubt).collect(),
        other: Other::new(),
    }
}

fn point(tried: &LoadTried) -> CurvePoint {
    let (trial, verdict) = (&tried.judged.trial, &tried.judged.verdict);
    let counts = matches!(verdict, Verdict::Lossless | Verdict::Lossy { .. });
    CurvePoint {
        // Steps of a tenth are no binary numbers.
        load_share: (tried.share * 1e6).round() / 1e6,
        load_fps: whole_fps(tried.load),
        measured: counts.then(|| measured(trial)),
        verdict: words::verdict(verdict),
        verdict_text: verdict.to_string(),
        trial: tried.judged.number,
        void_trials: tried.void,
    }
}

fn measured(trial: &Trial) -> Measured {
    let (counts, length) = (trial.undisturbed(), trial.duration.as_nanos());
    let time = Span::from_nanos(length.saturating_sub(trial.disturbed.time.as_nanos()));
    let fps = |rate: Option<Rate>| whole_fps(rate.unwrap_or_default());
    Measured {
        offered_fps: fps(trial.undisturbed_rate()),
        forwarding_fps: fps(Rate::from_frames(counts.received, time)),
        undisturbed_ns: time.as_nanos(),
        sent_frames: counts.sent,
        disturbed_lost_frames: trial.lost_disturbed(),
        lost_frames: trial.lost_at_dut(),
        loss_ratio: trial.loss_ratio().unwrap_or_default(),
        dut_busiest_cpu_share: trial.busiest_share(),
    }
}
