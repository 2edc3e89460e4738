//! What a run came to, from its lines alone: its text, its JSON, its plot, its exit code. A run that has just ended and a
//! record that is read again are shown by the same functions.

mod calibration;
mod comparison;
mod exit;
mod fib_scale;
mod fixed_load;
mod lines;
mod loss;
mod suite;
mod throughput;

pub use exit::difference as difference_exit;

use crate::exit::Exit;
use crate::terminal;
use anyhow::Result;
use mpps_record::{Comparability, Place, RouteChanges, Run, RunLine, Traffic};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// How results of one kind of line are shown.
struct Kind {
    /// The verb whose results they are.
    job: &'static str,
    /// Whether a run has such lines.
    is_in: fn(&Run) -> bool,
    /// Puts them on stdout.
    show: fn(&Run, &View<'_>) -> Result<()>,
    /// The exit code that they mean.
    exit: fn(&Run) -> Exit,
    /// The plot, where there is one.
    plot: fn(&Run) -> Option<String>,
}

/// All of them: a run has results of one kind, or of several parts.
const KINDS: [Kind; 14] = [
    Kind {
        job: suite::JOB,
        is_in: suite::is_in,
        show: suite::show,
        exit: suite::exit,
        plot: |_| None,
    },
    Kind {
        job: "throughput",
        is_in: |run| !run.results.is_empty(),
        show: throughput::show,
        exit: exit::results,
        plot: |_| None,
    },
    Kind {
        job: "fib-scale",
        is_in: |run| !run.points.is_empty(),
        show: fib_scale::show,
        exit: exit::points,
        plot: fib_scale::plot,
    },
    Kind {
        job: "calibrate",
        is_in: |run| !run.calibrations.is_empty(),
        show: calibration::show,
        exit: exit::calibrations,
        plot: |_| None,
    },
    Kind {
        job: "trial",
        is_in: |run| !run.loads.is_empty(),
        show: fixed_load::show,
        exit: exit::loads,
        plot: |_| None,
    },
    Kind {
        job: "loss",
        is_in: |run| !run.curves.is_empty(),
        show: loss::show,
        exit: exit::curves,
        plot: loss::plot,
    },
    Kind {
        job: "loss",
        is_in: |run| !run.overloads.is_empty(),
        show: |run, view| lines::show(run, view, &run.overloads, terminal::lasting),
        exit: exit::overloads,
        plot: loss::overload_plot,
    },
    Kind {
        job: "latency",
        is_in: |run| !run.latencies.is_empty(),
        show: |run, view| lines::show(run, view, &run.latencies, terminal::latency),
        exit: exit::latencies,
        plot: |_| None,
    },
    Kind {
        job: "back-to-back",
        is_in: |run| !run.bursts.is_empty(),
        show: |run, view| lines::show(run, view, &run.bursts, terminal::back_to_back),
        exit: exit::bursts,
        plot: |_| None,
    },
    Kind {
        job: "recovery",
        is_in: |run| !run.recoveries.is_empty(),
        show: |run, view| lines::show(run, view, &run.recoveries, terminal::overload_recovery),
        exit: exit::recoveries,
        plot: |_| None,
    },
    Kind {
        job: "reset",
        is_in: |run| !run.resets.is_empty(),
        show: |run, view| lines::show(run, view, &run.resets, terminal::resets),
        exit: exit::resets,
        plot: |_| None,
    },
    Kind {
        job: "explain",
        is_in: |run| !run.profiles.is_empty(),
        show: |run, view| lines::show(run, view, &run.profiles, terminal::explained),
        exit: exit::profiles,
        plot: |_| None,
    },
    Kind {
        job: "explain",
        is_in: |run| !run.sweeps.is_empty(),
        show: |run, view| lines::show(run, view, &run.sweeps, terminal::swept),
        exit: exit::sweeps,
        plot: |_| None,
    },
    Kind {
        job: "compare",
        is_in: |run| !run.comparisons.is_empty(),
        show: comparison::show,
        exit: exit::comparisons,
        plot: |_| None,
    },
];

/// The kind of a run's results; where it has none, that of its verb.
fn kind(run: &Run) -> Option<&'static Kind> {
    let job = run.begin.as_ref().map(|begin| begin.job.as_str());
    let of_verb = || KINDS.iter().find(|kind| Some(kind.job) == job);
    KINDS.iter().find(|kind| (kind.is_in)(run)).or_else(of_verb)
}

/// Whether a run has a result.
#[must_use]
pub fn is_in(run: &Run) -> bool {
    KINDS.iter().any(|kind| (kind.is_in)(run))
}

