//! The plan of a run as its first line has it: what is sent, and how it is searched.

use super::job::Job;
use super::traffic::TrafficEntry;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_method::{Resolution, SearchGoal, SearchPlan};
use serde::Serialize;
use serde_json::{Value, json};

/// What was asked for.
#[derive(Serialize)]
pub(super) struct PlanEntry {
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

impl PlanEntry {
    /// The entry of a job.
    pub(super) fn of(job: Job<'_>) -> Self {
        match job {
            Job::Throughput(plan) | Job::FibScale(plan, _) => Self {
                frames: plan.sizes.iter().map(ToString::to_string).collect(),
                traffic: TrafficEntry::of(&plan.traffic),
                search: (!matches!(job, Job::FibScale(_, false))).then(|| SearchEntry::of(plan)),
                fixed: None,
            },
            Job::Trial(plan) => Self {
                frames: plan.sizes.iter().map(ToString::to_string).collect(),
                traffic: TrafficEntry::of(&plan.traffic),
                search: None,
                fixed: Some(json!({
                    "loads": plan.loads.iter().map(ToString::to_string).collect::<Vec<_>>(),
                    "time_ns": plan.time.as_nanos(),
                    "trials": plan.trials,
                })),
            },
            Job::Calibrate(traffic) => Self {
                frames: vec![traffic.frames.to_string()],
                traffic: TrafficEntry::of(traffic),
                search: None,
                fixed: None,
            },
        }
    }
}

impl SearchEntry {
    fn of(plan: &ThroughputPlan) -> Self {
        let entry = Self {
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
            } => Self {
                goals: goals.iter().map(GoalEntry::of).collect(),
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
                Self {
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
}

impl GoalEntry {
    fn of(goal: &SearchGoal) -> Self {
        Self {
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
}
