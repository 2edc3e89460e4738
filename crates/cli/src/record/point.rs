//! A point of `mpps fib-scale` as its line has it.

use super::overload::{cost, load_above, rates};
use super::result::doubt;
use super::traffic::{routes, traffic};
use crate::terminal::ScaleRow;
use mpps_lab::jobs::fib_scale::{Measured, Prepared};
use mpps_record::{Other, PointLine, ResultLine, StandsOn};

/// A point with what was measured there; `row` is a row of it.
#[must_use]
pub fn point_line(
    prepared: &Prepared,
    measured: &Measured,
    row: &ScaleRow,
    stands_on: StandsOn,
    results: Vec<ResultLine>,
) -> PointLine {
    let sent = &prepared.plan.traffic;
    let loaded = sent.destinations.as_ref().zip(prepared.loaded.as_ref());
    let saturated = &measured.saturated;
    PointLine {
        series: prepared.point.series.name().to_owned(),
        asked_routes: prepared.point.routes as u64,
        asked_destinations: prepared.point.destinations,
        routes: loaded.map(|(destinations, loaded)| routes(destinations, None, loaded)),
        traffic: traffic(sent),
        frame: Some(measured.frames.to_string()),
        cost: saturated.cost.as_ref().map(cost),
        max_forwarding_fps: saturated.maximum().map(|found| rates(&found.forwarding)),
        at_most: saturated.at_most.as_ref().map(load_above),
        at_little_more: saturated.at_little_more.as_ref().map(load_above),
        limited_by: Some(row.limited_by().to_owned()),
        overload_trials: stands_on.overload_trials,
        doubts: measured.doubts.iter().map(doubt).collect(),
        results,
        other: Other::new(),
    }
}
