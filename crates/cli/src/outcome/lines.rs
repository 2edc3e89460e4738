//! Results of one kind of line, a text or a JSON object with the run's facts.

use super::View;
use crate::terminal;
use anyhow::Result;
use mpps_record::Run;
use serde::Serialize;
use serde_json::json;

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
        view.print_json(run, &json!({ "results": results }))?;
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
