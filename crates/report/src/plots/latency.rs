//! Latency of the trials that results stand on: by percentile, and as a histogram.

use crate::chart::{Axis, Chart, Kind, Point, STYLES, Series};
use crate::number;
use crate::scale::Scale;
use crate::sentence;
use crate::trial::Figures;
use mpps_record::{
    Histogram, LatencyLine, LatencyLoad, PathLatency, Phase, Quantiles, ResultLine, TrialLine,
    Verdict,
};
use std::collections::BTreeMap;

/// Trials, and the results that stand on some of them.
type Judged<'a> = (&'a [&'a TrialLine], &'a [ResultLine]);

/// The trials to show: those that results stand on; without results the last ones of different loads.
fn shown<'a>(trials: &[&'a TrialLine], results: &[ResultLine]) -> Vec<&'a TrialLine> {
    let stands = results
        .iter()
        .filter_map(|result| result.stands_on.stands_on_trial);
    let stands: Vec<u32> = stands.collect();
    let mut shown: Vec<&TrialLine> = Vec::new();
    for &trial in trials.iter().rev() {
        let timed = trial.latency.timed_frames > 0 && shown.len() < STYLES;
        let wanted = if stands.is_empty() {
            let same = |other: &&TrialLine| {
                (&other.frame, other.offered_fps) == (&trial.frame, trial.offered_fps)
            };
            let judged = matches!(trial.verdict, Verdict::Lossless | Verdict::Lossy);
            let paced = !matches!(trial.phase, Phase::Wire | Phase::Overload | Phase::InTurns);
            judged && paced && !shown.iter().any(same)
        } else {
            stands.contains(&trial.trial)
        };
        if timed && wanted {
            shown.push(trial);
        }
    }
    shown.reverse();
    shown
}

fn name(trial: &TrialLine) -> String {
    format!(
        "{} at {} frames/s (trial {})",
        number::frame(&trial.frame),
        number::rate(Figures::new(trial).offered_fps),
        trial.trial
    )
}

/// A series for each trial.
fn series(
    (trials, results): Judged<'_>,
    kind: Kind,
    points: fn(&Quantiles) -> Vec<Point>,
) -> Vec<Series> {
    let trials = shown(trials, results).into_iter().enumerate();
    let series =
        trials.map(|(style, trial)| Series::new(name(trial), style, kind, points(&trial.latency)));
    series.collect()
}

const NOTE: &str = "The time runs from the sender's port to the receiver, the bed included.";

/// `mpps latency`: for each frame size the percentiles at each load, and the histogram at the highest one. The bed's own
/// are beside them.
#[must_use]
pub fn latencies(lines: &[LatencyLine]) -> Vec<Chart> {
    let charts = lines.iter().flat_map(|line| {
        let frame = number::frame(&line.frame);
        let highest = line
            .loads
            .iter()
            .filter(|load| load.router.times.timed_frames > 0);
        let highest = highest.max_by_key(|load| load.load_fps);
        let bars = highest.map_or(Vec::new(), |load| {
            let paths = [
                ("router", 1, Some(&load.router)),
                ("wire", 4, load.bed.as_ref()),
            ];
            let bars = paths.into_iter().filter_map(|(name, style, path)| {
                let points = buckets(&Quantiles::from(path?.times.histogram_ns.clone()));
                Some(Series::new(name, style, Kind::Bars, points))
            });
            bars.rev().collect()
        });
        let at = highest.map_or(String::new(), sentence::load);
        [
            by_percentile(
                format!("{frame}: latency by percentile"),
                PATHS,
                paths(line),
            ),
            as_histogram(format!("{frame}: latency at {at}"), PATHS, bars),
        ]
    });
    charts.flatten().collect()
}

const PATHS: &str = "The time runs from the sender's port to the receiver. The wire is in the router's place: nothing \
    is subtracted.";

/// Of each load the router's, and the bed's as a dashed line of the same colour.
fn paths(line: &LatencyLine) -> Vec<Series> {
    let of_load = |(style, load): (usize, &LatencyLoad)| {
        let series = |name, kind, path: &PathLatency| {
            let points = percentiles(&Quantiles::from(path.times.histogram_ns.clone()));
            Series::new(name, style, kind, points)
        };
        let at = sentence::load(load);
        let bed = load.bed.as_ref();
        let bed = bed.map(|bed| series(format!("{at}, wire"), Kind::Rule, bed));
        bed.into_iter()
            .chain([series(at, Kind::Joined, &load.router)])
            .collect::<Vec<_>>()
    };
    line.loads.iter().enumerate().flat_map(of_load).collect()
}

