//! A point of `mpps fib-scale`: so many routes, so many destinations, and what was measured there.

use super::result::{DoubtEntry, ResultLine, Stands};
use super::traffic::{RoutesEntry, TrafficEntry};
use crate::terminal::ScaleRow;
use mpps_lab::jobs::fib_scale::{Measured, Prepared};
use mpps_method::saturation::{Interval, Saturation};
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
    /// What a frame costs the router at overload, with the bed's part off.
    router_ns_per_frame: Option<IntervalEntry>,
    /// What it costs the bed: virtual NIC and receiver.
    bed_ns_per_frame: Option<IntervalEntry>,
    total_ns_per_frame: Option<IntervalEntry>,
    /// RFC 2285 3.6.3: the higher of the two that follow.
    maximum_forwarding_fps: Option<IntervalEntry>,
    /// At the highest load the tester offers (RFC 2285 3.6.2).
    at_most: Option<OverloadEntry>,
    /// At little more than the DUT forwards.
    at_little_more: Option<OverloadEntry>,
    limited_by: &'static str,
    /// Numbers of the trials at overload, through the router and through a wire in its place.
    overload_trials: Vec<u32>,
    doubts: Vec<DoubtEntry>,
    /// What the search found, one a goal; none without a search.
    results: Vec<ResultLine>,
}

/// A median with its 95 % confidence interval.
#[derive(Serialize)]
struct IntervalEntry {
    low: f64,
    middle: f64,
    high: f64,
}

/// One load above what the DUT forwards.
#[derive(Serialize)]
struct OverloadEntry {
    offered_fps: IntervalEntry,
    forwarding_fps: IntervalEntry,
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
        let cost = saturated.cost.as_ref();
        let maximum = saturated.maximum();
        Self {
            series: prepared.point.series.name(),
            asked_routes: prepared.point.routes,
            asked_destinations: prepared.point.destinations,
            routes,
            traffic: TrafficEntry::of(traffic),
            frame: frames.to_string(),
            router_ns_per_frame: cost.map(|cost| cost.router_ns.into()),
            bed_ns_per_frame: cost.map(|cost| cost.bed_ns.into()),
            total_ns_per_frame: cost.map(|cost| cost.total_ns.into()),
            maximum_forwarding_fps: maximum.map(|found| found.forwarding.into()),
            at_most: saturated.at_most.as_ref().map(OverloadEntry::of),
            at_little_more: saturated.at_little_more.as_ref().map(OverloadEntry::of),
            limited_by: row.limited_by(),
            overload_trials: stands.overload_trials,
            doubts: measured.doubts.iter().map(DoubtEntry::of).collect(),
            results,
        }
    }
}

impl From<Interval> for IntervalEntry {
    fn from(Interval { low, middle, high }: Interval) -> Self {
        Self { low, middle, high }
    }
}

impl OverloadEntry {
    fn of(found: &Saturation) -> Self {
        Self {
            offered_fps: found.offered.into(),
            forwarding_fps: found.forwarding.into(),
            dut_busiest_cpu_share: found.busy,
            windows: found.windows,
            disturbed_windows: found.disturbed,
        }
    }
}
