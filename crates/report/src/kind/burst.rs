//! Bursts of `mpps back-to-back`.

use super::described::{About, Answered, Described};
use crate::chart::Chart;
use crate::column::{On, TableRow, columns};
use crate::gauges::{Gauges, Labels, seconds, with};
use crate::number::{short_count, spaced};
use crate::{plots, sentence};
use mpps_record::{BurstLine, BurstSearch, BurstSum, Run};

const BUFFER: (&str, &str) = (
    "mpps_buffer_seconds",
    "Time of frames that the DUT's buffer holds (RFC 9004 section 5.4).",
);

impl Described for BurstLine {
    const PURPOSE: &'static str =
        "The longest burst of frames without a gap that the router takes without loss.";
    const ABOVE: &'static str = "Frames\n";

    fn title(&self) -> String {
        "Back-to-back frames (RFC 2544 section 26.4, RFC 9004)".to_owned()
    }

    fn about(&self) -> About<'_> {
        (vec![("frame", &self.frame)], self.why.as_deref())
    }

    fn sentence(&self) -> String {
        sentence::burst(self)
    }

    fn rows(&self, on: On) -> Vec<TableRow> {
        let all = self.all.iter().filter(|_| on == On::Page).map(average);
        all.chain((1..).zip(&self.searches).map(row)).collect()
    }

    fn remarks(&self) -> Vec<String> {
        let Some(all) = &self.all else {
            return Vec::new();
        };
        let frames = |frames: f64| spaced(frames.round() as u64);
        let deviation = all.deviation_frames.map(|deviation| {
            let deviation = frames(deviation);
            format!("standard deviation of the longest burst: {deviation} frames")
        });
        let rate = short_count(all.burst_fps);
        let time = format!("buffer time: the burst at its own rate, {rate} frames/s");
        let corrected = self.max_forwarding_fps.map(|fps| {
            let fps = short_count(fps);
            format!("corrected: without what the router forwards meanwhile, {fps} frames/s")
        });
        let buffer = "buffer: the longest burst without what the router forwarded meanwhile, by its busy time";
        [deviation, Some(time), corrected, Some(buffer.to_owned())]
            .into_iter()
            .flatten()
            .collect()
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        let all = self.all.as_ref();
        gauges.add(
            "mpps_back_to_back_frames",
            "Longest burst without loss, on average (RFC 2544 section 26.4).",
            labels,
            all.map(|all| all.average_frames),
        );
        let implied = all.map(|all| all.implied_buffer_ns);
        let corrected = all.and_then(|all| all.corrected_buffer_ns);
        for (reads, ns) in [("implied", implied), ("corrected", corrected)] {
            let labels = with(labels, &[("reads", reads)]);
            gauges.add(BUFFER.0, BUFFER.1, &labels, seconds(ns));
        }
    }

    fn charts(lines: &[Self], _: &Run) -> Vec<Option<Chart>> {
        plots::bursts(lines).into()
    }

    /// No burst that was too long is an answer too.
    fn answered(&self) -> Answered {
        Answered::if_measured(self.all.is_some() || self.all_passed_frames.is_some())
    }
}

fn row((number, found): (usize, &BurstSearch)) -> TableRow {
    let columns = columns! {
        text "search" number.to_string();
        count "longest" found.longest_frames;
        count "lossy from" found.lossy_frames;
        rate "frames/s" found.burst_fps;
        count "buffer" found.buffer_frames.max(0.0).round() as u64;
        time "buffer time" None;
        time "corrected" None;
    };
    TableRow::new(number as f64, columns)
}

fn average(all: &BurstSum) -> TableRow {
    let columns = columns! {
        text "search" "average".to_owned();
        count "longest" all.average_frames.round() as u64;
        count "lossy from" None;
        rate "frames/s" all.burst_fps;
        count "buffer" None;
        time "buffer time" all.implied_buffer_ns;
        time "corrected" all.corrected_buffer_ns;
    };
    TableRow::new(0.0, columns)
}
