//! A point of `mpps fib-scale` as its line has it.

use super::overload::{cost, load_above};
use super::result::result_line;
use super::traffic::{routes, traffic};
use mpps_lab::doubt::overload_limit;
use mpps_lab::jobs::fib_scale::PointResult;
use mpps_lab::line::{self, rates};
use mpps_lab::search::saturation::Saturated;
use mpps_record::{Other, PointLine, StandsOn};

/// A point with what was measured there.
pub fn point_line(point: &PointResult, stands_on: StandsOn) -> PointLine {
    let PointResult { prepared, measured } = point;
    let line = |finding| result_line(finding, &prepared.plan, stands_on.clone());
    let results = measured.findings.iter().map(line).collect();
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
        max_forwarding_fps: saturated.maximum().map(|found| rates(found.forwarding)),
        at_most: saturated.at_most.as_ref().map(load_above),
        at_little_more: saturated.at_little_more.as_ref().map(load_above),
        limited_by: Some(limited_by(saturated)),
        overload_trials: stands_on.overload_trials,
        doubts: line::doubts(&measured.doubts),
        results,
        other: Other::new(),
    }
}

/// What limits the maximum forwarding rate.
fn limited_by(saturated: &Saturated) -> String {
    let limit = overload_limit(saturated).map(line::limited_by);
    limit.map_or("-".to_owned(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::interval::Interval;
    use mpps_method::saturation::Saturation;

    #[test]
    fn a_router_with_time_left_was_not_at_its_limit() {
        let around = |middle: f64| Interval {
            low: middle - 10.0,
            middle,
            high: middle + 20.0,
        };
        let limited = |busy, overloaded| {
            limited_by(&Saturated {
                at_most: Some(Saturation {
                    offered: around(3e6),
                    forwarding: around(1e6),
                    busy: Some(busy),
                    windows: 100,
                    disturbed: 3,
                    ..Saturation::default()
                }),
                overloaded,
                ..Saturated::default()
            })
        };
        assert_eq!(limited(0.97, true), "DUT");
        assert_eq!(limited(0.97, false), "tester");
        assert_eq!(limited(0.8, true), "disturbed");
        assert_eq!(limited_by(&Saturated::default()), "-");
    }
}
