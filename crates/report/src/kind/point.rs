//! Points of `mpps fib-scale`.

use super::described::{About, Answered, Described, Subjects};
use super::{TrialPlot, if_known, result};
use crate::chart::Chart;
use crate::column::{self, Column, On, TableRow, columns};
use crate::gauges::{DOUBTS, Gauges, Labels, MAXIMUM, costs, reads, with};
use crate::headline::{forwarding_range, is_least_cost, short_without_loss};
use crate::interval::{interval_name, rounds_of_points};
use crate::number;
use crate::plots::{self, bed_ns, destinations, routes};
use crate::row::Row;
use crate::sentence::{at_loads, closeness, table_size};
use crate::table::Table;
use crate::told::Told;
use mpps_record::{Doubt, FrameCost, Interval, LimitedBy, PointLine, Run};
use serde_json::{Value, json};
use std::path::Path;

impl Described for PointLine {
    const PURPOSE: &'static str =
        "The cost of a frame against the number of routes and destinations.";
    const NOUN: &'static str = "points";
    const MEMBER: &'static str = "points";
    const IS_DRAWN: bool = true;
    const HIDDEN: &'static [TrialPlot] = &[TrialPlot::Latency];
    const NAMED_MAX: usize = 1;

    /// What all points have in common.
    fn heading(_: &[Self], run: &Run) -> String {
        let begin = run.begin.as_ref();
        let Some((begin, scale)) = begin.and_then(|run| Some((run, run.plan.scale.as_ref()?)))
        else {
            return String::new();
        };
        let traffic = &begin.plan.traffic;
        let family = match traffic.family.as_str() {
            "ipv6" => "IPv6",
            _ => "IPv4",
        };
        let hops = match scale.next_hops {
            1 => "one next hop".to_owned(),
            hops => format!("{hops} next hops"),
        };
        // There is no room for folders.
        let table = Path::new(&scale.table).file_name();
        let table = table.map_or(scale.table.as_str().into(), |name| name.to_string_lossy());
        format!(
            "{family} routes of {table} by {hops}, destinations drawn {}, seed {}",
            scale.draw, traffic.seed
        )
    }

