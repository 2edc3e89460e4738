//! What `mpps throughput` measured: a row for each frame size and goal, in the record first, then shown.

use crate::args::ThroughputArgs;
use crate::exit::Exit;
use crate::expectation;
use crate::plan::Plan;
use crate::record::{result_line, result_not_measured, whole_fps};
use crate::recorder::{Keeping, Recorder};
use crate::terminal::{self, Reading, Report, Row};
use crate::verbs::begin::Beside;
use crate::verbs::measure::{self, Head, Outcome, View};
use anyhow::{Error, Result};
use mpps_lab::jobs::ResultObserver;
use mpps_lab::jobs::throughput::{self, SizeResult};
use mpps_method::{Rate, SearchGoal, SearchPlan};
use mpps_record::{Comparability, Place, ResultLine, RunLine, StandsOn, Traffic};
use serde::Serialize;

/// Every frame size and goal, and what ended the run early.
pub struct Measured<'a> {
    args: &'a ThroughputArgs,
    run: RunLine,
    /// One a frame size and goal, whatever came of it.
    results: Vec<ResultLine>,
    /// What is no disturbance: it ended the run, or a size.
    error: Option<Error>,
}

impl<'a> Measured<'a> {
    /// Writes the run's line and measures. The results of every size are in the record first.
    pub fn new(
        args: &'a ThroughputArgs,
        recorder: &mut Recorder,
        plan: &Plan,
        beside: Option<&Beside>,
        mut run: RunLine,
        measure: impl FnOnce(&mut dyn ResultObserver<SizeResult>) -> throughput::Measured,
    ) -> Self {
        run.plan.expected_min_fps = plan.expect_min.map(whole_fps);
        let (mut results, mut told) = (Vec::new(), 0);
        let written = recorder.record.write(&run);
        let mut observer = Keeping {
            recorder,
            keep: |recorder: &mut Recorder, size: &SizeResult| {
                told += 1;
                let lines = lines(size, plan, beside, recorder.take_stands());
                let written = lines
                    .iter()
                    .try_for_each(|line| recorder.record.append(line));
                results.extend(lines);
                written
            },
        };
        let (sizes, error) = match written {
            Ok(()) => {
                let measured = measure(&mut observer);
                (measured.sizes, measured.error.map(Error::from))
            }
            Err(error) => {
                let why = format!("{error:#}");
                let nothing = throughput::Measured::nothing(&plan.measurement, &why);
                (nothing.sizes, Some(error))
            }
        };
        // Sizes that were not begun have no line in the record.
        let left = sizes.iter().skip(told);
        results.extend(left.flat_map(|size| lines(size, plan, beside, StandsOn::default())));
        if let Place::Simulated { .. } = run.bed {
            results.iter_mut().for_each(|line| line.simulated = true);
        }
        Self {
            args,
            run,
            results,
            error,
        }
    }
}

/// The lines of a size, one a goal. All of them stand on the same trials.
fn lines(
    size: &SizeResult,
    plan: &Plan,
    beside: Option<&Beside>,
    stands: StandsOn,
) -> Vec<ResultLine> {
    let measurement = &plan.measurement;
    match &size.findings {
        Ok(findings) => {
            let doubting = |beside: &Beside| beside.doubting(findings);
            let findings = beside.map_or_else(|| findings.clone(), doubting);
            let line = |finding| result_line(finding, measurement, stands.clone());
            findings.iter().map(line).collect()
        }
        Err(why) => {
            let goals: Vec<Option<SearchGoal>> = match &measurement.search {
                SearchPlan::Mlr { goals, .. } => goals.iter().copied().map(Some).collect(),
                SearchPlan::Bisection { .. } => vec![None],
            };
            let line = |goal| result_not_measured(&size.frames, goal, Some(why.as_str()));
            goals.into_iter().map(line).collect()
        }
    }
}

impl Outcome for Measured<'_> {
    fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// Another try may measure what was not measured; what was measured and falls short stays so.
    fn exit(&self) -> Exit {
        let run = Some(&self.run);
        let exit = |row: &Row<'_>| match row.reading() {
            Reading::Nothing => Exit::Disturbed,
            Reading::Below(_) => Exit::NotMet,
            _ if !unmet(run, std::slice::from_ref(row)).is_empty() => Exit::NotMet,
            Reading::Is(_) | Reading::AtLeast(_) => Exit::Measured,
        };
        let rows = Row::each(&self.results);
        rows.iter().map(exit).fold(Exit::Measured, Exit::worse)
    }

    fn show(&self, head: Head<'_>) -> Result<()> {
        show(
            View::new(head, &self.args.output),
            Some(&self.run),
            &self.results,
        )
    }
}

/// Puts the results of a run on stdout; what else a person should know goes to stderr.
///
/// # Errors
/// The result could not be written.
pub fn show(view: View<'_>, run: Option<&RunLine>, results: &[ResultLine]) -> Result<()> {
    let is_disturbed = view.head.exit_code == Some(Exit::Disturbed.code());
    let rows = Row::each(results);
    let unmet = unmet(run, &rows);
    if view.json {
        let plan = run.map(|run| &run.plan);
        let search = plan.and_then(|plan| plan.search.as_ref());
        terminal::out(&measure::json(&Document {
            head: view.head,
            simulated: results.iter().any(|line| line.simulated),
            pass_rule: search.and_then(|search| search.pass_rule.as_deref()),
            comparability: run.map(|run| &run.comparability),
            traffic: plan.map(|plan| &plan.traffic),
            link_bits_per_s: search.map(|search| search.link_bits_per_s),
            link_source: search.map(|search| search.link_source.as_str()),
            expected_min_fps: plan.and_then(|plan| plan.expected_min_fps),
            expectation_unmet: &unmet,
            results,
        })?);
    } else {
        let report = Report {
            run,
            rows: &rows,
            record: &view.head.record,
            verbose: view.verbose,
        };
        report.print();
    }
    if is_disturbed && unmet.is_empty() {
        let missing = rows.iter().filter(|row| row.reading() == Reading::Nothing);
        let missing: Vec<&str> = missing.map(|row| row.subject.as_str()).collect();
        terminal::error(&format!(
            "not measured: {} (run again when the machine is quieter)",
            missing.join(", ")
        ));
    }
    for line in &unmet {
        terminal::error(line);
    }
    Ok(())
}

/// A line for each result that does not show what was expected.
fn unmet(run: Option<&RunLine>, rows: &[Row<'_>]) -> Vec<String> {
    let expected = run.and_then(|run| run.plan.expected_min_fps);
    let unmet = |row| expectation::unmet(Rate::from_fps(expected? as f64), row);
    rows.iter().filter_map(unmet).collect()
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    /// Whether tester and router were simulated: nothing was measured.
    simulated: bool,
    /// When a load has passed: `1 s trials, any of 3`, or what each goal asks of one.
    pass_rule: Option<&'a str>,
    comparability: Option<&'a Comparability>,
    traffic: Option<&'a Traffic>,
    /// What `link_share` is a share of, and who says so: ports, given, or notional (nobody).
    link_bits_per_s: Option<u64>,
    link_source: Option<&'a str>,
    expected_min_fps: Option<u64>,
    /// A line for each result that does not show it.
    expectation_unmet: &'a [String],
    results: &'a [ResultLine],
}
