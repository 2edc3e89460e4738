//! What `mpps throughput` measured: a row for each frame size and goal, in the record first, then shown.

use crate::args::ThroughputArgs;
use crate::exit::Exit;
use crate::expectation;
use crate::figures::{Figures, Reading};
use crate::plan::{BedChoice, Plan};
use crate::record::{self, result_line, result_not_measured, whole_fps};
use crate::recorder::{Keeping, Recorder};
use crate::terminal::{self, Place, Report};
use crate::verbs::begin::Beside;
use crate::verbs::measure::{self, Head, Outcome};
use anyhow::Error;
use mpps_lab::doubt::Finding;
use mpps_lab::jobs::ResultObserver;
use mpps_lab::jobs::throughput::{self, SizeResult};
use mpps_method::{FrameSpec, SearchGoal, SearchPlan};
use mpps_record::{Comparability, ResultLine, RunLine, StandsOn, Traffic};
use serde::Serialize;

/// A frame size and goal, whatever came of it.
struct Row {
    /// `None` where nothing is known.
    finding: Option<Finding>,
    figures: Figures,
    line: ResultLine,
}

/// Writes the run's line and measures: the rows of every size, each in the record first, and what ended it early.
pub fn rows(
    recorder: &mut Recorder,
    plan: &Plan,
    beside: Option<&Beside>,
    line: &RunLine,
    measure: impl FnOnce(&mut dyn ResultObserver<SizeResult>) -> throughput::Measured,
) -> Rows {
    let (mut rows, mut told) = (Vec::new(), 0);
    let written = recorder.record.write(line);
    let mut observer = Keeping {
        recorder,
        keep: |recorder: &mut Recorder, size: &SizeResult| {
            told += 1;
            let found = rows_of(size, plan, beside, recorder.take_stands());
            let mut lines = found.iter().map(|row| &row.line);
            let written = lines.try_for_each(|line| recorder.record.append(line));
            rows.extend(found);
            written
        },
    };
    let (sizes, error) = match written {
        Ok(()) => {
            let measured = measure(&mut observer);
            (measured.sizes, measured.error.map(Error::from))
        }
        Err(error) => {
            let nothing = throughput::Measured::nothing(&plan.measurement, &format!("{error:#}"));
            (nothing.sizes, Some(error))
        }
    };
    // Sizes that were not begun have no line in the record.
    let left = sizes.iter().skip(told);
    rows.extend(left.flat_map(|size| rows_of(size, plan, beside, StandsOn::default())));
    Rows { rows, error }
}

/// The rows of a size, one a goal. All of them stand on the same trials.
fn rows_of(size: &SizeResult, plan: &Plan, beside: Option<&Beside>, stands: StandsOn) -> Vec<Row> {
    let findings = match &size.findings {
        Ok(findings) => findings,
        Err(why) => return not_measured(plan, &size.frames, why),
    };
    let doubting = |beside: &Beside| beside.doubting(findings);
    let findings = beside.map_or_else(|| findings.clone(), doubting);
    let row = |finding| {
        let figures = Figures::of(&finding, &plan.measurement);
        Row {
            line: result_line(&finding, &figures, stands.clone()),
            finding: Some(finding),
            figures,
        }
    };
    findings.into_iter().map(row).collect()
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
            comparability: line.comparability.clone(),
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
            line: ResultLine {
                simulated,
                ..result_not_measured(frames, goal, &figures)
            },
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
    traffic: Traffic,
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
            traffic: record::traffic(&plan.measurement.traffic),
            link_bits_per_s: plan.measurement.link.speed.bits_per_second(),
            link_source: plan.measurement.link.source.name(),
            expected_min_fps: plan.expect_min.map(whole_fps),
            expectation_unmet: &measured.unmet,
            results: measured.rows.iter().map(|row| &row.line).collect(),
        }
    }
}