    fn about(&self) -> About<'_> {
        let frame = self.frame.as_deref().unwrap_or("");
        (vec![("series", &self.series), ("frame", frame)], None)
    }

    fn sentences(points: &[Self]) -> Vec<String> {
        match points {
            [] => Vec::new(),
            points => sentences(points),
        }
    }

    fn rows(&self, on: On) -> Vec<TableRow> {
        Self::all_rows(std::slice::from_ref(self), on)
    }

    /// One for each goal of a point.
    fn all_rows(points: &[Self], on: On) -> Vec<TableRow> {
        let row = |found: Found<'_>| {
            let mut columns = place(found.point, found.frame());
            columns.extend(cost(found.point));
            columns.extend(found.rate(on));
            TableRow::new(0.0, columns)
        };
        Found::each(points).map(row).collect()
    }

    /// A terminal has no room for both tables side by side.
    fn told(points: &[Self], run: &Run, verbose: bool) -> Vec<Told> {
        let on = On::terminal(verbose);
        let of = |columns: Vec<Column>| TableRow::new(0.0, columns);
        let sizes: Vec<_> = points.iter().map(|point| &point.frame).collect();
        let is_one = sizes.windows(2).all(|two| two[0] == two[1]);
        let of_cost = points.iter().map(|point| {
            let place = place(point, point.frame.clone().filter(|_| !is_one));
            of(place.into_iter().chain(cost(point)).collect())
        });
        let of_rate = |found: Found<'_>| {
            let place = place(found.point, found.frame()).into_iter();
            of(place.chain(found.rate(on)).collect())
        };
        let table = |rows: Vec<TableRow>| -> Table { column::table(&rows, on) };
        vec![Told {
            sentences: Self::sentences(points),
            tables: vec![
                (above_cost(points), table(of_cost.collect())),
                (
                    above_rate(run),
                    table(Found::each(points).map(of_rate).collect()),
                ),
            ],
            remarks: remarks(points),
        }]
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        let [routes, destinations] =
            [self.asked_routes, self.asked_destinations].map(|count| count.to_string());
        let more = [
            ("asked_routes", routes.as_str()),
            ("asked_destinations", destinations.as_str()),
        ];
        let labels = with(labels, &more);
        gauges.add_interval(
            MAXIMUM,
            &with(&labels, &[("reads", reads(self.is_bound()))]),
            self.max_forwarding_fps.map(Interval::from),
            1.0,
        );
        costs(gauges, &labels, (self.cost, is_least_cost(&self.doubts)));
        gauges.add(DOUBTS.0, DOUBTS.1, &labels, Some(self.doubts.len() as f64));
    }

    fn charts(points: &[Self], _: &Run) -> Vec<Option<Chart>> {
        vec![
            plots::scale_cost(points),
            plots::scale_cost_at_load(points),
            plots::scale_rate(points),
        ]
    }

    /// A point that has nothing was disturbed.
    fn answered(&self) -> Answered {
        if is_empty(self) {
            return Answered::Undecided;
        }
        let rows = Row::each(&self.results);
        let all = rows.iter().map(|row| result::answered(row, None));
        all.max().unwrap_or(Answered::Measured)
    }

    fn document(points: &[Self], run: &Run) -> Value {
        let scale = run.begin.as_ref().and_then(|run| run.plan.scale.as_ref());
        json!({
            "table": scale.map(|scale| &scale.table),
            "draw": scale.map(|scale| &scale.draw),
            "points": points,
        })
    }

    /// Of the search, and of what came before it.
    fn subjects(points: &[Self]) -> Subjects<'_> {
        let mut all = Vec::new();
        for point in points {
            let searched: Vec<&[Doubt]> = match &point.results[..] {
                [] => vec![&[]],
                results => results.iter().map(|found| &found.doubts[..]).collect(),
            };
            for searched in searched {
                let mut doubts: Vec<&Doubt> = searched.iter().collect();
                for own in &point.doubts {
                    if doubts.iter().all(|known| known.name != own.name) {
                        doubts.push(own);
                    }
                }
                all.push((table_size(point).into(), doubts));
            }
        }
        all
    }
}

/// A point and a frame size; where several goals were searched for, one a goal.
struct Found<'a> {
    point: &'a PointLine,
    /// Of the search; `None` without one.
    result: Option<Row<'a>>,
}

impl<'a> Found<'a> {
    fn each(points: &'a [PointLine]) -> impl Iterator<Item = Self> {
        points.iter().flat_map(|point| {
            let mut results: Vec<_> = Row::each(&point.results).into_iter().map(Some).collect();
            if results.is_empty() {
                results.push(None);
            }
            results
                .into_iter()
                .map(move |result| Self { point, result })
        })
    }

    /// Its frame size, with the goal where a search has several.
    fn frame(&self) -> Option<String> {
        let searched = self.result.as_ref().map(|row| row.subject.clone());
        searched.or_else(|| self.point.frame.clone())
    }

    /// What was forwarded, and what limits it.
    fn rate(&self, on: On) -> Vec<Column> {
        let (point, result) = (self.point, self.result.as_ref());
        let maximum = point.max_forwarding_fps.map(|rates| {
            let (known, ..) = forwarding_range(rates);
            match (on, point.is_bound()) {
                (On::Page, false) => number::grouped(rates.median),
                (On::Page, true) => format!(">= {}", number::grouped(rates.low)),
                (_, false) => known.short(),
                (_, true) => format!(">= {}", known.with(rates.low as f64).floor().short()),
            }
        });
        let ended = result.and_then(|found| found.limited_by.as_ref());
        columns! {
            text "max frames/s" maximum;
            busy "busy" point.load_of_maximum().and_then(|load| load.dut_busiest_cpu_share);
            words "limited by" point.limited_by.as_deref().and_then(if_known);
            text "no loss" result.map(short_without_loss);
            words "search ended by" ended.map(|limit| LimitedBy::as_str(limit).to_owned());
        }
    }
}

