//! Comparisons of `mpps compare`.

use super::{Outcome, View, machine, worst};
use crate::exit::Exit;
use crate::terminal;
use anyhow::Result;
use mpps_record::{ComparisonLine, Difference, Run};
use serde_json::{Value, json};

impl Outcome for Vec<ComparisonLine> {
    fn document(&self, _: &Run, _: &View<'_>) -> Result<Value> {
        let comparisons = self.iter().map(entry).collect::<Result<Vec<_>>>()?;
        Ok(json!({ "comparisons": comparisons }))
    }

    fn shown(&self, run: &Run, view: &View<'_>) -> String {
        let begin = run.begin.as_ref();
        let machine = begin.map(machine).unwrap_or_default();
        let shared = begin.and_then(|run| run.comparability.cpus_shared) == Some(true);
        let shared = if shared {
            "\nTester and router share a CPU: a costlier frame also leaves the tester less of it\n"
        } else {
            ""
        };
        let each = self.iter().map(|line| {
            let title = terminal::comparison_title(line);
            let text = terminal::comparison(line, view.verbose);
            format!("{title}\n\n{text}{shared}\n{machine}\n")
        });
        each.collect::<String>() + &view.foot(begin)
    }

    /// A variant of which nothing can be said was disturbed. One that was found to be slower than allowed falls short.
    fn exit(&self, _: &Run) -> Exit {
        let comparison = |line: &ComparisonLine| {
            let differences = line
                .variants
                .iter()
                .skip(1)
                .map(|variant| variant.difference.as_ref());
            let exit = |found| difference_exit(found, line.fail_if_slower_share);
            worst(differences.map(|found| found.map_or(Exit::Disturbed, exit)))
        };
        worst(self.iter().map(comparison))
    }
}

/// One difference, of which so much is allowed.
pub fn difference_exit(found: &Difference, fail_if_slower: Option<f64>) -> Exit {
    match found.slower_share().zip(fail_if_slower) {
        Some((slower, allowed)) if slower > allowed => Exit::NotMet,
        _ if found.has_interval() => Exit::Measured,
        _ => Exit::Disturbed,
    }
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
