//! How every verb measures: plan, bed, record, routes, job, last line, result, exit code, lowering. A verb supplies what
//! is its own as a [`Measure`].

use super::begin::{self, Stage};
use super::destinations::{self, Prepared};
use crate::args::OutputArgs;
use crate::exit::Exit;
use crate::outcome::{self, View};
use crate::plan::{BedChoice, DestinationPlan};
use crate::record::{Clock, Job, run_line, simulated_run_line};
use crate::recorder::Recorder;
use crate::terminal;
use anyhow::{Context, Error, Result, bail};
use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::facts::Facts;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::fib_scale::Point;
use mpps_lab::traffic::Traffic;
use mpps_method::simulate::Properties;
use mpps_record::{EndLine, Other, ResultLine, Run, RunLine};
use std::path::{Path, PathBuf};

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
    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<(), Failed>;

    /// Results that are shown and not recorded: of what was not begun, because of `why`.
    fn not_begun(&self, _run: &Run, _why: &str) -> Vec<ResultLine> {
        Vec::new()
    }

    /// The points of `mpps fib-scale`.
    fn points(&self) -> &[Point] {
        &[]
    }
}

/// What ended a job early, and why its routes are still in the DUT.
#[derive(Debug, Default)]
pub struct Failed {
    /// What ended the job, or a part of it.
    pub error: Option<Error>,
    /// Why routes that it loaded itself are still there.
    pub not_cleared: Option<Error>,
}

impl Failed {
    /// `Ok` where nothing failed.
    ///
    /// # Errors
    /// Itself.
    pub fn unless_none(error: Option<JobError>, not_cleared: Option<JobError>) -> Result<(), Self> {
        match (error, not_cleared) {
            (None, None) => Ok(()),
            (error, not_cleared) => Err(Self {
                error: error.map(Error::from),
                not_cleared: not_cleared.map(Error::from),
            }),
        }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self {
            error: Some(error),
            not_cleared: None,
        }
    }
}

/// Measures: prints the plan and ends, simulates, or raises or opens the bed and leaves it, whatever happened before.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn measure(asked: &Asked<'_>, mut job: impl Measure) -> Result<Exit> {
    begin::check_folder("--plot", asked.plot)?;
    let (output, choice) = (asked.output, &asked.bed);
    let routes = asked.destinations.as_ref();
    let prepared = destinations::prepare(routes, job.traffic(), output.quiet)?;
    if output.dry_run {
        return begin::dry_run(asked, &job);
    }
    if let BedChoice::Simulated(pair) = *choice {
        let (begun, mut recorder) = begin::open_record(output)?;
        recorder.step(&format!("record: {}", recorder.record().path().display()));
        recorder.step(&format!("simulated: {pair}"));
        let line = simulated_run_line(begun, &job.job(), &pair, &Facts::gather())?;
        let failed = run(&job, Place::Simulated(pair), line, &mut recorder);
        return finish(asked, &mut recorder, failed.error.as_ref());
    }
    let mut stage = Stage::set(output, choice)?;
    let ended = on_bed(asked, &mut stage, &mut job, prepared.as_ref());
    let Stage { bed, recorder, .. } = stage;
    let (shown, not_cleared) = match ended {
        Ok((exit, not_cleared)) => (Ok(exit), not_cleared),
        Err(error) => (Err(error), None),
    };
    let shown = leave(bed, choice, shown, recorder.record().path());
    // Held to the end: one run at a time.
    drop(recorder);
    // A bed of its own goes with all that is in it.
    match not_cleared.filter(|_| matches!(choice, BedChoice::Kept(_))) {
        Some(error) => Err(error),
        None => shown,
    }
}

