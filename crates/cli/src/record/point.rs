//! A point of `mpps fib-scale` as its line has it.

use mpps_lab::jobs::fib_scale::PointResult;
use mpps_lab::line::{self, frame_cost, load_above, rates, routes, traffic};
use mpps_record::{Other, PointLine, StandsOn};

/// A point with what was measured there.
pub fn point_line(point: &PointResult, stands_on: StandsOn) -> PointLine {
    let PointResult { prepared, measured } = point;
    let (sent, link) = (&prepared.plan.traffic, &prepared.plan.link);
    let line = |finding| line::result(finding, sent, link, &stands_on);
    let results = measured.findings.iter().map(line).collect();
    let loaded = sent.destinations.as_ref().zip(prepared.loaded.as_ref());
    let saturated = &measured.saturated;
    let limited_by = measured.limited_by.map(line::limited_by);
    PointLine {
        series: prepared.point.series.name().to_owned(),
        asked_routes: prepared.point.routes as u64,
        asked_destinations: prepared.point.destinations,
        routes: loaded.map(|(destinations, loaded)| routes(destinations, None, loaded)),
        traffic: traffic(sent),
        frame: Some(measured.frames.to_string()),
        cost: saturated.cost.as_ref().map(frame_cost),
        max_forwarding_fps: saturated.maximum().map(|found| rates(found.forwarding)),
        at_most: saturated.at_most.as_ref().map(load_above),
        at_little_more: saturated.at_little_more.as_ref().map(load_above),
        limited_by: Some(limited_by.map_or("-".to_owned(), String::from)),
        overload_trials: stands_on.overload_trials,
        doubts: line::doubts(&measured.doubts),
        results,
        other: Other::new(),
    }
}
