//! Loads of `mpps trial`, each with its trials.

use super::View;
use crate::terminal;
use anyhow::Result;
use mpps_record::{LoadLine, LoadTrial, Run, TrialLine};
use serde_json::{Value, json};

/// Puts loads on stdout.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let (loads, trials) = (&run.loads, &run.trials);
    if view.json {
        let results = loads.iter().map(|load| result(load, trials));
        view.print_json(
            run,
            &json!({ "results": results.collect::<Result<Vec<_>>>()? }),
        )?;
    } else if !loads.is_empty() {
        let text = terminal::fixed_load(loads, trials, view.verbose);
        let text = format!("{text}\nrecord: {}\n", view.head.record);
        terminal::out(&terminal::fitted(&text));
    }
    Ok(())
}

/// One load as its record has it, with the whole line of each trial in place of its number.
fn result(load: &LoadLine, trials: &[TrialLine]) -> Result<Value> {
    let line = |found: &LoadTrial| trials.iter().find(|line| line.trial == found.trial);
    let entry = |found: &LoadTrial| -> Result<Value> {
        let mut entry = serde_json::to_value(found)?;
        if let Some(line) = line(found) {
            entry["text"] = terminal::in_words(load, found, line).into();
            entry["trial"] = serde_json::to_value(line)?;
        }
        Ok(entry)
    };
    let mut result = serde_json::to_value(load)?;
    result["trials"] = load.trials.iter().map(entry).collect::<Result<_>>()?;
    result["wire"] = load.wire.as_ref().map(entry).transpose()?.into();
    Ok(result)
}
