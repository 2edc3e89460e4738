//! Resets of `mpps reset`.

use super::described::{About, Answered, Described, Plots};
use super::recovery::tried;
use crate::column::{On, TableRow, columns};
use crate::gauges::{Gauges, Labels, seconds, with};
use crate::sentence;
use mpps_record::{ResetLine, ResetTrial, Run};

const NOTE: &str =
    "The time is the lost frames divided by the offered rate. A cross on the axis means: no time.";

impl Described for ResetLine {
    const PURPOSE: &'static str = "For how long nothing is forwarded after a reset.";
    const NOUN: &'static str = "resets";
    const PLOTS: Plots = Plots::by_trial(&[("Reset time by trial", "by loss")], NOTE);

    fn title(&self) -> String {
        "Reset time (RFC 2544 section 26.6, RFC 6201)".to_owned()
    }

    fn about(&self) -> About<'_> {
        let labels = vec![("frame", self.frame.as_str()), ("reset", &self.reset)];
        (labels, self.why.as_deref())
    }

    fn sentence(&self) -> String {
        sentence::reset(self)
    }

    fn rows(&self, _: On) -> Vec<TableRow> {
        (1..).zip(&self.trials).map(row).collect()
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        for (method, ns) in [
            ("frame-loss", self.frame_loss_ns),
            ("time-stamp", self.time_stamp_ns),
        ] {
            gauges.add(
                "mpps_reset_seconds",
                "Time for which nothing was forwarded after a reset, median (RFC 6201).",
                &with(labels, &[("method", method)]),
                seconds(ns),
            );
        }
    }

    /// As of recoveries.
    fn answered(&self) -> Answered {
        Answered::if_any(&self.rows(On::Screen))
    }
}

fn row((at, trial): (usize, &ResetTrial)) -> TableRow {
    let own = columns! {
        time "by loss" trial.tried.recovery_ns;
        time "by time stamps" trial.time_stamp_ns;
        time "may differ by" trial.resolution_ns, page;
        time "reset took" trial.took_ns;
        rate "frames/s before" trial.before_fps;
        rate "after" trial.after_fps;
    };
    tried(at, &trial.tried, own)
}
