//! The first and the last line of a run: what was asked for, where, and how it ended.

use super::comparability::{Comparability, sha256};
use super::traffic::{RoutesEntry, TrafficEntry};
use crate::record::Clock;
use crate::terminal::rule;
use mpps_lab::bed::{Bed, BedPlan, Side};
use mpps_lab::facts::{Facts, Nic};
use mpps_lab::jobs::fixed_load::FixedLoadPlan;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::rules;
use mpps_lab::tester::{Means, ReceiverPlace, receiver_place};
use mpps_lab::traffic::Traffic;
use mpps_method::simulate::Properties;
use mpps_method::{Resolution, SearchGoal, SearchPlan};
use serde::Serialize;
use serde_json::{Value, json};

/// Version of the rules by which trials are judged and rates searched; see "Measurement changes" in
/// CHANGELOG.md.
pub(super) const METHOD_VERSION: u32 = 3;

/// So much of a set-up script stands in the record, octets.
const SCRIPT_OCTETS: usize = 64 << 10;

/// What was asked for.
#[derive(Clone, Copy)]
pub enum Job<'a> {
    /// `mpps throughput`.
    Throughput(&'a ThroughputPlan),
    /// `mpps trial`.
    Trial(&'a FixedLoadPlan),
    /// `mpps fib-scale`, at each point; whether it searches for the rate without loss too.
    FibScale(&'a ThroughputPlan, bool),
    /// `mpps calibrate`, with this traffic.
    Calibrate(&'a Traffic),
}

/// What was asked for, of what, where.
#[derive(Serialize)]
pub struct RunLine {
    begun_utc: String,
    job: &'static str,
    tool_version: &'static str,
    method_version: u32,
    /// As typed after the program's name.
    arguments: Vec<String>,
    plan: PlanEntry,
    bed: PlaceEntry,
    /// Null: the DUT's own, or those its set-up made.
    routes: Option<RoutesEntry>,
    facts: Facts,
    comparability: Comparability,
}

/// Where it ran.
#[derive(Serialize)]
#[serde(untagged)]
enum PlaceEntry {
    Bed(Box<BedEntry>),
    /// Nowhere.
    Simulated {
        kind: &'static str,
        pair: String,
    },
}

#[derive(Serialize)]
struct PlanEntry {
    frames: Vec<String>,
    #[serde(flatten)]
    traffic: TrafficEntry,
    /// A calibration's searches are part of the method, not of the plan; `fib-scale` may have none.
    #[serde(flatten)]
    search: Option<SearchEntry>,
    /// Loads that are offered without a search, in words, for `max` is none.
    #[serde(flatten)]
    fixed: Option<Value>,
}

#[derive(Serialize)]
struct SearchEntry {
    /// `mlr` (RFC 9971) or `bisection`.
    search: &'static str,
    /// Shortest trial a result may stand on.
    trial_ns: u64,
    goals: Vec<GoalEntry>,
    trials_at_most: Option<u32>,
    /// Of a bisection; one of the two is there.
    resolution_share: Option<f64>,
    step_fps: Option<f64>,
    trials_per_load: Option<u32>,
    accept: Option<String>,
    warm_up_ns: u64,
    minimum_fps: f64,
    /// Null: the tester's ceiling.
    maximum_fps: Option<f64>,
    link_bits_per_s: u64,
    /// Who says so: ports, given, or notional (nobody).
    link_source: &'static str,
}

/// A goal, by RFC 9971's attributes.
#[derive(Serialize)]
struct GoalEntry {
    name: String,
    code: String,
    loss_ratio: f64,
    exceed_ratio: f64,
    initial_trial_ns: u64,
    final_trial_ns: u64,
    duration_sum_ns: u64,
    width_share: f64,
}

#[derive(Serialize)]
struct BedEntry {
    kind: &'static str,
    name: String,
    nic: &'static str,
    queues: u16,
    rx_ring_frames: u32,
    rings_together_frames: u32,
    rss: &'static str,
    /// As asked for: newest, or oldest.
    kernel_interfaces: &'static str,
    /// What that came to; null where it could not be tried.
    tester_means: Option<MeansEntry>,
    dut_cpus: Vec<usize>,
    tester_cpus: Vec<usize>,
    cpus_shared: bool,
    dut_setup: Option<String>,
    /// What that script was, and what it said.
    dut_setup_script: Option<ScriptEntry>,
    /// Where the tester sends and receives around a device of somebody else's.
    external_ports: Option<Vec<String>>,
    /// Their NICs and links.
    external_nics: Vec<Nic>,
}

/// A set-up script.
#[derive(Serialize)]
struct ScriptEntry {
    /// SHA-256 of the text.
    sha256: String,
    /// Its first 64 KiB; null where it cannot be read any more.
    text: Option<String>,
    /// The end of what it wrote to its output and its errors, 4 KiB of each; null where that is gone.
    output: Option<String>,
}

/// Which of the kernel's interfaces the tester works with.
#[derive(Serialize)]
struct MeansEntry {
    traffic_control: &'static str,
    stall_watch: &'static str,
    napi_list: &'static str,
}

/// How a run ended.
#[derive(Serialize)]
pub struct EndLine {
    /// When.
    pub ended_utc: String,
    /// 0 to 2, as the program's.
    pub exit_code: u8,
    /// What ended it early.
    pub error: Option<String>,
    /// Trials run.
    pub trials: u32,
}

/// Three network namespaces joined by veth, or real ports around a device of somebody else's.
pub(super) fn bed_kind(plan: &BedPlan) -> &'static str {
    if plan.is_external() {
        "external"
    } else {
        "namespaces"
    }
}

/// The front's name; a device of somebody else's has none that we know.
pub(super) fn front_name(plan: &BedPlan) -> &'static str {
    if plan.is_external() {
        "unknown"
    } else {
        plan.nic.name()
    }
}

/// Frames of one receive ring; 0 where nobody knows.
pub(super) fn ring_frames(bed: &Bed) -> u32 {
    if bed.plan().is_external() {
        0
    } else {
        rules::one_ring(bed)
    }
}

impl RunLine {
    /// The line of a run that begins now on `bed`.
    #[must_use]
    pub fn of(begun: Clock, job: Job<'_>, bed: &Bed, facts: &Facts) -> Self {
        let comparability = Comparability::of_bed(bed, job, facts);
        let place = PlaceEntry::Bed(Box::new(bed_entry(bed)));
        Self::at(begun, job, place, facts, comparability)
    }

    /// The line of a run that begins now on a simulated pair.
    #[must_use]
    pub fn of_simulated(begun: Clock, job: Job<'_>, pair: &Properties, facts: &Facts) -> Self {
        let place = PlaceEntry::Simulated {
            kind: "simulated",
            pair: pair.to_string(),
        };
        Self::at(begun, job, place, facts, Comparability::of_simulated(pair))
    }

    fn at(
        begun: Clock,
        job: Job<'_>,
        bed: PlaceEntry,
        facts: &Facts,
        comparability: Comparability,
    ) -> Self {
        Self {
            begun_utc: begun.utc(),
            job: job.name(),
            tool_version: env!("CARGO_PKG_VERSION"),
            method_version: METHOD_VERSION,
            arguments: std::env::args_os()
                .skip(1)
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            plan: plan_entry(job),
            bed,
            routes: None,
            facts: facts.clone(),
            comparability,
        }
    }

    /// The same with the routes that were loaded into the DUT.
    #[must_use]
    pub fn with_routes(self, routes: Option<RoutesEntry>) -> Self {
        Self { routes, ..self }
    }

    /// What the run's results may be compared by.
    #[must_use]
    pub const fn comparability(&self) -> &Comparability {
        &self.comparability
    }
}

impl Job<'_> {
    /// What is sent.
    pub(super) fn traffic(&self) -> &Traffic {
        match self {
            Self::Throughput(plan) | Self::FibScale(plan, _) => &plan.traffic,
            Self::Trial(plan) => &plan.traffic,
            Self::Calibrate(traffic) => traffic,
        }
    }

    /// Where the tester receives: as asked for, or as it chooses by itself on this bed.
    pub(super) fn receiver(self, bed: &Bed) -> Option<ReceiverPlace> {
        let asked = match self {
            Self::Throughput(plan) => plan.receiver,
            Self::Trial(plan) => plan.receiver,
            _ => None,
        };
        asked.or_else(|| receiver_place(bed, self.traffic()).ok())
    }

    /// How long trials are and when a load has passed; a calibration's is part of the method.
    pub(super) fn search_rule(self) -> String {
        match self {
            Self::FibScale(_, false) => "overload".to_owned(),
            Self::Throughput(plan) | Self::FibScale(plan, true) => rule(&plan.search),
            Self::Trial(plan) => format!("trials of {} at given loads", plan.time),
            Self::Calibrate(_) => "calibration".to_owned(),
        }
    }

    /// The plan as a record's first line has it.
    pub fn plan(self) -> impl Serialize {
        plan_entry(self)
    }

    /// The verb.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput(_) => "throughput",
            Self::Trial(_) => "trial",
            Self::FibScale(..) => "fib-scale",
            Self::Calibrate(_) => "calibrate",
        }
    }
}

