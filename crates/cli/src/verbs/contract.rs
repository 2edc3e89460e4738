//! What a verb that measures supplies; all else is the same for every one of them.

use crate::args::OutputArgs;
use crate::plan::{BedChoice, DestinationPlan};
use crate::record::Job;
use crate::recorder::Recorder;
use crate::terminal::plan as words;
use anyhow::{Result, bail};
use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::fib_scale::Point;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::traffic::Traffic;
use mpps_method::simulate::Properties;
use mpps_record::{ResultLine, Run};
use std::path::Path;

/// What is asked for beside the job.
pub struct Asked<'a> {
    /// Where.
    pub bed: BedChoice,
    /// Routes to load into the DUT, and destinations to draw from them.
    pub destinations: Option<DestinationPlan>,
    /// Where results go.
    pub output: &'a OutputArgs,
    /// Where the plot goes; `None`: beside the record.
    pub plot: Option<&'a Path>,
}

impl<'a> Asked<'a> {
    /// Without a plot.
    #[must_use]
    pub const fn new(
        output: &'a OutputArgs,
        bed: BedChoice,
        destinations: Option<DestinationPlan>,
    ) -> Self {
        Self {
            bed,
            destinations,
            output,
            plot: None,
        }
    }
}

/// Where a job is run.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    /// On a bed.
    Bed(&'a Bed),
    /// On a simulated pair.
    Simulated(Properties),
}

impl<'a> Place<'a> {
    /// The bed, for a job that cannot be simulated.
    ///
    /// # Errors
    /// There is none.
    pub fn bed(self) -> Result<&'a Bed> {
        match self {
            Self::Bed(bed) => Ok(bed),
            Self::Simulated(_) => bail!("a simulated pair has no bed"),
        }
    }
}

/// What is a verb's own.
pub trait Measure {
    /// What was asked for, as the record's first line has it.
    fn job(&self) -> Job<'_>;

    /// The plan in words, the bed aside, for `--dry-run`.
    fn words(&self, asked: &Asked<'_>) -> String;

    /// What is sent; destinations are drawn into it.
    fn traffic(&mut self) -> &mut Traffic;

    /// Whether a kept bed will do.
    ///
    /// # Errors
    /// One line that names the remedy.
    fn check_bed(&self, _name: &str, _bed: &BedPlan) -> Result<()> {
        Ok(())
    }

    /// Completes the plan with what only the bed can tell.
    ///
    /// # Errors
    /// The bed could not be asked.
    fn resolve(&mut self, bed: &Bed) -> Result<()>;

    /// Runs the job. Each result goes to the recorder as soon as it is known.
    ///
    /// # Errors
    /// What ended the job early, or a part of it.
    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()>;

    /// Results that are shown and not recorded: of what was not begun, because of `why`.
    fn not_begun(&self, _run: &Run, _why: &str) -> Vec<ResultLine> {
        Vec::new()
    }

    /// The points of `mpps fib-scale`.
    fn points(&self) -> &[Point] {
        &[]
    }
}

/// A plan of trials on a bed alone, for one frame size after the other.
pub trait BedJob {
    /// What the plan in words calls its rule.
    const RULE: &'static str = "trials";

    /// What was asked for, as the record's first line has it.
    fn job(&self) -> Job<'_>;

    /// All but the trials.
    fn measurement(&self) -> &ThroughputPlan;

    /// The same, to be completed.
    fn measurement_mut(&mut self) -> &mut ThroughputPlan;

    /// Whether a rate is searched before.
    fn searches(&self) -> bool {
        true
    }

    /// Completes what only the bed can tell and what is the plan's own.
    ///
    /// # Errors
    /// One line that names the remedy.
    fn complete(&mut self, _bed: &Bed) -> Result<()> {
        Ok(())
    }

    /// Runs it. Returns what ended it early, or a frame size.
    fn measure(&self, bed: &Bed, recorder: &mut Recorder) -> Option<JobError>;
}

impl<T: BedJob> Measure for T {
    fn job(&self) -> Job<'_> {
        BedJob::job(self)
    }

    fn words(&self, asked: &Asked<'_>) -> String {
        let sent = match self.searches() {
            true => words::measurement(self.measurement()),
            false => words::sent(self.measurement()),
        };
        let rule = BedJob::job(self).rule;
        sent + &words::destinations(asked.destinations.as_ref())
            + &format!("{:<13}{rule}\n", T::RULE)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.measurement_mut().traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        *self.measurement_mut() = self.measurement().on_bed(bed)?;
        self.complete(bed)
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let error = self.measure(place.bed()?, recorder);
        error.map_or(Ok(()), |error| Err(error.into()))
    }
}
