//! The result of a run on stdout, whatever kind it is.

use super::style::bold;
use super::{compare_command, fitted, out, suite};
use crate::outcome::{View, is_suite, kind};
use anyhow::Result;
use mpps_record::{ForwardingLimit, ResultLine, Run, RunBed, RunLine};
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
            view.print_json(run, &kind.document(run, view))?;
        } else if !kind.is_empty() {
            put(&kind.text(run, view.verbose), run, view);
        }
        kind.tell(run);
    } else {
        suite::show(run, view)?;
    }
    let Some(begin) = begin else {
        return Ok(());
    };
    let mut text = next(run, begin).to_owned();
    text.extend(compare_command(begin));
    let counted = run.end.as_ref();
    let counted = counted.map(|end| queries_and_changes(Some(begin), end));
    text.extend(counted.iter().flatten().map(|told| format!("{told}\n")));
    out(&fitted(&text));
    Ok(())
}

/// Puts a text with what stands below it on stdout. What it begins with is bold where that is a terminal.
pub fn put(text: &str, run: &Run, view: &View<'_>) {
    let text = fitted(&(text.to_owned() + &view.foot(run.begin.as_ref())));
    let (head, body) = text.split_at(text.find("\n\n").map_or(0, |at| at + 1));
    out(&(bold(head) + body));
}

/// Names the verbs that explain and move the limit. Both need a bed of their own.
pub(super) fn next(run: &Run, begin: &RunLine) -> &'static str {
    let limit = Some(ForwardingLimit::RouterCpu);
    let is_router = |line: &ResultLine| line.overload.max_forwarding_limited_by == limit;
    let is_on_bed = matches!(begin.bed, RunBed::Namespaces(_));
    match is_on_bed && !is_suite(run) && run.results.iter().any(is_router) {
        true => {
            "next: mpps explain (where the time goes), mpps tune measure (what a setting changes)\n"
        }
        false => "",
    }
}
