//! The result of a run on stdout, whatever kind it is.

use super::{fitted, modified, out, route_changes, suite};
use crate::outcome::{View, is_suite, kind};
use anyhow::Result;
use mpps_record::Run;

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
    let modified = begin.and_then(|begin| modified(begin, run.end.as_ref()));
    if let Some((with, _)) = &modified {
        out(&fitted(with));
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
    if let Some((_, below)) = &modified {
        out(&fitted(below));
    }
    // A comparison says them of each variant.
    let of_all = view
        .head
        .route_changes
        .filter(|_| run.comparisons.is_empty());
    if let (Some(changes), Some(begin)) = (of_all, begin) {
        let asked = begin.plan.traffic.route_changes.as_ref();
        out(&fitted(&route_changes(changes, asked)));
    }
    Ok(())
}
