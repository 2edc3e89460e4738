//! Lasting overloads of `mpps loss --overload`.

use super::{Shown, dash, time, whole};
use crate::chart::Chart;
use crate::gauges::{Gauges, Labels, framed, seconds};
use crate::table::Table;
use crate::{number, plots, sentence};
use mpps_record::{OverloadLine, Plan, Run};

const COLUMNS: &str = "frame;load;seconds;offered, frames/s;forwarded;lowest;highest;answered;longest without answer;frames lost for";

impl Shown for Vec<OverloadLine> {
    fn purpose(&self, plan: &Plan) -> Option<String> {
        sentence::lasting(plan)
    }

    fn sentences(&self) -> Vec<String> {
        self.iter().map(sentence::overload).collect()
    }

    fn table(&self) -> Table {
        Table::new(COLUMNS, self.iter().map(row))
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        for line in self {
            let labels = &framed(labels, &line.frame);
            let forwarded = sentence::spread(&line.seconds, |second| second.forwarding_fps);
            let path = line.management.as_ref().filter(|path| path.asked > 0);
            for (name, help, value) in [
                (
                    "mpps_overload_forwarding_fps",
                    "Forwarding rate of the DUT under a lasting overload, frames/s.",
                    forwarded.map(|[mean, ..]| mean),
                ),
                (
                    "mpps_overload_forwarding_lowest_fps",
                    "Forwarding rate of the DUT in the worst second of it, frames/s.",
                    forwarded.map(|[_, lowest, _]| lowest),
                ),
                (
                    "mpps_management_answered_ratio",
                    "Questions to the router's own address that were answered under overload.",
                    path.map(|path| path.answered as f64 / path.asked as f64),
                ),
                (
                    "mpps_management_silence_seconds",
                    "The longest time of the overload without an answer.",
                    seconds(path.map(|path| path.longest_silence_ns)),
                ),
                (
                    "mpps_overload_return_seconds",
                    "Time for which frames were lost after a lasting overload.",
                    seconds(line.recovery_ns),
                ),
            ] {
                gauges.add(name, help, labels, value);
            }
        }
    }

    fn charts(&self, _: &Run) -> Vec<Option<Chart>> {
        plots::overloads(self).into()
    }
}

fn row(line: &OverloadLine) -> Vec<String> {
    let spread = |rate| sentence::spread(&line.seconds, rate);
    let offered = spread(|second| second.offered_fps).map(|[mean, ..]| mean);
    let forwarded = spread(|second| second.forwarding_fps);
    let path = line.management.as_ref();
    vec![
        number::frame(&line.frame),
        line.load.clone(),
        line.seconds.len().to_string(),
        whole(offered),
        whole(forwarded.map(|[mean, ..]| mean)),
        whole(forwarded.map(|[_, lowest, _]| lowest)),
        whole(forwarded.map(|[.., highest]| highest)),
        path.map_or_else(dash, |path| format!("{} of {}", path.answered, path.asked)),
        time(path.map(|path| path.longest_silence_ns)),
        time(line.recovery_ns),
    ]
}
