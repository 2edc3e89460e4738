//! Comparisons of `mpps compare`.

use super::{Head, View, json};
use crate::terminal;
use anyhow::Result;
use mpps_record::{Comparability, ComparisonLine, Run, Traffic};
use serde::Serialize;
use serde_json::Value;

/// Puts comparisons on stdout.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let begin = run.begin.as_ref();
    let machine = begin.map(terminal::machine_line);
    if view.json {
        let comparisons = run.comparisons.iter().map(entry);
        terminal::out(&json(&Document {
            head: &view.head,
            comparability: begin.map(|run| &run.comparability),
            traffic: begin.map(|run| &run.plan.traffic),
            machine,
            comparisons: comparisons.collect::<Result<_>>()?,
        })?);
        return Ok(());
    }
    for line in &run.comparisons {
        let title = terminal::comparison_title(line);
        let text = terminal::comparison(line, view.verbose);
        let shared = begin.and_then(|run| run.comparability.cpus_shared) == Some(true);
        let shared = if shared {
            "\nTester and router share a CPU: a costlier frame also leaves the tester less of it\n"
        } else {
            ""
        };
        let machine = machine.as_deref().unwrap_or_default();
        let text = format!("{title}\n\n{text}{shared}\n{machine}\n");
        terminal::out(&terminal::fitted(&text));
    }
    if !run.comparisons.is_empty() {
        terminal::out(&terminal::fitted(&view.foot(begin)));
    }
    Ok(())
}

/// A comparison as its record has it, with the sentence of each variant.
fn entry(line: &ComparisonLine) -> Result<Value> {
    let mut entry = serde_json::to_value(line)?;
    for (place, variant) in line.variants.iter().enumerate() {
        if let Some(difference) = &variant.difference {
            let words = terminal::compared_in_words(&variant.name, difference);
            entry["variants"][place]["text"] = words.into();
        }
    }
    Ok(entry)
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: &'a Head<'a>,
    comparability: Option<&'a Comparability>,
    /// What was sent to the first variant.
    traffic: Option<&'a Traffic>,
    /// CPU, hypervisor, kernel, date and version, in words.
    machine: Option<String>,
    comparisons: Vec<Value>,
}
