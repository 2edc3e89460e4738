//! `mpps fib-scale`: what routes and destinations cost, point by point, into one record, table and plot.

use super::begin::{self, Beside, Stage};
use super::end::{self, Head};
use crate::args::FibScaleArgs;
use crate::exit::Exit;
use crate::figures::{Figures, Reading};
use crate::plan::{BedChoice, FibScalePlan};
use crate::plot;
use crate::record::{Comparability, Job, PointLine, ResultLine, RunLine};
use crate::recorder::Recorder;
use crate::terminal::{self, ScaleRow, plan as words};
use anyhow::{Context, Error, Result, ensure};
use mpps_lab::bed::Bed;
use mpps_lab::facts::Facts;
use mpps_lab::jobs::Trials;
use mpps_lab::jobs::fib_scale::{Point, Prepared, Scale, ScalePlan};
use mpps_lab::tables::{
    self, ChooseOptions, Histogram, ReadOptions, Source, Table, choose, synthesize,
};
use mpps_method::FrameSpec;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &FibScaleArgs) -> Result<Exit> {
    let plan = FibScalePlan::of(args)?;
    begin::check_folder("--plot", args.plot.as_deref())?;
    if args.output.dry_run {
        let (v4, v6) = plan.synthetic();
        let prefixes = match plan.table {
            Some(_) => table(&plan, args.output.quiet)?.0.len(),
            None => usize::try_from(v4 + v6)?,
        };
        let points = plan.points(prefixes);
        let words = if plan.search {
            words::measurement(&plan.measurement)
        } else {
            words::sent(&plan.measurement)
        };
        let words = words + &plan.words();
        let job = Job::FibScale(&plan.measurement, plan.search);
        return begin::dry_run(&args.output, &plan.bed, job, &points, &words);
    }
    let (table, from) = table(&plan, args.output.quiet)?;
    let points = plan.points(table.len());
    let scale = ScalePlan {
        throughput: plan.measurement.clone(),
        table,
        from,
        draw: plan.draw,
        next_hops: plan.next_hops,
        search: plan.search,
    };
    let mut stage = Stage::set(&args.output, &plan.bed)?;
    let Stage {
        begun,
        bed,
        recorder,
        beside,
    } = &mut stage;
    let job = Job::FibScale(&plan.measurement, plan.search);
    let facts = Facts::gather();
    let machine = terminal::machine_line(&facts, *begun);
    let line = RunLine::of(*begun, job, bed, &facts);
    let measured = measure((recorder, beside), &line, bed, &scale, &points);
    let record = stage.recorder.record.path().to_owned();
    let shown = show(args, &scale, (&line, &machine), &measured, stage.recorder);
    begin::leave(stage.bed, &plan.bed, &shown, &record)?;
    if let (BedChoice::Kept(_), Some(error)) = (&plan.bed, measured.not_cleared) {
        return Err(error);
    }
    shown
}

/// The largest table of the traffic's family, and where it comes from.
fn table(plan: &FibScalePlan, quiet: bool) -> Result<(Table, String)> {
    let traffic = &plan.measurement.traffic;
    let Some(path) = &plan.table else {
        let (v4, v6) = plan.synthetic();
        let table = synthesize(&Histogram::internet(), v4, v6, traffic.seed)?;
        return Ok((table, "a made-up table".to_owned()));
    };
    let source = Source::from_argument(path.clone());
    let from = source.to_string();
    let read = super::table::read_with_progress(source, &ReadOptions::default(), quiet)?;
    let options = ChooseOptions {
        v4: !traffic.ipv6,
        v6: traffic.ipv6,
        keep_martians: plan.keep_martians,
        local: tables::bed_networks(),
        ..ChooseOptions::default()
    };
    let chosen = choose(read.table, &options);
    ensure!(
        !chosen.table.is_empty(),
        "{from}: no prefix of this family is left to load ({})",
        terminal::left_out(&chosen.left_out)
    );
    Ok((chosen.table, from))
}

/// A point with one frame size.
struct AtPoint {
    rows: Vec<ScaleRow>,
    line: PointLine,
}

/// Points up to the end, and what ended it early.
struct Measured {
    points: Vec<AtPoint>,
    error: Option<Error>,
    not_cleared: Option<Error>,
}

impl Measured {
    fn rows(&self) -> Vec<ScaleRow> {
        let rows = self.points.iter().flat_map(|point| point.rows.clone());
        rows.collect()
    }

