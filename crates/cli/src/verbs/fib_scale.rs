//! `mpps fib-scale`: what routes and destinations cost, point by point, into one record, table and plot.

use super::begin::{self, Beside};
use super::measure::{self, Head, Outcome};
use super::table::reading;
use crate::args::FibScaleArgs;
use crate::exit::Exit;
use crate::figures::{Figures, Reading};
use crate::plan::FibScalePlan;
use crate::plot;
use crate::record::{Job, point_line, result_line, run_line};
use crate::recorder::{Keeping, Recorder};
use crate::terminal::{self, ScaleRow, plan as words};
use anyhow::{Context, Error, Result};
use mpps_lab::facts::Facts;
use mpps_lab::jobs::fib_scale::{self, PointResult, ScalePlan};
use mpps_lab::routes::Routes;
use mpps_record::{Comparability, PointLine};
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &FibScaleArgs) -> Result<Exit> {
    let plan = FibScalePlan::new(args)?;
    begin::check_folder("--plot", args.plot.as_deref())?;
    if args.output.dry_run {
        let (v4, v6) = plan.synthetic();
        let prefixes = match plan.table {
            Some(_) => table(&plan, args.output.quiet)?.table.len(),
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
    let Routes { from, table, .. } = table(&plan, args.output.quiet)?;
    let points = plan.points(table.len());
    let scale = ScalePlan {
        throughput: plan.measurement.clone(),
        table,
        from,
        draw: plan.draw,
        next_hops: plan.next_hops,
        search: plan.search,
    };
    measure::on_bed(&args.output, &plan.bed, |stage| {
        let job = Job::FibScale(&plan.measurement, plan.search);
        let facts = Facts::gather();
        let line = run_line(stage.begun, job, &stage.bed, &facts, None)?;
        let (mut rows, mut lines) = (Vec::new(), Vec::new());
        let written = stage.recorder.record.write(&line);
        let mut observer = Keeping {
            recorder: &mut stage.recorder,
            keep: |recorder: &mut Recorder, point: &PointResult| {
                let (found, line) = keep(recorder, &stage.beside, point)?;
                rows.extend(found);
                lines.push(line);
                Ok(())
            },
        };
        let error = match written {
            Ok(()) => {
                let ended = fib_scale::measure(&stage.bed, &scale, &points, &mut observer);
                stage.not_cleared = ended.not_cleared.map(Error::from);
                ended.error.map(Error::from)
            }
            Err(error) => Some(error),
        };
        Ok(Measured {
            args,
            plan: &scale,
            machine: terminal::machine_line(&facts, stage.begun),
            comparability: line.comparability.clone(),
            rows,
            lines,
            error,
        })
    })
}

/// The largest table of the traffic's family.
fn table(plan: &FibScalePlan, quiet: bool) -> Result<Routes> {
    let origin = plan.origin();
    let mut progress = reading(&origin, quiet);
    let ipv6 = plan.measurement.traffic.ipv6;
    Ok(origin.routes(ipv6, plan.keep_martians, &mut progress)?)
}

/// A point with one frame size, in the record first.
fn keep(
    recorder: &mut Recorder,
    beside: &Beside,
    PointResult { prepared, measured }: &PointResult,
) -> io::Result<(Vec<ScaleRow>, PointLine)> {
    let mut measured = measured.clone();
    measured.doubts.extend(beside.doubts());
    measured.findings = beside.doubting(&measured.findings);
    let stands = recorder.take_stands();
    let figures = |finding| Figures::of(finding, &prepared.plan);
    let figures: Vec<Figures> = measured.findings.iter().map(figures).collect();
    let found = measured.findings.iter().zip(&figures);
    let line = |(finding, figures)| result_line(finding, figures, stands.clone());
    let results = found.map(line).collect();
    let rows = ScaleRow::each(prepared, &measured, &figures);
    let line = point_line(prepared, &measured, &rows[0], stands, results);
    recorder.record.append(&line)?;
    Ok((rows, line))
}

/// Points up to the end, and what ended it early.
struct Measured<'a> {
    args: &'a FibScaleArgs,
    plan: &'a ScalePlan,
    machine: String,
    comparability: Comparability,
    rows: Vec<ScaleRow>,
    lines: Vec<PointLine>,
    error: Option<Error>,
}

impl Outcome for Measured<'_> {
    fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    fn exit(&self) -> Exit {
        let exit = |row: &ScaleRow| {
            let reading = row.figures.as_ref().map(|figures| figures.reading);
            match reading {
                _ if row.is_empty() => Exit::Disturbed,
                None | Some(Reading::Is(_) | Reading::AtLeast(_)) => Exit::Measured,
                Some(Reading::Below(_)) => Exit::NotMet,
                Some(Reading::Nothing) => Exit::Disturbed,
            }
        };
        self.rows.iter().map(exit).fold(Exit::Measured, Exit::worse)
    }

    fn show(&self, head: Head<'_>, recorder: &Recorder) -> Result<()> {
        let Self {
            plan,
            rows,
            machine,
            ..
        } = self;
        let record = recorder.record.path();
        let path = plot_path(self.args.plot.as_deref(), record);
        if !rows.is_empty() {
            let title = terminal::scale_title(file_name(&plan.from), plan);
            std::fs::write(&path, plot::svg(rows, &title, machine)).with_context(|| {
                format!(
                    "write plot {} (name another place with --plot)",
                    path.display()
                )
            })?;
        }
        if self.args.output.json {
            terminal::out(&measure::json(&Document {
                head,
                comparability: &self.comparability,
                table: &plan.from,
                draw: plan.draw.to_string(),
                machine,
                plot: path.display().to_string(),
                points: &self.lines,
            })?);
        } else if !rows.is_empty() {
            let table = terminal::fib_scale(rows, plan, machine);
            let doubts = terminal::scale_doubts(rows);
            let key = terminal::comparability(&self.comparability);
            let (record, plot) = (record.display(), path.display());
            let text = format!("{table}{doubts}\n{key}record: {record}\nplot: {plot}\n");
            terminal::out(&terminal::fitted(&text));
        }
        Ok(())
    }
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
    points: &'a [PointLine],
}
