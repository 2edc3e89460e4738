//! What a run answers, of all kinds of lines together: in sentences, and as one table.

use crate::factorial;
use crate::kind::kinds;
use crate::number;
use crate::table::Table;
use mpps_record::{Answer, LoadLine, Place, Run};

/// The answers of a run beside its results, a sentence each: its points, its faults, what its job has for each frame size,
/// or why there is nothing.
#[must_use]
pub fn sentences(run: &Run) -> Vec<String> {
    let begin = run.begin.as_ref();
    let simulated = begin.is_some_and(|begin| matches!(begin.bed, Place::Simulated { .. }));
    let simulated = simulated || run.curves.iter().any(|curve| curve.simulated);
    let told: Vec<String> = kinds(run)
        .iter()
        .flat_map(|lines| lines.sentences())
        .chain(factorial::sentences(run))
        .collect();
    if told.is_empty() && run.results.is_empty() {
        return vec![other_answer(run)];
    }
    let prefix = if simulated { "Simulated: " } else { "" };
    let whole = |told: String| format!("{prefix}{told}.");
    told.into_iter().map(whole).collect()
}

/// Whether the run has a line of the kind that its job is for. Loads of `mpps trial` have no sentence.
#[must_use]
pub fn is_answered(run: &Run) -> bool {
    let mut answers = run.answers().into_iter();
    answers.any(|lines| lines.job() != LoadLine::JOB && !lines.is_empty())
}

fn other_answer(run: &Run) -> String {
    let trials = number::plural(run.trials.len(), "trial");
    let fixed = run
        .begin
        .as_ref()
        .is_some_and(|begin| begin.plan.fixed.is_some());
    match &run.end {
        Some(end) => match &end.error {
            Some(error) => format!("There is no result: {error}. The run has {trials}."),
            None if fixed => format!("The run has {trials} at the loads below."),
            None => format!("There is no result. The run has {trials}."),
        },
        None => format!(
            "There is no result: the record ends after {trials}, because the run was killed or is under way."
        ),
    }
}

/// Its results as one table, whatever its job found. `None` where there are no results.
#[must_use]
pub fn table(run: &Run) -> Option<Table> {
    let mut tables = kinds(run).into_iter().map(|lines| lines.table());
    tables.find(|table| !table.rows.is_empty())
}
