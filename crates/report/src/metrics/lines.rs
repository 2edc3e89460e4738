//! Gauges of all jobs but the search: `mpps loss --overload`, `mpps latency`, `mpps explain` and others.

use super::{Gauges, LATENCY, Labels, MAXIMUM, NS, with};
use crate::profile::{is_beds, saturated};
use crate::sentence;
use mpps_record::{
    BurstLine, ComparisonLine, Interval, LatencyLine, OverloadLine, ProfileLine, RecoveryLine,
    ResetLine, Run, SweepLine,
};

const BUFFER: (&str, &str) = (
    "mpps_buffer_seconds",
    "Time of frames that the DUT's buffer holds (RFC 9004 section 5.4).",
);

/// Those of the run.
pub fn add(gauges: &mut Gauges, labels: &Labels<'_>, run: &Run) {
    for line in &run.overloads {
        overload(gauges, &with(labels, &[("frame", &line.frame)]), line);
    }
    for line in &run.latencies {
        latency(gauges, labels, line);
    }
    for line in &run.bursts {
        burst(gauges, &with(labels, &[("frame", &line.frame)]), line);
    }
    for line in &run.recoveries {
        recovery(gauges, &with(labels, &[("frame", &line.frame)]), line);
    }
    for line in &run.resets {
        let labels = with(labels, &[("frame", &line.frame), ("reset", &line.reset)]);
        reset(gauges, &labels, line);
    }
    for line in &run.comparisons {
        comparison(gauges, &with(labels, &[("frame", &line.frame)]), line);
    }
    for line in &run.profiles {
        profile(gauges, &with(labels, &[("frame", &line.frame)]), line);
    }
    for line in &run.sweeps {
        sweep(gauges, labels, line);
    }
}

fn seconds(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64 * NS)
}

/// Percentiles that too few frames stand behind are left out.
fn latency(gauges: &mut Gauges, labels: &Labels<'_>, line: &LatencyLine) {
    for load in &line.loads {
        let fps = load.load_fps.to_string();
        let bed = load.bed.iter().map(|bed| ("bed", bed));
        for (path, found) in [("router", &load.router)].into_iter().chain(bed) {
            let more: Labels<'_> = vec![("frame", &line.frame), ("load_fps", &fps), ("path", path)];
            let labels = with(labels, &more);
            let supported = found.times.percentiles.iter().filter(|at| at.supported);
            let known = supported.map(|at| (at.percent.to_string(), Some(at.ns)));
            let most = ("100".to_owned(), found.times.max_ns);
            for (percentile, ns) in known.chain([most]) {
                let labels = with(&labels, &[("percentile", &percentile)]);
                gauges.add(LATENCY.0, LATENCY.1, &labels, seconds(ns));
            }
        }
    }
}

fn overload(gauges: &mut Gauges, labels: &Labels<'_>, line: &OverloadLine) {
    let forwarded = sentence::spread(&line.seconds, |second| second.forwarding_fps);
    let path = line.management.as_ref().filter(|path| path.asked > 0);
    for (name, help, value) in [
        (
            "mpps_overload_forwarding_fps",
            "What the DUT forwarded under a lasting overload, frames/s.",
            forwarded.map(|[mean, ..]| mean),
        ),
        (
            "mpps_overload_forwarding_lowest_fps",
            "What the DUT forwarded in the worst second of it, frames/s.",
            forwarded.map(|[_, lowest, _]| lowest),
        ),
        (
            "mpps_management_answered_ratio",
            "Questions to the router's own address that were answered under overload.",
            path.map(|path| path.answered as f64 / path.asked as f64),
        ),
        (
            "mpps_management_silence_seconds",
            "The longest time of the overload without an answer.",
            seconds(path.map(|path| path.longest_silence_ns)),
        ),
        (
            "mpps_overload_return_seconds",
            "Time for which frames were lost after a lasting overload.",
            seconds(line.recovery_ns),
        ),
    ] {
        gauges.add(name, help, labels, value);
    }
}