/// On a bed that stands: the exit code, and why routes are still in the DUT.
fn on_bed(
    asked: &Asked<'_>,
    stage: &mut Stage,
    job: &mut impl Measure,
    prepared: Option<&Prepared>,
) -> Result<(Exit, Option<Error>)> {
    let (bed, recorder) = (&stage.bed, &mut stage.recorder);
    if let BedChoice::Kept(name) = &asked.bed {
        job.check_bed(name, bed.plan())?;
    }
    job.resolve(bed)?;
    if bed.tester()[0].is_adopted() {
        recorder.step(&format!("ports: {}", job.traffic().port.name()));
    }
    let load = |prepared| destinations::load(prepared, bed, recorder, asked.output.quiet);
    let routes = prepared.map(load).transpose()?;
    let line = run_line(stage.begun, &job.job(), bed, &Facts::gather(), routes)?;
    let failed = run(job, Place::Bed(bed), line, recorder);
    let cleared = destinations::clear(prepared, bed, &asked.bed);
    let exit = finish(asked, recorder, failed.error.as_ref())?;
    Ok((exit, failed.not_cleared.or(cleared.err())))
}

/// Writes the run's line and runs the job.
fn run(job: &impl Measure, place: Place<'_>, line: RunLine, recorder: &mut Recorder) -> Failed {
    let written = recorder.write(line).map_err(Failed::from);
    let ended = written.and_then(|()| job.run(place, recorder));
    let failed = ended.err().unwrap_or_default();
    if let Some(error) = &failed.error {
        let why = error.downcast_ref().map(JobError::to_string);
        let why = why.unwrap_or_else(|| format!("{error:#}"));
        for line in job.not_begun(recorder.run(), &why) {
            recorder.run_mut().add(line);
        }
    }
    failed
}

/// Ends the record, shows the result on stdout, tells the error on stderr.
fn finish(asked: &Asked<'_>, recorder: &mut Recorder, error: Option<&Error>) -> Result<Exit> {
    let ended = error.map_or(Exit::Measured, super::exit_of);
    let exit = outcome::exit(recorder.run()).worse(ended);
    let written = recorder.write(EndLine {
        ended_utc: Clock::now().utc(),
        exit_code: exit.code(),
        error: error.map(|error| format!("{error:#}")),
        trials: recorder.trials(),
        other: Other::new(),
    });
    recorder.end_progress();
    let (run, record) = (recorder.run(), recorder.record().path());
    let drawn = draw(run, record, asked.plot);
    let mut view = View::measured(run, record, asked.output);
    view.plot = drawn.as_ref().ok().and_then(Option::as_deref);
    outcome::show(run, &view)?;
    // Only the first thing that went wrong is worth a line. An interrupt is told when the bed is gone.
    match error {
        Some(_) if exit == Exit::Interrupted => {}
        Some(error) => terminal::error(&format!("{error:#}")),
        None => written?,
    }
    drawn?;
    Ok(exit)
}

/// Draws the plot, where the results have one.
fn draw(run: &Run, record: &Path, named: Option<&Path>) -> Result<Option<PathBuf>> {
    let Some(plot) = outcome::plot(run) else {
        return Ok(None);
    };
    let path = named.map_or_else(|| record.with_extension("svg"), Path::to_path_buf);
    std::fs::write(&path, plot).with_context(|| {
        let path = path.display();
        format!("write plot {path} (name another place with --plot)")
    })?;
    Ok(Some(path))
}

/// Lowers a bed of its own; a kept one stays. After an interrupt it says so, and where the record is.
fn leave(bed: Bed, choice: &BedChoice, shown: Result<Exit>, record: &Path) -> Result<Exit> {
    let own = matches!(choice, BedChoice::Own(_));
    // After an error the bed is dropped. The program tells at its end what that could not put back.
    let exit = shown?;
    if own {
        bed.lower()?;
    }
    if exit == Exit::Interrupted {
        let bed = if own {
            "the bed is gone"
        } else {
            "the bed stays"
        };
        terminal::error(&format!(
            "interrupted: {bed}, the record is {}",
            record.display()
        ));
    }
    Ok(exit)
}
