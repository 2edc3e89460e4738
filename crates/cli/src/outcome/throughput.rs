//! The results of `mpps throughput`: a row for each frame size and goal.

use super::View;
use crate::expectation;
use crate::terminal::{self, Report, Row};
use anyhow::Result;
use mpps_record::Run;
use mpps_report::Reading;
use serde_json::json;

/// Puts the results of a run on stdout; what else a person should know goes to stderr.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let (begin, results) = (run.begin.as_ref(), &run.results);
    let rows = Row::each(results);
    let unmet = expectation::all_unmet(begin, &rows);
    if view.json {
        let plan = begin.map(|begin| &begin.plan);
        let search = plan.and_then(|plan| plan.search.as_ref());
        view.print_json(
            run,
            &json!({
                "simulated": results.iter().any(|line| line.simulated),
                "pass_rule": search.and_then(|search| search.pass_rule.as_deref()),
                "link_bits_per_s": search.map(|search| search.link_bits_per_s),
                "link_source": search.map(|search| &search.link_source),
                "expected_min_fps": plan.and_then(|plan| plan.expected_min_fps),
                "expectation_unmet": unmet,
                "results": results,
            }),
        )?;
    } else {
        let report = Report {
            run: begin,
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
