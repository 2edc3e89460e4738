//! What `mpps throughput` measured: a row for each frame size and goal, in the record first, then shown.

use crate::args::ThroughputArgs;
use crate::exit::Exit;
use crate::expectation;
use crate::figures::{Figures, Reading};
use crate::plan::{BedChoice, Plan};
use crate::record::{Comparability, ResultLine, RunLine, TrafficEntry, whole_fps};
use crate::recorder::Recorder;
use crate::terminal::{self, Place, Report};
use crate::verbs::begin::Beside;
use crate::verbs::measure::{self, Head, Outcome};
use anyhow::Error;
use mpps_lab::doubt::Finding;
use mpps_lab::jobs::throughput::{self, SizeResult};
use mpps_lab::jobs::{self, Observer, ResultObserver};
use mpps_method::{FrameSpec, SearchGoal, SearchPlan, Span};
use serde::Serialize;
use std::io;

/// A frame size and goal, whatever came of it.
struct Row {
    /// `None` where nothing is known.
    finding: Option<Finding>,
    figures: Figures,
    line: ResultLine,
}

/// Keeps the rows of each frame size, in the record first.
pub struct Kept<'a> {
    recorder: &'a mut Recorder,
    plan: &'a Plan,
    beside: Option<&'a Beside>,
    rows: Vec<Row>,
    sizes: usize,
}

impl<'a> Kept<'a> {
    /// Without rows yet.
    pub fn new(recorder: &'a mut Recorder, plan: &'a Plan, beside: Option<&'a Beside>) -> Self {
        Self {
            recorder,
            plan,
            beside,
            rows: Vec::new(),
            sizes: 0,
        }
    }

    /// Writes the run's line and measures: the rows of every size, and what ended it early.
    pub fn rows(
        mut self,
        line: &RunLine,
        measure: impl FnOnce(&mut Self) -> throughput::Measured,
    ) -> Rows {
        let (sizes, error) = match self.recorder.record.write("run", line) {
            Ok(()) => {
                let measured = measure(&mut self);
                (measured.sizes, measured.error.map(Error::from))
            }
            Err(error) => {
                let why = format!("{error:#}");
                let nothing = throughput::Measured::nothing(&self.plan.measurement, &why);
                (nothing.sizes, Some(error))
            }
        };
        // Sizes that were not begun have no line in the record.
        for size in sizes.iter().skip(self.sizes) {
            let rows = self.rows_of(size);
            self.rows.extend(rows);
        }
        Rows {
            rows: self.rows,
            error,
        }
    }

    /// The rows of a size, one a goal.
    fn rows_of(&mut self, size: &SizeResult) -> Vec<Row> {
        // All goals of a size stand on the same trials.
        let stands = self.recorder.take_stands();
        let findings = match &size.findings {
            Ok(findings) => findings,
            Err(why) => return not_measured(self.plan, &size.frames, why),
        };
        let doubting = |beside: &Beside| beside.doubting(findings);
        let findings = self.beside.map_or_else(|| findings.clone(), doubting);
        let row = |finding| {
            let figures = Figures::of(&finding, &self.plan.measurement);
            Row {
                line: ResultLine::of(&finding, &figures, stands.clone()),
                finding: Some(finding),
                figures,
            }
        };
        findings.into_iter().map(row).collect()
    }
}

impl Observer for Kept<'_> {
    fn trial(&mut self, report: &jobs::Report<'_>) -> io::Result<()> {
        self.recorder.trial(report)
    }

    fn size_begins(&mut self, budget: Option<Span>) {
        self.recorder.size_begins(budget);
    }
}

impl ResultObserver<SizeResult> for Kept<'_> {
    fn result(&mut self, size: &SizeResult) -> io::Result<()> {
        let rows = self.rows_of(size);
        self.sizes += 1;
        let written = rows
            .iter()
            .try_for_each(|row| self.recorder.record.append("result", &row.line));
        self.rows.extend(rows);
        written
    }
}

/// The rows of every frame size.
pub struct Rows {
    rows: Vec<Row>,
    /// What is no disturbance: it ended the run, or a size.
    error: Option<Error>,
}

/// Every frame size, and what ended the run early.
pub struct Measured<'a> {
    args: &'a ThroughputArgs,
    plan: Plan,
    /// The set-up script of the bed, in words.
    setup: Option<String>,
    rows: Vec<Row>,
    /// A line for each result that does not show what was expected.
    unmet: Vec<String>,
    comparability: Comparability,
    error: Option<Error>,
}

impl<'a> Measured<'a> {
    /// With what was expected of the rows.
    pub fn new(
        args: &'a ThroughputArgs,
        plan: Plan,
        line: &RunLine,
        Rows { rows, error }: Rows,
        setup: Option<String>,
    ) -> Self {
        let unmet = rows.iter().filter_map(|row| unmet(&plan, row)).collect();
        Self {
            args,
            plan,
            setup,
            rows,
            unmet,
            comparability: line.comparability().clone(),
            error,
        }
    }

