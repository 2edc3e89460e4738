//! The results of `mpps rfc2544`: those of its parts, together.

use super::View;
use crate::terminal::Row;
use crate::{expectation, terminal};
use anyhow::Result;
use mpps_record::Run;
use serde_json::json;

/// The job in records.
pub const JOB: &str = "rfc2544";

/// Whether the run is one.
pub fn is_one(run: &Run) -> bool {
    run.begin.as_ref().is_some_and(|begin| begin.job == JOB)
}

/// Puts the results on stdout; what else a person should know goes to stderr.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let begin = run.begin.as_ref();
    let machine = begin.map(terminal::machine_line);
    let unmet = expectation::all_unmet(begin, &Row::each(&run.results));
    if view.json {
        view.print_json(
            run,
            &json!({
                "plan": begin.map(|begin| &begin.plan),
                "expectation_unmet": unmet,
                "results": run.results,
                "latencies": run.latencies,
                "curves": run.curves,
                "bursts": run.bursts,
                "recoveries": run.recoveries,
                "resets": run.resets,
            }),
        )?;
    } else if super::is_in(run) {
        let text = terminal::suite(run, machine.as_deref().unwrap_or_default(), view.verbose);
        terminal::out(&terminal::fitted(&(text + &view.foot(begin))));
    }
    unmet.iter().for_each(|line| terminal::error(line));
    Ok(())
}
