//! Loads of `mpps trial`, each with its trials.

use super::{Outcome, View, is_simulated, machine, worst};
use crate::exit::Exit;
use crate::terminal;
use anyhow::Result;
use mpps_record::{LoadLine, LoadTrial, Run, TrialLine, Verdict};
use serde_json::{Value, json};

impl Outcome for Vec<LoadLine> {
    fn document(&self, run: &Run, _: &View<'_>) -> Result<Value> {
        let results = self.iter().map(|load| result(load, &run.trials));
        let simulated = run.begin.as_ref().is_some_and(is_simulated);
        Ok(json!({ "simulated": simulated, "results": results.collect::<Result<Vec<_>>>()? }))
    }

    fn shown(&self, run: &Run, view: &View<'_>) -> String {
        let pair = run.begin.as_ref().filter(|begin| is_simulated(begin));
        let pair = pair.map_or(String::new(), |begin| machine(begin) + "\n\n");
        pair + &terminal::fixed_load(self, &run.trials, view.verbose) + &view.record()
    }

    /// Of each load that of its best trial.
    fn exit(&self, run: &Run) -> Exit {
        let exit = |found: &LoadTrial| {
            let line = run.trials.iter().find(|line| line.trial == found.trial);
            match line.map(|line| &line.verdict) {
                Some(Verdict::Lossless | Verdict::Lossy) => Exit::Measured,
                Some(Verdict::Void | Verdict::NotOffered) => Exit::Disturbed,
                _ => Exit::Failed,
            }
        };
        let best = |load: &LoadLine| load.trials.iter().map(exit).min().unwrap_or(Exit::Failed);
        worst(self.iter().map(best))
    }
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
