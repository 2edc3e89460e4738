//! Tables of all jobs but the search: `mpps loss --overload`, `mpps latency`, `mpps explain` and others.

use super::{INTERVAL, dash, whole};
use crate::number;
use crate::profile;
use crate::sentence;
use crate::sweep;
use mpps_record::{
    BurstLine, ComparisonLine, Interval, LatencyLine, LatencyLoad, OverloadLine, PathLatency,
    RecoveryLine, ResetLine, Run, Variant,
};

const LATENCIES: &[&str] = &[
    "frame", "load", "through", "trials", "timed", "lost", "least", "mean", "p50", "p90", "p99",
    "p99.9", "p99.99", "most",
];
/// Those that have a column.
const PERCENTS: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];
const BURSTS: &[&str] = &[
    "frame",
    "search",
    "longest without loss",
    "shortest with loss",
    "frames/s in it",
    "buffer, frames",
    "buffer time",
    "corrected",
];
const RECOVERIES: &[&str] = &[
    "frame",
    "trial",
    "says",
    "recovery time",
    "lost",
    "void before it",
    "verdict",
];
const RESETS: &[&str] = &[
    "frame",
    "reset",
    "trial",
    "says",
    "by frame loss",
    "by time stamps",
    "may differ by",
    "reset took",
    "before, frames/s",
    "after, frames/s",
    "lost",
    "void before it",
    "verdict",
];
const OVERLOADS: &[&str] = &[
    "frame",
    "load",
    "seconds",
    "offered, frames/s",
    "forwarded",
    "lowest",
    "highest",
    "answered",
    "longest without answer",
    "frames lost for",
];
const COMPARISONS: &[&str] = &[
    "frame",
    "variant",
    "at overload, frames/s",
    INTERVAL,
    "ns a frame",
    INTERVAL,
    "ns a frame at the fixed load",
    INTERVAL,
    "against the first",
];

/// Heads and cells.
type Rows = (&'static [&'static str], Vec<Vec<String>>);

/// Those of the run's job. `None` where it is another one.
pub fn rows(run: &Run) -> Option<Rows> {
    let all: [Rows; 8] = [
        (OVERLOADS, run.overloads.iter().map(overload).collect()),
        (LATENCIES, run.latencies.iter().flat_map(latency).collect()),
        (BURSTS, run.bursts.iter().flat_map(burst).collect()),
        (
            RECOVERIES,
            run.recoveries.iter().flat_map(recovery).collect(),
        ),
        (RESETS, run.resets.iter().flat_map(reset).collect()),
        (
            COMPARISONS,
            run.comparisons.iter().flat_map(comparison).collect(),
        ),
        (
            profile::COLUMNS,
            run.profiles.iter().flat_map(profile::rows).collect(),
        ),
        (
            sweep::COLUMNS,
            run.sweeps.iter().flat_map(sweep::rows).collect(),
        ),
    ];
    all.into_iter().find(|(_, rows)| !rows.is_empty())
}

fn time(ns: Option<u64>) -> String {
    ns.map_or_else(dash, |ns| number::time(ns as f64))
}

fn latency(line: &LatencyLine) -> Vec<Vec<String>> {
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
    cells.push(time(times.max_ns));
    cells
}

fn burst(line: &BurstLine) -> Vec<Vec<String>> {
    let frame = || number::frame(&line.frame);
    let searches = line.searches.iter().zip(1..).map(|(search, number)| {
        vec![
            frame(),
            number.to_string(),
            number::grouped(search.longest_frames),
            number::grouped(search.lossy_frames),
            number::grouped(search.burst_fps),
            whole(Some(search.buffer_frames)),
            dash(),
            dash(),
        ]
    });
    let all = line.all.iter().map(|all| {
        vec![
            frame(),
            "average".to_owned(),
            whole(Some(all.average_frames)),
            dash(),
            number::grouped(all.burst_fps),
            dash(),
            time(Some(all.implied_buffer_ns)),
            time(all.corrected_buffer_ns),
        ]
    });
    all.chain(searches).collect()
}

fn recovery(line: &RecoveryLine) -> Vec<Vec<String>> {
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

fn reset(line: &ResetLine) -> Vec<Vec<String>> {
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

fn overload(line: &OverloadLine) -> Vec<String> {
    let spread = |rate| sentence::spread(&line.seconds, rate);
    let offered = spread(|second| second.offered_fps).map(|[mean, ..]| mean);
    let forwarded = spread(|second| second.forwarding_fps);
    let path = line.management.as_ref();
    vec![
        number::frame(&line.frame),
        line.load.clone(),
        line.seconds.len().to_string(),
        whole(offered),
        whole(forwarded.map(|[mean, ..]| mean)),
        whole(forwarded.map(|[_, lowest, _]| lowest)),
        whole(forwarded.map(|[.., highest]| highest)),
        path.map_or_else(dash, |path| format!("{} of {}", path.answered, path.asked)),
        time(path.map(|path| path.longest_silence_ns)),
        time(line.recovery_ns),
    ]
}

fn comparison(line: &ComparisonLine) -> Vec<Vec<String>> {
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