fn burst(gauges: &mut Gauges, labels: &Labels<'_>, line: &BurstLine) {
    let all = line.all.as_ref();
    gauges.add(
        "mpps_back_to_back_frames",
        "Longest burst without loss, on average (RFC 2544 section 26.4).",
        labels,
        all.map(|all| all.average_frames),
    );
    let implied = all.map(|all| all.implied_buffer_ns);
    let corrected = all.and_then(|all| all.corrected_buffer_ns);
    for (reads, ns) in [("implied", implied), ("corrected", corrected)] {
        let labels = with(labels, &[("reads", reads)]);
        gauges.add(BUFFER.0, BUFFER.1, &labels, seconds(ns));
    }
}

fn recovery(gauges: &mut Gauges, labels: &Labels<'_>, line: &RecoveryLine) {
    gauges.add(
        "mpps_recovery_seconds",
        "Time for which frames were lost after an overload, on average (RFC 2544 section 26.5).",
        labels,
        seconds(line.average_ns),
    );
}

fn reset(gauges: &mut Gauges, labels: &Labels<'_>, line: &ResetLine) {
    for (method, ns) in [
        ("frame-loss", line.frame_loss_ns),
        ("time-stamp", line.time_stamp_ns),
    ] {
        gauges.add(
            "mpps_reset_seconds",
            "Time for which nothing was forwarded after a reset, median (RFC 6201).",
            &with(labels, &[("method", method)]),
            seconds(ns),
        );
    }
}

fn comparison(gauges: &mut Gauges, labels: &Labels<'_>, line: &ComparisonLine) {
    for variant in &line.variants {
        let labels = &with(labels, &[("variant", &variant.name)]);
        let rate = variant.forwarding_fps.map(Interval::from);
        gauges.add_interval(MAXIMUM, labels, rate, 1.0);
        let difference = variant.difference.as_ref();
        let rate = difference.and_then(|difference| difference.rate_change);
        let cost = difference.and_then(|difference| difference.cost_ns);
        let change = (
            "mpps_rate_change_ratio",
            "Frames/s more than the first variant's, as a share of them.",
        );
        gauges.add_interval(change, labels, rate, 1.0);
        let change = (
            "mpps_frame_cost_change_seconds",
            "CPU time that a frame takes more than with the first variant.",
        );
        gauges.add_interval(change, labels, cost, NS);
    }
}

/// At saturation, where the cost is known by stage.
fn profile(gauges: &mut Gauges, labels: &Labels<'_>, line: &ProfileLine) {
    let Some(load) = saturated(line) else { return };
    let stage = (
        "mpps_stage_cost_seconds",
        "CPU time of a frame in a stage at overload, with its interval; the label of says whose stage it is.",
    );
    for part in &load.stages {
        let of = if is_beds(&part.part) { "bed" } else { "router" };
        let labels = with(labels, &[("stage", &part.part), ("of", of)]);
        gauges.add_interval(stage, &labels, Some(part.ns), NS);
    }
    let cause = (
        "mpps_cause_cost_seconds",
        "CPU time of a frame by cause at overload, with its interval.",
    );
    for part in &load.causes {
        let labels = with(labels, &[("cause", &part.part)]);
        gauges.add_interval(cause, &labels, Some(part.ns), NS);
    }
    gauges.add(
        "mpps_unclassified_ratio",
        "Part of the time of a frame that no rule places in a stage.",
        labels,
        Some(load.unclassified_share),
    );
    gauges.add(
        "mpps_predicted_forwarding_rate_frames_per_second",
        "Maximum forwarding rate that the cost at lower loads predicts.",
        labels,
        line.model.as_ref().map(|model| model.predicted_fps),
    );
}

fn sweep(gauges: &mut Gauges, labels: &Labels<'_>, line: &SweepLine) {
    let cost = (
        "mpps_sweep_cost_seconds",
        "CPU time of a frame at overload at a point of a sweep, with its interval.",
    );
    for point in &line.points {
        let (value, held) = (point.value.to_string(), point.held_out.to_string());
        let more: Labels<'_> = vec![
            ("axis", &line.axis),
            ("value", &value),
            ("frame", &point.frame),
            ("held_out", &held),
        ];
        gauges.add_interval(cost, &with(labels, &more), Some(point.load.frame_ns), NS);
    }
    let fit = line.fit.as_ref();
    gauges.add(
        "mpps_sweep_held_out_error_ratio",
        "Median of how far predicted costs of points that were not fitted are off.",
        &with(labels, &[("axis", &line.axis)]),
        fit.and_then(|fit| fit.held_out_error_ratio),
    );
}