fn plan_entry(job: Job<'_>) -> PlanEntry {
    match job {
        Job::Throughput(plan) | Job::FibScale(plan, _) => PlanEntry {
            frames: plan.sizes.iter().map(ToString::to_string).collect(),
            traffic: TrafficEntry::of(&plan.traffic),
            search: (!matches!(job, Job::FibScale(_, false))).then(|| search_entry(plan)),
            fixed: None,
        },
        Job::Trial(plan) => PlanEntry {
            frames: plan.sizes.iter().map(ToString::to_string).collect(),
            traffic: TrafficEntry::of(&plan.traffic),
            search: None,
            fixed: Some(json!({
                "loads": plan.loads.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "time_ns": plan.time.as_nanos(),
                "trials": plan.trials,
            })),
        },
        Job::Calibrate(traffic) => PlanEntry {
            frames: vec![traffic.frames.to_string()],
            traffic: TrafficEntry::of(traffic),
            search: None,
            fixed: None,
        },
    }
}

fn search_entry(plan: &ThroughputPlan) -> SearchEntry {
    let entry = SearchEntry {
        search: "mlr",
        trial_ns: plan.search.final_trial().as_nanos(),
        goals: Vec::new(),
        trials_at_most: None,
        resolution_share: None,
        step_fps: None,
        trials_per_load: None,
        accept: None,
        warm_up_ns: plan.warm_up.as_nanos(),
        minimum_fps: plan.minimum.fps(),
        maximum_fps: plan.maximum.map(mpps_method::Rate::fps),
        link_bits_per_s: plan.link.speed.bits_per_second(),
        link_source: plan.link.source.name(),
    };
    match &plan.search {
        SearchPlan::Mlr {
            goals,
            trials_at_most,
        } => SearchEntry {
            goals: goals.iter().map(goal_entry).collect(),
            trials_at_most: Some(*trials_at_most),
            ..entry
        },
        SearchPlan::Bisection {
            resolution,
            trials_per_load,
            accept,
            ..
        } => {
            let (resolution_share, step_fps) = match *resolution {
                Resolution::Fraction(share) => (Some(share), None),
                Resolution::StepFps(step) => (None, Some(step)),
            };
            SearchEntry {
                search: "bisection",
                resolution_share,
                step_fps,
                trials_per_load: Some(*trials_per_load),
                accept: Some(accept.to_string()),
                ..entry
            }
        }
    }
}

