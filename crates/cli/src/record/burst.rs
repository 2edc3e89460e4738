//! Bursts of `mpps back-to-back` as their line has them.

use super::result::{doubt, whole_fps};
use mpps_lab::jobs::back_to_back::{BackToBack, BufferTime, SizeBursts};
use mpps_method::Span;
use mpps_record::{BurstLine, BurstSearch, BurstSum, Other};

/// The line of a frame size.
#[must_use]
pub fn burst_line(size: &SizeBursts) -> BurstLine {
    BurstLine {
        frame: size.frames.to_string(),
        receiver: size.receiver.map(Into::into),
        max_forwarding_fps: size.forwarding.map(whole_fps),
        searches: size.searches.iter().map(search).collect(),
        all: size.buffer_time().as_ref().map(sum),
        all_passed_frames: size.all_passed,
        own_ring_frames: size.own_ring,
        why: size.why.clone(),
        doubts: size.doubts.iter().map(doubt).collect(),
        other: Other::new(),
    }
}

fn search(found: &BackToBack) -> BurstSearch {
    BurstSearch {
        longest_frames: found.frames,
        lossy_frames: found.lossy_frames,
        burst_fps: whole_fps(found.burst_rate),
        buffer_frames: found.buffer_frames,
    }
}

fn sum(time: &BufferTime) -> BurstSum {
    BurstSum {
        average_frames: time.average,
        least_frames: time.least,
        most_frames: time.most,
        deviation_frames: time.deviation,
        burst_fps: whole_fps(time.burst_rate),
        implied_buffer_ns: time.implied.as_nanos(),
        corrected_buffer_ns: time.corrected.map(Span::as_nanos),
    }
}
