//! Results as gauges in OpenMetrics' text format, in base units. Prometheus' older format reads it too.

mod lines;

use crate::headline::is_bound;
use crate::source::Gathered;
use mpps_record::{FrameCost, Interval, PointLine, ResultLine, Run, TrialLine, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Names and values of labels.
type Labels<'a> = Vec<(&'static str, &'a str)>;

/// Samples by name: those of one name have to stand together, each set of labels once.
#[derive(Default)]
struct Gauges(BTreeMap<&'static str, (&'static str, BTreeMap<String, f64>)>);

impl Gauges {
    /// A value; what is not known has no sample.
    fn add(
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
    fn add_interval(
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
}

const NS: f64 = 1e-9;
const MAXIMUM: (&str, &str) = (
    "mpps_maximum_forwarding_rate_frames_per_second",
    "Maximum forwarding rate (RFC 2285 3.6.3) with its interval; the label reads says whether it is a bound.",
);
const LATENCY: (&str, &str) = (
    "mpps_latency_seconds",
    "One-way latency: of the trial that a result stands on, or of a load through the router and through a wire.",
);
const ROUTER: (&str, &str) = (
    "mpps_router_frame_cost_seconds",
    "CPU time of the router for a frame at overload, with its interval.",
);
const BED: (&str, &str) = (
    "mpps_bed_frame_cost_seconds",
    "CPU time of the bed for a frame at overload, with its interval.",
);

/// The results of all runs.
#[must_use]
pub fn openmetrics(all: &Gathered) -> String {
    let mut gauges = Gauges::default();
    for (file, run) in &all.runs {
        let labels = vec![("record", file.as_str()), ("run", run.name.as_str())];
        run_itself(&mut gauges, &labels, run);
        for result in &run.results {
            let goal = result.goal.as_deref().unwrap_or("");
            let labels = with(&labels, &[("frame", &result.frame), ("goal", goal)]);
            one_result(&mut gauges, &labels, result, &run.trials);
        }
        for point in &run.points {
            one_point(&mut gauges, &labels, point);
        }
        curves(&mut gauges, &labels, run);
        lines::add(&mut gauges, &labels, run);
        for line in &run.calibrations {
            let labels = with(&labels, &[("fault", &line.fault)]);
            let holds = if line.holds { 1.0 } else { 0.0 };
            let compared = line.disturbed.is_none().then_some(holds);
            gauges.add(
                "mpps_planted_fault_found",
                "Whether the meter found a planted fault.",
                &labels,
                compared,
            );
        }
    }
    let mut text = String::new();
    for (name, (help, samples)) in &gauges.0 {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n");
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    }
    text + "# EOF\n"
}

fn with<'a>(labels: &Labels<'a>, more: &[(&'static str, &'a str)]) -> Labels<'a> {
    labels.iter().chain(more).copied().collect()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

fn run_itself(gauges: &mut Gauges, labels: &Labels<'_>, run: &Run) {
    if let Some(begin) = &run.begin {
        let kernel = begin
            .facts
            .kernel_release
            .known()
            .map_or("", String::as_str);
        let about: Labels<'_> = vec![
            ("job", &begin.job),
            ("version", &begin.tool_version),
            ("begun", &begin.begun_utc),
            ("kernel", kernel),
            ("comparable_with", &begin.comparability.key),
        ];
        gauges.add(
            "mpps_run",
            "A run; always 1.",
            &with(labels, &about),
            Some(1.0),
        );
    }
    let exit = run.end.as_ref().map(|end| f64::from(end.exit_code));
    gauges.add(
        "mpps_run_exit_code",
        "Exit code; none where the run did not end.",
        labels,
        exit,
    );
    let mut verdicts: BTreeMap<&str, f64> = BTreeMap::new();
    for trial in &run.trials {
        *verdicts.entry(trial.verdict.as_str()).or_default() += 1.0;
    }
    for (verdict, count) in verdicts {
        let labels = with(labels, &[("verdict", verdict)]);
        gauges.add("mpps_trials", "Trials by verdict.", &labels, Some(count));
    }
}

/// As a result's rate reads.
fn reads(is_bound: bool) -> &'static str {
    if is_bound { ">=" } else { "=" }
}

fn costs(gauges: &mut Gauges, labels: &Labels<'_>, cost: Option<FrameCost>) {
    gauges.add_interval(ROUTER, labels, cost.map(|cost| cost.router_ns), NS);
    gauges.add_interval(BED, labels, cost.map(|cost| cost.bed_ns), NS);
}

