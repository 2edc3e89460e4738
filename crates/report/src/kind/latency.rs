//! Latencies of `mpps latency`.

use super::{Shown, TrialPlot, dash, time};
use crate::chart::Chart;
use crate::gauges::{Gauges, LATENCY, Labels, seconds, with};
use crate::table::Table;
use crate::{number, plots, sentence};
use mpps_record::{LatencyLine, LatencyLoad, PERCENTS, PathLatency, Plan, Run};

const COLUMNS: &str = "frame;load;through;trials;timed;lost;least;mean;p50;p90;p99;p99.9;p99.99;most;PDV;longest stall";

impl Shown for Vec<LatencyLine> {
    fn purpose(&self, _: &Plan) -> Option<String> {
        Some("How long frames take at each load, through the router and through a wire.".to_owned())
    }

    fn sentences(&self) -> Vec<String> {
        self.iter().map(sentence::latency).collect()
    }

    fn table(&self) -> Table {
        Table::new(COLUMNS, self.iter().flat_map(rows))
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        self.iter().for_each(|line| latency(gauges, labels, line));
    }

    fn charts(&self, _: &Run) -> Vec<Option<Chart>> {
        plots::latencies(self).into_iter().map(Some).collect()
    }

    fn hidden_plots(&self) -> &[TrialPlot] {
        &[TrialPlot::Latency]
    }
}

fn rows(line: &LatencyLine) -> Vec<Vec<String>> {
    let of_load = |load: &LatencyLoad| {
        let row = |(who, path)| path_row(line, load, who, path);
        let bed = load.bed.as_ref().map(|bed| ("wire", bed));
        let paths = [("router", &load.router)].into_iter().chain(bed);
        paths.map(row).collect::<Vec<_>>()
    };
    line.loads.iter().flat_map(of_load).collect()
}

fn path_row(line: &LatencyLine, load: &LatencyLoad, who: &str, path: &PathLatency) -> Vec<String> {
    let times = &path.times;
    let mut cells = vec![
        number::frame(&line.frame),
        sentence::load(load),
        who.to_owned(),
        path.trials.len().to_string(),
        number::grouped(times.timed_frames),
        number::grouped(path.lost_frames),
        time(times.min_ns),
        time(times.mean_ns),
    ];
    cells.extend(PERCENTS.map(|percent| {
        let mut known = times.percentiles.iter();
        let known = known.find(|known| known.percent == percent);
        known.map_or_else(dash, |known| {
            let few = if known.supported { "" } else { " (few)" };
            time(Some(known.ns)) + few
        })
    }));
    // A path without a trial has no stall.
    let stall = (!path.trials.is_empty()).then_some(path.longest_stall_ns);
    cells.extend([times.max_ns, times.pdv_ns, stall].map(time));
    cells
}

/// Percentiles that too few frames stand behind are left out.
fn latency(gauges: &mut Gauges, labels: &Labels<'_>, line: &LatencyLine) {
    for load in &line.loads {
        let fps = load.load_fps.to_string();
        let bed = load.bed.iter().map(|bed| ("bed", bed));
        for (path, found) in [("router", &load.router)].into_iter().chain(bed) {
            let more: Labels<'_> = vec![("frame", &line.frame), ("load_fps", &fps), ("path", path)];
            let labels = with(labels, &more);
            let supported = found.times.percentiles.iter().filter(|at| at.supported);
            let known = supported.map(|at| (at.percent.to_string(), Some(at.ns)));
            let most = ("100".to_owned(), found.times.max_ns);
            for (percentile, ns) in known.chain([most]) {
                let labels = with(&labels, &[("percentile", &percentile)]);
                gauges.add(LATENCY.0, LATENCY.1, &labels, seconds(ns));
            }
        }
    }
}