    fn exit(&self) -> Exit {
        let of = |row: &ScaleRow| {
            let reading = row.figures.as_ref().map(|figures| figures.reading);
            match reading {
                _ if row.is_empty() => Exit::Disturbed,
                None | Some(Reading::Is(_) | Reading::AtLeast(_)) => Exit::Measured,
                Some(Reading::Below(_)) => Exit::NotMet,
                Some(Reading::Nothing) => Exit::Disturbed,
            }
        };
        let ended = self.error.as_ref().map_or(Exit::Measured, super::exit_of);
        self.rows().iter().map(of).fold(ended, Exit::worse)
    }
}

fn measure(
    (recorder, beside): (&mut Recorder, &Beside),
    line: &RunLine,
    bed: &Bed,
    plan: &ScalePlan,
    points: &[Point],
) -> Measured {
    let mut measured = Measured {
        points: Vec::new(),
        error: None,
        not_cleared: None,
    };
    let mut scale = Scale::new(bed, plan);
    measured.error = recorder
        .record
        .write("run", line)
        .and_then(|()| all((recorder, beside), &mut scale, points, &mut measured.points))
        .err();
    measured.not_cleared = scale.clear().err().map(Error::from);
    measured
}

fn all(
    (recorder, beside): (&mut Recorder, &Beside),
    scale: &mut Scale<'_>,
    points: &[Point],
    measured: &mut Vec<AtPoint>,
) -> Result<()> {
    for &point in points {
        recorder.step(&format!(
            "{}: {} routes, up to {} destinations",
            point.series.name(),
            terminal::grouped(point.routes as u64),
            terminal::grouped(point.destinations)
        ));
        let prepared = scale.prepare(point)?;
        for frames in &prepared.plan.sizes {
            measured.push(one((recorder, beside), scale, &prepared, frames)?);
        }
    }
    Ok(())
}

fn one(
    (recorder, beside): (&mut Recorder, &Beside),
    scale: &Scale<'_>,
    prepared: &Prepared,
    frames: &FrameSpec,
) -> Result<AtPoint> {
    recorder.begin_size(None);
    let mut measured = scale.measure(
        prepared,
        frames,
        &mut Trials::after(recorder.trials(), recorder),
    )?;
    measured.doubts.extend(beside.doubts());
    measured.findings = beside.doubting(measured.findings);
    let stands = recorder.take_stands();
    let findings = &measured.findings;
    let figures: Vec<Figures> = findings
        .iter()
        .map(|finding| Figures::of(finding, &prepared.plan))
        .collect();
    let results = findings
        .iter()
        .zip(&figures)
        .map(|(finding, figures)| ResultLine::of(finding, figures, stands.clone()))
        .collect();
    let rows = ScaleRow::each(prepared, &measured, &figures);
    let line = PointLine::of(prepared, &measured, &rows[0], stands, results);
    recorder.record.write("point", &line)?;
    Ok(AtPoint { rows, line })
}

fn show(
    args: &FibScaleArgs,
    plan: &ScalePlan,
    (line, machine): (&RunLine, &str),
    measured: &Measured,
    recorder: Recorder,
) -> Result<Exit> {
    let (exit, error) = (measured.exit(), measured.error.as_ref());
    let rows = measured.rows();
    end::finish(recorder, exit, error, |recorder| {
        let path = plot_path(args.plot.as_deref(), recorder.record.path());
        if !rows.is_empty() {
            let title = terminal::scale_title(file_name(&plan.from), plan);
            std::fs::write(&path, plot::svg(&rows, &title, machine)).with_context(|| {
                format!(
                    "write plot {} (name another place with --plot)",
                    path.display()
                )
            })?;
        }
        if args.output.json {
            terminal::out(&end::json(&Document {
                head: Head::of(recorder, exit, error),
                comparability: line.comparability(),
                table: &plan.from,
                draw: plan.draw.to_string(),
                machine,
                plot: path.display().to_string(),
                points: measured.points.iter().map(|point| &point.line).collect(),
            })?);
        } else if !rows.is_empty() {
            let table = terminal::fib_scale(&rows, plan, machine);
            let doubts = terminal::scale_doubts(&rows);
            let key = terminal::comparability(line.comparability());
            let (record, plot) = (recorder.record.path().display(), path.display());
            let text = format!("{table}{doubts}\n{key}record: {record}\nplot: {plot}\n");
            terminal::out(&terminal::fitted(&text));
        }
        Ok(())
    })
}

/// A plot has no room for folders.
fn file_name(from: &str) -> &str {
    let name = Path::new(from).file_name();
    name.and_then(|name| name.to_str()).unwrap_or(from)
}

fn plot_path(named: Option<&Path>, record: &Path) -> PathBuf {
    named.map_or_else(|| record.with_extension("svg"), Path::to_path_buf)
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    comparability: &'a Comparability,
    table: &'a str,
    draw: String,
    /// CPU, hypervisor, kernel, date and version, in words.
    machine: &'a str,
    plot: String,
    points: Vec<&'a PointLine>,
}