fn one_result(gauges: &mut Gauges, labels: &Labels<'_>, result: &ResultLine, trials: &[TrialLine]) {
    let overload = &result.overload;
    gauges.add_interval(
        MAXIMUM,
        &with(labels, &[("reads", reads(is_bound(result)))]),
        overload.max_forwarding_fps.map(Interval::from),
        1.0,
    );
    costs(gauges, labels, overload.cost);
    let is = result.rate_is.as_ref().map_or("", |is| is.as_str());
    let limit = result
        .limited_by
        .as_ref()
        .map_or("", |limit| limit.as_str());
    gauges.add(
        "mpps_rate_frames_per_second",
        "Highest load within the goal; the label reads says whether it is a bound.",
        &with(labels, &[("reads", is), ("limited_by", limit)]),
        result.rate_fps.map(|fps| fps as f64),
    );
    let ceiling = result.tester_ceiling_fps as f64;
    gauges.add(
        "mpps_tester_ceiling_frames_per_second",
        "Most that the tester could offer and receive.",
        labels,
        (ceiling > 0.0).then_some(ceiling),
    );
    gauges.add(BUSY.0, BUSY.1, labels, result.dut_busiest_cpu_share);
    gauges.add(
        "mpps_doubts",
        "Doubts of a result.",
        labels,
        Some(result.doubts.len() as f64),
    );
    let number = result.stands_on.stands_on_trial;
    if let Some(trial) = trials.iter().find(|trial| Some(trial.trial) == number) {
        let latency = &trial.latency;
        let known = [
            ("50", latency.p50_ns),
            ("90", latency.p90_ns),
            ("99", latency.p99_ns),
            ("99.9", latency.p999_ns),
            ("100", latency.max_ns),
        ];
        for (percentile, ns) in known {
            gauges.add(
                LATENCY.0,
                LATENCY.1,
                &with(labels, &[("percentile", percentile)]),
                ns.map(|ns| ns as f64 * NS),
            );
        }
    }
}

const BUSY: (&str, &str) = (
    "mpps_dut_busiest_cpu_ratio",
    "Busy share of the DUT's busiest CPU.",
);

fn one_point(gauges: &mut Gauges, labels: &Labels<'_>, point: &PointLine) {
    let [routes, destinations] =
        [point.asked_routes, point.asked_destinations].map(|count| count.to_string());
    let more: Labels<'_> = vec![
        ("series", &point.series),
        ("frame", point.frame.as_deref().unwrap_or("")),
        ("asked_routes", &routes),
        ("asked_destinations", &destinations),
    ];
    let labels = with(labels, &more);
    let is_bound = (point.limited_by.as_ref()).is_some_and(|limit| limit != "DUT");
    gauges.add_interval(
        MAXIMUM,
        &with(&labels, &[("reads", reads(is_bound))]),
        point.max_forwarding_fps.map(Interval::from),
        1.0,
    );
    costs(gauges, &labels, point.cost);
    gauges.add(
        "mpps_doubts",
        "Doubts of a result.",
        &labels,
        Some(point.doubts.len() as f64),
    );
}

fn curves(gauges: &mut Gauges, labels: &Labels<'_>, run: &Run) {
    for curve in &run.curves {
        for load in &curve.loads {
            let share = load.load_share.to_string();
            let labels = with(labels, &[("frame", &curve.frame), ("load_ratio", &share)]);
            let at = load.measured.as_ref();
            let judged = matches!(load.verdict, Verdict::Lossless | Verdict::Lossy);
            let at = at.filter(|_| judged);
            let fps = |fps: u64| fps as f64;
            gauges.add(
                "mpps_loss_ratio",
                "Frames lost of those that reached the DUT.",
                &labels,
                at.map(|at| at.loss_ratio),
            );
            gauges.add(
                "mpps_offered_load_frames_per_second",
                "Load really sent.",
                &labels,
                at.map(|at| fps(at.offered_fps)),
            );
            gauges.add(
                "mpps_forwarding_rate_frames_per_second",
                "What the DUT forwarded of a load.",
                &labels,
                at.map(|at| fps(at.forwarding_fps)),
            );
            gauges.add(
                BUSY.0,
                BUSY.1,
                &labels,
                at.and_then(|at| at.dut_busiest_cpu_share),
            );
        }
    }
}
