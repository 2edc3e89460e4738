//! Latency of the trials that results stand on: by percentile, and as a histogram.

use crate::chart::{Axis, Chart, Kind, Point, STYLES, Series};
use crate::number;
use crate::scale::Scale;
use mpps_record::{Histogram, Phase, Quantiles, Run, TrialLine};

/// The trials to show: those that results stand on; without results the last ones of different loads.
fn shown(run: &Run) -> Vec<&TrialLine> {
    let stands = run
        .results
        .iter()
        .filter_map(|result| result.stands_on.stands_on_trial);
    let stands: Vec<u32> = stands.collect();
    let mut shown: Vec<&TrialLine> = Vec::new();
    for trial in run.trials.iter().rev() {
        let timed = trial.latency.timed_frames > 0 && shown.len() < STYLES;
        let wanted = if stands.is_empty() {
            let same = |other: &&TrialLine| {
                (&other.frame, other.offered_fps) == (&trial.frame, trial.offered_fps)
            };
            trial.phase != Phase::Wire && !shown.iter().any(same)
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
        number::rate(trial.offered_fps),
        trial.trial
    )
}

/// A series for each trial.
fn series(run: &Run, kind: Kind, points: fn(&Quantiles) -> Vec<Point>) -> Vec<Series> {
    let trials = shown(run).into_iter().enumerate();
    let series = trials.map(|(style, trial)| Series {
        name: name(trial),
        style,
        kind,
        points: points(&trial.latency),
    });
    series.filter(|series| !series.points.is_empty()).collect()
}

const NOTE: &str =
    "From the sender's port to the receiver, the bed included. The load is that of the result.";

/// The time that each share of frames does not exceed.
#[must_use]
pub fn latency(run: &Run) -> Option<Chart> {
    let series = series(run, Kind::Joined, percentiles);
    let times = series.iter().flat_map(|series| series.points.iter());
    let scale = Scale::fitting(times.map(|point| point.y));
    Chart {
        title: "Latency by percentile".to_owned(),
        note: NOTE.to_owned(),
        x: Axis {
            label: "share of frames that took no longer",
            scale: Scale::Nines,
            words: number::percent,
        },
        y: Axis {
            label: "latency",
            scale,
            words: number::time,
        },
        series,
    }
    .drawable()
}

/// Shares at which a percentile is drawn: nine between two nines.
fn shares() -> impl Iterator<Item = f64> {
    (0..6).flat_map(|nines| {
        let left = 10_f64.powi(-nines);
        (0..9).map(move |ninth| 1.0 - left * (1.0 - 0.1 * f64::from(ninth)))
    })
}

fn percentiles(latency: &Quantiles) -> Vec<Point> {
    let point = |(share, ns): (f64, u64)| Point {
        x: share,
        y: ns as f64,
        words: format!(
            "{} of frames took at most {}",
            shown_share(share),
            number::time(ns as f64)
        ),
        ..Point::default()
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

fn shown_share(share: f64) -> String {
    format!("{} %", (share * 1e8).round() / 1e6)
}

/// Frames by the time they took. Only records of schema 3 have it.
#[must_use]
pub fn latency_histogram(run: &Run) -> Option<Chart> {
    Chart {
        title: "Latency as a histogram".to_owned(),
        note: NOTE.to_owned(),
        x: Axis {
            label: "latency",
            scale: Scale::Log,
            words: number::time,
        },
        y: Axis {
            label: "share of frames in a bucket",
            scale: Scale::Linear { from_zero: true },
            words: number::percent,
        },
        series: series(run, Kind::Bars, buckets),
    }
    .drawable()
}

fn buckets(latency: &Quantiles) -> Vec<Point> {
    let Some(histogram) = &latency.histogram_ns else {
        return Vec::new();
    };
    let frames = histogram.frames().max(1) as f64;
    let bars = histogram.0.iter().map(|&(upper_ns, count)| {
        let lower = Histogram::lower_ns(upper_ns).max(1) as f64;
        let upper = upper_ns as f64 + 1.0;
        Point {
            x: lower,
            y: count as f64 / frames,
            bar: Some((lower, upper, 0.0)),
            words: format!(
                "{} to {}: {} frames, {}",
                number::time(lower),
                number::time(upper),
                number::grouped(count),
                number::percent(count as f64 / frames)
            ),
            ..Point::default()
        }
    });
    bars.collect()
}
