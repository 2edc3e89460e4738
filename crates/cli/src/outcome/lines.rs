//! Results of one kind of line, a text or a JSON object with the run's facts.

use super::{Head, View, json};
use crate::terminal;
use anyhow::Result;
use mpps_record::{Comparability, Run, Traffic};
use serde::Serialize;

/// Puts lines on stdout. The text is made of them, of the machine in words, and of whether all details are asked for.
///
/// # Errors
/// The result could not be written.
pub fn show<L: Serialize>(
    run: &Run,
    view: &View<'_>,
    results: &[L],
    text: fn(&[L], &str, bool) -> String,
) -> Result<()> {
    let begin = run.begin.as_ref();
    let machine = begin.map(terminal::machine_line);
    if view.json {
        terminal::out(&json(&Document {
            head: &view.head,
            comparability: begin.map(|run| &run.comparability),
            traffic: begin.map(|run| &run.plan.traffic),
            machine,
            results,
        })?);
    } else if !results.is_empty() {
        let text = text(
            results,
            machine.as_deref().unwrap_or_default(),
            view.verbose,
        );
        terminal::out(&terminal::fitted(&(text + &view.foot(begin))));
    }
    Ok(())
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a, L> {
    #[serde(flatten)]
    head: &'a Head<'a>,
    comparability: Option<&'a Comparability>,
    traffic: Option<&'a Traffic>,
    /// CPU, hypervisor, kernel, date and version, in words.
    machine: Option<String>,
    results: &'a [L],
}
