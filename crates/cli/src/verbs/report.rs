//! `mpps report`: records to a page, a summary, rows or gauges. It needs no root, no bed and no clang.

use super::{record_file, show};
use crate::args::{ReportArgs, ReportFormat, ShowRecordArgs};
use crate::exit::Exit;
use crate::terminal;
use anyhow::{Context, Result, bail, ensure};
use mpps_record::{
    ProfileLine, RUNS_ALIKE, Records, Run, Terms, check_profiles, is_same_distance, is_same_speed,
};
use mpps_report::{Gathered, Raw, Source, csv, markdown, openmetrics, page, profile};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Conditions of the router that may differ between two profiles whose change is drawn.
const MAY_DIFFER: [&str; 5] = [
    "burnt_ns",
    "dut_setup",
    "filters",
    "kernel_release",
    "mitigations",
];
/// As a file to write to: standard output.
const STANDARD_OUTPUT: &str = "-";

/// Writes the report. A file that cannot be read is said, and the others are shown.
///
/// # Errors
/// No file can be read, or the report cannot be written.
pub fn run(args: &ReportArgs) -> Result<Exit> {
    let output = match (&args.output, args.format) {
        (Some(named), _) if named.as_os_str() == STANDARD_OUTPUT => None,
        (Some(_), ReportFormat::Json) => {
            bail!("--format json writes to standard output: redirect that (> FILE)")
        }
        (None, ReportFormat::Html) => Some(PathBuf::from("mpps-report.html")),
        (named, _) => named.clone(),
    };
    if let Some(output) = &output
        && args
            .records
            .iter()
            .any(|path| record_file::same_file(path, output))
    {
        let output = output.display();
        bail!("{output} is a record: name another file to write to (--output)");
    }
    if args.format == ReportFormat::Json {
        return results(args);
    }
    let source = |record: &PathBuf| match record_file::path(record) {
        Ok(path) => source(&path, args),
        // What is no record either is told with the other files that cannot be read.
        Err(error) => Source {
            name: record.display().to_string(),
            records: Err(format!("{error:#}")),
            raw: None,
        },
    };
    let sources: Vec<Source> = args.records.iter().map(source).collect();
    let unreadable = sources
        .iter()
        .filter_map(|source| source.records.as_ref().err());
    fail_together(unreadable.cloned().collect(), sources.len())?;
    let gathered = Gathered::new(sources);
    // A summary that is printed says itself what is wrong with the files.
    if args.format != ReportFormat::Md || output.is_some() {
        let known = |problem: &&String| !problem.starts_with("read record ");
        let problems = gathered.problems.iter().filter(known);
        problems.for_each(|problem| terminal::error(problem));
    }
    let text = match args.format {
        ReportFormat::Html | ReportFormat::Json => page(gathered),
        ReportFormat::Md => markdown(&gathered),
        ReportFormat::Csv => return rows(&gathered, output.as_deref()),
        ReportFormat::Openmetrics => openmetrics(&gathered),
        ReportFormat::Flame => flame(&gathered)?,
        ReportFormat::Folded => stacks(&gathered, profile::folded)?,
        ReportFormat::PerfScript => stacks(&gathered, profile::perf_script)?,
    };
    let Some(output) = output else {
        terminal::out(&text);
        return Ok(Exit::Measured);
    };
    written(&output, std::fs::write(&output, text))
}

/// Row by row, to this file or to standard output.
fn rows(all: &Gathered, output: Option<&Path>) -> Result<Exit> {
    let write = |to: &mut dyn Write| {
        let mut to = BufWriter::new(to);
        csv(all, &mut to).and_then(|()| to.flush())
    };
    let Some(output) = output else {
        terminal::keep_error(write(&mut io::stdout().lock()));
        return Ok(Exit::Measured);
    };
    written(
        output,
        File::create(output).and_then(|mut file| write(&mut file)),
    )
}

/// Says where the report is.
fn written(output: &Path, written: io::Result<()>) -> Result<Exit> {
    let shown = output.display();
    written
        .with_context(|| format!("write {shown} (name a file that can be written to: --output)"))?;
    terminal::out(&format!("The report is in {shown}.\n"));
    Ok(Exit::Measured)
}

/// Runs with profiles, in the order of their records.
fn profiled(all: &Gathered) -> Result<Vec<&Run>> {
    let runs = || all.runs.iter().map(|(_, run)| run);
    let profiled: Vec<&Run> = runs().filter(|run| !run.profiles.is_empty()).collect();
    ensure!(
        !profiled.is_empty() || runs().all(|run| run.sweeps.is_empty()),
        "the places of a sweep keep no call stacks: give a record of mpps explain without --sweep and --paper-tables"
    );
    ensure!(
        !profiled.is_empty(),
        "there is no profile: give a record of mpps explain"
    );
    Ok(profiled)
}

