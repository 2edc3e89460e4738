//! Gauges, in base units, with their labels.

use mpps_record::{FrameCost, Interval};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Names and values of labels.
pub type Labels<'a> = Vec<(&'static str, &'a str)>;

/// Samples by name: those of one name have to stand together, each set of labels once.
#[derive(Default)]
pub struct Gauges(BTreeMap<&'static str, (&'static str, BTreeMap<String, f64>)>);

impl Gauges {
    /// A value; what is not known has no sample.
    pub fn add(
        &mut self,
        name: &'static str,
        help: &'static str,
        labels: &Labels<'_>,
        value: Option<f64>,
    ) {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            return;
        };
        let family = self
            .0
            .entry(name)
            .or_insert_with(|| (help, BTreeMap::new()));
        let pair = |(name, value): &(&str, &str)| format!("{name}=\"{}\"", escaped(value));
        let labels = labels.iter().map(pair).collect::<Vec<_>>().join(",");
        family.1.entry(labels).or_insert(value);
    }

    /// A median with both ends of its interval.
    pub fn add_interval(
        &mut self,
        (name, help): (&'static str, &'static str),
        labels: &Labels<'_>,
        found: Option<Interval<f64>>,
        unit: f64,
    ) {
        let Some(found) = found else { return };
        for (bound, value) in [
            ("low", found.low),
            ("median", found.median),
            ("high", found.high),
        ] {
            self.add(
                name,
                help,
                &with(labels, &[("bound", bound)]),
                Some(value * unit),
            );
        }
    }

    /// All of them in OpenMetrics' text format.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, (help, samples)) in &self.0 {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n");
            for (labels, value) in samples {
                let _ = writeln!(text, "{name}{{{labels}}} {value}");
            }
        }
        text + "# EOF\n"
    }
}

pub const NS: f64 = 1e-9;
pub const MAXIMUM: (&str, &str) = (
    "mpps_maximum_forwarding_rate_frames_per_second",
    "Maximum forwarding rate (RFC 2285 3.6.3) with its interval; the label reads says whether it is a bound.",
);
pub const LATENCY: (&str, &str) = (
    "mpps_latency_seconds",
    "One-way latency of a load, every frame timed, through the router and through a wire (mpps latency).",
);
pub const TRIAL_LATENCY: (&str, &str) = (
    "mpps_trial_latency_seconds",
    "One-way latency in the trial that a result stands on, of frames that were sent in batches.",
);
pub const BUSY: (&str, &str) = (
    "mpps_dut_busiest_cpu_ratio",
    "Busy share of the DUT's busiest CPU.",
);
pub const DOUBTS: (&str, &str) = ("mpps_doubts", "Doubts of a result.");
const ROUTER: (&str, &str) = (
    "mpps_router_frame_cost_seconds",
    "CPU time of the router for a frame at overload, with its interval.",
);
const BED: (&str, &str) = (
    "mpps_bed_frame_cost_seconds",
    "CPU time of the bed for a frame at overload, with its interval.",
);

/// With more of them.
pub fn with<'a>(labels: &Labels<'a>, more: &[(&'static str, &'a str)]) -> Labels<'a> {
    labels.iter().chain(more).copied().collect()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// As a result's rate reads.
pub fn reads(is_bound: bool) -> &'static str {
    if is_bound { ">=" } else { "=" }
}

/// What a frame costs at overload, and whether the router's part is the least that it can be.
pub fn costs(
    gauges: &mut Gauges,
    labels: &Labels<'_>,
    (cost, is_least): (Option<FrameCost>, bool),
) {
    let reading = with(labels, &[("reads", reads(is_least))]);
    gauges.add_interval(ROUTER, &reading, cost.map(|cost| cost.router_ns), NS);
    gauges.add_interval(BED, labels, cost.map(|cost| cost.bed_ns), NS);
}

/// ns in seconds.
pub fn seconds(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64 * NS)
}
