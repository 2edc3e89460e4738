//! A point of `mpps fib-scale`: so many routes, so many destinations, and what was measured there.

use super::overload::{CostEntry, IntervalEntry};
use super::result::{DoubtEntry, ResultLine, Stands, whole};
use super::traffic::{RoutesEntry, TrafficEntry};
use crate::terminal::ScaleRow;
use mpps_lab::jobs::fib_scale::{Measured, Prepared};
use mpps_method::saturation::Saturation;
use serde::Serialize;

/// One point with one frame size.
#[derive(Serialize)]
pub struct PointLine {
    /// `routes`, `destinations` or `coupled`: what changes in the series.
    series: &'static str,
    asked_routes: usize,
    asked_destinations: u64,
    /// As counted back in the DUT's FIB; null where none were asked for.
    routes: Option<RoutesEntry>,
    /// What was sent, with the destinations as drawn and how.
    traffic: TrafficEntry,
    frame: String,
    /// What a frame costs at overload.
    cost: Option<CostEntry>,
    /// RFC 2285 3.6.3: the higher of the two that follow.
    max_forwarding_fps: Option<IntervalEntry<u64>>,
    /// At the highest load the tester offers (RFC 2285 3.6.2).
    at_most: Option<LoadEntry>,
    /// At little more than the DUT forwards.
    at_little_more: Option<LoadEntry>,
    limited_by: &'static str,
    /// Numbers of the trials at overload, through the router and through a wire in its place.
    overload_trials: Vec<u32>,
    doubts: Vec<DoubtEntry>,
    /// What the search found, one a goal; none without a search.
    results: Vec<ResultLine>,
}

/// One load above what the DUT forwards.
#[derive(Serialize)]
struct LoadEntry {
    offered_fps: IntervalEntry<u64>,
    forwarding_fps: IntervalEntry<u64>,
    dut_busiest_cpu_share: Option<f64>,
    windows: u32,
    /// Left out, because something else had a CPU of the bed in them.
    disturbed_windows: u32,
}

impl PointLine {
    /// A point with what was measured there; `row` is a row of it.
    #[must_use]
    pub fn of(
        prepared: &Prepared,
        measured: &Measured,
        row: &ScaleRow,
        stands: Stands,
        results: Vec<ResultLine>,
    ) -> Self {
        let traffic = &prepared.plan.traffic;
        let routes = traffic
            .destinations
            .as_ref()
            .zip(prepared.loaded.as_ref())
            .map(|(destinations, loaded)| RoutesEntry::of(destinations, None, loaded));
        let Measured {
            frames, saturated, ..
        } = measured;
        let maximum = saturated.maximum();
        Self {
            series: prepared.point.series.name(),
            asked_routes: prepared.point.routes,
            asked_destinations: prepared.point.destinations,
            routes,
            traffic: TrafficEntry::of(traffic),
            frame: frames.to_string(),
            cost: saturated.cost.as_ref().map(CostEntry::from_cost),
            max_forwarding_fps: maximum
                .map(|found| IntervalEntry::from_interval(&found.forwarding, whole)),
            at_most: saturated.at_most.as_ref().map(LoadEntry::of),
            at_little_more: saturated.at_little_more.as_ref().map(LoadEntry::of),
            limited_by: row.limited_by(),
            overload_trials: stands.overload_trials,
            doubts: measured.doubts.iter().map(DoubtEntry::of).collect(),
            results,
        }
    }
}

impl LoadEntry {
    fn of(found: &Saturation) -> Self {
        Self {
            offered_fps: IntervalEntry::from_interval(&found.offered, whole),
            forwarding_fps: IntervalEntry::from_interval(&found.forwarding, whole),
            dut_busiest_cpu_share: found.busy,
            windows: found.windows,
            disturbed_windows: found.disturbed,
        }
    }
}
