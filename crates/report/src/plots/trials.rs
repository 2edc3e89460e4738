//! Trials of one frame size as points: the search, and what the router did at each load.

use super::frames::rate_axis;
use crate::chart::{Axis, Chart, Kind, Point, Series};
use crate::number;
use crate::scale::Scale;
use crate::trial::Figures;
use mpps_record::{Phase, Run, TrialLine, Verdict};

const VERDICTS: [(Verdict, usize, &str); 5] = [
    (Verdict::Lossless, 0, "lossless"),
    (Verdict::Lossy, 1, "lossy"),
    (Verdict::Void, 5, "void: the machine disturbed it"),
    (Verdict::NotOffered, 3, "not offered: the tester fell short"),
    (Verdict::Invalid, 4, "invalid"),
];

/// One sentence for a trial's mark.
fn words(trial: &TrialLine) -> String {
    let figures = Figures::new(trial);
    let busy = figures.busy.map_or(String::new(), |busy| {
        format!(", router {} busy", number::percent(busy))
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

/// Every trial of a search by number and load, coloured by verdict, and the loads found.
#[must_use]
pub fn search(run: &Run, frame: &str) -> Option<Chart> {
    let searched: Vec<&TrialLine> = run
        .trials
        .iter()
        .filter(|trial| trial.frame == frame && !at_overload(trial) && trial.phase != Phase::Gate)
        .collect();
    let (first, last) = (searched.first()?.trial, searched.last()?.trial);
    let mut series: Vec<Series> = found_rates(run, frame)
        .map(|fps| Series {
            name: format!("found: {} frames/s", number::rate(fps)),
            style: 2,
            kind: Kind::Rule,
            points: [first, last]
                .map(|trial| Point {
                    x: f64::from(trial),
                    y: fps,
                    ..Point::default()
                })
                .into(),
        })
        .collect();
    for (verdict, style, name) in VERDICTS {
        let judged = searched.iter().filter(|trial| trial.verdict == verdict);
        let points: Vec<Point> = judged
            .map(|trial| Point {
                x: f64::from(trial.trial),
                y: Figures::new(trial).offered_fps,
                words: words(trial),
                ..Point::default()
            })
            .collect();
        if !points.is_empty() {
            series.push(Series {
                name: name.to_owned(),
                style,
                kind: Kind::Marks,
                points,
            });
        }
    }
    Chart {
        title: format!("{}: the search as it went", number::frame(frame)),
        note: "Each mark is a trial. Marks of both colours at one load show a restless machine."
            .to_owned(),
        x: Axis {
            label: "number of the trial",
            scale: Scale::Whole,
            words: number::short,
        },
        y: rate_axis("offered load, frames/s", Scale::Linear { from_zero: false }),
        series,
    }
    .drawable()
}

/// Rates that the run's results give for a frame size.
fn found_rates(run: &Run, frame: &str) -> impl Iterator<Item = f64> {
    let of_frame = run
        .results
        .iter()
        .filter(move |result| result.frame == frame);
    of_frame.filter_map(|result| result.rate_fps.map(|fps| fps as f64))
}

fn at_overload(trial: &TrialLine) -> bool {
    matches!(trial.phase, Phase::Overload | Phase::Wire)
}

/// One point a trial through the router or through a wire, by the load really sent.
fn by_load(run: &Run, frame: &str, wire: bool, value: fn(&Figures) -> Option<f64>) -> Vec<Point> {
    let usable = |trial: &&TrialLine| {
        let judged = matches!(trial.verdict, Verdict::Lossless | Verdict::Lossy);
        judged && trial.frame == frame && (trial.phase == Phase::Wire) == wire
    };
    let trials = run.trials.iter().filter(usable);
    let points = trials.filter_map(|trial| {
        let figures = Figures::new(trial);
        Some(Point {
            x: figures.sent_fps,
            y: value(&figures)?,
            words: words(trial),
            ..Point::default()
        })
    });
    points.collect()
}

/// A chart of marks against the load.
fn against_load(
    title: String,
    note: &str,
    y: Axis,
    series: [(&str, usize, Vec<Point>); 2],
) -> Option<Chart> {
    let all = || series.iter().flat_map(|(.., points)| points);
    let x = rate_axis(
        "load sent, frames/s",
        Scale::fitting(all().map(|point| point.x)),
    );
    let series = series
        .into_iter()
        .filter(|(.., points)| !points.is_empty())
        .map(|(name, style, points)| Series {
            name: name.to_owned(),
            style,
            kind: Kind::Marks,
            points,
        });
    Chart {
        title,
        note: note.to_owned(),
        x,
        y,
        series: series.collect(),
    }
    .drawable()
}

/// Forwarding rate against offered load, through the router and through a wire in its place.
#[must_use]
pub fn forwarding(run: &Run, frame: &str) -> Option<Chart> {
    let series =
        [true, false].map(|wire| by_load(run, frame, wire, |figures| Some(figures.forwarded_fps)));
    let highest = series
        .iter()
        .flatten()
        .map(|point| point.x)
        .fold(0.0, f64::max);
    let lowest = series
        .iter()
        .flatten()
        .map(|point| point.x)
        .fold(f64::MAX, f64::min);
    let scale = Scale::fitting(series.iter().flatten().map(|point| point.x));
    let [wire, router] = series;
    let mut chart = against_load(
        format!("{}: forwarding rate by load", number::frame(frame)),
        "Below the dashed line frames are lost. Void trials are left out.",
        rate_axis("forwarded, frames/s", scale),
        [
            ("wire in the router's place", 3, wire),
            ("router", 0, router),
        ],
    )?;
    let ends = [if lowest < highest { lowest } else { 0.0 }, highest];
    let all = Series {
        name: "all that was sent".to_owned(),
        style: 2,
        kind: Kind::Rule,
        points: ends
            .map(|fps| Point {
                x: fps,
                y: fps,
                ..Point::default()
            })
            .into(),
    };
    chart.series.insert(0, all);
    Some(chart)
}

/// Loss and the router's busy share against offered load.
#[must_use]
pub fn loss(run: &Run, frame: &str) -> Option<Chart> {
    let y = Axis {
        label: "share",
        scale: Scale::Linear { from_zero: true },
        words: number::percent,
    };
    against_load(
        format!("{}: loss and router busy by load", number::frame(frame)),
        "Busy is the share of the router's busiest CPU. Void trials are left out.",
        y,
        [
            (
                "router busy",
                2,
                by_load(run, frame, false, |figures| figures.busy),
            ),
            (
                "frames lost",
                1,
                by_load(run, frame, false, |figures| Some(figures.loss)),
            ),
        ],
    )
}
