//! Sweeps of `mpps explain --sweep`: points beside their predictions; and tables I to V of Raumer et al. (2015).

use super::TrialPlot;
use super::described::{About, Answered, Described};
use crate::chart::Chart;
use crate::column::{self, On, TableRow, columns};
use crate::gauges::{Gauges, Labels, NS, with};
use crate::published::{PaperTable, paper_tables};
use crate::sweep::{interval, noun, remarks, role, section, sentence};
use crate::table::Table;
use crate::{number, plots};
use maud::Markup;
use mpps_record::{Run, SweepLine, SweepPoint};

impl Described for SweepLine {
    const NOUN: &'static str = "sweeps";
    const IS_PROSE: bool = true;
    const HIDDEN: &'static [TrialPlot] = &[TrialPlot::Search, TrialPlot::Latency];

    fn title(&self) -> String {
        match self.is_paper() {
            true => {
                "Tables I to V of Raumer, Emmerich and others (2015) on this machine".to_owned()
            }
            false => format!("The cost of a frame over {}", noun(self)),
        }
    }

    fn about(&self) -> About<'_> {
        (vec![("axis", &self.axis)], self.why.as_deref())
    }

    fn sentence(&self) -> String {
        sentence(self)
    }

    fn rows(&self, on: On) -> Vec<TableRow> {
        match on {
            On::Page => self.points.iter().map(row).collect(),
            On::Screen | On::Details => self.along().into_iter().map(row).collect(),
        }
    }

    fn tables(&self, rows: &[TableRow], on: On) -> Vec<(String, Table)> {
        if !self.is_paper() {
            return vec![(String::new(), column::table(rows, on))];
        }
        let tables = paper_tables(self).into_iter();
        let told = tables.map(|PaperTable { title, table, note }| {
            let note = if note.is_empty() {
                note.to_owned()
            } else {
                format!("{note}\n")
            };
            (format!("{title}\n{note}\n"), table)
        });
        told.collect()
    }

    /// All of them are for the page too.
    fn all_remarks(&self, _: &[TableRow], _: bool) -> Vec<String> {
        remarks(self)
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        let cost = (
            "mpps_sweep_cost_seconds",
            "CPU time of a frame at overload at a point of a sweep, with its interval.",
        );
        for point in &self.points {
            let (value, held) = (point.value.to_string(), point.held_out.to_string());
            let more: Labels<'_> = vec![
                ("value", &value),
                ("frame", &point.frame),
                ("held_out", &held),
            ];
            gauges.add_interval(cost, &with(labels, &more), Some(point.load.frame_ns), NS);
        }
        let fit = self.fit.as_ref();
        gauges.add(
            "mpps_sweep_held_out_error_ratio",
            "Median of how far predicted costs of points that were not fitted are off.",
            labels,
            fit.and_then(|fit| fit.held_out_error_ratio),
        );
    }

    fn charts(lines: &[Self], _: &Run) -> Vec<Option<Chart>> {
        lines.iter().map(plots::sweep).collect()
    }

    /// A sweep that was cut short, or has no point, may do better another time.
    fn answered(&self) -> Answered {
        Answered::if_measured(!self.points.is_empty() && self.why.is_none())
    }

    fn section(&self) -> Option<Markup> {
        Some(section(self))
    }
}

fn row(point: &SweepPoint) -> TableRow {
    let (load, predicted) = (&point.load, point.prediction());
    let off = point.error_ratio.filter(|_| predicted.is_some());
    let columns = columns! {
        count "place" point.value as u64;
        words "frame" number::frame(&point.frame), page;
        whole "ns" load.frame_ns.median;
        text "95 % interval" interval(load);
        whole "predicted" predicted.map(|ns| ns.median);
        text "interval" predicted.map(|ns| format!("{:.0} to {:.0}", ns.low, ns.high));
        text "off" off.map(|off| format!("{:+.1} %", off * 100.0));
        words "role" role(point).to_owned();
        rate "frames/s" load.forwarding_fps.median.round() as u64;
    };
    TableRow::new(point.value, columns)
}