/// Refuses what `mpps compare` refuses, but for what is changed on one machine: a graph is drawn to see what that does.
fn check_alike(before: &Run, after: &Run) -> Result<()> {
    let names = format!("{} and {}", before.name, after.name);
    let (Some(first), Some(second)) = (&before.begin, &after.begin) else {
        bail!("{names} cannot be compared: the first line of one is missing");
    };
    let terms = Terms {
        within: 0.0,
        alike: RUNS_ALIKE,
        may_differ: &MAY_DIFFER,
    };
    let mut pairs = before.profiles.iter().zip(&after.profiles);
    let refused =
        pairs.find_map(|(one, other)| check_profiles((first, one), (second, other), terms).err());
    let mut pairs = before.profiles.iter().zip(&after.profiles);
    let states = pairs.find_map(|(one, other)| {
        let (one, other) = (one.loads.first()?, other.loads.first()?);
        let far = one.cpu_distance_ns.zip(other.cpu_distance_ns);
        let works = one.work_ns.zip(other.work_ns);
        let is_apart = far.is_some_and(|(one, other)| !is_same_distance(one, other))
            || works.is_some_and(|(one, other)| !is_same_speed(one, other));
        is_apart.then_some("the machine was in different states (`cpu_distance_ns`, `work_ns`)")
    });
    match refused
        .map(|why| why.to_string())
        .or(states.map(str::to_owned))
    {
        Some(why) => bail!("{names} cannot be compared: {why}"),
        None if before.profiles.len() != after.profiles.len() => {
            bail!("{names} cannot be compared: they differ in frame sizes")
        }
        None => Ok(()),
    }
}

fn flame(all: &Gathered) -> Result<String> {
    let graph = match profiled(all)?[..] {
        [run] => profile::flame(&run.profiles),
        [before, after] => {
            check_alike(before, after)?;
            profile::flame_change(before, after)
        }
        ref runs => bail!(
            "a flame graph shows one run of mpps explain, or the change between two: these records have {}",
            runs.len()
        ),
    };
    graph.context("a profile has no call stacks: nothing was sampled")
}

/// Call stacks as text.
fn stacks(all: &Gathered, text: fn(&[ProfileLine]) -> Option<String>) -> Result<String> {
    let [run] = profiled(all)?[..] else {
        bail!("call stacks are those of one run of mpps explain: give one record with one run");
    };
    text(&run.profiles).context("the profile has no call stacks: nothing was sampled")
}

/// The results alone, as `mpps show --json` prints them, of one record after the other.
fn results(ReportArgs { records, run, .. }: &ReportArgs) -> Result<Exit> {
    let shown = |record: &PathBuf| {
        show::run(&ShowRecordArgs {
            what_if: None,
            record: record.clone(),
            run: run.clone(),
            json: true,
            verbose: false,
        })
    };
    let errors = records.iter().filter_map(|record| shown(record).err());
    let errors = errors.map(|error| format!("{error:#}")).collect();
    fail_together(errors, records.len())?;
    Ok(Exit::Measured)
}

/// The runs of this name alone.
fn only(mut records: Records, name: &str, path: &Path) -> Result<Records> {
    let all: Vec<&Run> = records.runs.iter().collect();
    let wanted = show::named(name, &all, path)?;
    let wanted: Vec<String> = wanted.iter().map(|run| run.name.clone()).collect();
    records.runs.retain(|run| wanted.contains(&run.name));
    Ok(records)
}

/// Tells these errors, or ends with them where no file is without one.
fn fail_together(errors: Vec<String>, files: usize) -> Result<()> {
    if errors.len() == files {
        bail!("{}", errors.join("; "));
    }
    errors.iter().for_each(|error| terminal::error(error));
    Ok(())
}

/// Only a page of all runs has the file itself in it.
fn source(path: &Path, args: &ReportArgs) -> Source {
    let read = mpps_record::read_to_report(path).map_err(|error| error.to_string());
    let records = read.and_then(|records| match &args.run {
        Some(name) => only(records, name, path).map_err(|error| error.to_string()),
        None => Ok(records),
    });
    let kept = records.is_ok() && args.format == ReportFormat::Html && args.run.is_none();
    let opened = path.to_owned();
    let is_file = path.metadata().is_ok_and(|file| file.is_file());
    let open = move || match is_file {
        true => Ok(Box::new(BufReader::new(File::open(&opened)?)) as Box<dyn BufRead>),
        false => Err(io::Error::other(
            "it is no regular file, so it was read only once",
        )),
    };
    Source {
        name: path.display().to_string(),
        records,
        raw: kept.then(|| Raw::new(open)),
    }
}
