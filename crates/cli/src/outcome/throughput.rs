//! The results of `mpps throughput`: a row for each frame size and goal.

use super::{Head, View, json};
use crate::expectation;
use crate::terminal::{self, Report, Row};
use anyhow::Result;
use mpps_record::{Comparability, ResultLine, Run, Traffic};
use mpps_report::Reading;
use serde::Serialize;

/// Puts the results of a run on stdout; what else a person should know goes to stderr.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let (run, results) = (run.begin.as_ref(), &run.results);
    let rows = Row::each(results);
    let unmet = expectation::all_unmet(run, &rows);
    if view.json {
        let plan = run.map(|run| &run.plan);
        let search = plan.and_then(|plan| plan.search.as_ref());
        terminal::out(&json(&Document {
            head: &view.head,
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
    if view.is_disturbed() && unmet.is_empty() {
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

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: &'a Head<'a>,
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
