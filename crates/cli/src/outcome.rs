//! What a run came to, from its lines alone: its text, its JSON, its plot, its exit code. A run that has just ended and a
//! record that is read again are shown by the same functions. The text of each kind of line is in `terminal`.

use crate::exit::Exit;
use crate::print::out;
use anyhow::Result;
use mpps_record::{Answers, Comparability, RouteChanges, Run, RunBed, RunLine, Traffic};
use mpps_report::machine_line;
use serde::Serialize;
use serde_json::{Value, to_string_pretty};
use std::path::Path;

/// The job of `mpps rfc2544` in records.
pub const SUITE: &str = "rfc2544";

/// What the lines of one kind come to.
pub trait Outcome: Answers {
    /// The result in JSON, behind what all results have.
    fn document(&self, run: &Run, view: &View<'_>) -> Value;

    /// The lines in words.
    fn text(&self, run: &Run, verbose: bool) -> String;

    /// What else a person should know goes to stderr.
    fn tell(&self, run: &Run);

    /// The exit code that they mean.
    fn exit(&self, run: &Run) -> Exit;

    /// The plot, SVG, where there is one.
    fn plot(&self, run: &Run) -> Option<String>;
}

/// All kinds of answers.
pub fn kinds(run: &Run) -> [&dyn Outcome; 14] {
    mpps_record::answers!(run)
}

/// The kind of a run's results; where it has none, that of its verb. `None` of a suite, which has several.
pub fn kind(run: &Run) -> Option<&dyn Outcome> {
    if is_suite(run) {
        return None;
    }
    let job = run.begin.as_ref().map(|begin| begin.job.as_str());
    let kinds = kinds(run).into_iter();
    let of_verb = |kind: &&dyn Outcome| Some(kind.job()) == job;
    let there = kinds.clone().find(|kind| !kind.is_empty());
    there.or_else(|| kinds.clone().find(of_verb))
}

/// Whether the run is one of `mpps rfc2544`.
pub fn is_suite(run: &Run) -> bool {
    run.begin.as_ref().is_some_and(|begin| begin.job == SUITE)
}

/// Whether a run has a result.
pub fn is_in(run: &Run) -> bool {
    run.answers().iter().any(|lines| !lines.is_empty())
}

/// The exit code of what was measured; what ended the run early is left aside.
pub fn exit(run: &Run) -> Exit {
    let there = kinds(run).into_iter().filter(|kind| !kind.is_empty());
    there
        .map(|kind| kind.exit(run))
        .fold(Exit::Measured, Exit::worse)
}

/// The plot of a run, SVG, if its results are drawn.
pub fn plot(run: &Run) -> Option<String> {
    kind(run)?.plot(run)
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

/// The machine in words, or the simulated pair.
pub fn machine(run: &RunLine) -> String {
    match &run.bed {
        RunBed::Simulated { pair } => format!("simulated: {pair}"),
        _ => machine_line(run),
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
    pub fn print_json(&self, run: &Run, own: &Value) -> Result<()> {
        let begin = run.begin.as_ref();
        let document = Document {
            head: &self.head,
            comparability: begin.map(|begin| &begin.comparability),
            traffic: begin.map(|begin| &begin.plan.traffic),
            machine: begin.map(machine),
            own,
        };
        out(&(to_string_pretty(&document)? + "\n"));
        Ok(())
    }

    /// Where the record of a result is.
    pub fn record(&self) -> String {
        format!("\nrecord: {}\n", self.head.record)
    }

    /// What results may be compared by: the key, or all the conditions that it stands for.
    pub fn comparability(&self, of_run: &Comparability) -> String {
        match self.verbose {
            true => format!("comparable with: {of_run}\n"),
            false => format!(
                "comparable with: {} (-v: conditions and all details)\n",
                of_run.key
            ),
        }
    }

    /// What stands below a result: the set-up script, what it may be compared by, where its record and plot are.
    pub fn foot(&self, run: Option<&RunLine>) -> String {
        let mut text = "\n".to_owned();
        text.extend(run.and_then(set_up_line));
        text.extend(run.map(|run| self.comparability(&run.comparability)));
        text += &format!("record: {}\n", self.head.record);
        text.extend(self.plot.map(|path| format!("plot: {}\n", path.display())));
        text
    }
}

/// The set-up script of the run's bed, with its hash. `None` where there was none, or each variant has its own.
fn set_up_line(run: &RunLine) -> Option<String> {
    let bed = run.bed.bed().filter(|_| run.job != "compare")?;
    let (name, script) = (bed.dut_setup.as_ref()?, bed.dut_setup_script.as_ref()?);
    // Up to method version 19, the hash of a kept bed's is of the file at the time of the run.
    let is_other = bed.kept == Some(true) && run.comparability.method_version < 20;
    Some(match script.text {
        Some(_) if !is_other => format!("set-up script: {name}, sha256 {:.12}...\n", script.sha256),
        _ => format!("set-up script: {name}, when the bed was raised\n"),
    })
}

#[cfg(all(test, feature = "measure"))]
mod tests;
