//! Points of `mpps fib-scale`.

use super::{Shown, TrialPlot, dash, whole};
use crate::chart::Chart;
use crate::gauges::{DOUBTS, Gauges, Labels, MAXIMUM, costs, reads, with};
use crate::headline::is_least_cost;
use crate::interval::{interval_name, rounds_of_points};
use crate::number;
use crate::plots::{self, destinations, routes};
use crate::sentence::table_size;
use crate::table::Table;
use mpps_record::{Interval, Plan, PointLine, Run};

impl Shown for Vec<PointLine> {
    fn purpose(&self, _: &Plan) -> Option<String> {
        Some("The cost of a frame against the number of routes and destinations.".to_owned())
    }

    fn sentences(&self) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        vec![scale_sentence(self)]
    }

    fn table(&self) -> Table {
        let interval = interval_name(rounds_of_points(self));
        let columns = format!(
            "series;frame;routes;destinations;router ns;{interval};maximum frames/s;limited by"
        );
        Table::new(&columns, self.iter().map(row))
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        self.iter()
            .for_each(|point| one_point(gauges, labels, point));
    }

    fn charts(&self, _: &Run) -> Vec<Option<Chart>> {
        vec![plots::scale_cost(self), plots::scale_rate(self)]
    }

    fn hidden_plots(&self) -> &[TrialPlot] {
        &[TrialPlot::Latency]
    }
}

/// What a frame costs, from the cheapest point to the dearest; no stop at its end.
#[must_use]
pub fn scale_sentence(points: &[PointLine]) -> String {
    let mut costs: Vec<(f64, &PointLine)> = points
        .iter()
        .filter_map(|point| Some((point.cost?.router_ns.median, point)))
        .collect();
    costs.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let all = number::plural(points.len(), "point");
    let (Some((low, cheap)), Some((high, dear))) = (costs.first(), costs.last()) else {
        return format!("The cost of a frame is known at none of {all}");
    };
    format!(
        "A frame costs the router from {} ({}) to {} ({}), by {all}",
        number::cost(*low),
        table_size(cheap),
        number::cost(*high),
        table_size(dear)
    )
}

fn row(point: &PointLine) -> Vec<String> {
    let ns = point.cost.map(|cost| cost.router_ns);
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
        ns.map_or_else(dash, |ns| {
            let [low, high] = [ns.low, ns.high].map(|end| whole(Some(end)));
            format!("{low} to {high}")
        }),
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
