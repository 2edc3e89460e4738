//! Trials of one frame size as points: the search, and what the router did at each load.

use super::frames::rate_axis;
use crate::chart::{Axis, Chart, Kind, Point, Series};
use crate::number;
use crate::row::Reading;
use crate::scale::Scale;
use crate::trial::Figures;
use mpps_record::{Phase, ResultLine, TrialLine, Verdict};

const VERDICTS: [(Verdict, usize, &str); 5] = [
    (Verdict::Lossless, 0, "lossless"),
    (Verdict::Lossy, 1, "lossy"),
    (Verdict::Void, 5, "void: the machine disturbed it"),
    (
        Verdict::NotOffered,
        3,
        "not offered: the tester could not send it",
    ),
    (Verdict::Invalid, 4, "invalid"),
];

/// Marks of a part with more trials than this have their numbers alone: the sentences take memory.
const TOLD: usize = 10_000;

/// One sentence for the mark of one of so many trials.
fn words(all: usize, trial: &TrialLine) -> String {
    if all > TOLD {
        return String::new();
    }
    let figures = Figures::new(trial);
    let busy = figures.busy.map_or(String::new(), |busy| {
        format!(", DUT {} busy", number::percent(busy))
    });
    format!(
        "trial {} ({}): {} frames/s offered, {}, lost {}{busy}",
        trial.trial,
        trial.phase,
        number::rate(figures.offered_fps),
        trial.verdict,
        number::percent(figures.loss)
    )
}

/// Above this many seconds an axis has minutes.
const SECONDS: f64 = 180.0;

/// The axis of time with its unit, ns; of numbers without one where the record has no times.
fn search_axis(trials: &[&TrialLine]) -> (Axis, Option<f64>) {
    let times: Option<Vec<u64>> = trials.iter().map(|trial| trial.begun_after_ns).collect();
    let last = times.and_then(|times| times.into_iter().max());
    let Some(last) = last else {
        return (rate_axis("number of the trial", Scale::Whole), None);
    };
    let (label, unit_ns) = if last as f64 > SECONDS * 1e9 {
        ("minutes since the run began", 60e9)
    } else {
        ("seconds since the run began", 1e9)
    };
    let free = Scale::Linear { from_zero: false };
    (rate_axis(label, free), Some(unit_ns))
}

/// Every trial of a search by time, or number where the record has no times, and by load; and the loads found.
#[must_use]
pub fn search(trials: &[&TrialLine], results: &[ResultLine], frame: &str) -> Option<Chart> {
    let apart = [
        Phase::Overload,
        Phase::Wire,
        Phase::Gate,
        Phase::Burst,
        Phase::Latency,
        Phase::Recovery,
        Phase::Reset,
        Phase::InTurns,
    ];
    let of_search = |trial: &&&TrialLine| trial.frame == frame && !apart.contains(&trial.phase);
    let searched: Vec<&TrialLine> = trials.iter().filter(of_search).copied().collect();
    let (x, unit_ns) = search_axis(&searched);
    let place = |trial: &TrialLine| match (unit_ns, trial.begun_after_ns) {
        (Some(unit_ns), Some(begun_ns)) => begun_ns as f64 / unit_ns,
        _ => f64::from(trial.trial),
    };
    let ends = [place(searched.first()?), place(searched.last()?)];
    let found = results.iter().filter(|result| result.frame == frame);
    let found =
        found.filter_map(|result| Some((Reading::from_line(result), result.rate_fps? as f64)));
    let mut series: Vec<Series> = found
        .map(|(reading, fps)| {
            let how = match reading {
                Reading::Unconfirmed(_) => "not confirmed",
                _ => "found",
            };
            let name = format!("{how}: {} frames/s", number::rate(fps));
            let points = ends.map(|trial| Point::new(trial, fps));
            Series::new(name, 2, Kind::Rule, points.into())
        })
        .collect();
    series.extend(VERDICTS.map(|(verdict, style, name)| {
        let judged = searched.iter().filter(|trial| trial.verdict == verdict);
        let points = judged.map(|trial| {
            let load = Figures::new(trial).offered_fps;
            Point::new(place(trial), load).told(words(trials.len(), trial))
        });
        Series::new(name, style, Kind::Marks, points.collect())
    }));
    let free = Scale::Linear { from_zero: false };
    Chart::new(
        format!("{}: the search as it went", number::frame(frame)),
        "Each mark is a trial. Marks of both colours at one load show that its trials differ.",
        x,
        rate_axis("offered load, frames/s", free),
        series,
    )
}

/// One mark a trial through the router or through a wire, by the load really sent.
fn by_load(
    trials: &[&TrialLine],
    frame: &str,
    (name, style, wire): (&str, usize, bool),
    value: fn(&Figures) -> Option<f64>,
) -> Series {
    let usable = |trial: &&&TrialLine| {
        let judged = matches!(trial.verdict, Verdict::Lossless | Verdict::Lossy);
        let one_load = trial.phase != Phase::InTurns;
        judged && one_load && trial.frame == frame && (trial.phase == Phase::Wire) == wire
    };
    let points = trials.iter().filter(usable).filter_map(|trial| {
        let figures = Figures::new(trial);
        Some(Point::new(figures.sent_fps, value(&figures)?).told(words(trials.len(), trial)))
    });
    Series::new(name, style, Kind::Marks, points.collect())
}

fn loads(series: &[Series]) -> impl Iterator<Item = f64> {
    series.iter().flat_map(Series::points).map(Point::x)
}

/// Forwarding rate against offered load, through the router and through a wire in its place.
#[must_use]
pub fn forwarding(trials: &[&TrialLine], frame: &str) -> Option<Chart> {
    let forwarded = |what| by_load(trials, frame, what, |figures| Some(figures.forwarded_fps));
    let mut series = vec![
        forwarded(("wire in the router's place", 3, true)),
        forwarded(("router", 0, false)),
    ];
    let ends = [
        loads(&series).fold(f64::MAX, f64::min),
        loads(&series).fold(0.0, f64::max),
    ];
    let scale = Scale::fitting(loads(&series));
    let all = ends.map(|fps| Point::new(fps, fps)).into();
    series.insert(0, Series::new("all that was sent", 2, Kind::Rule, all));
    Chart::new(
        format!("{}: forwarding rate by load", number::frame(frame)),
        "Below the dashed line frames are lost. Void trials are left out.",
        rate_axis("load sent, frames/s", scale.clone()),
        rate_axis("forwarded, frames/s", scale),
        series,
    )
}

/// Loss and the router's busy share against offered load.
#[must_use]
pub fn loss(trials: &[&TrialLine], frame: &str) -> Option<Chart> {
    let series = vec![
        by_load(trials, frame, ("router busy", 2, false), |figures| {
            figures.busy
        }),
        by_load(trials, frame, ("frames lost", 1, false), |figures| {
            Some(figures.loss)
        }),
    ];
    let zero = Scale::Linear { from_zero: true };
    Chart::new(
        format!("{}: loss and router busy by load", number::frame(frame)),
        "Busy is the share of the router's busiest CPU. Void trials are left out.",
        rate_axis("load sent, frames/s", Scale::fitting(loads(&series))),
        Axis::new("share", zero, number::percent),
        series,
    )
}