/// The time that each share of frames does not exceed.
#[must_use]
pub fn latency(judged: Judged<'_>) -> Option<Chart> {
    let series = series(judged, Kind::Joined, percentiles);
    by_percentile("Latency by percentile".to_owned(), NOTE, series)
}

fn by_percentile(title: String, note: &'static str, series: Vec<Series>) -> Option<Chart> {
    let scale = Scale::fitting(series.iter().flat_map(Series::points).map(Point::y));
    Chart::new(
        title,
        note,
        Axis::new(
            "share of frames that took no longer",
            Scale::Nines,
            number::percent,
        ),
        Axis::new("latency", scale, number::time),
        series,
    )
}

/// Frames by the time they took. Only records of schema 3 have it.
#[must_use]
pub fn latency_histogram(judged: Judged<'_>) -> Option<Chart> {
    let series = series(judged, Kind::Bars, buckets);
    as_histogram("Latency as a histogram".to_owned(), NOTE, series)
}

fn as_histogram(title: String, note: &'static str, series: Vec<Series>) -> Option<Chart> {
    let zero = Scale::Linear { from_zero: true };
    Chart::new(
        title,
        note,
        Axis::new("latency", Scale::Log, number::time),
        Axis::new("share of frames in a bar", zero, number::percent),
        series,
    )
}

/// Shares at which a percentile is drawn: nine between two nines.
fn shares() -> impl Iterator<Item = f64> {
    (0..6).flat_map(|nines| {
        let left = 10_f64.powi(-nines);
        (0..9).map(move |ninth| 1.0 - left * (1.0 - 0.1 * f64::from(ninth)))
    })
}

fn percentiles(latency: &Quantiles) -> Vec<Point> {
    let point = |(share, ns): (f64, u64)| {
        let ns = ns as f64;
        let percent = (share * 1e8).round() / 1e6;
        Point::new(share, ns).told(format!(
            "{percent} % of frames took at most {}",
            number::time(ns)
        ))
    };
    if let Some(histogram) = latency
        .histogram_ns
        .as_ref()
        .filter(|all| !all.0.is_empty())
    {
        // A share behind which there is less than one frame says nothing.
        let frames = histogram.frames() as f64;
        let said = shares().take_while(|share| (1.0 - share) * frames >= 1.0);
        return said
            .filter_map(|share| Some(point((share, histogram.quantile_ns(share)?))))
            .collect();
    }
    let known = [
        (0.5, latency.p50_ns),
        (0.9, latency.p90_ns),
        (0.99, latency.p99_ns),
        (0.999, latency.p999_ns),
    ];
    known
        .into_iter()
        .filter_map(|(share, ns)| Some(point((share, ns?))))
        .collect()
}

/// Bars that share a power of two.
const BARS: u64 = 8;

/// Bars of a histogram: four buckets of the record become one, because a bar of one bucket is thinner than a pixel.
fn buckets(latency: &Quantiles) -> Vec<Point> {
    let Some(histogram) = &latency.histogram_ns else {
        return Vec::new();
    };
    let frames = histogram.frames().max(1) as f64;
    let mut bars: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for &(upper_ns, count) in &histogram.0 {
        let shortest = Histogram::lower_ns(upper_ns).max(1);
        let width = (1 << shortest.ilog2()) / BARS;
        let lower = shortest / width.max(1) * width.max(1);
        let bar = bars
            .entry((lower, lower.saturating_add(width.max(1))))
            .or_default();
        *bar = bar.saturating_add(count);
    }
    let bars = bars.into_iter().map(|((lower, upper), count)| {
        let (lower, upper, share) = (lower as f64, upper as f64, count as f64 / frames);
        let words = format!(
            "{} to {}: {} frames, {}",
            number::time(lower),
            number::time(upper),
            number::grouped(count),
            number::percent(share)
        );
        Point::new(lower, share)
            .barred(lower, upper, 0.0)
            .told(words)
    });
    bars.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_hold_all_frames() {
        let histogram = Histogram(vec![(0, 1), (5, 2), (63, 4), (65, 8), ((1 << 40) - 1, 1)]);
        let bars = buckets(&Quantiles::from(histogram));
        let shares: f64 = bars.iter().map(Point::y).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{bars:?}");
    }

    #[test]
    fn a_percentile_needs_a_frame_behind_it() {
        let histogram = Histogram(vec![(100, 90), (2_000, 10)]);
        let points = percentiles(&Quantiles::from(histogram));
        let last = points.last().expect("points");
        assert!(last.x() < 0.991 && last.y() == 2_000.0, "{last:?}");
    }
}
