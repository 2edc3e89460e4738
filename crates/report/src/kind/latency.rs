//! Latencies of `mpps latency`.

use super::TrialPlot;
use super::described::{About, Answered, Described};
use crate::chart::Chart;
use crate::column::{FEW, On, TableRow, columns, micros};
use crate::gauges::{Gauges, LATENCY, Labels, seconds, with};
use crate::number::{percent_given, short_count};
use crate::{number, plots, sentence};
use mpps_record::{LatencyLine, LatencyLoad, PERCENTS, PathLatency, Run, Verdict};

const HEADS: [&str; 5] = ["p50", "p90", "p99", "p99.9", "p99.99"];

impl Described for LatencyLine {
    const PURPOSE: &'static str =
        "How long frames take at each load, through the router and through a wire.";
    const ROWS: &'static str = "paths";
    const HIDDEN: &'static [TrialPlot] = &[TrialPlot::Latency];
    const ABOVE: &'static str = "Times in µs\n";

    fn title(&self) -> String {
        "Latency, one-way, every frame timed (RFC 2544 section 26.2, RFC 8219 section 7)".to_owned()
    }

    fn about(&self) -> About<'_> {
        (vec![("frame", &self.frame)], self.why.as_deref())
    }

    fn sentence(&self) -> String {
        sentence::latency(self)
    }

    /// Through the router, then through the bed alone.
    fn rows(&self, _: On) -> Vec<TableRow> {
        let of_load = |load: &LatencyLoad| {
            paths(load)
                .map(|path| row(self, load, path))
                .collect::<Vec<_>>()
        };
        self.loads.iter().flat_map(of_load).collect()
    }

    fn remarks(&self) -> Vec<String> {
        let mut paths = self.loads.iter().flat_map(paths);
        let few = paths.any(|(_, path)| path.times.percentiles.iter().any(|at| !at.supported));
        let few = few.then(|| {
            let least = mpps_record::FRAMES_ABOVE_MIN;
            format!("{FEW}: fewer than {least} frames took longer")
        });
        let whose = match self.throughput_given {
            true => "the given throughput",
            false => "the rate without loss that a search found",
        };
        let shares = self.loads.iter().any(|load| load.load_share.is_some());
        let whole = self.throughput_fps.filter(|_| shares);
        let whole = whole.map(|fps| format!("100 % is {whose}: {} frames/s", short_count(fps)));
        let stalls = ["router", "bed"].map(|path| longest(self, path));
        let stalls: Vec<String> = stalls.into_iter().flatten().collect();
        let stalls = (!stalls.is_empty())
            .then(|| format!("longest stall or slow time of a CPU: {}", stalls.join(", ")));
        [few, whole, stalls].into_iter().flatten().collect()
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        for load in &self.loads {
            let fps = load.load_fps.to_string();
            for (path, found) in paths(load) {
                let labels = with(labels, &[("load_fps", &fps), ("path", path)]);
                // Percentiles that too few frames stand behind are left out.
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

    fn charts(lines: &[Self], _: &Run) -> Vec<Option<Chart>> {
        plots::latencies(lines).into_iter().map(Some).collect()
    }

    /// A load that the tester cannot offer is shown as such, unless it is all that there is.
    fn answered(&self) -> Answered {
        let is_measured = |load: &LatencyLoad| !load.router.trials.is_empty();
        let of_load = |load: &LatencyLoad| match load.router.left_out_verdict {
            _ if is_measured(load) || self.in_place_of(load).is_some() => Answered::Measured,
            Some(Verdict::NotOffered) => Answered::Measured,
            Some(Verdict::Invalid) => Answered::Failed,
            _ => Answered::Undecided,
        };
        let any = Answered::if_measured(self.loads.iter().any(is_measured));
        self.loads.iter().map(of_load).fold(any, Answered::max)
    }
}

fn paths(load: &LatencyLoad) -> impl Iterator<Item = (&'static str, &PathLatency)> {
    let bed = load.bed.iter().map(|bed| ("bed", bed));
    [("router", &load.router)].into_iter().chain(bed)
}

fn row(
    line: &LatencyLine,
    load: &LatencyLoad,
    (path, found): (&'static str, &PathLatency),
) -> TableRow {
    let times = &found.times;
    // A terminal has the load beside the first of its paths alone.
    let once = |told: String| {
        if path == "router" {
            told
        } else {
            String::new()
        }
    };
    let share = load.load_share.map_or("-".to_owned(), percent_given);
    let mut columns = columns! {
        words "load" sentence::load(load), page;
        text "load" once(share), screen;
        text "frames/s" once(short_count(load.load_fps)), screen;
        words "path" path.to_owned();
        count "trials" found.trials.len() as u64, page;
        count "timed" times.timed_frames, page;
        count "lost" found.lost_frames, page;
        time "least" times.min_ns, page;
        time "mean" times.mean_ns, page;
    };
    columns.extend(HEADS.iter().zip(PERCENTS).map(|(head, percent)| {
        let known = times.percentiles.iter().find(|at| at.percent == percent);
        micros(head, known.map(|at| (at.ns, at.supported)))
    }));
    // A path without a trial has no stall.
    let stall = (!found.trials.is_empty()).then_some(found.longest_stall_ns);
    let exact = |ns: Option<u64>| ns.map(|ns| (ns, true));
    columns.extend(columns! {
        micros "max" exact(times.max_ns);
        micros "PDV" exact(times.pdv_ns);
        time "longest stall" stall, page;
        text "samples" short_count(times.timed_frames), screen;
    });
    let row = TableRow::new(load.load_fps as f64, columns);
    if let Some(instead) = line.in_place_of(load).filter(|_| path == "router") {
        let why = sentence::instead(load, instead);
        return row.unless(false, name(load), 0, (&Verdict::NotOffered, &why));
    }
    let void = (found.left_out_trials.len() as u32).saturating_sub(1);
    let verdict = found.left_out_verdict.clone().unwrap_or_default();
    let why = found.left_out_text.as_deref().unwrap_or("no trial");
    let name = format!("{}, {path}", name(load));
    row.unless(!found.trials.is_empty(), name, void, (&verdict, why))
}

fn name(load: &LatencyLoad) -> String {
    match load.load_share {
        Some(share) => percent_given(share),
        None => format!("{} frames/s", short_count(load.load_fps)),
    }
}

/// The longest stall of all loads, through this path.
fn longest(line: &LatencyLine, through: &str) -> Option<String> {
    let all = line.loads.iter().flat_map(|load| {
        paths(load).map(move |(path, found)| (path, found.longest_stall_ns, load))
    });
    let (_, ns, load) = all
        .filter(|(path, ..)| *path == through)
        .max_by_key(|(_, ns, _)| *ns)?;
    let time = number::time(ns as f64);
    (ns > 0).then(|| format!("{time} ({through}, at {})", name(load)))
}
