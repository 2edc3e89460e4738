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
use mpps_lab::jobs::fib_scale::{Point, Scale, ScalePlan};
use mpps_lab::tables::{
    self, ChooseOptions, Histogram, ReadOptions, Source, Table, choose, synthesize,
};
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
        let (v4, v6) = plan.made_up();
        let prefixes = match plan.table {
            Some(_) => table(&plan, args.output.quiet)?.0.len(),
            None => usize::try_from(v4 + v6)?,
        };
        let points = plan.points(prefixes);
        let words = words::measurement(&plan.measurement) + &plan.words();
        let job = Job::FibScale(&plan.measurement);
        return begin::dry_run(&args.output, &plan.bed, job, &points, &words);
    }
    let (table, from) = table(&plan, args.output.quiet)?;
    let points = plan.points(table.len());
    let scale = ScalePlan {
        throughput: plan.measurement.clone(),
        table,
        from,
        draw: plan.draw,
    };
    let mut stage = Stage::set(&args.output, &plan.bed)?;
    let Stage {
        begun,
        bed,
        recorder,
        beside,
    } = &mut stage;
    let job = Job::FibScale(&plan.measurement);
    let line = RunLine::of(*begun, job, bed, &Facts::gather());
    let measured = measure((recorder, beside), &line, bed, &scale, &points);
    let record = stage.recorder.record.path().to_owned();
    let shown = show(args, &scale, &line, &measured, stage.recorder);
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
        let (v4, v6) = plan.made_up();
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

/// A point, as often as it was measured.
struct AtPoint {
    rows: Vec<ScaleRow>,
    line: PointLine,
}

impl AtPoint {
    /// Frame sizes and goals of which nothing is known.
    fn spoilt(&self) -> usize {
        let nothing = |row: &&ScaleRow| matches!(row.reading(), Reading::Nothing);
        self.rows.iter().filter(nothing).count()
    }
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
        let of = |row: &ScaleRow| match row.reading() {
            Reading::Is(_) | Reading::AtLeast(_) => Exit::Measured,
            Reading::Below(_) => Exit::NotMet,
            Reading::Nothing => Exit::Disturbed,
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

/// Every point once, then once more each one that the machine spoilt: it may have been somebody's bad minute.
fn all(
    (recorder, beside): (&mut Recorder, &Beside),
    scale: &mut Scale<'_>,
    points: &[Point],
    measured: &mut Vec<AtPoint>,
) -> Result<()> {
    for &point in points {
        measured.push(one((recorder, beside), scale, point, 1)?);
    }
    for (at, &point) in points.iter().enumerate() {
        let spoilt = measured[at].spoilt();
        if spoilt > 0 {
            let again = one((recorder, beside), scale, point, 2)?;
            if again.spoilt() <= spoilt {
                measured[at] = again;
            }
        }
    }
    Ok(())
}

/// A point that a restless machine spoils takes no other's result away.
fn one(
    (recorder, beside): (&mut Recorder, &Beside),
    scale: &mut Scale<'_>,
    point: Point,
    attempt: u32,
) -> Result<AtPoint> {
    recorder.step(&format!(
        "{}{}: {} routes, up to {} destinations",
        if attempt > 1 { "again, " } else { "" },
        point.series.name(),
        terminal::grouped(point.routes as u64),
        terminal::grouped(point.destinations)
    ));
    let prepared = scale.prepare(point)?;
    recorder.begin_size(None);
    let (mut rows, mut results, mut why) = (Vec::new(), Vec::new(), None);
    match scale.measure(&prepared, recorder) {
        Ok(findings) => {
            let stands = recorder.take_stands();
            for finding in beside.doubting(findings) {
                let figures = Figures::of(&finding, &prepared.plan);
                results.push(ResultLine::of(&finding, &figures, stands.clone()));
                rows.push(ScaleRow::of(&prepared, Ok((figures, &finding))));
            }
        }
        Err(error) if error.is_disturbance() => {
            recorder.take_stands();
            rows.push(ScaleRow::of(&prepared, Err(&error.to_string())));
            why = Some(error.to_string());
        }
        Err(error) => return Err(error.into()),
    }
    let line = PointLine::of(&prepared, attempt, results, why);
    recorder.record.write("point", &line)?;
    Ok(AtPoint { rows, line })
}

fn show(
    args: &FibScaleArgs,
    plan: &ScalePlan,
    line: &RunLine,
    measured: &Measured,
    recorder: Recorder,
) -> Result<Exit> {
    let (exit, error) = (measured.exit(), measured.error.as_ref());
    let rows = measured.rows();
    end::finish(recorder, exit, error, |recorder| {
        let path = plot_path(args.plot.as_deref(), recorder.record.path());
        let draw = plan.draw.to_string();
        if !rows.is_empty() {
            let title = terminal::scale_title(file_name(&plan.from), &draw, &plan.throughput);
            std::fs::write(&path, plot::svg(&rows, &title)).with_context(|| {
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
                draw,
                plot: path.display().to_string(),
                points: measured.points.iter().map(|point| &point.line).collect(),
            })?);
        } else if !rows.is_empty() {
            let table = terminal::fib_scale(&rows, &plan.from, &draw, &plan.throughput);
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
    plot: String,
    points: Vec<&'a PointLine>,
}
