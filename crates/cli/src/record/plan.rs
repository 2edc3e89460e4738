//! The plan of a run as its first line has it: what is sent, and how it is searched.

use crate::words::rule;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::line::traffic;
use mpps_lab::traffic::Traffic;
use mpps_method::{FrameSpec, Rate, Resolution, SearchGoal, SearchPlan};
use mpps_record::{Goal, Plan, Search};

/// The plan of what sends these frames and searches nothing.
pub fn sent(sizes: &[FrameSpec], sent: &Traffic) -> Plan {
    Plan {
        frames: sizes.iter().map(ToString::to_string).collect(),
        traffic: traffic(sent),
        ..Plan::default()
    }
}

/// How the rate without loss is searched.
pub fn search(plan: &ThroughputPlan) -> Search {
    let common = Search {
        search: "mlr".to_owned(),
        pass_rule: Some(rule(&plan.search)),
        trial_ns: plan.search.final_trial().as_nanos(),
        warm_up_ns: plan.warm_up.as_nanos(),
        minimum_fps: plan.minimum.fps(),
        maximum_fps: plan.maximum.map(Rate::fps),
        link_bits_per_s: plan.link.speed.bits_per_second(),
        link_source: plan.link.source.name().to_owned(),
        ..Search::default()
    };
    match &plan.search {
        SearchPlan::Mlr {
            goals,
            trials_at_most,
        } => Search {
            goals: goals.iter().map(goal).collect(),
            trials_at_most: Some(*trials_at_most),
            ..common
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
            Search {
                search: "bisection".to_owned(),
                resolution_share,
                step_fps,
                trials_per_load: Some(*trials_per_load),
                accept: Some(accept.to_string()),
                ..common
            }
        }
    }
}

fn goal(goal: &SearchGoal) -> Goal {
    Goal {
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
