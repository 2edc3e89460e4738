//! `mpps loss`: what is lost at each load.

use super::contract::{Asked, MeasureSizes, Place};
use super::measure::measure;
use crate::args::LossArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, curve_line, overload_line};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::lasting::{self, Lasting, LastingPlan};
use mpps_lab::jobs::loss::{self, Curve, LossPlan};
use mpps_lab::jobs::throughput::ThroughputPlan;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &LossArgs) -> Result<Exit> {
    let (plan, lasting) = plan::loss(args)?;
    let asked = Asked {
        plot: args.plot.as_deref(),
        ..Asked::new(&args.output, plan.bed, plan.destinations)
    };
    match lasting {
        Some(lasting) => measure(&asked, lasting),
        None => measure(&asked, plan.offer),
    }
}

impl MeasureSizes for LossPlan {
    fn job(&self) -> Job<'_> {
        Job::loss(self)
    }

    fn measurement(&self) -> &ThroughputPlan {
        &self.measurement
    }

    fn measurement_mut(&mut self) -> &mut ThroughputPlan {
        &mut self.measurement
    }

    fn noun(&self) -> &'static str {
        "loads"
    }

    fn measure(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<Option<JobError>> {
        let simulated = matches!(place, Place::Simulated(_));
        let line = |curve: &Curve, stands| vec![curve_line(curve, self, simulated, stands)];
        let mut results = recorder.with(line);
        Ok(match place {
            Place::Bed(bed) => loss::measure(bed, self, &mut results),
            Place::Simulated(pair) => loss::simulate(pair, self, &mut results),
        })
    }
}

impl MeasureSizes for LastingPlan {
    fn job(&self) -> Job<'_> {
        Job::lasting(self)
    }

    fn measurement(&self) -> &ThroughputPlan {
        &self.measurement
    }

    fn measurement_mut(&mut self) -> &mut ThroughputPlan {
        &mut self.measurement
    }

    fn noun(&self) -> &'static str {
        "loads"
    }

    fn measure(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<Option<JobError>> {
        let mut results = recorder.with(|size: &Lasting, _| vec![overload_line(size, self)]);
        Ok(lasting::measure(place.bed()?, self, &mut results))
    }
}
