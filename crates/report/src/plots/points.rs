//! `mpps fib-scale`: the cost of a frame and the rate, against routes or destinations.

use super::frames::rate_axis;
use crate::chart::{Axis, Chart, Kind, Point, Series};
use crate::interval::{interval_name, rounds_of_points};
use crate::number;
use crate::scale::Scale;
use crate::sentence::at_loads;
use mpps_record::{FrameCost, Interval, PointLine};

/// What changes in a series, and its name.
const SERIES: [(&str, &str); 3] = [
    ("routes", "against routes"),
    ("destinations", "against destinations"),
    ("coupled", "against both, coupled"),
];
/// What is drawn of a point; `None` where it is unknown.
type Value = fn(&PointLine) -> Option<Interval<f64>>;
const ZERO: Scale = Scale::Linear { from_zero: true };

/// The router's part of a frame's cost at overload.
#[must_use]
pub fn scale_cost(points: &[PointLine]) -> Option<Chart> {
    let title = "Cost of a frame at overload by routes and destinations";
    let note = own_load(points) + &without_bed(points, |point| point.cost);
    let cost: Value = |point| Some(point.cost?.router_ns);
    drawn(
        points,
        (title, &note),
        cost_axis(),
        cost,
        PointLine::is_bound,
    )
}

/// The same at one load for all points; nothing of older records.
#[must_use]
pub fn scale_cost_at_load(points: &[PointLine]) -> Option<Chart> {
    let loads = at_loads(points);
    let pairs = points
        .iter()
        .filter_map(|point| Some(point.at_load.as_ref()?.pairs as usize));
    let note = format!(
        "At {loads}, the same for all points. Bars: {}.{}",
        interval_name(pairs),
        without_bed(points, PointLine::cost_at_load)
    );
    let title = "Cost of a frame at one load by routes and destinations";
    let cost: Value = |point| Some(point.cost_at_load()?.router_ns);
    let chart = drawn(points, (title, &note), cost_axis(), cost, |_| false);
    chart.filter(|_| !loads.is_empty())
}

fn cost_axis() -> Axis {
    Axis::new("router, CPU time for a frame", ZERO, number::cost)
}

/// The bed's part of a frame's cost at all points, ns.
pub fn bed_ns(points: &[PointLine], cost: fn(&PointLine) -> Option<FrameCost>) -> Option<String> {
    let costs = points.iter().filter_map(cost);
    number::from_to(costs.map(|cost| cost.bed_ns.median))
}

fn without_bed(points: &[PointLine], cost: fn(&PointLine) -> Option<FrameCost>) -> String {
    let ns = bed_ns(points, cost);
    ns.map_or(String::new(), |ns| {
        format!(" The bed's part is taken off: {ns} ns.")
    })
}

fn own_load(points: &[PointLine]) -> String {
    let bars = interval_name(rounds_of_points(points));
    format!("Bars: {bars}. At a hollow mark the router was not at its limit.")
}

/// The maximum forwarding rate.
#[must_use]
pub fn scale_rate(points: &[PointLine]) -> Option<Chart> {
    let y = rate_axis("maximum forwarding rate, frames/s", ZERO);
    let title = "Maximum forwarding rate by routes and destinations";
    let note = own_load(points);
    let rate: Value = |point| point.max_forwarding_fps.map(Interval::from);
    drawn(points, (title, &note), y, rate, PointLine::is_bound)
}

fn drawn(
    points: &[PointLine],
    (title, note): (&str, &str),
    y: Axis,
    value: Value,
    is_bound: fn(&PointLine) -> bool,
) -> Option<Chart> {
    let series = SERIES.into_iter().enumerate().map(|(style, (word, name))| {
        let of_series = points.iter().filter(|point| point.series == word);
        let points = of_series.map(|point| {
            let at = count(point) as f64;
            let drawn = value(point).map_or_else(
                || Point::unknown(at),
                |found| Point::new(at, found.median).between(found.low, found.high),
            );
            drawn.bounding(is_bound(point)).told(words(point))
        });
        let mut points: Vec<Point> = points.collect();
        points.sort_by(|one, other| one.x().total_cmp(&other.x()));
        Series::new(name, style, Kind::Joined, points)
    });
    Chart::new(
        title.to_owned(),
        format!("{note} A cross: not measured."),
        Axis::new("routes or destinations", Scale::Counts, number::short),
        y,
        series.collect(),
    )
}

/// What changes in the point's series.
fn count(point: &PointLine) -> u64 {
    match point.series.as_str() {
        "destinations" => destinations(point),
        _ => routes(point),
    }
}

/// Routes, as counted in the router.
pub fn routes(point: &PointLine) -> u64 {
    let counted = point.routes.as_ref().map(|routes| routes.routes);
    counted.unwrap_or(point.asked_routes)
}

/// Different destinations, as drawn; without any there is one, the tester's own address.
pub fn destinations(point: &PointLine) -> u64 {
    let drawn = point.traffic.destinations.as_ref();
    drawn.map_or(1, |drawn| drawn.distinct)
}

/// All that makes a point comparable.
fn words(point: &PointLine) -> String {
    let drawn = point.traffic.destinations.as_ref();
    let between = |cost: FrameCost| {
        let Interval { low, median, high } = cost.router_ns;
        let [low, median, high] = [low, median, high].map(number::cost);
        format!("{median} a frame ({low} to {high})")
    };
    let cost = point.cost.map_or("cost unknown".to_owned(), between);
    let at_load = point.cost_at_load();
    let at_load = at_load.map_or_else(String::new, |cost| {
        format!(", {} at {}", between(cost), at_loads([point]))
    });
    let rate = point.max_forwarding_fps;
    let rate = rate.map_or("not measured".to_owned(), |found| {
        format!("{} frames/s", number::rate(found.median as f64))
    });
    format!(
        "{}, {} ({}): {cost}, {rate}, limited by {}{at_load}",
        number::plural(routes(point) as usize, "route"),
        number::plural(destinations(point) as usize, "destination"),
        drawn.map_or("the tester's own address", |drawn| &drawn.draw),
        point.limited_by.as_deref().unwrap_or("-")
    )
}