/// Puts the result of a run on stdout; what else a person should know goes to stderr.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let Some(kind) = kind(run) else {
        return Ok(());
    };
    let begin = run.begin.as_ref().filter(|_| !view.json);
    let end = run.end.as_ref();
    let modified = begin.and_then(|begin| terminal::modified(begin, end));
    if let Some((with, _)) = &modified {
        terminal::out(&terminal::fitted(with));
    }
    (kind.show)(run, view)?;
    if let Some((_, below)) = &modified {
        terminal::out(&terminal::fitted(below));
    }
    // A comparison says them of each variant.
    let of_all = view
        .head
        .route_changes
        .filter(|_| run.comparisons.is_empty());
    if let Some(changes) = of_all.filter(|_| !view.json) {
        let asked = begin.and_then(|begin| begin.plan.traffic.route_changes.as_ref());
        terminal::out(&terminal::fitted(&terminal::route_changes(changes, asked)));
    }
    Ok(())
}

/// The exit code of what was measured; what ended the run early is left aside.
#[must_use]
pub fn exit(run: &Run) -> Exit {
    kind(run).map_or(Exit::Measured, |kind| (kind.exit)(run))
}

/// The plot of a run, SVG, if its results are drawn.
#[must_use]
pub fn plot(run: &Run) -> Option<String> {
    kind(run).and_then(|kind| (kind.plot)(run))
}

/// What every result in JSON begins with.
#[derive(Serialize)]
pub struct Head<'a> {
    schema: u32,
    run: &'a str,
    /// Where the record is.
    pub record: String,
    /// `None`: the run was killed, or it is still running.
    pub exit_code: Option<u8>,
    /// What ended it early.
    pub error: Option<&'a str>,
    /// Route changes of all trials together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_changes: Option<&'a RouteChanges>,
}

/// A result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: &'a Head<'a>,
    comparability: Option<&'a Comparability>,
    /// What was sent, of several variants to the first.
    traffic: Option<&'a Traffic>,
    /// CPU, hypervisor, kernel, date and version, in words.
    machine: Option<String>,
    #[serde(flatten)]
    own: &'a Value,
}

/// Whether tester and router were simulated: nothing was measured.
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

/// How a result is put on stdout.
pub struct View<'a> {
    /// What a result in JSON begins with.
    pub head: Head<'a>,
    /// As JSON, for programs.
    pub json: bool,
    /// With all details.
    pub verbose: bool,
    /// Where the plot is, if it was drawn.
    pub plot: Option<&'a Path>,
}

impl<'a> View<'a> {
    /// Of a run in the record at `path`.
    #[must_use]
    pub fn new(run: &'a Run, path: &Path, json: bool, verbose: bool) -> Self {
        let end = run.end.as_ref();
        Self {
            head: Head {
                schema: run.schema,
                run: &run.name,
                record: path.to_string_lossy().into_owned(),
                exit_code: end.map(|end| end.exit_code),
                error: end.and_then(|end| end.error.as_deref()),
                route_changes: end.and_then(|end| end.route_changes.as_ref()),
            },
            json,
            verbose,
            plot: None,
        }
    }

    /// Puts a result in JSON on stdout: a verb's own behind what all results have.
    ///
    /// # Errors
    /// None that can happen: all of it is text and numbers.
    fn print_json(&self, run: &Run, own: &Value) -> Result<()> {
        let begin = run.begin.as_ref();
        terminal::out(&json(&Document {
            head: &self.head,
            comparability: begin.map(|begin| &begin.comparability),
            traffic: begin.map(|begin| &begin.plan.traffic),
            machine: begin.map(machine),
            own,
        })?);
        Ok(())
    }

    /// Whether the machine was too restless for some of it: the same command may well succeed later.
    fn is_disturbed(&self) -> bool {
        self.head.exit_code == Some(Exit::Disturbed.code())
    }

    /// What stands below a result that has a plot: what it may be compared by, where its record and plot are.
    fn foot(&self, run: Option<&RunLine>) -> String {
        let comparability =
            run.map(|run| crate::terminal::comparability(&run.comparability, self.verbose));
        let mut text = "\n".to_owned();
        text.extend(comparability);
        text += &format!("record: {}\n", self.head.record);
        text.extend(self.plot.map(|path| format!("plot: {}\n", path.display())));
        text
    }
}

/// A result in JSON, as people and programs read it.
///
/// # Errors
/// None that can happen: all of it is text and numbers.
pub fn json(document: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}
