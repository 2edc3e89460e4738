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
const ZERO: Scale = Scale::Linear { from_zero: true };

/// The router's part of a frame's cost.
#[must_use]
pub fn scale_cost(run: &Run) -> Option<Chart> {
    let y = Axis::new("router, CPU time for a frame", ZERO, number::cost);
    let title = "Cost of a frame by routes and destinations";
    drawn(run, title, y, |point| Some(point.cost?.router_ns))
}

/// The maximum forwarding rate.
#[must_use]
pub fn scale_rate(run: &Run) -> Option<Chart> {
    let y = rate_axis("maximum forwarding rate, frames/s", ZERO);
    let title = "Maximum forwarding rate by routes and destinations";
    drawn(run, title, y, |point| {
        let found = point.max_forwarding_fps?;
        let [low, median, high] = [found.low, found.median, found.high].map(|fps| fps as f64);
        Some(Interval { low, median, high })
    })
}

fn drawn(
    run: &Run,
    title: &str,
    y: Axis,
    value: fn(&PointLine) -> Option<Interval<f64>>,
) -> Option<Chart> {
    let series = SERIES.into_iter().enumerate().map(|(style, (word, name))| {
        let of_series = run.points.iter().filter(|point| point.series == word);
        let points = of_series.filter_map(|point| {
            let found = value(point)?;
            let bound = point.limited_by.as_deref();
            let bound = bound.is_some_and(|limit| limit != "DUT");
            let drawn = Point::new(count(point), found.median).between(found.low, found.high);
            Some(drawn.bounding(bound))
        });
        let mut points: Vec<Point> = points.collect();
        points.sort_by(|one, other| one.x().total_cmp(&other.x()));
        Series::new(name, style, Kind::Joined, points)
    });
    Chart::new(
        title.to_owned(),
        "Bars are 95 % intervals. At a hollow mark the router was not at its limit.",
        Axis::new("routes or destinations", Scale::Counts, number::short),
        y,
        series.collect(),
    )
}

/// What changes in the point's series.
fn count(point: &PointLine) -> f64 {
    let drawn = point.traffic.destinations.as_ref();
    let count = match (point.series.as_str(), &point.routes) {
        ("destinations", _) => drawn.map_or(point.asked_destinations, |drawn| drawn.distinct),
        (_, routes) => routes
            .as_ref()
            .map_or(point.asked_routes, |routes| routes.routes),
    };
    count as f64
}
