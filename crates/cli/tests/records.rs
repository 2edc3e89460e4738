//! `mpps records`: the records of a folder are listed, shown by name and pruned; whatever else lies there stays.

use crate::program::{Ended, Scratch, mpps, run};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(86_400);

/// A folder of records of its own.
struct Shelf(Scratch);

impl Shelf {
    fn new(name: &str) -> Self {
        let shelf = Self(Scratch::new(name));
        fs::create_dir_all(shelf.path("")).expect("make the folder");
        shelf
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path("mpps/records").join(name)
    }

    fn records(&self, words: &str) -> Ended {
        self.run(&format!("records {words}"))
    }

    fn run(&self, words: &str) -> Ended {
        let mut command = mpps(&[]);
        command.env("XDG_STATE_HOME", self.0.path(""));
        run(command.args(words.split_whitespace()))
    }

    /// A file last written so many days ago.
    fn put(&self, name: &str, text: &str, days: u32) {
        fs::write(self.path(name), text).expect("a file");
        let file = File::options().append(true).open(self.path(name));
        let then = SystemTime::now() - DAY * days;
        file.expect("open").set_modified(then).expect("its time");
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("")).expect("a folder");
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }
}

fn end(run: &str) -> String {
    let line = json!({
        "schema": 3, "kind": "end", "run": run, "ended_utc": "2026-01-31T12:00:00Z",
        "exit_code": 4, "error": null, "trials": 7,
    });
    format!("{line}\n")
}

/// Everything that may lie in a folder: three records, of which one is torn, and five other files.
fn full(name: &str) -> Shelf {
    let shelf = Shelf::new(name);
    shelf.put("a-old.jsonl", &end("a-old"), 40);
    shelf.put("a-torn.jsonl", &(end("a-torn") + "{\"schema\":3,\"ki"), 20);
    shelf.put("b\nname.jsonl", &end("b\nname"), 10);
    shelf.put("empty.jsonl", "", 50);
    shelf.put("foreign.jsonl", "{\"level\":\"info\"}\n", 50);
    shelf.put("notes.txt", &end("notes"), 50);
    shelf.put("binary.jsonl", "{\0\u{1}", 50);
    let target = shelf.0.path("elsewhere.jsonl");
    fs::write(&target, end("elsewhere")).expect("a file");
    std::os::unix::fs::symlink(target, shelf.path("link.jsonl")).expect("a link");
    shelf
}

#[test]
fn records_are_listed_newest_first() {
    let shelf = full("records-list");
    let ended = shelf.records("list");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines[0].starts_with("begun (UTC)"), "{}", ended.stdout);
    let runs = ["b\u{fffd}name", "a-torn", "a-old"];
    for (line, run) in lines[1..4].iter().zip(runs) {
        assert!(line.contains(run) && line.contains("  4  "), "{line}");
    }
    let last = lines.last().expect("a line");
    assert!(last.starts_with("3 records in "), "{last}");
    assert!(last.ends_with("; 5 other files are no records"), "{last}");
    let listed: Value = serde_json::from_str(&shelf.records("list --json").stdout).expect("JSON");
    assert_eq!(listed["others"], 5);
    let names: Vec<&Value> = (0..3).map(|place| &listed["runs"][place]["run"]).collect();
    assert_eq!(names, ["b\u{fffd}name", "a-torn", "a-old"]);
    assert_eq!(listed["runs"][3], Value::Null);
}

#[test]
fn an_old_record_goes_and_all_else_stays() {
    let shelf = full("records-prune");
    let before = shelf.names();
    let dry = shelf.records("prune --older-than 15d --dry-run");
    assert_eq!(dry.code, Some(0), "{dry:?}");
    assert!(dry.stdout.contains("would remove a-old.jsonl\n"), "{dry:?}");
    assert_eq!(shelf.names(), before);
    let ended = shelf.records("prune --older-than 15d");
    let told = "removed a-torn.jsonl\nremoved a-old.jsonl\nremoved 2 of 3 records, ";
    assert!(ended.stdout.starts_with(told), "{ended:?}");
    let left: Vec<String> = shelf.names();
    let gone = |name: &&String| !left.contains(name);
    let gone: Vec<&String> = before.iter().filter(gone).collect();
    assert_eq!(gone, ["a-old.jsonl", "a-torn.jsonl"]);
    let ended = shelf.records("prune --keep 0");
    assert!(
        ended.stdout.starts_with("removed b\\nname.jsonl\n"),
        "{ended:?}"
    );
    assert_eq!(shelf.names().len(), before.len() - 3);
    assert!(shelf.0.path("elsewhere.jsonl").exists());
}

