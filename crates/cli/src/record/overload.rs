//! Members of a result that come from overload: the maximum forwarding rate, and what a frame costs.

use crate::figures::ForwardingLimit;
use mpps_lab::search::saturation::Saturated;
use mpps_method::saturation::{FrameCost, Interval};
use serde::Serialize;

/// What overload told.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OverloadEntry {
    /// The maximum forwarding rate (RFC 2285 3.6.3); null where too little of the time was undisturbed.
    max_forwarding_fps: Option<IntervalEntry<u64>>,
    /// The load really sent there: the median.
    offered_fps: Option<u64>,
    /// Busy share of the DUT's busiest CPU there.
    max_forwarding_busy_share: Option<f64>,
    max_forwarding_limited_by: Option<&'static str>,
    /// Undisturbed windows that it stands on, and windows left out.
    windows: Option<u32>,
    disturbed_windows: Option<u32>,
    /// How far apart the tester's CPU and the DUT's were: the round trip of a cache line.
    max_forwarding_cpu_distance_ns: Option<f64>,
    /// Trials left out, for the CPUs were elsewhere in them.
    elsewhere_trials: Option<u32>,
    /// What a frame costs the DUT's CPU there; null where no wire can stand in for the router.
    cost: Option<CostEntry>,
    /// What of the bed's part is the receiver's program at the DUT's exit; null where there is none, or where the
    /// kernel did not time it.
    exit_program_ns: Option<f64>,
}

impl OverloadEntry {
    /// The entry of one frame size.
    #[must_use]
    pub fn new(saturated: &Saturated, limit: Option<ForwardingLimit>) -> Self {
        let maximum = saturated.maximum();
        let whole = |fps: f64| fps.round() as u64;
        Self {
            max_forwarding_fps: maximum
                .map(|found| IntervalEntry::from_interval(&found.forwarding, whole)),
            offered_fps: maximum.map(|found| whole(found.offered.middle)),
            max_forwarding_busy_share: maximum.and_then(|found| found.busy),
            max_forwarding_limited_by: limit.map(ForwardingLimit::name),
            windows: maximum.map(|found| found.windows),
            disturbed_windows: maximum.map(|found| found.disturbed),
            max_forwarding_cpu_distance_ns: maximum.and_then(|found| found.distance_ns),
            elsewhere_trials: maximum.map(|found| found.elsewhere),
            cost: saturated.cost.as_ref().map(CostEntry::from_cost),
            exit_program_ns: saturated.exit_program_ns.map(tenths),
        }
    }
}

/// A median with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct IntervalEntry<T> {
    low: T,
    median: T,
    high: T,
}

impl<T> IntervalEntry<T> {
    /// The entry of an interval, each end as such a number.
    pub(super) fn from_interval(interval: &Interval, number: impl Fn(f64) -> T) -> Self {
        Self {
            low: number(interval.low),
            median: number(interval.middle),
            high: number(interval.high),
        }
    }
}

/// What a frame costs: the virtual NIC's and the receiver's part, the router's, and both.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct CostEntry {
    bed_ns: IntervalEntry<f64>,
    router_ns: IntervalEntry<f64>,
    total_ns: IntervalEntry<f64>,
}

impl CostEntry {
    /// The entry of a cost, to tenths of a nanosecond.
    pub(super) fn from_cost(cost: &FrameCost) -> Self {
        let entry = |interval| IntervalEntry::from_interval(interval, tenths);
        Self {
            bed_ns: entry(&cost.bed_ns),
            router_ns: entry(&cost.router_ns),
            total_ns: entry(&cost.total_ns),
        }
    }
}

fn tenths(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_told_in_tenths_of_ns() {
        let interval = |middle: f64| Interval {
            low: middle - 1.0,
            middle,
            high: middle + 1.04,
        };
        let cost = CostEntry::from_cost(&FrameCost {
            bed_ns: interval(430.0),
            router_ns: interval(225.26),
            total_ns: interval(655.26),
        });
        let entry = serde_json::to_value(cost).expect("serialises");
        assert_eq!(
            entry["router_ns"],
            serde_json::json!({ "low": 224.3, "median": 225.3, "high": 226.3 })
        );
    }

    #[test]
    fn the_exit_program_is_told_beside_the_cost() {
        let saturated = Saturated {
            exit_program_ns: Some(41.26),
            ..Saturated::default()
        };
        let entry = OverloadEntry::new(&saturated, None);
        let entry = serde_json::to_value(entry).expect("serialises");
        assert_eq!(entry["exit_program_ns"], serde_json::json!(41.3));
    }

    #[test]
    fn what_was_not_measured_is_null() {
        let entry = OverloadEntry::new(&Saturated::default(), None);
        let entry = serde_json::to_value(entry).expect("serialises");
        let members = entry.as_object().expect("an object");
        assert_eq!(members.len(), 10);
        assert!(members.values().all(serde_json::Value::is_null), "{entry}");
    }
}
