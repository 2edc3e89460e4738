//! The results of a run as one table, whatever its job found. Columns have the names that the terminal gives them.

mod lines;

use crate::headline::at_least_forwarded;
use crate::interval::{interval_name, rounds_of_points};
use crate::number;
use crate::plots::{destinations, routes};
use crate::row::Row;
use mpps_record::{
    CalibrationLine, CurveLine, CurvePoint, ForwardingLimit, LimitedBy, LoadLine, LoadTrial,
    PointLine, RateIs, ResultLine, Run,
};

/// Names of columns, and rows.
pub struct Table {
    /// Names of its columns.
    pub head: Vec<String>,
    /// As many cells a row.
    pub rows: Vec<Vec<String>>,
}

/// Stands for the head of a column of intervals, which depends on the samples behind them.
const INTERVAL: &str = "interval";

const RESULTS: &[&str] = &[
    "frame",
    "maximum forwarding, frames/s",
    "without loss, frames/s",
    "limited by",
    "DUT busy",
];
const POINTS: &[&str] = &[
    "series",
    "frame",
    "routes",
    "destinations",
    "router ns",
    INTERVAL,
    "maximum frames/s",
    "limited by",
];
const CURVES: &[&str] = &[
    "frame",
    "verdict",
    "load",
    "offered, frames/s",
    "forwarded, frames/s",
    "lost",
    "loss",
    "DUT busy",
];
const FAULTS: &[&str] = &[
    "planted fault",
    "planted",
    "found",
    "tolerance",
    "unit",
    "holds",
];
const LOADS: &[&str] = &[
    "frame",
    "load",
    "trial",
    "sent, frames/s",
    "forwarded, frames/s",
    "lost",
    "DUT busy",
    "CPU time a frame",
];

/// The table of a run. `None` where there are no results.
#[must_use]
pub fn results(run: &Run) -> Option<Table> {
    let (head, rows): (_, Vec<Vec<String>>) = if !run.results.is_empty() {
        (
            RESULTS,
            Row::each(&run.results).iter().map(result).collect(),
        )
    } else if !run.points.is_empty() {
        (POINTS, run.points.iter().map(point).collect())
    } else if !run.curves.is_empty() {
        let rows = |curve: &CurveLine| {
            curve
                .loads
                .iter()
                .map(|load| at_load(curve, load))
                .collect::<Vec<_>>()
        };
        (CURVES, run.curves.iter().flat_map(rows).collect())
    } else if !run.calibrations.is_empty() {
        (FAULTS, run.calibrations.iter().map(fault).collect())
    } else if let Some((head, rows)) = lines::rows(run) {
        (head, rows)
    } else {
        let rows = |load: &LoadLine| {
            let trials = load.trials.iter().map(|tried| tried_load(load, "", tried));
            let wire = load
                .wire
                .iter()
                .map(|tried| tried_load(load, " (wire)", tried));
            trials.chain(wire).collect::<Vec<_>>()
        };
        (LOADS, run.loads.iter().flat_map(rows).collect())
    };
    let mut names = interval_names(run).into_iter();
    let head = head.iter().map(|name| match *name {
        INTERVAL => names.next().unwrap_or_default(),
        name => name.to_owned(),
    });
    let head = head.collect();
    (!rows.is_empty()).then_some(Table { head, rows })
}

/// Heads of the columns of intervals, in their order: those of points, or of a comparison.
fn interval_names(run: &Run) -> Vec<String> {
    if !run.points.is_empty() {
        return vec![interval_name(rounds_of_points(&run.points))];
    }
    let variants = || run.comparisons.iter().flat_map(|line| &line.variants);
    let overload = interval_name(variants().map(|variant| variant.overload_trials.len()));
    let fixed = interval_name(variants().map(|variant| variant.fixed_trials.len()));
    vec![overload.clone(), overload, fixed]
}

fn whole(fps: Option<f64>) -> String {
    fps.map_or_else(dash, |fps| number::grouped(fps.max(0.0).round() as u64))
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(dash, |share| number::percent(share.min(1.0)))
}

fn dash() -> String {
    "-".to_owned()
}

