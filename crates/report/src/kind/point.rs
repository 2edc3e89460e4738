//! Points of `mpps fib-scale`.

use super::{Shown, TrialPlot, dash, whole};
use crate::chart::Chart;
use crate::gauges::{DOUBTS, Gauges, Labels, MAXIMUM, costs, reads, with};
use crate::headline::is_least_cost;
use crate::interval::{interval_name, rounds_of_points};
use crate::number;
use crate::plots::{self, destinations, routes};
use crate::sentence::{at_loads, table_size};
use crate::table::Table;
use mpps_record::{FrameCost, Interval, Plan, PointLine, Run};

impl Shown for Vec<PointLine> {
    fn purpose(&self, _: &Plan) -> Option<String> {
        Some("The cost of a frame against the number of routes and destinations.".to_owned())
    }

    fn sentences(&self) -> Vec<String> {
        match self.is_empty() {
            true => Vec::new(),
            false => scale_sentences(self),
        }
    }

    fn table(&self) -> Table {
        let interval = interval_name(rounds_of_points(self));
        let pairs = self
            .iter()
            .filter_map(|point| Some(point.at_load.as_ref()?.pairs as usize));
        let at_load = interval_name(pairs);
        let columns = format!(
            "series;frame;routes;destinations;router ns;{interval};one load, frames/s;router ns there;{at_load};\
             maximum frames/s;limited by"
        );
        Table::new(&columns, self.iter().map(row))
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        self.iter()
            .for_each(|point| one_point(gauges, labels, point));
    }

    fn charts(&self, _: &Run) -> Vec<Option<Chart>> {
        vec![
            plots::scale_cost(self),
            plots::scale_cost_at_load(self),
            plots::scale_rate(self),
        ]
    }

    fn hidden_plots(&self) -> &[TrialPlot] {
        &[TrialPlot::Latency]
    }
}

/// What a frame costs at overload and at one load, from the cheapest point to the dearest; no stop at their ends.
#[must_use]
pub fn scale_sentences(points: &[PointLine]) -> Vec<String> {
    let all = number::plural(points.len(), "point");
    let at_overload = match range(points, |point| point.cost) {
        Some(range) => format!("A frame costs the router {range}, by {all}"),
        None => format!("The cost of a frame is known at none of {all}"),
    };
    let at_load = range(points, PointLine::cost_at_load);
    let at_load = at_load.map(|range| {
        let loads = at_loads(points);
        format!("At one load for all points, {loads}, it costs {range}")
    });
    std::iter::once(at_overload).chain(at_load).collect()
}

/// `from 92 ns (1 route, 1 destination) to ...`; `None` where it is known of none.
fn range(points: &[PointLine], cost: fn(&PointLine) -> Option<FrameCost>) -> Option<String> {
    let known = points.iter();
    let known = known.filter_map(|point| Some((cost(point)?.router_ns.median, point)));
    let mut known: Vec<(f64, &PointLine)> = known.collect();
    known.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let ends = [known.first()?, known.last()?];
    let [low, high] =
        ends.map(|(ns, point)| format!("{} ({})", number::cost(*ns), table_size(point)));
    Some(format!("from {low} to {high}"))
}

fn row(point: &PointLine) -> Vec<String> {
    let ns = point.cost.map(|cost| cost.router_ns);
    let at_load = point.cost_at_load().map(|cost| cost.router_ns);
    let load = point.at_load.as_ref().map(|at| at.load_fps as f64);
    let between = |ns: Option<Interval<f64>>| {
        ns.map_or_else(dash, |ns| {
            let [low, high] = [ns.low, ns.high].map(|end| whole(Some(end)));
            format!("{low} to {high}")
        })
    };
    let bound = point.is_bound();
    let rate = point.max_forwarding_fps.map(|found| found.median as f64);
    vec![
        point.series.clone(),
        point.frame.as_deref().map_or_else(dash, number::frame),
        number::grouped(routes(point)),
        number::grouped(destinations(point)),
        ns.map_or_else(dash, |ns| match is_least_cost(&point.doubts) {
            true => format!("≥ {}", whole(Some(ns.low))),
            false => whole(Some(ns.median)),
        }),
        between(ns),
        whole(load),
        whole(at_load.map(|ns| ns.median)),
        between(at_load),
        if bound && rate.is_some() { "≥ " } else { "" }.to_owned() + &whole(rate),
        point.limited_by.clone().unwrap_or_else(dash),
    ]
}

fn one_point(gauges: &mut Gauges, labels: &Labels<'_>, point: &PointLine) {
    let [routes, destinations] =
        [point.asked_routes, point.asked_destinations].map(|count| count.to_string());
    let more: Labels<'_> = vec![
        ("series", &point.series),
        ("frame", point.frame.as_deref().unwrap_or("")),
        ("asked_routes", &routes),
        ("asked_destinations", &destinations),
    ];
    let labels = with(labels, &more);
    gauges.add_interval(
        MAXIMUM,
        &with(&labels, &[("reads", reads(point.is_bound()))]),
        point.max_forwarding_fps.map(Interval::from),
        1.0,
    );
    costs(gauges, &labels, (point.cost, is_least_cost(&point.doubts)));
    gauges.add(DOUBTS.0, DOUBTS.1, &labels, Some(point.doubts.len() as f64));
}
