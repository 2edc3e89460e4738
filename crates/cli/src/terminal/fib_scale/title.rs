//! What all points of `mpps fib-scale` have in common: table, machine, and the bed's part.

use super::ScaleRow;
use crate::terminal::grouped;
use mpps_method::statistics::{median, quantile};
use mpps_record::{RunLine, Scale, facts};

/// What all points have in common, in one line; `from` is the table's name.
#[must_use]
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

/// On which machine and kernel, when, and with which version of this program: what a plot must not be without.
#[must_use]
pub fn machine_line(run: &RunLine) -> String {
    let facts = &run.facts;
    let named = |fact: &facts::Reading<String>, otherwise: &str| {
        let known = fact.known().filter(|text| !text.is_empty());
        known.map_or(otherwise, String::as_str).to_owned()
    };
    let below = match (facts.platform.hypervisor.known(), facts.hypervisor.known()) {
        (Some(name), _) => format!("hypervisor {name}"),
        (None, Some(true)) => "a hypervisor".to_owned(),
        (None, Some(false)) => "no hypervisor".to_owned(),
        (None, None) => "hypervisor unknown".to_owned(),
    };
    format!(
        "{}, {below}, Linux {}, {}, mpps {}",
        named(&facts.cpu_model, "CPU unknown"),
        named(&facts.kernel_release, "unknown"),
        run.begun_utc,
        run.tool_version
    )
}

/// The bed's part of a frame's cost, once for all points; empty where it is not known of any.
#[must_use]
pub fn bed_line(rows: &[ScaleRow<'_>]) -> String {
    let costs = rows.iter().filter_map(|row| row.point.cost);
    let bed: Vec<f64> = costs.map(|cost| cost.bed_ns.median).collect();
    match (median(&bed), quantile(&bed, 0.0), quantile(&bed, 1.0)) {
        (Some(middle), Some(low), Some(high)) => format!(
            "The bed's part, {middle:.0} ns a frame ({low:.0} to {high:.0} over the points), is taken off."
        ),
        _ => String::new(),
    }
}
