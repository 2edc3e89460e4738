//! What a run answers, of all kinds of lines together: in sentences, and as one table.

use crate::factorial;
use crate::kind::kinds;
use crate::number;
use crate::sentence;
use crate::table::Table;
use mpps_record::{Answer, LoadLine, Plan, Run};

/// What the run was to find, as the kind of line of its job says.
#[must_use]
pub fn purpose(run: &Run, job: &str, plan: &Plan) -> String {
    let kinds = kinds(run).into_iter().filter(|kind| kind.job() == job);
    // Of a verb's kinds the later one is for plans of another sort.
    let told = kinds.filter_map(|kind| kind.purpose(plan)).last();
    told.unwrap_or_else(|| match (job, &plan.fixed) {
        ("rfc2544", _) => "The benchmarks of RFC 2544 section 26.".to_owned(),
        (_, Some(fixed)) => sentence::fixed_loads(fixed),
        _ => format!("The job is \"{job}\"."),
    })
}

/// The answers of a run beside its results, a sentence each: its points, its faults, what its job has for each frame size,
/// or why there is nothing.
#[must_use]
pub fn sentences(run: &Run) -> Vec<String> {
    let simulated = run.is_simulated() || run.curves.iter().any(|curve| curve.simulated);
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

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::FixedLoads;

    #[test]
    fn each_job_says_what_it_is_to_find() {
        let mut plan = Plan::default();
        assert_eq!(purpose(&Run::default(), "x", &plan), "The job is \"x\".");
        plan.fixed = Some(FixedLoads {
            loads: vec!["1k".to_owned(), "2k".to_owned()],
            time_ns: 1_000_000_000,
            trials: 1,
        });
        let run = Run::default();
        for job in kinds(&run).map(|kind| kind.job()) {
            let told = purpose(&run, job, &plan);
            let only_loads = told.starts_with("The loss at fixed loads (1k, 2k)");
            assert_eq!(only_loads, job == "trial", "{job}: {told}");
        }
        plan.fixed
            .iter_mut()
            .for_each(|fixed| fixed.loads.truncate(1));
        let told = purpose(&run, "loss", &plan);
        assert!(
            told.contains("under a lasting overload (") && told.contains(" of 1k)"),
            "{told}"
        );
    }
}
