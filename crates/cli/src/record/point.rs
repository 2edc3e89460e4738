//! A point of `mpps fib-scale`: so many routes, so many destinations, and what was measured there.

use super::result::ResultLine;
use super::traffic::{RoutesEntry, TrafficEntry};
use mpps_lab::jobs::fib_scale::Prepared;
use serde::Serialize;

/// One point.
#[derive(Serialize)]
pub struct PointLine {
    /// `routes`, `destinations` or `coupled`: what changes in the series.
    series: &'static str,
    /// 2: measured again at the end of the run, because the machine disturbed the first.
    attempt: u32,
    asked_routes: usize,
    asked_destinations: u64,
    /// As counted back in the DUT's FIB; null where none were asked for.
    routes: Option<RoutesEntry>,
    /// What was sent, with the destinations as drawn and how.
    traffic: TrafficEntry,
    /// One a frame size and goal.
    results: Vec<ResultLine>,
    /// Why nothing could be measured.
    why: Option<String>,
}

impl PointLine {
    /// A point with what was measured there, or why nothing could be.
    #[must_use]
    pub fn of(
        prepared: &Prepared,
        attempt: u32,
        results: Vec<ResultLine>,
        why: Option<String>,
    ) -> Self {
        let traffic = &prepared.plan.traffic;
        let routes = traffic
            .destinations
            .as_ref()
            .zip(prepared.loaded.as_ref())
            .map(|(destinations, loaded)| RoutesEntry::of(destinations, None, loaded));
        Self {
            attempt,
            series: prepared.point.series.name(),
            asked_routes: prepared.point.routes,
            asked_destinations: prepared.point.destinations,
            routes,
            traffic: TrafficEntry::of(traffic),
            results,
            why,
        }
    }
}