/// Where it is.
fn place(point: &PointLine, frame: Option<String>) -> Vec<Column> {
    columns! {
        words "series" point.series.clone();
        words "frame" frame;
        count "routes" routes(point);
        count "destinations" destinations(point);
    }
}

/// What a frame costs the router there.
fn cost(point: &PointLine) -> Vec<Column> {
    let ns = |least: bool, cost: FrameCost| {
        let Interval { low, median, high } = cost.router_ns;
        match least {
            true => format!(">= {low:.0}"),
            false => format!("{median:.0} ({low:.0} to {high:.0})"),
        }
    };
    let is_least = is_least_cost(&point.doubts);
    columns! {
        text "ns at overload" point.cost.map(|cost| ns(is_least, cost));
        text "ns at one load" point.cost_at_load().map(|cost| ns(false, cost));
    }
}

fn above_cost(points: &[PointLine]) -> String {
    let pairs = points
        .iter()
        .filter_map(|point| Some(point.at_load.as_ref()?.pairs as usize));
    let interval = interval_name(rounds_of_points(points).chain(pairs));
    let mut text = format!("The cost of a frame for the router, ns ({interval})\n");
    let loads = at_loads(points);
    if !loads.is_empty() {
        text += &format!("At one load: {loads}, the same for all points.\n");
    }
    let at = |load: &str, cost: fn(&PointLine) -> Option<FrameCost>| {
        bed_ns(points, cost).map(|ns| format!("{ns} ns at {load}"))
    };
    let parts = [
        at("overload", |point| point.cost),
        at("one load", PointLine::cost_at_load),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        text += &format!("The bed's part is taken off: {}\n", parts.join(", "));
    }
    text
}

fn above_rate(run: &Run) -> String {
    let search = run
        .begin
        .as_ref()
        .and_then(|begin| begin.plan.search.as_ref());
    let search = search.map(|search| {
        let rule = search.pass_rule.as_deref().unwrap_or("unknown");
        format!("Without loss: {rule}, found to {}\n", closeness(search))
    });
    "The maximum forwarding rate\n".to_owned() + &search.unwrap_or_default()
}

/// What a reader of the rows must not overlook.
fn remarks(points: &[PointLine]) -> Vec<String> {
    let any =
        |is: fn(&PointLine) -> bool, told: &str| points.iter().any(is).then(|| told.to_owned());
    let lone = any(
        |point| point.asked_routes == 0,
        "0 routes: the one destination is the tester's own address, on a network of the router. All other points use next hops.",
    );
    let fewer = any(
        |point| routes(point) > 0 && destinations(point) < point.asked_destinations,
        "fewer destinations than asked for: those routes have no more addresses",
    );
    let bounds = points
        .iter()
        .filter(|point| !is_empty(point) && point.is_bound());
    let bounds = match bounds.count() {
        0 => None,
        count => Some(format!(
            ">=: at {count} of {} points the router was not at its limit (limited by), and may forward more",
            points.len()
        )),
    };
    let empty = points.iter().filter(|point| is_empty(point)).map(|point| {
        // Records of the first schema have nothing of overload.
        let why = match point.limited_by {
            Some(_) => {
                "not measured: too few undisturbed windows; run again when the machine is quieter"
            }
            None => "this record has no rate at overload",
        };
        format!("{}: {why}", table_size(point))
    });
    let at_load = points.iter().filter_map(|point| {
        let why = point.at_load.as_ref()?.why.as_ref()?;
        Some(format!("{}: no cost at one load: {why}", table_size(point)))
    });
    let some = [lone, fewer, bounds].into_iter().flatten();
    let mut told: Vec<String> = some.chain(empty).chain(at_load).collect();
    if !told.is_empty() {
        // Apart from the table of rates.
        told.insert(0, String::new());
    }
    told
}

/// Whether nothing is known of the point.
fn is_empty(point: &PointLine) -> bool {
    let costs = [point.cost, point.cost_at_load()];
    costs.iter().all(Option::is_none) && point.max_forwarding_fps.is_none()
}

/// What a frame costs at overload and at one load, from the cheapest point to the dearest; no stop at their ends.
fn sentences(points: &[PointLine]) -> Vec<String> {
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
