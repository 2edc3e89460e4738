//! Damaged, foreign and future files: one clear line for each problem, and all that can be read.

use mpps_record::{EndLine, ReadError, Records, SCHEMA, read, read_file, to_line};
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;

fn end(trials: u32) -> EndLine {
    EndLine {
        ended_utc: "2026-11-22T12:00:00Z".to_owned(),
        exit_code: 0,
        error: None,
        trials,
        queries: None,
        route_changes: None,
        other: Default::default(),
    }
}

/// A small record: two runs, of which only the last lines are there.
fn record() -> Vec<u8> {
    let mut text = to_line("one", &end(1)).expect("a line");
    text.extend(to_line("two", &end(2)).expect("a line"));
    text
}

fn problems(records: &Records) -> Vec<String> {
    let problems = records.problems.iter();
    let told = problems.map(ToString::to_string);
    told.filter(|told| !told.contains("has no first line"))
        .collect()
}

fn names(records: &Records) -> Vec<&str> {
    records.runs.iter().map(|run| run.name.as_str()).collect()
}

/// A file in a folder of this test's own.
fn scratch(name: &str, content: &[u8]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mpps-record-read-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    fs::write(&path, content).expect("a file");
    path
}

#[test]
fn several_runs_are_told_apart() {
    let records = read(record().as_slice()).expect("from memory");
    assert_eq!(names(&records), ["one", "two"]);
    assert_eq!(records.runs[1].end, Some(end(2)));
    assert_eq!(problems(&records), [""; 0]);
    let first = records.problems[0].to_string();
    assert_eq!(
        first,
        "run one has no first line (kind \"run\"): its plan, bed and facts are unknown"
    );
}

#[test]
fn a_torn_last_line_is_said_and_left_out() {
    let whole = record();
    let records = read(&whole[..whole.len() - 9]).expect("from memory");
    assert_eq!(names(&records), ["one"]);
    assert_eq!(
        problems(&records),
        ["line 2: torn: its run was killed or is still writing it; all whole lines are read"]
    );
    // A last line without its newline is whole all the same.
    let records = read(&whole[..whole.len() - 1]).expect("from memory");
    assert_eq!((names(&records).len(), problems(&records).len()), (2, 0));
}

#[test]
fn a_bad_line_in_the_middle_hides_no_other() {
    let mut text = to_line("one", &end(1)).expect("a line");
    text.truncate(20);
    text.push(b'\n');
    text.extend(b"[1]\n\n{\"kind\":\"whole\",\"schema\":1,\"run\":\"x\"}\n");
    text.extend(b"{\"kind\":\"end\",\"schema\":1,\"run\":\"x\",\"trials\":3}\n\xff\n\xff\n");
    text.extend(record());
    let records = read(text.as_slice()).expect("from memory");
    assert_eq!(names(&records), ["one", "two"]);
    let told = problems(&records);
    let wanted = [
        "line 1: no JSON (",
        "line 2: no line of a record (",
        "line 4: of kind \"whole\", which is none of schema ",
        "line 5: kind \"end\" of schema 1 cannot be read (missing field `ended_utc`",
        "2 lines, 6 to 7: no JSON (",
    ];
    for (told, wanted) in told.iter().zip(wanted) {
        assert!(told.starts_with(wanted), "{told}");
    }
    assert_eq!(told.len(), wanted.len(), "{told:?}");
}

#[test]
fn a_future_schema_is_said_and_its_members_kept() {
    let later = SCHEMA + 4;
    let text = format!(
        "{{\"schema\":{later},\"kind\":\"end\",\"run\":\"x\",\"ended_utc\":\"\",\"exit_code\":0,\"error\":null,\
         \"trials\":3,\"mood\":\"good\"}}\n{{\"schema\":{later},\"kind\":\"trial\",\"run\":\"x\"}}\n"
    );
    let records = read(text.as_bytes()).expect("from memory");
    let run = &records.runs[0];
    assert_eq!(run.end.as_ref().expect("the end").other["mood"], "good");
    assert_eq!(run.schema, later);
    let told = problems(&records);
    assert!(
        told[0].starts_with(&format!("line 1: run x has schema {later}, newer than")),
        "{told:?}"
    );
    assert!(
        told[1].ends_with("left out; a newer mpps reads it"),
        "{told:?}"
    );
}

