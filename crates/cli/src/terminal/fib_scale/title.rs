//! What all points of `mpps fib-scale` have in common: table, and the bed's part.

use super::ScaleRow;
use crate::terminal::grouped;
use mpps_method::statistics::{median, quantile};
use mpps_record::{FrameCost, PointLine, RunLine, Scale};

/// What all points have in common, in one line; `from` is the table's name.
pub fn scale_title(from: &str, scale: &Scale, run: &RunLine) -> String {
    let traffic = &run.plan.traffic;
    let family = if traffic.family == "ipv6" {
        "IPv6"
    } else {
        "IPv4"
    };
    let hops = match scale.next_hops {
        1 => "one next hop".to_owned(),
        hops => format!("{} next hops", grouped(hops.into())),
    };
    format!(
        "{family} routes of {from} by {hops}, destinations drawn {}, seed {}",
        scale.draw, traffic.seed
    )
}

/// The bed's part of a frame's cost, once for all points; empty where it is not known of any.
pub fn bed_line(rows: &[ScaleRow<'_>]) -> String {
    let part = |load: &str, cost: fn(&PointLine) -> Option<FrameCost>| {
        let costs = rows.iter().filter_map(|row| cost(row.point));
        let bed: Vec<f64> = costs.map(|cost| cost.bed_ns.median).collect();
        let [middle, low, high] = [median(&bed)?, quantile(&bed, 0.0)?, quantile(&bed, 1.0)?];
        Some(format!("{middle:.0} ns at {load} ({low:.0} to {high:.0})"))
    };
    let parts = [
        part("overload", |point| point.cost),
        part("one load", PointLine::cost_at_load),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("The bed's part is taken off: {}", parts.join(", "))
}
