//! Bursts of `mpps back-to-back`.

use super::{Shown, dash, time, whole};
use crate::chart::Chart;
use crate::gauges::{Gauges, Labels, framed, seconds, with};
use crate::table::Table;
use crate::{number, plots, sentence};
use mpps_record::{BurstLine, Plan, Run};

const BUFFER: (&str, &str) = (
    "mpps_buffer_seconds",
    "Time of frames that the DUT's buffer holds (RFC 9004 section 5.4).",
);
const COLUMNS: &str = "frame;search;longest without loss;shortest with loss;frames/s in it;buffer, frames;buffer time;corrected";

impl Shown for Vec<BurstLine> {
    fn purpose(&self, _: &Plan) -> Option<String> {
        Some(
            "The longest burst of frames without a gap that the router takes without loss."
                .to_owned(),
        )
    }

    fn sentences(&self) -> Vec<String> {
        self.iter().map(sentence::burst).collect()
    }

    fn table(&self) -> Table {
        Table::new(COLUMNS, self.iter().flat_map(rows))
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        for line in self {
            let labels = &framed(labels, &line.frame);
            let all = line.all.as_ref();
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
    }

    fn charts(&self, _: &Run) -> Vec<Option<Chart>> {
        plots::bursts(self).into()
    }
}

fn rows(line: &BurstLine) -> Vec<Vec<String>> {
    let frame = || number::frame(&line.frame);
    let searches = line.searches.iter().zip(1..).map(|(search, number)| {
        vec![
            frame(),
            number.to_string(),
            number::grouped(search.longest_frames),
            number::grouped(search.lossy_frames),
            number::grouped(search.burst_fps),
            whole(Some(search.buffer_frames)),
            dash(),
            dash(),
        ]
    });
    let all = line.all.iter().map(|all| {
        vec![
            frame(),
            "average".to_owned(),
            whole(Some(all.average_frames)),
            dash(),
            number::grouped(all.burst_fps),
            dash(),
            time(Some(all.implied_buffer_ns)),
            time(all.corrected_buffer_ns),
        ]
    });
    all.chain(searches).collect()
}
