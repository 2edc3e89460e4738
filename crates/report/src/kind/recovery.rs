//! Recoveries of `mpps recovery`.

use super::described::{About, Answered, Described, Plots};
use crate::column::{Column, On, TableRow, columns};
use crate::gauges::{Gauges, Labels, seconds};
use crate::number;
use crate::sentence;
use mpps_record::{Recovered, RecoveryLine, RecoveryTrial, Run};

const TIME: (&str, &str) = (
    "mpps_recovery_seconds",
    "Time for which frames were lost after an overload, on average (RFC 2544 section 26.5).",
);

const NOTE: &str = "The time runs from the drop of the load to the departure of the last frame that was lost. A cross on the axis means: no time.";

impl Described for RecoveryLine {
    const PURPOSE: &'static str = "For how long frames are lost after an overload has ended.";
    const PLOTS: Plots = Plots::by_trial(&[("Recovery time by trial", "recovery")], NOTE);

    fn title(&self) -> String {
        let [overload, after] = [self.overload_ns, self.after_ns].map(|ns| number::time(ns as f64));
        format!(
            "System recovery (RFC 2544 section 26.5): {overload} of overload, then {after} of half of it"
        )
    }

    fn about(&self) -> About<'_> {
        (vec![("frame", &self.frame)], self.why.as_deref())
    }

    fn sentence(&self) -> String {
        sentence::recovery(self)
    }

    fn rows(&self, _: On) -> Vec<TableRow> {
        let time = |trial: &RecoveryTrial| columns! { time "recovery" trial.recovery_ns; };
        let rows = (1..).zip(&self.trials);
        rows.map(|(at, trial)| tried(at, trial, time(trial)))
            .collect()
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        gauges.add(TIME.0, TIME.1, labels, seconds(self.average_ns));
    }

    /// One trial that says something is enough.
    fn answered(&self) -> Answered {
        Answered::if_any(&self.rows(On::Screen))
    }
}

/// A trial with these columns of its own.
pub fn tried(at: usize, trial: &RecoveryTrial, own: Vec<Column>) -> TableRow {
    let mut columns = columns! {
        text "trial" trial.trial.to_string();
        words "result" trial.recovered.to_string();
    };
    columns.extend(own);
    columns.extend(columns! {
        count "lost" trial.lost_frames;
        count "void before it" u64::from(trial.void_trials), page;
        words "verdict" trial.verdict_text.clone(), page;
    });
    let is_known = trial.recovered != Recovered::NotMeasured;
    let last = (&trial.verdict, trial.verdict_text.as_str());
    let name = format!("trial {}", trial.trial);
    TableRow::new(at as f64, columns).unless(is_known, name, trial.void_trials, last)
}
