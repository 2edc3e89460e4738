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

/// What is a verb's own that measures one frame size after the other. The rest of [`Measure`] follows.
pub trait MeasureSizes {
    /// As [`Measure::job`].
    fn job(&self) -> Job<'_>;

    /// What is sent, and the search.
    fn measurement(&self) -> &ThroughputPlan;

    /// To complete it.
    fn measurement_mut(&mut self) -> &mut ThroughputPlan;

    /// Whether it searches for the throughput first.
    fn searches(&self) -> bool {
        false
    }

    /// What its rule is of: `loads` or `trials`.
    fn noun(&self) -> &'static str;

    /// Runs the job. Returns what ended it early, or a size.
    ///
    /// # Errors
    /// It cannot be run in this place.
    fn measure(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<Option<JobError>>;
}

impl<P: MeasureSizes> Measure for P {
    fn job(&self) -> Job<'_> {
        MeasureSizes::job(self)
    }

    fn words(&self, asked: &Asked<'_>) -> String {
        let sent = match self.searches() {
            true => words::measurement(self.measurement()),
            false => words::sent(self.measurement()),
        };
        let destinations = words::destinations(asked.destinations.as_ref());
        let rule = MeasureSizes::job(self).rule;
        format!("{sent}{destinations}{:<13}{rule}\n", self.noun())
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.measurement_mut().traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        *self.measurement_mut() = self.measurement().on_bed(bed)?;
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        ended(self.measure(place, recorder)?)
    }
}

/// How a job ended.
///
/// # Errors
/// What ended it early, or a part of it.
pub fn ended(error: Option<JobError>) -> Result<()> {
    error.map_or(Ok(()), |error| Err(error.into()))
}
