//! Every record in bench/runs reads back, and what is read is what was written.

use mpps_record::{Body, Records, Run, SCHEMA, What, read_file, to_line};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Trials that are read of a file at most, and of a packed one, which unpacks to more.
const TRIALS: [usize; 2] = [20, 5];

/// Every `.jsonl` file of the benches, packed ones included.
fn files() -> Vec<PathBuf> {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/runs");
    let mut folders = vec![runs];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if [".jsonl", ".jsonl.xz"]
                .iter()
                .any(|end| named(&path).ends_with(end))
            {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn named(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A file as its name says it is: lines with the members of each line of a record.
fn lines_of_a_record(text: &str) -> usize {
    let members = ["\"schema\":", "\"kind\":", "\"run\":"];
    let of_a_record = |line: &&str| members.iter().all(|member| line.contains(member));
    text.lines().filter(of_a_record).count()
}

fn lines(run: &Run) -> usize {
    let answers = run.answers();
    let answers = answers.iter().map(|all| all.doubted().len());
    let others = [
        run.begin.is_some(),
        run.campaign.is_some(),
        run.end.is_some(),
    ];
    let others = others.map(usize::from).into_iter().sum::<usize>();
    others + run.trials.len() + run.cells.len() + answers.sum::<usize>()
}

/// All lines of a file, in the schema of today.
fn rewritten(records: &Records) -> Vec<u8> {
    fn written<T: Body>(text: &mut Vec<u8>, run: &Run, bodies: &[T]) {
        for body in bodies {
            text.extend_from_slice(&to_line(&run.name, body).expect("a line"));
        }
    }
    let mut text = Vec::new();
    for run in &records.runs {
        written(&mut text, run, run.begin.as_slice());
        written(&mut text, run, run.campaign.as_slice());
        written(&mut text, run, &run.trials);
        for answers in run.answers() {
            for members in answers.values() {
                let mut line = json!({"schema": SCHEMA, "kind": answers.kind(), "run": run.name});
                let members = members.as_object().expect("members").clone();
                line.as_object_mut().expect("an object").extend(members);
                text.extend_from_slice(format!("{line}\n").as_bytes());
            }
        }
        written(&mut text, run, &run.cells);
        written(&mut text, run, run.end.as_slice());
    }
    text
}

/// What is read of a file. It has too many trials for a test: some are read, from its beginning to its end, and all lines
/// of other kinds.
fn text_of(path: &Path) -> String {
    let octets = fs::read(path).expect("a file");
    let [of_plain, of_packed] = TRIALS;
    let (text, most) = match named(path).ends_with(".jsonl") {
        true => (String::from_utf8(octets).expect("UTF-8"), of_plain),
        false => {
            let mut text = String::new();
            let mut unpacked = lzma_rust2::XzReader::new(octets.as_slice(), true);
            unpacked.read_to_string(&mut text).expect("xz of UTF-8");
            (text, of_packed)
        }
    };
    let is_trial =
        |line: &str| line.contains("\"kind\":\"trial\"") || line.contains("\"kind\": \"trial\"");
    let trials = text.lines().filter(|line| is_trial(line)).count();
    let every = trials.div_ceil(most).max(1);
    let mut place = 0;
    let is_read = |line: &&str| {
        let is_trial = is_trial(line);
        place += usize::from(is_trial);
        !is_trial || place % every == 0
    };
    text.split_inclusive('\n').filter(is_read).collect()
}

/// What was read of some files: runs, lines that keep to the schema, kinds of answers.
#[derive(Default)]
struct Seen {
    runs: usize,
    #[cfg(feature = "schema")]
    kept: usize,
    kinds: BTreeSet<&'static str>,
}

/// Each of the files reads back.
fn read_back(files: impl Iterator<Item = PathBuf>) -> Seen {
    let mut seen = Seen::default();
    #[cfg(feature = "schema")]
    let schema = mpps_record::schema();
    for path in files {
        let text = text_of(&path);
        #[cfg(feature = "schema")]
        {
            seen.kept += crate::schema::lines_that_keep_to(&schema, &text, &path).len();
        }
        let wanted = lines_of_a_record(&text);
        let records = mpps_record::read(text.as_bytes()).expect("from memory");
        let found: usize = records.runs.iter().map(lines).sum();
        assert_eq!(found, wanted, "{}: {:?}", path.display(), records.problems);
        for problem in &records.problems {
            let known = match &problem.what {
                What::Kind(kind) => kind == "whole",
                // Trials of a tool that made no run of its own.
                What::NoFirst(_) => ["/evidence", "/state"]
                    .iter()
                    .any(|folder| named(&path).contains(folder)),
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
        seen.runs += records.runs.len();
        let answers = records.runs.iter().flat_map(Run::answers);
        let told = answers.filter(|all| !all.is_empty());
        seen.kinds.extend(told.map(|all| all.kind()));
    }
    seen
}

#[test]
fn every_record_of_the_benches_reads_back() {
    let left = Mutex::new(files().into_iter());
    // A thread for each CPU, and none waits for a long file of another.
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = || left.lock().expect("no thread failed").next();
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let start = |_| scope.spawn(|| read_back(std::iter::from_fn(next)));
        let started: Vec<_> = (0..threads).map(start).collect();
        let ended = started.into_iter().map(|thread| thread.join());
        ended.map(|seen| seen.expect("it reads back")).collect()
    });
    let runs: usize = seen.iter().map(|seen| seen.runs).sum();
    assert!(runs >= 68, "{runs} runs");
    #[cfg(feature = "schema")]
    {
        let kept: usize = seen.iter().map(|seen| seen.kept).sum();
        assert!(kept > 2_000, "{kept} lines");
    }
    let kinds: BTreeSet<&str> = seen
        .iter()
        .flat_map(|seen| seen.kinds.iter().copied())
        .collect();
    for kind in ["curve", "burst", "recovery", "reset", "overload", "effects"] {
        assert!(kinds.contains(kind), "{kind}: {kinds:?}");
    }
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
