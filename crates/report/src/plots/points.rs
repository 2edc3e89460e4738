//! `mpps fib-scale`: the cost of a frame and the rate, against routes or destinations.

use super::frames::rate_axis;
use crate::chart::{Axis, Chart, Kind, Point, Series};
use crate::number;
use crate::scale::Scale;
use mpps_record::{Interval, PointLine, Run};

/// What changes in a series, and its name.
const SERIES: [(&str, &str); 3] = [
    ("routes", "against routes"),
    ("destinations", "against destinations"),
    ("coupled", "against both, coupled"),
];

/// The router's part of a frame's cost.
#[must_use]
pub fn scale_cost(run: &Run) -> Option<Chart> {
    let y = Axis {
        label: "router, CPU time for a frame",
        scale: Scale::Linear { from_zero: true },
        words: number::cost,
    };
    drawn(
        run,
        "Cost of a frame by routes and destinations",
        y,
        |point| Some(point.cost?.router_ns),
    )
}

/// The maximum forwarding rate.
#[must_use]
pub fn scale_rate(run: &Run) -> Option<Chart> {
    let scale = Scale::Linear { from_zero: true };
    let y = rate_axis("maximum forwarding rate, frames/s", scale);
    drawn(
        run,
        "Maximum forwarding rate by routes and destinations",
        y,
        |point| {
            let found = point.max_forwarding_fps?;
            Some(Interval {
                low: found.low as f64,
                median: found.median as f64,
                high: found.high as f64,
            })
        },
    )
}

fn drawn(
    run: &Run,
    title: &str,
    y: Axis,
    value: fn(&PointLine) -> Option<Interval<f64>>,
) -> Option<Chart> {
    let mut series = Vec::new();
    for (style, (word, name)) in SERIES.into_iter().enumerate() {
        let of_series = run.points.iter().filter(|point| point.series == word);
        let mut points: Vec<Point> = of_series
            .filter_map(|point| {
                let found = value(point)?;
                Some(Point {
                    x: count(point),
                    y: found.median,
                    ends: Some((found.low, found.high)),
                    bound: point
                        .limited_by
                        .as_deref()
                        .is_some_and(|limit| limit != "DUT"),
                    ..Point::default()
                })
            })
            .collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        if !points.is_empty() {
            series.push(Series {
                name: name.to_owned(),
                style,
                kind: Kind::Joined,
                points,
            });
        }
    }
    Chart {
        title: title.to_owned(),
        note: "Bars are 95 % intervals. At a hollow mark the router was not at its limit."
            .to_owned(),
        x: Axis {
            label: "routes or destinations",
            scale: Scale::Counts,
            words: number::short,
        },
        y,
        series,
    }
    .drawable()
}

/// What changes in the point's series.
fn count(point: &PointLine) -> f64 {
    let destinations = point.traffic.destinations.as_ref();
    let count = match point.series.as_str() {
        "destinations" => destinations.map_or(point.asked_destinations, |drawn| drawn.distinct),
        _ => point
            .routes
            .as_ref()
            .map_or(point.asked_routes, |routes| routes.routes),
    };
    count as f64
}
