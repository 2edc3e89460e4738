//! The job of a run: what was asked for.

use super::plan::plan;
use crate::terminal::{percent, rule};
use mpps_lab::bed::Bed;
use mpps_lab::jobs::fixed_load::FixedLoadPlan;
use mpps_lab::jobs::loss::LossPlan;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::tester::{ReceiverPlace, receiver_place};
use mpps_lab::traffic::Traffic;
use mpps_record::Plan;

/// What was asked for.
#[derive(Clone, Copy)]
pub enum Job<'a> {
    /// `mpps throughput`.
    Throughput(&'a ThroughputPlan),
    /// `mpps trial`.
    Trial(&'a FixedLoadPlan),
    /// `mpps loss`.
    Loss(&'a LossPlan),
    /// `mpps fib-scale`, at each point; whether it searches for the rate without loss too.
    FibScale(&'a ThroughputPlan, bool),
    /// `mpps calibrate`, with this traffic.
    Calibrate(&'a Traffic),
}

impl Job<'_> {
    /// What is sent.
    pub(super) fn traffic(&self) -> &Traffic {
        match self {
            Self::Throughput(plan) | Self::FibScale(plan, _) => &plan.traffic,
            Self::Trial(plan) => &plan.traffic,
            Self::Loss(plan) => &plan.measurement.traffic,
            Self::Calibrate(traffic) => traffic,
        }
    }

    /// Where the tester receives: as asked for, or as it chooses by itself on this bed.
    pub(super) fn receiver(self, bed: &Bed) -> Option<ReceiverPlace> {
        let asked = match self {
            Self::Throughput(plan) => plan.receiver,
            Self::Trial(plan) => plan.receiver,
            Self::Loss(plan) => plan.measurement.receiver,
            _ => None,
        };
        asked.or_else(|| receiver_place(bed, self.traffic()).ok())
    }

    /// How long trials are and when a load has passed; a calibration's is part of the method.
    pub fn search_rule(self) -> String {
        match self {
            Self::FibScale(_, false) => "overload".to_owned(),
            Self::Throughput(plan) | Self::FibScale(plan, true) => rule(&plan.search),
            Self::Trial(plan) => format!("trials of {} at given loads", plan.time),
            Self::Loss(plan) => format!(
                "trials of {}, down in steps of {} until two loads in a row lose nothing",
                plan.time(),
                percent(plan.step)
            ),
            Self::Calibrate(_) => "calibration".to_owned(),
        }
    }

    /// The plan as a record's first line has it.
    #[must_use]
    pub fn plan(self) -> Plan {
        plan(self)
    }

    /// The verb.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput(_) => "throughput",
            Self::Trial(_) => "trial",
            Self::Loss(_) => "loss",
            Self::FibScale(..) => "fib-scale",
            Self::Calibrate(_) => "calibrate",
        }
    }
}