    /// For a person.
    fn report(&self, recorder: &Recorder) {
        let rows = self.rows.iter().map(|row| row.figures.clone());
        let findings = self.rows.iter().filter_map(|row| row.finding.clone());
        let place = match &self.plan.bed {
            BedChoice::Simulated(pair) => Place::Simulated(pair),
            BedChoice::Own(wish) if wish.external.is_some() => Place::Device,
            BedChoice::Kept(_) | BedChoice::Own(_) => Place::Bed,
        };
        let report = Report {
            rows: &rows.collect::<Vec<_>>(),
            findings: &findings.collect::<Vec<_>>(),
            plan: &self.plan.measurement,
            place,
            setup: self.setup.as_deref(),
            comparability: &self.comparability,
            record: recorder.record.path(),
            verbose: self.args.output.verbose,
        };
        report.print();
    }
}

impl Outcome for Measured<'_> {
    fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// Another try may measure what was not measured; what was measured and falls short stays so.
    fn exit(&self) -> Exit {
        let exit = |row: &Row| match row.figures.reading {
            Reading::Nothing => Exit::Disturbed,
            Reading::Below(_) => Exit::NotMet,
            Reading::Is(_) | Reading::AtLeast(_) if unmet(&self.plan, row).is_some() => {
                Exit::NotMet
            }
            Reading::Is(_) | Reading::AtLeast(_) => Exit::Measured,
        };
        self.rows.iter().map(exit).fold(Exit::Measured, Exit::worse)
    }

    fn show(&self, head: Head<'_>, recorder: &Recorder) -> anyhow::Result<()> {
        let is_disturbed = head.exit_code() == Exit::Disturbed.code();
        if self.args.output.json {
            terminal::out(&measure::json(&Document::of(head, self))?);
        } else {
            self.report(recorder);
        }
        if is_disturbed && self.unmet.is_empty() {
            let figures = self.rows.iter().map(|row| &row.figures);
            let missing = figures.filter(|figures| figures.reading == Reading::Nothing);
            let missing: Vec<&str> = missing.map(|figures| figures.subject.as_str()).collect();
            terminal::error(&format!(
                "not measured: {} (run again when the machine is quieter)",
                missing.join(", ")
            ));
        }
        for line in &self.unmet {
            terminal::error(line);
        }
        Ok(())
    }
}

fn unmet(plan: &Plan, row: &Row) -> Option<String> {
    expectation::unmet(plan.expect_min?, &row.figures)
}

/// The rows of a size of which nothing is known.
fn not_measured(plan: &Plan, frames: &FrameSpec, why: &str) -> Vec<Row> {
    let search = &plan.measurement.search;
    let goals: Vec<Option<SearchGoal>> = match search {
        SearchPlan::Mlr { goals, .. } => goals.iter().copied().map(Some).collect(),
        SearchPlan::Bisection { .. } => vec![None],
    };
    let simulated = matches!(plan.bed, BedChoice::Simulated(_));
    let row = |goal| {
        let figures = Figures::not_measured(frames, goal, search, Some(why.to_owned()));
        Row {
            finding: None,
            line: ResultLine::not_measured(frames, goal, &figures).simulated(simulated),
            figures,
        }
    };
    goals.into_iter().map(row).collect()
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    /// Whether tester and router were simulated: nothing was measured.
    simulated: bool,
    /// When a load has passed: `1 s trials, any of 3`, or what each goal asks of one.
    pass_rule: String,
    comparability: &'a Comparability,
    traffic: TrafficEntry,
    /// What `link_share` is a share of, and who says so: ports, given, or notional (nobody).
    link_bits_per_s: u64,
    link_source: &'static str,
    expected_min_fps: Option<u64>,
    /// A line for each result that does not show it.
    expectation_unmet: &'a [String],
    results: Vec<&'a ResultLine>,
}

impl<'a> Document<'a> {
    fn of(head: Head<'a>, measured: &'a Measured<'_>) -> Self {
        let plan = &measured.plan;
        Self {
            head,
            simulated: matches!(plan.bed, BedChoice::Simulated(_)),
            pass_rule: terminal::rule(&plan.measurement.search),
            comparability: &measured.comparability,
            traffic: TrafficEntry::of(&plan.measurement.traffic),
            link_bits_per_s: plan.measurement.link.speed.bits_per_second(),
            link_source: plan.measurement.link.source.name(),
            expected_min_fps: plan.expect_min.map(whole_fps),
            expectation_unmet: &measured.unmet,
            results: measured.rows.iter().map(|row| &row.line).collect(),
        }
    }
}
