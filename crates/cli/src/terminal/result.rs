//! The result of a run on stdout, whatever kind it is.

use super::{compare_command, fitted, out, route_changes, suite};
use crate::outcome::{View, is_suite, kind};
use anyhow::Result;
use mpps_record::Run;
use mpps_report::sentence::{answered, measured_with};

/// Puts the result of a run on stdout; what else a person should know goes to stderr.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let kind = kind(run);
    if kind.is_none() && !is_suite(run) {
        return Ok(());
    }
    let begin = run.begin.as_ref().filter(|_| !view.json);
    if let Some(with) = begin.and_then(measured_with) {
        out(&fitted(&format!("{with}\n")));
    }
    if let Some(kind) = kind {
        if view.json {
            view.print_json(run, &kind.document(run, view)?)?;
        } else {
            kind.put(run, view);
        }
        kind.tell(run, view);
    } else {
        suite::show(run, view)?;
    }
    // A comparison reports answers and route changes for each variant.
    let Some(begin) = begin.filter(|_| run.comparisons.is_empty()) else {
        return Ok(());
    };
    let answered = run.end.as_ref().and_then(|end| answered(begin, end));
    if let Some(answered) = answered {
        out(&fitted(&format!("{answered}\n")));
    }
    if let Some(command) = compare_command(begin) {
        out(&fitted(&command));
    }
    if let Some(changes) = view.head.route_changes {
        let asked = begin.plan.traffic.route_changes.as_ref();
        out(&fitted(&route_changes(changes, asked)));
    }
    Ok(())
}