#[test]
fn the_newest_are_kept() {
    let shelf = full("records-keep");
    let ended = shelf.records("prune --keep 2");
    assert_eq!(ended.stdout.lines().next(), Some("removed a-old.jsonl"));
    assert_eq!(
        shelf.records("prune --keep 2").stdout,
        "removed 0 of 2 records, 0 B\n"
    );
}

#[test]
fn a_run_under_way_keeps_its_record() {
    let shelf = Shelf::new("records-under-way");
    let trial = |run: &str| {
        end(run).replace("\"end\"", "\"calibration\"").replace(
        "\"trials\":7",
        "\"trials\":7,\"fault\":\"x\",\"unit\":\"ns\",\"planted\":1.0,\"tolerance\":1.0,\"found\":1.0,\"holds\":true",
    )
    };
    shelf.put("killed.jsonl", &trial("killed"), 3);
    shelf.put("running.jsonl", &trial("running"), 0);
    shelf.put("locked.jsonl", &end("locked"), 5);
    let writer = File::open(shelf.path("locked.jsonl")).expect("open");
    writer.lock().expect("its lock");
    let ended = shelf.records("prune --keep 0");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(
        shelf.names(),
        ["locked.jsonl", "running.jsonl"],
        "{ended:?}"
    );
    assert!(ended.stderr.contains("kept locked.jsonl: "), "{ended:?}");
    assert!(ended.stderr.contains("kept running.jsonl: "), "{ended:?}");
}

#[test]
fn a_record_is_shown_by_its_beginning() {
    let shelf = Shelf::new("records-show");
    let mut command = mpps(&["throughput", "--simulate", "capacity=777k", "--frame", "64"]);
    let measured = run(command
        .env("XDG_STATE_HOME", shelf.0.path(""))
        .arg("--quiet"));
    let [name] = &shelf.names()[..] else {
        panic!("one record: {:?}", shelf.names());
    };
    let name = name.trim_end_matches(".jsonl");
    for named in [
        name,
        &name[..5],
        &shelf.path(&format!("{name}.jsonl")).to_string_lossy(),
    ] {
        let shown = shelf.run(&format!("show {named}"));
        assert_eq!(shown.stdout, measured.stdout, "{named}");
    }
    assert_eq!(
        shelf.run(&format!("records show {name}")).stdout,
        measured.stdout
    );
    let listed = shelf.records("list").stdout;
    assert!(
        listed.contains("  throughput  ") && listed.contains(" without loss"),
        "{listed}"
    );
    shelf.put(&format!("{}.jsonl", &name[..6]), &end("x"), 0);
    let several = shelf.run(&format!("show {}", &name[..5]));
    assert!(
        several.error().contains("2 records begin with "),
        "{several:?}"
    );
    let none = shelf.run("show 1984");
    let wanted = "there is no file 1984, and no record of this name in ";
    assert!(none.error().contains(wanted), "{none:?}");
    assert!(none.error().contains("`mpps records list`"), "{none:?}");
}

#[test]
fn no_folder_is_no_error_and_bad_words_are() {
    let shelf = Shelf(Scratch::new("records-none"));
    let ended = shelf.records("list");
    assert_eq!(
        (ended.code, ended.stdout.lines().count()),
        (Some(0), 1),
        "{ended:?}"
    );
    for words in [
        "prune",
        "prune --older-than 30",
        "prune --keep 1 --older-than 1d",
    ] {
        assert_eq!(shelf.records(words).code, Some(2), "{words}");
    }
}

/// The runs of its cells are in its row.
#[test]
fn a_campaign_is_one_row() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/golden");
    let text = fs::read_to_string(golden.join("campaign.jsonl")).expect("the campaign");
    let shelf = Shelf::new("records-campaign");
    shelf.put("campaign.jsonl", &text, 1);
    let listed = shelf.records("list").stdout;
    assert_eq!(listed.lines().count(), 4, "{listed}");
    let row = listed.lines().nth(1).expect("a row");
    let begin = "2026-11-23 04:00  20261123T040000Z-c0de  campaign     4";
    assert!(row.starts_with(begin), "{row}");
    assert!(row.contains("5 of 9 cells measured"), "{row}");
    assert!(row.ends_with("thesis-excerpt"), "{row}");
}
