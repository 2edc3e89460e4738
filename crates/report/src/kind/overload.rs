//! Lasting overloads of `mpps loss --overload`.

use super::described::{About, Answered, Described, Plots, plotted};
use crate::chart::{Chart, Kind, Point, STYLES, Series};
use crate::column::{On, TableRow, columns};
use crate::gauges::{Gauges, Labels, seconds};
use crate::number::{self, spaced};
use crate::sentence::{self, spread};
use mpps_record::{OverloadLine, OverloadSecond, Plan, Run, Verdict};

/// Rows that fit a screen: more seconds share a row.
const ROWS: usize = 12;

impl Described for OverloadLine {
    const IS_DRAWN: bool = true;
    const PLOTS: Plots = Plots {
        x: "seconds of overload",
        of: &[
            ("Forwarding rate under overload", "forwarded"),
            ("Management path under overload", "answered"),
        ],
        note: "A hollow mark is a second that the machine disturbed.",
        ..Plots::NONE
    };

    fn purpose(plan: &Plan) -> Option<String> {
        sentence::lasting(plan)
    }

    fn title(&self) -> String {
        let [lasts, after] = [self.asked_ns, self.after_ns].map(|ns| number::time(ns as f64));
        let load = match times(self) {
            Some(times) => format!("{times} times the maximum forwarding rate asked for"),
            None => "all that the tester can offer".to_owned(),
        };
        format!("Lasting overload: {lasts}, {load}, then {after} at half of its maximum")
    }

    fn about(&self) -> About<'_> {
        (vec![("frame", &self.frame)], self.why.as_deref())
    }

    fn sentence(&self) -> String {
        sentence::overload(self)
    }

    /// On a page all of it, on a terminal and in a plot its seconds.
    fn rows(&self, on: On) -> Vec<TableRow> {
        let each = match on {
            On::Page => return vec![whole(self)],
            On::Screen => self.seconds.len().div_ceil(ROWS).max(1),
            On::Details => 1,
        };
        let parts = (0..).zip(self.seconds.chunks(each));
        let row = |(part, seconds)| row(part * each + 1, seconds);
        let passed = |row: &mut TableRow| {
            let seconds = self.seconds.iter().take(row.x as usize);
            row.x = seconds.map(|second| second.length_ns).sum::<u64>() as f64 / 1e9;
        };
        let mut rows: Vec<TableRow> = parts.map(row).collect();
        rows.iter_mut().for_each(passed);
        rows
    }

    fn remarks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some((number, verdict)) = self.trial.zip(self.verdict_text.as_ref()) {
            lines.push(format!("trial {number}, both loads: {verdict}"));
        }
        let lasted: u64 = self.seconds.iter().map(|second| second.length_ns).sum();
        let share = |ns: u64| number::percent(ns as f64 / lasted.max(1) as f64);
        if lasted > 0 {
            let answers = self.management.as_ref().map_or(String::new(), |path| {
                format!(", the answers {} of the router's", share(path.answering_ns))
            });
            let watching = share(self.watching_ns);
            lines.push(format!(
                "readings and questions took {watching} of the tester's CPU{answers}"
            ));
        }
        let rates = self.max_forwarding_fps.zip(self.overload_fps);
        if let (Some(times), Some((maximum, overload))) = (times(self), rates)
            && (overload as f64) < maximum as f64 * times * 0.99
        {
            let all = spaced(overload);
            lines.push(format!("the tester can offer at most {all} frames/s"));
        }
        lines
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        let forwarded = spread(&self.seconds, |second| second.forwarding_fps);
        let path = self.management.as_ref().filter(|path| path.asked > 0);
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
                seconds(self.recovery_ns),
            ),
        ] {
            gauges.add(name, help, labels, value);
        }
    }

    /// Forwarding rate and answered share by second.
    fn charts(lines: &[Self], _: &Run) -> Vec<Option<Chart>> {
        let most = lines
            .iter()
            .map(|line| line.seconds.len())
            .max()
            .unwrap_or(0);
        let maximum = lines.iter().enumerate().filter_map(|(style, line)| {
            let fps = line.max_forwarding_fps? as f64;
            let ends = [0.0, most as f64].map(|at| Point::new(at, fps));
            let name = format!("{}: maximum before", number::frame(&line.frame));
            let style = (style + 1) % STYLES;
            Some(Series::new(name, style, Kind::Rule, ends.into()))
        });
        let [rate, answers] = [Self::PLOTS.of[0], Self::PLOTS.of[1]];
        vec![
            plotted(lines, rate, maximum.collect()),
            plotted(lines, answers, Vec::new()),
        ]
    }

    /// What was forwarded in one undisturbed second is something.
    fn answered(&self) -> Answered {
        match (&self.verdict, self.undisturbed().next()) {
            (Some(Verdict::Invalid), _) => Answered::Failed,
            (_, second) => Answered::if_measured(second.is_some()),
        }
    }
}

/// How many times the maximum forwarding rate was asked for; `None`: all that the tester can.
fn times(line: &OverloadLine) -> Option<f64> {
    line.load.strip_suffix('x')?.parse().ok()
}

fn row(first: usize, seconds: &[OverloadSecond]) -> TableRow {
    let fps = |rate| spread(seconds, rate).map(|all| all.map(|fps| fps.round() as u64));
    let forwarded = fps(|second| second.forwarding_fps);
    let sum =
        |count: fn(&OverloadSecond) -> Option<u64>| seconds.iter().map(count).sum::<Option<u64>>();
    let last = first + seconds.len() - 1;
    let name = match last == first {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let disturbed = seconds.iter().all(OverloadSecond::is_disturbed);
    let disturbed_text = if disturbed { " (disturbed)" } else { "" };
    let columns = columns! {
        text "seconds" name + disturbed_text;
        rate "offered" fps(|second| second.offered_fps).map(|[mean, ..]| mean);
        rate "forwarded" forwarded.map(|[mean, ..]| mean);
        rate "lowest" forwarded.map(|[_, lowest, _]| lowest);
        rate "highest" forwarded.map(|[.., highest]| highest);
        of "answered" sum(|second| second.answered).zip(sum(|second| second.asked));
    };
    TableRow::new(last as f64, columns).bounding(disturbed)
}

/// All seconds in a row.
fn whole(line: &OverloadLine) -> TableRow {
    let fps = |rate| spread(&line.seconds, rate).map(|all| all.map(|fps| fps.round() as u64));
    let forwarded = fps(|second| second.forwarding_fps);
    let path = line.management.as_ref();
    let columns = columns! {
        text "load" line.load.clone();
        text "seconds" line.seconds.len().to_string();
        rate "offered" fps(|second| second.offered_fps).map(|[mean, ..]| mean);
        rate "forwarded" forwarded.map(|[mean, ..]| mean);
        rate "lowest" forwarded.map(|[_, lowest, _]| lowest);
        rate "highest" forwarded.map(|[.., highest]| highest);
        of "answered" path.map(|path| (path.answered, path.asked));
        time "longest without answer" path.map(|path| path.longest_silence_ns);
        time "frames lost for" line.recovery_ns;
    };
    TableRow::new(0.0, columns)
}