#[test]
fn a_file_without_a_line_of_a_record_is_an_error() {
    let told = |name: &str, content: &[u8]| {
        let error = read_file(&scratch(name, content)).expect_err("nothing to read");
        let told = error.to_string();
        assert!(told.contains(name) && !told.contains('\n'), "{told}");
        told
    };
    assert!(told("empty.jsonl", b"").contains("it is empty"));
    assert!(told("blank.jsonl", b"\n \n").contains("blank.jsonl is no record (blank lines)"));
    assert!(told("notes.txt", b"hello\n").contains("notes.txt is no record (line 1: no JSON"));
    assert!(told("a.bin", b"\x7fELF\x02\0\0\0\n\0").contains("binary"));
    assert!(told("trials.jsonl.xz", b"\xfd7zXZ\0\0\x04").contains("packed (xz): unpack it"));
    let torn = told("torn.jsonl", b"{\"schema\":4,\"kind\":\"ru");
    assert!(
        torn.contains("torn.jsonl is no record yet: it has no whole line"),
        "{torn}"
    );
    assert!(told("other.json", b"{\"a\":1}\n").contains("without schema, kind and run"));
}

#[test]
fn a_directory_and_a_missing_file_are_errors() {
    let folder = scratch("x", b"x").parent().expect("a folder").to_owned();
    let error = read_file(&folder).expect_err("a directory");
    assert!(matches!(error, ReadError::Directory(_)), "{error}");
    let error = read_file(&folder.join("none")).expect_err("missing");
    assert!(error.to_string().contains("No such file"), "{error}");
}

#[test]
fn a_run_that_ends_later_belongs_together() {
    let mut text = to_line("one", &end(1)).expect("a line");
    text.extend(to_line("two", &end(2)).expect("a line"));
    text.extend(to_line("one", &end(3)).expect("a line"));
    let records = read(text.as_slice()).expect("from memory");
    assert_eq!(names(&records), ["one", "two"]);
    assert_eq!(records.runs[0].end, Some(end(3)));
}

/// The golden run: see golden.rs.
fn golden() -> Vec<u8> {
    include_bytes!("golden/run.jsonl").to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is cut off, the whole lines before it are read.
    #[test]
    fn a_cut_record_keeps_its_whole_lines(share in 0.0_f64..1.0) {
        let mut text = golden();
        let all = read(text.as_slice()).unwrap();
        text.truncate((text.len() as f64 * share) as usize);
        let whole = text.iter().filter(|octet| **octet == b'\n').count();
        let records = read(text.as_slice()).unwrap();
        let trials: usize = records.runs.iter().map(|run| run.trials.len()).sum();
        prop_assert!(trials <= all.runs[0].trials.len());
        prop_assert!(trials + 2 >= whole.min(all.runs[0].trials.len() + 1));
        prop_assert!(records.problems.len() <= 1, "{:?}", records.problems);
    }

    /// A changed octet spoils its own line at most, and never ends the reader.
    #[test]
    fn a_changed_octet_spoils_one_line_at_most(share in 0.0_f64..1.0, octet in any::<u8>()) {
        let mut text = golden();
        let all = read(text.as_slice()).unwrap();
        let place = (text.len() as f64 * share) as usize;
        // A line that is cut in two, or two that become one, are two lines at most.
        text[place] = octet;
        let records = read(text.as_slice()).unwrap();
        let trials = |records: &Records| -> usize {
            records.runs.iter().map(|run| run.trials.len()).sum()
        };
        prop_assert!(trials(&records) + 2 >= trials(&all));
    }

    /// Anything at all is read without a panic.
    #[test]
    fn any_octets_are_read(octets in proptest::collection::vec(any::<u8>(), 0..500)) {
        let records = read(octets.as_slice()).unwrap();
        prop_assert!(records.runs.len() <= octets.len());
    }
}
