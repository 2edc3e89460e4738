//! `mpps fib-scale`: what routes and destinations cost, point by point, into one record, table and plot.

use super::begin::{self, Beside};
use super::measure::{self, Head, Outcome, View};
use super::table::reading;
use crate::args::FibScaleArgs;
use crate::exit::Exit;
use crate::plan::FibScalePlan;
use crate::plot;
use crate::record::{Job, point_line, result_line, run_line};
use crate::recorder::{Keeping, Recorder};
use crate::terminal::{self, Row, ScaleRow, plan as words};
use anyhow::{Context, Error, Result};
use mpps_lab::doubt::Reading;
use mpps_lab::facts;
use mpps_lab::jobs::fib_scale::{self, PointResult, ScalePlan};
use mpps_lab::routes::Routes;
use mpps_record::{Comparability, PointLine, RunLine, Scale};
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
        let mut run = run_line(stage.begun, job, &stage.bed, &facts::gather(), None);
        run.plan.scale = Some(Scale {
            table: scale.from.clone(),
            draw: scale.draw.to_string(),
            next_hops: scale.next_hops.into(),
        });
        let mut lines = Vec::new();
        let written = stage.recorder.record.write(&run);
        let mut observer = Keeping {
            recorder: &mut stage.recorder,
            keep: |recorder: &mut Recorder, point: &PointResult| {
                lines.push(keep(recorder, &stage.beside, point)?);
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
            run,
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
) -> io::Result<PointLine> {
    let mut measured = measured.clone();
    measured.doubts.extend(beside.doubts());
    let stands = recorder.take_stands();
    let findings = beside.doubting(&measured.findings);
    let line = |finding| result_line(finding, &prepared.plan, stands.clone());
    let results = findings.iter().map(line).collect();
    let line = point_line(prepared, &measured, stands, results);
    recorder.record.append(&line)?;
    Ok(line)
}

/// Points up to the end, and what ended it early.
struct Measured<'a> {
    args: &'a FibScaleArgs,
    run: RunLine,
    lines: Vec<PointLine>,
    error: Option<Error>,
}

impl Outcome for Measured<'_> {
    fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    fn exit(&self) -> Exit {
        let exit = |row: &ScaleRow<'_>| {
            let reading = row.result.as_ref().map(Row::reading);
            match reading {
                _ if row.is_empty() => Exit::Disturbed,
                None | Some(Reading::Is(_) | Reading::AtLeast(_)) => Exit::Measured,
                Some(Reading::Below(_)) => Exit::NotMet,
                Some(Reading::Nothing) => Exit::Disturbed,
            }
        };
        let rows = ScaleRow::each(&self.lines);
        rows.iter().map(exit).fold(Exit::Measured, Exit::worse)
    }

    fn show(&self, head: Head<'_>) -> Result<()> {
        let path = plot_path(self.args.plot.as_deref(), Path::new(&head.record));
        let rows = ScaleRow::each(&self.lines);
        if let (Some(scale), false) = (&self.run.plan.scale, rows.is_empty()) {
            let title = terminal::scale_title(file_name(&scale.table), scale, &self.run);
            let machine = terminal::machine_line(&self.run);
            std::fs::write(&path, plot::svg(&rows, &title, &machine)).with_context(|| {
                format!(
                    "write plot {} (name another place with --plot)",
                    path.display()
                )
            })?;
        }
        let view = View::new(head, &self.args.output);
        show(view, Some(&self.run), &self.lines, Some(&path))
    }
}

/// Puts points on stdout.
///
/// # Errors
/// The result could not be written.
pub fn show(
    view: View<'_>,
    run: Option<&RunLine>,
    points: &[PointLine],
    plot: Option<&Path>,
) -> Result<()> {
    let scale = run.and_then(|run| run.plan.scale.as_ref());
    let rows = ScaleRow::each(points);
    let plot = plot.map(|path| path.display().to_string());
    if view.json {
        terminal::out(&measure::json(&Document {
            head: view.head,
            comparability: run.map(|run| &run.comparability),
            table: scale.map(|scale| scale.table.as_str()),
            draw: scale.map(|scale| scale.draw.as_str()),
            machine: run.map(terminal::machine_line),
            plot,
            points,
        })?);
    } else if !rows.is_empty() {
        let mut text = terminal::fib_scale(&rows, run) + &terminal::scale_doubts(&rows) + "\n";
        text.extend(run.map(|run| terminal::comparability(&run.comparability)));
        text += &format!("record: {}\n", view.head.record);
        text.extend(plot.map(|plot| format!("plot: {plot}\n")));
        terminal::out(&terminal::fitted(&text));
    }
    Ok(())
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
    comparability: Option<&'a Comparability>,
    table: Option<&'a str>,
    draw: Option<&'a str>,
    /// CPU, hypervisor, kernel, date and version, in words.
    machine: Option<String>,
    plot: Option<String>,
    points: &'a [PointLine],
}
