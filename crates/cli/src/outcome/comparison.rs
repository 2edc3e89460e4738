//! Comparisons of `mpps compare`.

use super::View;
use crate::terminal;
use anyhow::Result;
use mpps_record::{ComparisonLine, Run};
use serde_json::{Value, json};

/// Puts comparisons on stdout.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let begin = run.begin.as_ref();
    let machine = begin.map(terminal::machine_line);
    if view.json {
        let comparisons = run.comparisons.iter().map(entry);
        view.print_json(
            run,
            &json!({ "comparisons": comparisons.collect::<Result<Vec<_>>>()? }),
        )?;
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
