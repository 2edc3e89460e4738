//! The results of `mpps rfc2544`: what was done, a row for each frame size, the doubts; with `--verbose` each part's own
//! tables in between.

use super::columns::shown;
use super::doubts::Doubted;
use super::result::put;
use super::{Row, error, machine_line};
use crate::outcome::{View, is_in, kinds};
use anyhow::Result;
use mpps_record::Run;
use mpps_report::Suite;
use mpps_report::expectation::all_unmet;
use serde_json::json;

/// Puts the results on stdout; what else a person should know goes to stderr.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let begin = run.begin.as_ref();
    let unmet = all_unmet(begin, &Row::each(&run.results));
    if view.json {
        let results = json!({
            "plan": begin.map(|begin| &begin.plan),
            "expectation_unmet": unmet,
            "results": run.results,
            "latencies": run.latencies,
            "curves": run.curves,
            "bursts": run.bursts,
            "recoveries": run.recoveries,
            "resets": run.resets,
        });
        view.print_json(run, &results)?;
    } else if is_in(run) {
        put(&suite(run, view.verbose), run, view);
    }
    unmet.iter().for_each(|line| error(line));
    Ok(())
}

/// The summary, under the machine that it was measured on.
fn suite(run: &Run, verbose: bool) -> String {
    let suite = Suite::new(run);
    let machine = run.begin.as_ref().map(machine_line).unwrap_or_default();
    let lines = |lines: &[String], mark: &str| -> String {
        lines.iter().map(|line| format!("{mark}{line}\n")).collect()
    };
    let mut text = format!(
        "RFC 2544 section 26: {}\n\n{machine}\n\n{}{}",
        suite.measured,
        shown(&suite.table),
        lines(&suite.notes, "")
    );
    for (heading, list) in [
        ("Shortened, so these are estimates", &suite.shortened),
        ("Not as planned", &suite.not_as_planned),
    ] {
        if !list.is_empty() {
            text += &format!("\n{heading}\n{}", lines(list, "- "));
        }
    }
    if verbose {
        let parts = kinds(run).into_iter().filter(|lines| !lines.is_empty());
        text.extend(parts.map(|lines| format!("\n{}", lines.text(run, true))));
        return text;
    }
    let doubted = Doubted {
        subjects: suite.subjects,
        noun: "results",
        named_max: 2,
        said: Vec::new(),
    };
    text + &doubted.lines(false)
}

#[cfg(all(test, feature = "measure"))]
mod tests;
