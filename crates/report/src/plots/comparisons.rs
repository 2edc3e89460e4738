//! `mpps compare`: the rate and the cost of each variant, and how far each is from the first.

use super::frames::rate_axis;
use crate::chart::{Axis, Chart, Kind, Point, STYLES, Series};
use crate::interval::interval_name;
use crate::number;
use crate::scale::Scale;
use mpps_record::{ComparisonLine, Interval, Variant};

const ZERO: Scale = Scale::Linear { from_zero: true };
const FREE: Scale = Scale::Linear { from_zero: false };
/// Room beside a variant for the marks of all frame sizes.
const ROOM: f64 = 0.4;

/// Dots with their intervals: frames/s and CPU time a frame, each by itself and against the first variant.
#[must_use]
pub fn comparisons(lines: &[ComparisonLine]) -> [Option<Chart>; 4] {
    let plot = |texts: [&str; 2], y: Axis, value: fn(&Variant) -> Option<Interval<f64>>| {
        drawn(lines, texts, y, value)
    };
    let variants = lines.iter().flat_map(|line| &line.variants);
    let interval = interval_name(variants.map(|variant| variant.overload_trials.len()));
    let own = format!("Lines show the {interval} of a variant by itself.");
    let pairs = "Lines are intervals of pairs of turns. They hold in 19 of 20 comparisons.";
    [
        plot(
            ["Frames/s of each variant", &own],
            rate_axis("forwarded at overload, frames/s", ZERO),
            |variant| variant.forwarding_fps.map(Interval::from),
        ),
        plot(
            ["Frames/s against the first variant", pairs],
            Axis::new("more frames/s", FREE, number::percent),
            |variant| variant.difference.as_ref()?.rate_change,
        ),
        plot(
            ["CPU time of a frame of each variant", &own],
            Axis::new("CPU time at overload", ZERO, number::cost),
            |variant| variant.ns_per_frame,
        ),
        plot(
            ["CPU time of a frame against the first variant", pairs],
            Axis::new("more CPU time at overload", FREE, number::cost),
            |variant| variant.difference.as_ref()?.cost_ns,
        ),
    ]
}

fn drawn(
    lines: &[ComparisonLine],
    [title, note]: [&str; 2],
    y: Axis,
    value: fn(&Variant) -> Option<Interval<f64>>,
) -> Option<Chart> {
    let mut names: Vec<String> = Vec::new();
    for variant in lines.iter().flat_map(|line| &line.variants) {
        if value(variant).is_some() && !names.contains(&variant.name) {
            names.push(variant.name.clone());
        }
    }
    let step = ROOM / lines.len().max(1) as f64;
    let mut series: Vec<Series> = Vec::new();
    for (style, line) in lines.iter().enumerate() {
        let aside = step * (style as f64 - (lines.len() - 1) as f64 / 2.0);
        let points = line.variants.iter().filter_map(|variant| {
            let found = value(variant)?;
            let at = names.iter().position(|name| *name == variant.name)?;
            let point = Point::new(at as f64 + aside, found.median);
            Some(point.between(found.low, found.high))
        });
        let name = number::frame(&line.frame);
        series.push(Series::new(name, style, Kind::Marks, points.collect()));
    }
    if y.scale() == &FREE {
        let ends = [-0.5, names.len() as f64 - 0.5].map(|at| Point::new(at, 0.0));
        let first = lines.first().and_then(|line| line.variants.first());
        let name = first.map_or("the first", |first| &first.name);
        series.insert(0, Series::new(name, STYLES - 1, Kind::Rule, ends.into()));
    }
    Chart::new(
        title.to_owned(),
        note,
        Axis::new("variant", Scale::Names(names), number::short),
        y,
        series,
    )
}