/// The maximum forwarding rate in a cell.
#[must_use]
pub fn at_overload(result: &ResultLine) -> String {
    let found = result.overload.max_forwarding_fps;
    found.map_or_else(dash, |found| match at_least_forwarded(result) {
        Some(least) => format!("≥ {}", number::grouped(least)),
        None => number::grouped(found.median),
    })
}

/// The rate without loss in a cell.
#[must_use]
pub fn without_loss(result: &ResultLine) -> String {
    let bound = match &result.rate_is {
        Some(RateIs::AtLeast) => "≥ ",
        Some(RateIs::Below) => "< ",
        _ => "",
    };
    let rate = result.rate_fps;
    rate.map_or("not measured".to_owned(), |fps| {
        format!("{bound}{}", number::grouped(fps))
    })
}

/// What limits the rate at overload, in a cell; where that was not measured, what ended the search.
#[must_use]
pub fn limited_by(result: &ResultLine) -> String {
    let search = result.limited_by.as_ref().map(LimitedBy::as_str);
    let overload = result.overload.max_forwarding_limited_by.as_ref();
    let limit = overload.map(ForwardingLimit::as_str).or(search);
    limit.map_or_else(dash, str::to_owned)
}

/// How busy the DUT was there.
fn busy(result: &ResultLine) -> Option<f64> {
    match result.overload.max_forwarding_fps {
        Some(_) => result.overload.max_forwarding_busy_share,
        None => result.dut_busiest_cpu_share,
    }
}

fn result(result: &Row<'_>) -> Vec<String> {
    vec![
        result.name.clone(),
        at_overload(result),
        without_loss(result),
        limited_by(result),
        share(busy(result)),
    ]
}

fn point(point: &PointLine) -> Vec<String> {
    let ns = point.cost.map(|cost| cost.router_ns);
    let bound = point
        .limited_by
        .as_ref()
        .is_some_and(|limit| limit != "DUT");
    let rate = point.max_forwarding_fps.map(|found| found.median as f64);
    vec![
        point.series.clone(),
        point.frame.as_deref().map_or_else(dash, number::frame),
        number::grouped(routes(point)),
        number::grouped(destinations(point)),
        whole(ns.map(|ns| ns.median)),
        ns.map_or_else(dash, |ns| {
            let [low, high] = [ns.low, ns.high].map(|end| whole(Some(end)));
            format!("{low} to {high}")
        }),
        if bound && rate.is_some() { "≥ " } else { "" }.to_owned() + &whole(rate),
        point.limited_by.clone().unwrap_or_else(dash),
    ]
}

fn at_load(curve: &CurveLine, load: &CurvePoint) -> Vec<String> {
    let at = load.measured.as_ref();
    let count = |value: Option<u64>| value.map_or_else(dash, number::grouped);
    vec![
        number::frame(&curve.frame),
        if at.is_some() {
            load.verdict.to_string()
        } else {
            load.verdict_text.clone()
        },
        number::percent(load.load_share),
        count(at.map(|at| at.offered_fps)),
        count(at.map(|at| at.forwarding_fps)),
        count(at.map(|at| at.lost_frames)),
        at.map_or_else(dash, |at| number::percent(at.loss_ratio)),
        share(at.and_then(|at| at.dut_busiest_cpu_share)),
    ]
}

fn fault(line: &CalibrationLine) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(dash, |value| value.to_string());
    vec![
        line.fault.clone(),
        number(line.planted),
        number(line.found),
        number(Some(line.tolerance)),
        line.unit.clone(),
        match (&line.disturbed, line.holds) {
            (Some(why), _) => format!("not compared: {why}"),
            (None, true) => "yes".to_owned(),
            (None, false) => "NO".to_owned(),
        },
    ]
}

fn tried_load(load: &LoadLine, who: &str, tried: &LoadTrial) -> Vec<String> {
    vec![
        number::frame(&load.frame),
        load.load.clone(),
        format!("{}{who}", tried.trial),
        whole(tried.sent_fps),
        whole(tried.forwarding_fps),
        number::grouped(tried.lost_frames),
        share(tried.busiest_share),
        tried.ns_per_frame.map_or_else(dash, number::cost),
    ]
}
