//! A file of records as the report takes it.

use crate::{Raw, number};
use mpps_record::{Answers, Records, Run, TrialLine};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// One file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name, as typed.
    pub name: String,
    /// Its runs, or one line that says why there are none.
    pub records: Result<Records, String>,
    /// The file itself; `None` where it was not kept.
    pub raw: Option<Raw>,
}

/// What a report shows: runs, each once, and what is wrong with the files.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Runs with the name of their file.
    pub runs: Vec<(String, Run)>,
    /// Files that were kept, with their names.
    pub files: Vec<(String, Raw)>,
    /// One line a problem.
    pub problems: Vec<String>,
}

impl Gathered {
    /// Takes the runs of all files, each once, and the files themselves.
    pub fn new(sources: Vec<Source>) -> Self {
        let mut all = Self::default();
        for source in sources {
            match source.records {
                Ok(records) => {
                    let told = records.problems.iter();
                    all.problems
                        .extend(told.map(|problem| format!("{}: {problem}.", source.name)));
                    for run in records.runs {
                        all.add(&source.name, run);
                    }
                }
                Err(why) => all.problems.push(why),
            }
            all.files.extend(source.raw.map(|raw| (source.name, raw)));
        }
        let runs: Vec<&Run> = all.runs.iter().map(|(_, run)| run).collect();
        for (file, run) in &all.runs {
            let missing = missing_trials(run, &runs);
            let told = missing.map(|what| format!("{file}: run {} {what}.", run.name));
            all.problems.extend(told);
        }
        all
    }

    fn add(&mut self, file: &str, mut run: Run) {
        let repeated = drop_repeated(&mut run);
        let name = run.name.clone();
        if repeated > 0 {
            let lines = number::plural(repeated, "line");
            self.problems.push(format!(
                "{file}: run {name} holds {lines} twice: each is shown once."
            ));
        }
        let known = self.runs.iter().find(|(_, known)| known.name == name);
        if let Some((first, known)) = known {
            if *known == run {
                self.problems.push(format!(
                    "Run {name} is in {first} and in {file}: it is shown once."
                ));
                return;
            }
            self.problems.push(format!(
                "Run {name} is in {first} and in {file} with different lines: both are shown."
            ));
        }
        self.runs.push((file.to_owned(), run));
    }
}

/// Which trials the run had, but the files have not. The trials of a campaign are those of its cells' runs, among `all`.
#[must_use]
pub fn missing_trials(run: &Run, all: &[&Run]) -> Option<String> {
    let cells = run
        .cells
        .iter()
        .filter_map(|cell| cell.measured_run.as_ref());
    let cells: HashSet<&String> = cells.collect();
    let of_cells = all.iter().filter(|other| cells.contains(&other.name));
    let in_cells: usize = of_cells.map(|other| other.trials.len()).sum();
    let there: HashSet<u64> = run.trials.iter().map(|one| one.trial.into()).collect();
    let with_cells = there.len() + in_cells;
    if let Some(end) = &run.end {
        let had = number::plural(end.trials as usize, "trial");
        return (end.trials as usize > with_cells)
            .then(|| format!("had {had}, of which the file has {with_cells}"));
    }
    // A resumed run goes on where the numbers of another ended.
    let begin = run.begin.as_ref();
    let is_resumed =
        begin.is_some_and(|line| line.arguments.iter().any(|one| one.starts_with("--resume")));
    let first = there
        .iter()
        .copied()
        .min()
        .filter(|_| is_resumed)
        .unwrap_or(1);
    // An answer is written after the trials that it names.
    let answers = run.answers().into_iter().flat_map(Answers::values);
    let named = answers.map(|line| last_named(&line)).max();
    let last = there.iter().copied().chain(named).max().unwrap_or(0);
    let own = there.len();
    (first + (own as u64) <= last).then(|| format!("has {own} of trials {first} to {last}"))
}

/// The highest number of a trial in a line: `stands_on_trial`, `overload_trials`. 0 where it names none.
fn last_named(value: &Value) -> u64 {
    let of = |(name, value): (&String, &Value)| match value {
        Value::Number(number) if name == "trial" || name.ends_with("_trial") => number.as_u64(),
        Value::Array(all) if name.ends_with("trials") => {
            let number = |one: &Value| one.as_u64().unwrap_or_else(|| last_named(one));
            all.iter().map(number).max()
        }
        _ => Some(last_named(value)),
    };
    let last = match value {
        Value::Object(members) => members.iter().filter_map(of).max(),
        Value::Array(all) => all.iter().map(last_named).max(),
        _ => None,
    };
    last.unwrap_or(0)
}

/// Drops lines that are there twice, and counts them.
fn drop_repeated(run: &mut Run) -> usize {
    let others = run.answers_mut().into_iter();
    let others: usize = others.map(|lines| lines.drop_repeated()).sum();
    let mut numbers = HashSet::new();
    // As a rule there is none, and a copy of 100 000 trials takes memory.
    if run.trials.iter().all(|trial| numbers.insert(trial.trial)) {
        return others;
    }
    let mut seen: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut kept: Vec<TrialLine> = Vec::with_capacity(run.trials.len());
    let mut dropped = 0;
    for trial in std::mem::take(&mut run.trials) {
        let places = seen.entry(trial.trial).or_default();
        if places.iter().any(|place| kept[*place] == trial) {
            dropped += 1;
        } else {
            places.push(kept.len());
            kept.push(trial);
        }
    }
    run.trials = kept;
    dropped + others
}
