//! Resets of `mpps reset`.

use super::{Shown, dash, time};
use crate::chart::Chart;
use crate::gauges::{Gauges, Labels, seconds, with};
use crate::table::Table;
use crate::{number, plots, sentence};
use mpps_record::{Plan, ResetLine, Run};

const COLUMNS: &str = "frame;reset;trial;says;by frame loss;by time stamps;may differ by;reset took;before, frames/s;\
    after, frames/s;lost;void before it;verdict";

impl Shown for Vec<ResetLine> {
    fn purpose(&self, _: &Plan) -> Option<String> {
        Some("For how long nothing is forwarded after a reset.".to_owned())
    }

    fn sentences(&self) -> Vec<String> {
        self.iter().map(sentence::reset).collect()
    }

    fn table(&self) -> Table {
        Table::new(COLUMNS, self.iter().flat_map(rows))
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        for line in self {
            let labels = with(labels, &[("frame", &line.frame), ("reset", &line.reset)]);
            for (method, ns) in [
                ("frame-loss", line.frame_loss_ns),
                ("time-stamp", line.time_stamp_ns),
            ] {
                gauges.add(
                    "mpps_reset_seconds",
                    "Time for which nothing was forwarded after a reset, median (RFC 6201).",
                    &with(&labels, &[("method", method)]),
                    seconds(ns),
                );
            }
        }
    }

    fn charts(&self, _: &Run) -> Vec<Option<Chart>> {
        vec![plots::resets(self)]
    }
}

fn rows(line: &ResetLine) -> Vec<Vec<String>> {
    let trials = line.trials.iter().map(|trial| {
        let tried = &trial.tried;
        vec![
            number::frame(&line.frame),
            line.reset.clone(),
            tried.trial.to_string(),
            tried.recovered.to_string(),
            time(tried.recovery_ns),
            time(trial.time_stamp_ns),
            time(Some(trial.resolution_ns)),
            time(Some(trial.took_ns)),
            trial.before_fps.map_or_else(dash, number::grouped),
            trial.after_fps.map_or_else(dash, number::grouped),
            number::grouped(tried.lost_frames),
            tried.void_trials.to_string(),
            tried.verdict_text.clone(),
        ]
    });
    trials.collect()
}
