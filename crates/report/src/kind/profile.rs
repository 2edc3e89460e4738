//! Profiles of `mpps explain`.

use super::{Shown, TrialPlot};
use crate::chart::Chart;
use crate::gauges::{Gauges, Labels, NS, framed, with};
use crate::profile::{COLUMNS, rows, saturated, section, sentence};
use crate::stage::is_beds;
use crate::table::Table;
use crate::{plots, published};
use maud::Markup;
use mpps_record::{Plan, ProfileLine, Run};

impl Shown for Vec<ProfileLine> {
    fn purpose(&self, _: &Plan) -> Option<String> {
        Some("Where the time of a frame goes, and what limits the router.".to_owned())
    }

    fn sentences(&self) -> Vec<String> {
        self.iter().map(sentence).collect()
    }

    fn table(&self) -> Table {
        Table::new(COLUMNS, self.iter().flat_map(rows))
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        for line in self {
            let labels = &framed(labels, &line.frame);
            let Some(load) = saturated(line) else {
                continue;
            };
            let stage = (
                "mpps_stage_cost_seconds",
                "CPU time of a frame in a stage, with its interval: at overload on a bed, or at the load that explain --cpus saw. The label of says whose stage it is.",
            );
            for part in &load.stages {
                let of = if is_beds(&part.part) { "bed" } else { "router" };
                let labels = with(labels, &[("stage", &part.part), ("of", of)]);
                gauges.add_interval(stage, &labels, Some(part.ns), NS);
            }
            let cause = (
                "mpps_cause_cost_seconds",
                "CPU time of a frame by cause, with its interval: at overload on a bed, or at the load that explain --cpus saw.",
            );
            for part in &load.causes {
                let labels = with(labels, &[("cause", &part.part)]);
                gauges.add_interval(cause, &labels, Some(part.ns), NS);
            }
            gauges.add(
                "mpps_unclassified_ratio",
                "Part of the time of a frame that no rule places in a stage.",
                labels,
                Some(load.unclassified_share),
            );
            gauges.add(
                "mpps_predicted_forwarding_rate_frames_per_second",
                "Maximum forwarding rate that the cost at lower loads predicts.",
                labels,
                line.model.as_ref().map(|model| model.predicted_fps),
            );
        }
    }

    fn charts(&self, _: &Run) -> Vec<Option<Chart>> {
        let charts = |line| [plots::stages(line), plots::by_load(line)];
        self.iter().flat_map(charts).collect()
    }

    fn hidden_plots(&self) -> &[TrialPlot] {
        &[TrialPlot::Search, TrialPlot::Latency]
    }

    fn sections(&self) -> Vec<Markup> {
        let each = self
            .iter()
            .flat_map(|line| [section(line), published::section(line)]);
        each.collect()
    }
}
