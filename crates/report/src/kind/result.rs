//! Results of a search.

use super::{Shown, dash, share};
use crate::chart::Chart;
use crate::gauges::{
    BUSY, DOUBTS, Gauges, Labels, MAXIMUM, TRIAL_LATENCY, costs, reads, seconds, with,
};
use crate::headline::{at_least_forwarded, is_bound, is_least_cost};
use crate::row::{Reading, Row};
use crate::table::Table;
use crate::{number, plots};
use mpps_record::{Interval, Plan, ResultLine, Run, TrialLine};

const COLUMNS: &str =
    "frame;maximum forwarding, frames/s;without loss, frames/s;limited by;DUT busy";

/// Their sentences stand apart, by frame size and goal.
impl Shown for Vec<ResultLine> {
    fn purpose(&self, _: &Plan) -> Option<String> {
        Some("The maximum forwarding rate, and the highest load without loss.".to_owned())
    }

    fn table(&self) -> Table {
        Table::new(COLUMNS, Row::each(self).iter().map(row))
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, run: &Run) {
        for result in self {
            let goal = result.goal.as_deref().unwrap_or("");
            let labels = with(labels, &[("frame", &result.frame), ("goal", goal)]);
            one_result(gauges, &labels, result, &run.trials);
        }
    }

    fn charts(&self, run: &Run) -> Vec<Option<Chart>> {
        vec![plots::rates(run), plots::cost(run)]
    }
}

/// The maximum forwarding rate in a cell.
#[must_use]
pub fn max_forwarding(result: &ResultLine) -> String {
    let found = result.overload.max_forwarding_fps;
    found.map_or_else(dash, |found| match at_least_forwarded(result) {
        Some(least) => format!("≥ {}", number::grouped(least)),
        None => number::grouped(found.median),
    })
}

/// The rate without loss in a cell.
#[must_use]
pub fn without_loss(result: &ResultLine) -> String {
    let rate = Reading::from_line(result).in_cell(|fps| number::grouped(fps as u64));
    rate.unwrap_or_else(|| "not measured".to_owned())
}

fn row(result: &Row<'_>) -> Vec<String> {
    vec![
        result.name.clone(),
        max_forwarding(result),
        without_loss(result),
        result.limit().to_owned(),
        share(result.busy_share()),
    ]
}

fn one_result(gauges: &mut Gauges, labels: &Labels<'_>, result: &ResultLine, trials: &[TrialLine]) {
    let overload = &result.overload;
    gauges.add_interval(
        MAXIMUM,
        &with(labels, &[("reads", reads(is_bound(result)))]),
        overload.max_forwarding_fps.map(Interval::from),
        1.0,
    );
    costs(
        gauges,
        labels,
        (overload.cost, is_least_cost(&result.doubts)),
    );
    let is = result.rate_is.as_ref().map_or("", |is| is.as_str());
    let limit = result
        .limited_by
        .as_ref()
        .map_or("", |limit| limit.as_str());
    gauges.add(
        "mpps_rate_frames_per_second",
        "Highest load within the goal; the label reads says whether it is a bound.",
        &with(labels, &[("reads", is), ("limited_by", limit)]),
        result.rate_fps.map(|fps| fps as f64),
    );
    let ceiling = result.tester_ceiling_fps as f64;
    gauges.add(
        "mpps_tester_ceiling_frames_per_second",
        "Most that the tester could offer and receive.",
        labels,
        (ceiling > 0.0).then_some(ceiling),
    );
    gauges.add(BUSY.0, BUSY.1, labels, result.dut_busiest_cpu_share);
    gauges.add(DOUBTS.0, DOUBTS.1, labels, Some(result.doubts.len() as f64));
    let number = result.stands_on.stands_on_trial;
    if let Some(trial) = trials.iter().find(|trial| Some(trial.trial) == number) {
        let latency = &trial.latency;
        let known = [
            ("50", latency.p50_ns),
            ("90", latency.p90_ns),
            ("99", latency.p99_ns),
            ("99.9", latency.p999_ns),
            ("100", latency.max_ns),
        ];
        for (percentile, ns) in known {
            gauges.add(
                TRIAL_LATENCY.0,
                TRIAL_LATENCY.1,
                &with(labels, &[("percentile", percentile)]),
                seconds(ns),
            );
        }
    }
}
