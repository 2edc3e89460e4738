//! The result of a run on stdout, whatever kind it is.

use super::{compare_command, fitted, out, suite};
use crate::outcome::{View, is_suite, kind};
use anyhow::Result;
use mpps_record::Run;
use mpps_report::sentence::{measured_with, queries_and_changes};

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
    let Some(begin) = begin else {
        return Ok(());
    };
    let mut text = compare_command(begin).unwrap_or_default();
    let counted = run.end.as_ref();
    let counted = counted.map(|end| queries_and_changes(Some(begin), end));
    text.extend(counted.iter().flatten().map(|told| format!("{told}\n")));
    out(&fitted(&text));
    Ok(())
}
