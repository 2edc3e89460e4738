//! How every verb measures: plan, bed, record, routes, job, last line, result, exit code, lowering. What is a verb's own
//! it supplies as a [`Measure`].

use super::begin;
use super::contract::{Measure, UnderTest};
use super::destinations::{self, Prepared};
use crate::args::OutputArgs;
use crate::exit::Exit;
use crate::outcome::{self, View};
use crate::plan::{BedChoice, Planned};
use crate::record::{run_line, simulated_run_line};
use crate::recorder::Recorder;
use crate::terminal;
use anyhow::{Context, Error, Result};
use mpps_lab::bed::{self, Bed};
use mpps_lab::facts;
use mpps_lab::jobs::JobError;
use mpps_record::{Routes, Run, RunLine};
use std::path::{Path, PathBuf};

/// Measures: prints the plan and ends, simulates, or raises or opens the bed and leaves it, whatever happened before. The
/// plot goes to the file named, or beside the record.
///
/// # Errors
/// One line that names the remedy. A bed of its own is lowered by then. The error names routes left in a kept bed.
pub fn measure(
    output: &OutputArgs,
    plot: Option<&Path>,
    mut plan: Planned<impl Measure>,
) -> Result<Exit> {
    begin::check_folder("--plot", plot)?;
    let routes = plan.destinations.as_ref();
    let prepared = destinations::prepare(routes, plan.offer.traffic(), output.quiet)?;
    let planned = begin::check(output, &plan)?;
    if output.dry_run {
        return begin::dry_run(output, &plan, planned);
    }
    let (prepared, choice, mut job) = (prepared.as_ref(), plan.bed, plan.offer);
    let (begun, mut recorder) = match choice {
        BedChoice::Simulated(_) => begin::open_record(output)?,
        _ => begin::begin(output)?,
    };
    let bed = match &choice {
        BedChoice::Kept(name) => bed::open(name)?,
        BedChoice::Own(wish) => Bed::raise(&wish.on_this_machine()?)?,
        BedChoice::Simulated(pair) => {
            recorder.step(&format!("record: {}", recorder.record().path().display()));
            recorder.step(&format!("simulated: {pair}"));
            let line = simulated_run_line(begun, &job.job(), pair, &facts::gather());
            let ended = run(&job, UnderTest::Simulated(*pair), line, &mut recorder);
            return finish(output, plot, &mut recorder, ended.err().as_ref());
        }
    };
    recorder.step(&format!("record: {}", recorder.record().path().display()));
    let line = bed.plan().dut.planned().line(bed.plan());
    recorder.step(&format!("bed: {}, {line}", bed.name()));
    let routes = ready(&bed, &mut job, prepared, &mut recorder, output.quiet);
    let shown = routes.and_then(|routes| {
        let line = run_line(begun, &job.job(), &bed, &facts::gather(), routes);
        let ended = run(&job, UnderTest::Bed(&bed), line, &mut recorder);
        let counted = destinations::count_back(prepared, &bed, &recorder);
        let ended = first_of(ended, counted);
        let ended = first_of(ended, destinations::clear(prepared, &bed, &choice));
        finish(output, plot, &mut recorder, ended.err().as_ref())
    });
    // The recorder holds the lock to the end: one run at a time.
    let own = matches!(choice, BedChoice::Own(_));
    leave([bed], own, shown, recorder.record().path())
}

/// Checks a bed that stands, completes the job's plan by it, and loads the routes.
fn ready(
    bed: &Bed,
    job: &mut impl Measure,
    prepared: Option<&Prepared>,
    recorder: &mut Recorder,
    quiet: bool,
) -> Result<Option<Routes>> {
    job.check_bed(bed.plan())?;
    job.resolve(bed)?;
    if bed.plan().dut.planned().asks_ports() {
        recorder.step(&format!("ports: {}", job.traffic().port.name()));
    }
    let load = |prepared| destinations::load(prepared, bed, recorder, quiet);
    prepared.map(load).transpose()
}

/// The first of two errors; the second is told at once, because routes that are left in a kept bed matter too.
pub fn first_of(first: Result<()>, second: Result<()>) -> Result<()> {
    if let (Err(_), Err(error)) = (&first, &second) {
        terminal::error(&format!("{error:#}"));
    }
    first.and(second)
}

/// Writes the run's line and runs the job.
fn run(
    job: &impl Measure,
    on: UnderTest<'_>,
    line: RunLine,
    recorder: &mut Recorder,
) -> Result<()> {
    let written = recorder.write(line);
    let ended = written.and_then(|()| job.run(on, recorder));
    if let Err(error) = &ended {
        let why = error.downcast_ref().map(JobError::to_string);
        let why = why.unwrap_or_else(|| format!("{error:#}"));
        for line in job.not_begun(recorder.run(), &why) {
            recorder.run_mut().add(line);
        }
    }
    ended
}

/// Ends the record, shows the result on stdout, tells the error on stderr.
///
/// # Errors
/// The record could not be written.
pub fn finish(
    output: &OutputArgs,
    plot: Option<&Path>,
    recorder: &mut Recorder,
    error: Option<&Error>,
) -> Result<Exit> {
    let ended = error.map_or(Exit::Measured, crate::host::exit_of);
    let exit = outcome::exit(recorder.run()).worse(ended);
    let written = recorder.end(exit, error);
    let (run, record) = (recorder.run(), recorder.record().path());
    let drawn = draw(run, record, plot);
    let mut view = View::new(run, record, output.json, output.verbose);
    view.plot = drawn.as_ref().ok().and_then(Option::as_deref);
    terminal::show(run, &view)?;
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

/// Lowers beds of its own; a kept one stays. After an interrupt it says so, and where the record is.
///
/// # Errors
/// What ended the run, or a bed that could not be lowered.
pub fn leave(
    beds: impl IntoIterator<Item = Bed>,
    own: bool,
    shown: Result<Exit>,
    record: &Path,
) -> Result<Exit> {
    // After an error the beds are dropped. The program tells at its end what that could not put back.
    let exit = shown?;
    let beds: Vec<Bed> = beds.into_iter().collect();
    let left = match beds.len() {
        _ if !own => "the bed stays",
        1 => "the bed is gone",
        _ => "the beds are gone",
    };
    if own {
        let lowered = beds.into_iter().map(|bed| Ok(bed.lower()?));
        lowered.fold(Ok(()), first_of)?;
    }
    if exit == Exit::Interrupted {
        terminal::error(&format!(
            "interrupted: {left}, the record is {}",
            record.display()
        ));
    }
    Ok(exit)
}
