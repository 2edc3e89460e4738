//! Comparisons of `mpps compare`.

use super::{Shown, TrialPlot, dash, whole};
use crate::chart::Chart;
use crate::gauges::{Gauges, Labels, MAXIMUM, NS, framed, with};
use crate::interval::interval_name;
use crate::table::Table;
use crate::{number, plots, sentence};
use mpps_record::{ComparisonLine, Difference, Interval, Plan, Run, Variant};

impl Shown for Vec<ComparisonLine> {
    fn purpose(&self, _: &Plan) -> Option<String> {
        Some("By how much set-ups differ that take turns on one machine.".to_owned())
    }

    fn sentences(&self) -> Vec<String> {
        self.iter().flat_map(sentence::comparison).collect()
    }

    fn table(&self) -> Table {
        let variants = || self.iter().flat_map(|line| &line.variants);
        let overload = interval_name(variants().map(|variant| variant.overload_trials.len()));
        let fixed = interval_name(variants().map(|variant| variant.fixed_trials.len()));
        let columns = format!(
            "frame;variant;at overload, frames/s;{overload};ns a frame;{overload};ns a frame at the fixed load;{fixed};\
             against the first"
        );
        Table::new(&columns, self.iter().flat_map(rows))
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        for line in self {
            let labels = &framed(labels, &line.frame);
            for variant in &line.variants {
                let labels = &with(labels, &[("variant", &variant.name)]);
                let rate = variant.forwarding_fps.map(Interval::from);
                gauges.add_interval(MAXIMUM, labels, rate, 1.0);
                let difference = variant.difference.as_ref();
                let rate = difference.and_then(Difference::told_rate_change);
                let cost = difference.and_then(|difference| difference.cost_ns);
                let change = (
                    "mpps_rate_change_ratio",
                    "Frames/s more than the first variant's, as a share of them.",
                );
                gauges.add_interval(change, labels, rate, 1.0);
                let change = (
                    "mpps_frame_cost_change_seconds",
                    "CPU time that a frame takes more than with the first variant.",
                );
                gauges.add_interval(change, labels, cost, NS);
            }
        }
    }

    fn charts(&self, _: &Run) -> Vec<Option<Chart>> {
        plots::comparisons(self).into()
    }

    fn hidden_plots(&self) -> &[TrialPlot] {
        &[TrialPlot::Search, TrialPlot::Latency]
    }
}

fn rows(line: &ComparisonLine) -> Vec<Vec<String>> {
    let row = |variant: &Variant| {
        let rate = variant.forwarding_fps;
        let rate_ends = rate.map(|found| [found.low, found.high].map(number::grouped).join(" to "));
        let median =
            |ns: Option<Interval<f64>>| ns.map_or_else(dash, |ns| format!("{:.0}", ns.median));
        let ends = |ns: Option<Interval<f64>>| {
            ns.map_or_else(dash, |ns| format!("{:.0} to {:.0}", ns.low, ns.high))
        };
        let (cost, fixed) = (variant.ns_per_frame, variant.fixed_ns_per_frame);
        let difference = variant.difference.as_ref();
        vec![
            number::frame(&line.frame),
            variant.name.clone(),
            whole(rate.map(|found| found.median as f64)),
            rate_ends.unwrap_or_else(dash),
            median(cost),
            ends(cost),
            median(fixed),
            ends(fixed),
            difference.map_or_else(dash, |difference| difference.to_string()),
        ]
    };
    line.variants.iter().map(row).collect()
}
