//! Sweeps of `mpps explain --sweep`.

use super::{Shown, TrialPlot};
use crate::chart::Chart;
use crate::gauges::{Gauges, Labels, NS, with};
use crate::plots;
use crate::sweep::{COLUMNS, row, section, sentence};
use crate::table::Table;
use maud::Markup;
use mpps_record::{Run, SweepLine};

impl Shown for Vec<SweepLine> {
    fn sentences(&self) -> Vec<String> {
        self.iter().map(sentence).collect()
    }

    fn table(&self) -> Table {
        let points = self
            .iter()
            .flat_map(|line| line.points.iter().map(move |point| row(line, point)));
        Table::new(COLUMNS, points)
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        let cost = (
            "mpps_sweep_cost_seconds",
            "CPU time of a frame at overload at a point of a sweep, with its interval.",
        );
        for line in self {
            for point in &line.points {
                let (value, held) = (point.value.to_string(), point.held_out.to_string());
                let more: Labels<'_> = vec![
                    ("axis", &line.axis),
                    ("value", &value),
                    ("frame", &point.frame),
                    ("held_out", &held),
                ];
                gauges.add_interval(cost, &with(labels, &more), Some(point.load.frame_ns), NS);
            }
            let fit = line.fit.as_ref();
            gauges.add(
                "mpps_sweep_held_out_error_ratio",
                "Median of how far predicted costs of points that were not fitted are off.",
                &with(labels, &[("axis", &line.axis)]),
                fit.and_then(|fit| fit.held_out_error_ratio),
            );
        }
    }

    fn charts(&self, _: &Run) -> Vec<Option<Chart>> {
        self.iter().map(plots::sweep).collect()
    }

    fn hidden_plots(&self) -> &[TrialPlot] {
        &[TrialPlot::Search, TrialPlot::Latency]
    }

    fn sections(&self) -> Vec<Markup> {
        self.iter().map(section).collect()
    }
}
