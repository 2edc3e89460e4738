//! `mpps loss`: what is lost at each load, into one record, table and plot.

use super::measure::{self, Head, Outcome, View};
use super::{begin, destinations};
use crate::args::LossArgs;
use crate::exit::Exit;
use crate::plan::{BedChoice, LossPlan};
use crate::plot;
use crate::record::{Job, curve_line, doubt, run_line, simulated_run_line};
use crate::recorder::{Keeping, Recorder};
use crate::terminal::{self, plan as words};
use anyhow::{Context, Error, Result};
use mpps_lab::doubt::Doubt;
use mpps_lab::facts;
use mpps_lab::jobs::loss::{self, Curve};
use mpps_lab::jobs::{JobError, ResultObserver};
use mpps_record::{Comparability, CurveLine, CurvePoint, Place, RunLine, Traffic, Verdict};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &LossArgs) -> Result<Exit> {
    let mut plan = LossPlan::new(args)?;
    begin::check_folder("--plot", args.plot.as_deref())?;
    let quiet = args.output.quiet;
    let sent = &mut plan.offer.measurement.traffic;
    let prepared = destinations::prepare(plan.destinations.as_ref(), sent, quiet)?;
    if args.output.dry_run {
        let words = words::sent(&plan.offer.measurement)
            + &words::destinations(plan.destinations.as_ref())
            + &format!("loads        {}\n", Job::Loss(&plan.offer).search_rule());
        return begin::dry_run(&args.output, &plan.bed, Job::Loss(&plan.offer), &[], &words);
    }
    let facts = facts::gather();
    if let BedChoice::Simulated(pair) = plan.bed {
        let (begun, mut recorder) = begin::open_record(&args.output)?;
        let line = simulated_run_line(begun, Job::Loss(&plan.offer), &pair, &facts);
        let measured = Measured::new(args, &plan, line, Vec::new, &mut recorder, |observer| {
            loss::simulate(pair, &plan.offer, observer)
        });
        return measure::finish(recorder, &measured);
    }
    measure::on_bed(&args.output, &plan.bed.clone(), |stage| {
        let (bed, recorder) = (&stage.bed, &mut stage.recorder);
        plan.offer.measurement = plan.offer.measurement.on_bed(bed)?;
        let load = |routes| destinations::load(routes, bed, recorder, quiet);
        let routes = prepared.as_ref().map(load).transpose()?;
        let line = run_line(stage.begun, Job::Loss(&plan.offer), bed, &facts, routes);
        let beside = || stage.beside.doubts();
        let measured = Measured::new(args, &plan, line, beside, recorder, |observer| {
            loss::measure(bed, &plan.offer, observer)
        });
        stage.not_cleared = destinations::clear(prepared.as_ref(), bed, &plan.bed).err();
        Ok(measured)
    })
}

/// Curves up to the end, and what ended the run early.
struct Measured<'a> {
    args: &'a LossArgs,
    line: RunLine,
    machine: String,
    curves: Vec<CurveLine>,
    error: Option<Error>,
}

impl<'a> Measured<'a> {
    /// Writes the run's line and measures: each curve in the record first.
    fn new(
        args: &'a LossArgs,
        plan: &LossPlan,
        line: RunLine,
        beside: impl Fn() -> Vec<Doubt>,
        recorder: &mut Recorder,
        measure: impl FnOnce(&mut dyn ResultObserver<Curve>) -> Option<JobError>,
    ) -> Self {
        let (simulated, mut curves) = (args.simulate.is_some(), Vec::new());
        let written = recorder.record.write(&line);
        let mut observer = Keeping {
            recorder,
            keep: |recorder: &mut Recorder, curve: &Curve| {
                let mut line = curve_line(curve, &plan.offer, simulated, recorder.take_stands());
                line.doubts.extend(beside().iter().map(doubt));
                let written = recorder.record.append(&line);
                curves.push(line);
                written
            },
        };
        let error = match written {
            Ok(()) => measure(&mut observer).map(Error::from),
            Err(error) => Some(error),
        };
        Self {
            args,
            machine: machine(&line),
            line,
            curves,
            error,
        }
    }
}

impl Outcome for Measured<'_> {
    fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    fn exit(&self) -> Exit {
        let exit = |load: &CurvePoint| match load.verdict {
            Verdict::Void => Exit::Disturbed,
            Verdict::Invalid => Exit::Failed,
            // A load that the tester cannot offer is shown as such.
            _ => Exit::Measured,
        };
        let loads = self.curves.iter().flat_map(|curve| &curve.loads);
        let empty = self.curves.iter().any(|curve| curve.loads.is_empty());
        let worst = loads.map(exit).fold(Exit::Measured, Exit::worse);
        if empty {
            worst.worse(Exit::Disturbed)
        } else {
            worst
        }
    }

    fn show(&self, head: Head<'_>) -> Result<()> {
        let beside = || PathBuf::from(&head.record).with_extension("svg");
        let path = self.args.plot.clone().unwrap_or_else(beside);
        if !self.curves.is_empty() {
            let plot = plot::loss_svg(&self.curves, &self.machine);
            std::fs::write(&path, plot).with_context(|| {
                let path = path.display();
                format!("write plot {path} (name another place with --plot)")
            })?;
        }
        let view = View::new(head, &self.args.output);
        show(view, Some(&self.line), &self.curves, Some(&path))
    }
}

/// Puts curves on stdout.
///
/// # Errors
/// The result could not be written.
pub fn show(
    view: View<'_>,
    run: Option<&RunLine>,
    curves: &[CurveLine],
    plot: Option<&Path>,
) -> Result<()> {
    let machine = run.map(machine);
    if view.json {
        terminal::out(&measure::json(&Document {
            head: view.head,
            simulated: run.is_some_and(is_simulated),
            comparability: run.map(|run| &run.comparability),
            traffic: run.map(|run| &run.plan.traffic),
            machine,
            plot,
            curves,
        })?);
    } else if !curves.is_empty() {
        let mut text = terminal::loss(curves, machine.as_deref().unwrap_or_default()) + "\n";
        text.extend(run.map(|run| terminal::comparability(&run.comparability)));
        text += &format!("record: {}\n", view.head.record);
        text.extend(plot.map(|path| format!("plot: {}\n", path.display())));
        terminal::out(&terminal::fitted(&text));
    }
    Ok(())
}

fn is_simulated(run: &RunLine) -> bool {
    matches!(run.bed, Place::Simulated { .. })
}

/// The machine in words, or the simulated pair.
fn machine(run: &RunLine) -> String {
    match &run.bed {
        Place::Simulated { pair } => format!("simulated: {pair}"),
        _ => terminal::machine_line(run),
    }
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    /// Whether tester and router were simulated: nothing was measured.
    simulated: bool,
    comparability: Option<&'a Comparability>,
    traffic: Option<&'a Traffic>,
    /// CPU, hypervisor, kernel, date and version, in words.
    machine: Option<String>,
    plot: Option<&'a Path>,
    curves: &'a [CurveLine],
}
