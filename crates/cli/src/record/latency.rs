//! A latency of `mpps latency` as its line has it.

use super::result::{doubt, whole_fps};
use super::trial::buckets;
use super::words;
use mpps_lab::jobs::latency::{LatencyLoad, LatencyPlan, LoadLatency, PathLatency, SizeLatency};
use mpps_method::Span;
use mpps_record::{self as record, LatencyLine, Other};

/// The line of a frame size.
#[must_use]
pub fn latency_line(size: &SizeLatency, plan: &LatencyPlan) -> LatencyLine {
    LatencyLine {
        frame: size.frames.to_string(),
        receiver: size.receiver.map(Into::into),
        throughput_fps: size.throughput.map(whole_fps),
        throughput_given: plan.throughput.is_some(),
        loads: size.loads.iter().map(load).collect(),
        why: size.why.clone(),
        doubts: size.doubts.iter().map(doubt).collect(),
        other: Other::new(),
    }
}

fn load(at: &LoadLatency) -> record::LatencyLoad {
    record::LatencyLoad {
        load_share: match at.asked {
            LatencyLoad::Share(share) => Some(share),
            LatencyLoad::At(_) => None,
        },
        load_fps: whole_fps(at.load),
        instead_of_fps: at.instead_of.map(whole_fps),
        router: path(&at.router),
        bed: at.bed.as_ref().map(path),
    }
}

fn path(path: &PathLatency) -> record::PathLatency {
    let left_out = || path.left_out().map(|judged| &judged.verdict);
    let counts = path.counts();
    record::PathLatency {
        trials: path.counted().map(|judged| judged.number).collect(),
        left_out_trials: path.left_out().map(|judged| judged.number).collect(),
        left_out_verdict: left_out().last().map(words::verdict),
        left_out_text: left_out().last().map(ToString::to_string),
        undisturbed_ns: path.time().as_nanos(),
        sent_frames: counts.sent,
        lost_frames: counts.lost,
        disturbed_frames: path.disturbed_frames(),
        longest_stall_ns: Span::as_nanos(path.longest_stall()),
        times: buckets(&path.latency()).into(),
    }
}
