//! Every record in bench/runs reads back, and what is read is what was written.

use mpps_record::{Body, Records, Run, What, read_file, to_line};
use std::fs;
use std::path::{Path, PathBuf};

/// Every `.jsonl` file of the benches.
fn files() -> Vec<PathBuf> {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/runs");
    let mut folders = vec![runs];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A file as its name says it is: lines with the members of each line of a record.
fn lines_of_a_record(text: &str) -> usize {
    let members = ["\"schema\":", "\"kind\":", "\"run\":"];
    let of_a_record = |line: &&str| members.iter().all(|member| line.contains(member));
    text.lines().filter(of_a_record).count()
}

fn lines(run: &Run) -> usize {
    usize::from(run.begin.is_some())
        + run.trials.len()
        + run.results.len()
        + run.points.len()
        + run.comparisons.len()
        + run.profiles.len()
        + run.sweeps.len()
        + run.effects.len()
        + run.calibrations.len()
        + run.latencies.len()
        + usize::from(run.end.is_some())
}

fn written<T: Body>(text: &mut Vec<u8>, run: &str, bodies: &[T]) {
    for body in bodies {
        text.extend(to_line(run, body).expect("a line"));
    }
}

/// All lines of a file, in the schema of today.
fn rewritten(records: &Records) -> Vec<u8> {
    let mut text = Vec::new();
    for run in &records.runs {
        written(&mut text, &run.name, run.begin.as_slice());
        written(&mut text, &run.name, &run.trials);
        written(&mut text, &run.name, &run.results);
        written(&mut text, &run.name, &run.points);
        written(&mut text, &run.name, &run.comparisons);
        written(&mut text, &run.name, &run.profiles);
        written(&mut text, &run.name, &run.sweeps);
        written(&mut text, &run.name, &run.effects);
        written(&mut text, &run.name, &run.calibrations);
        written(&mut text, &run.name, &run.latencies);
        written(&mut text, &run.name, run.end.as_slice());
    }
    text
}

#[test]
fn every_record_of_the_benches_reads_back() {
    let mut read = 0;
    for path in files() {
        let text = fs::read_to_string(&path).expect("a file");
        let wanted = lines_of_a_record(&text);
        let records = match read_file(&path) {
            Ok(records) => records,
            Err(error) => {
                assert_eq!(wanted, 0, "{error}");
                continue;
            }
        };
        let found: usize = records.runs.iter().map(lines).sum();
        assert_eq!(found, wanted, "{}: {:?}", path.display(), records.problems);
        for problem in &records.problems {
            let known = match &problem.what {
                What::Kind(kind) => kind == "whole",
                What::NoFirst(_) => path.to_string_lossy().contains("/evidence"),
                What::NoLine => true,
                _ => false,
            };
            assert!(known, "{}: {problem}", path.display());
        }
        // Written and read again, nothing has changed.
        let again = mpps_record::read(rewritten(&records).as_slice()).expect("from memory");
        for (run, again) in records.runs.iter().zip(&again.runs) {
            let schema = again.schema;
            let run = Run {
                schema,
                ..run.clone()
            };
            assert_eq!(*again, run, "{}", path.display());
        }
        read += records.runs.len();
    }
    assert!(read >= 68, "{read} runs");
}

#[test]
fn members_of_older_schemas_have_their_new_names() {
    let named = |part: &str| {
        let path = files()
            .into_iter()
            .find(|path| path.to_string_lossy().contains(part));
        read_file(&path.expect("a file"))
            .expect("a record")
            .runs
            .remove(0)
    };
    let run = named("2026-11-21-epyc-vm-2cpu/ceiling");
    let trial = &run.trials[0];
    assert!(!trial.other_tasks.is_empty(), "the alias of older schemas");
    assert_eq!(trial.other["build"], "before");
    assert!(
        trial.directions[0].merged_frames.is_none(),
        "nobody counted"
    );
    assert!(trial.lateness.histogram_ns.is_none());
    let begin = run.begin.expect("a first line");
    assert!(begin.bed.bed().expect("a bed").tester_interfaces.is_some());
    assert!(begin.plan.search.is_some() && begin.plan.fixed.is_none());
    assert_eq!(begin.facts.hypervisor.known(), Some(&true));
    assert_eq!(
        run.results[0]
            .other
            .get("ceiling_trials")
            .map(|all| all.is_array()),
        Some(true)
    );
    let evenness = run.results[0].evenness.as_ref().expect("evenness");
    assert!(evenness.catch_up_frames.is_some(), "made_up_frames");
}