fn goal_entry(goal: &SearchGoal) -> GoalEntry {
    GoalEntry {
        name: goal.to_string(),
        code: goal.code(),
        loss_ratio: goal.loss_ratio,
        exceed_ratio: goal.exceed_ratio,
        initial_trial_ns: goal.initial_trial.as_nanos(),
        final_trial_ns: goal.final_trial.as_nanos(),
        duration_sum_ns: goal.duration_sum.as_nanos(),
        width_share: goal.width,
    }
}

/// A tester that cannot be told its means here says so itself when it is raised.
pub(super) fn means(bed: &Bed) -> Option<Means> {
    Means::of(bed.plan().interfaces).ok()
}

fn bed_entry(bed: &Bed) -> BedEntry {
    let plan = bed.plan();
    BedEntry {
        kind: bed_kind(plan),
        name: bed.name().to_owned(),
        nic: front_name(plan),
        queues: plan.queues,
        rx_ring_frames: ring_frames(bed),
        rings_together_frames: ring_frames(bed) * u32::from(plan.queues),
        rss: plan.rss.name(),
        kernel_interfaces: plan.interfaces.name(),
        tester_means: means(bed).map(|means| MeansEntry {
            traffic_control: means.traffic_control.name(),
            stall_watch: means.stall_watch.name(),
            napi_list: means.napi_list.name(),
        }),
        dut_cpus: plan.cpus.dut.clone(),
        tester_cpus: plan.cpus.tester.clone(),
        cpus_shared: plan.cpus.shared(),
        dut_setup: plan
            .dut_setup
            .as_ref()
            .map(|path| path.to_string_lossy().into_owned()),
        dut_setup_script: plan.dut_setup.as_ref().map(|path| {
            let text = std::fs::read(path).ok();
            ScriptEntry {
                sha256: sha256(text.as_deref().unwrap_or_default()),
                text: text.map(|text| {
                    String::from_utf8_lossy(&text[..text.len().min(SCRIPT_OCTETS)]).into_owned()
                }),
                output: bed
                    .set_up_output()
                    .ok()
                    .map(|said| said.stdout + &said.stderr),
            }
        }),
        external_ports: plan
            .external
            .as_ref()
            .map(|pair| vec![pair.out.port.clone(), pair.back.port.clone()]),
        external_nics: [Side::A, Side::D]
            .into_iter()
            .filter_map(|side| Some(bed.cable(side)?.nic.clone()))
            .collect(),
    }
}
