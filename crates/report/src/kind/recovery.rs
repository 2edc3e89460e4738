//! Recoveries of `mpps recovery`.

use super::{Shown, time};
use crate::chart::Chart;
use crate::gauges::{Gauges, Labels, framed, seconds};
use crate::table::Table;
use crate::{number, plots, sentence};
use mpps_record::{Plan, RecoveryLine, Run};

const COLUMNS: &str = "frame;trial;says;recovery time;lost;void before it;verdict";
const TIME: (&str, &str) = (
    "mpps_recovery_seconds",
    "Time for which frames were lost after an overload, on average (RFC 2544 section 26.5).",
);

impl Shown for Vec<RecoveryLine> {
    fn purpose(&self, _: &Plan) -> Option<String> {
        Some("For how long frames are lost after an overload has ended.".to_owned())
    }

    fn sentences(&self) -> Vec<String> {
        self.iter().map(sentence::recovery).collect()
    }

    fn table(&self) -> Table {
        Table::new(COLUMNS, self.iter().flat_map(rows))
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        for line in self {
            let labels = framed(labels, &line.frame);
            gauges.add(TIME.0, TIME.1, &labels, seconds(line.average_ns));
        }
    }

    fn charts(&self, _: &Run) -> Vec<Option<Chart>> {
        vec![plots::recoveries(self)]
    }
}

fn rows(line: &RecoveryLine) -> Vec<Vec<String>> {
    let trials = line.trials.iter().map(|trial| {
        vec![
            number::frame(&line.frame),
            trial.trial.to_string(),
            trial.recovered.to_string(),
            time(trial.recovery_ns),
            number::grouped(trial.lost_frames),
            trial.void_trials.to_string(),
            trial.verdict_text.clone(),
        ]
    });
    trials.collect()
}
