//! `mpps loss`: what is lost at each load.

use super::contract::{Asked, BedJob, Measure, Place};
use super::measure::measure;
use crate::args::LossArgs;
use crate::exit::Exit;
use crate::plan;
use crate::record::{Job, curve_line, overload_line};
use crate::recorder::Recorder;
use crate::terminal::plan as words;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::lasting::{self, Lasting, LastingPlan};
use mpps_lab::jobs::loss::{self, Curve, LossPlan};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::traffic::Traffic;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &LossArgs) -> Result<Exit> {
    let plan = plan::LossPlan::new(args)?;
    let asked = Asked {
        plot: args.plot.as_deref(),
        ..Asked::new(&args.output, plan.bed, plan.destinations)
    };
    match plan.lasting {
        Some(lasting) => measure(&asked, lasting),
        None => measure(&asked, Loss(plan.offer)),
    }
}

/// What to offer.
struct Loss(LossPlan);

impl Measure for Loss {
    fn job(&self) -> Job<'_> {
        Job::loss(&self.0)
    }

    fn words(&self, asked: &Asked<'_>) -> String {
        words::sent(&self.0.measurement)
            + &words::destinations(asked.destinations.as_ref())
            + &format!("loads        {}\n", self.job().rule)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.0.measurement.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.0.measurement = self.0.measurement.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let simulated = matches!(place, Place::Simulated(_));
        let line = |curve: &Curve, stands| vec![curve_line(curve, &self.0, simulated, stands)];
        let mut results = recorder.with(line);
        let error = match place {
            Place::Bed(bed) => loss::measure(bed, &self.0, &mut results),
            Place::Simulated(pair) => loss::simulate(pair, &self.0, &mut results),
        };
        error.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl BedJob for LastingPlan {
    const RULE: &str = "loads";

    fn job(&self) -> Job<'_> {
        Job::lasting(self)
    }

    fn measurement(&self) -> &ThroughputPlan {
        &self.measurement
    }

    fn measurement_mut(&mut self) -> &mut ThroughputPlan {
        &mut self.measurement
    }

    fn searches(&self) -> bool {
        false
    }

    fn measure(&self, bed: &Bed, recorder: &mut Recorder) -> Option<JobError> {
        let mut results = recorder.with(|size: &Lasting, _| vec![overload_line(size, self)]);
        lasting::measure(bed, self, &mut results)
    }
}
