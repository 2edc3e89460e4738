//! `mpps show`: a record gives the same text and JSON as its run did, and a damaged one all that can be read of it.
//! `MPPS_WRITE_GOLDEN=1 cargo test -p mpps-cli --test all show::` writes the golden files anew.

use crate::program::{Ended, Scratch, mpps, run};
use std::fs;
use std::path::Path;

/// A simulated run into `record.jsonl`.
fn simulated(scratch: &Scratch, words: &str) -> Ended {
    let mut command = mpps(&["throughput", "--simulate", "capacity=777k,noise=5%"]);
    command.args(["--record"]).arg(scratch.path("record.jsonl"));
    run(command.args(words.split_whitespace()))
}

fn show(path: &Path, words: &str) -> Ended {
    let mut command = mpps(&["show"]);
    run(command.arg(path).args(words.split_whitespace()))
}

#[test]
fn a_record_is_shown_as_its_run_was() {
    for words in [
        "--frame 64,imix",
        "--frame 64,imix -v",
        "--frame 64 --goal ndr,pdr:0.5% -v",
        "--frame 64 --search bisection --expect-min 2M",
        "--frame 64 --goal ndr,pdr:0.5% --expect-min 2M --json",
    ] {
        let scratch = Scratch::new("show-same");
        let measured = simulated(&scratch, words);
        let flags = [" -v", " --json"].map(|flag| if words.contains(flag) { flag } else { "" });
        let shown = show(&scratch.path("record.jsonl"), &flags.concat());
        assert_eq!(shown.stdout, measured.stdout, "{words}");
        assert_eq!(shown.code, Some(0), "{shown:?}");
        let unmet = |ended: &Ended| ended.stderr.matches("expected").count();
        assert_eq!(unmet(&shown), unmet(&measured), "{words}");
    }
}

#[test]
fn runs_of_one_file_are_told_apart() {
    let scratch = Scratch::new("show-several");
    let path = scratch.path("record.jsonl");
    let one = simulated(&scratch, "--frame 64");
    let two = simulated(&scratch, "--frame imix");
    let both = show(&path, "");
    assert_eq!(both.stdout, format!("{}\n{}", one.stdout, two.stdout));
    let records = fs::read_to_string(&path).expect("a record");
    let last: serde_json::Value =
        serde_json::from_str(records.lines().last().expect("lines")).expect("JSON");
    let name = last["run"].as_str().expect("a name");
    let second = show(&path, &format!("--run {name}"));
    assert_eq!(second.stdout, two.stdout);
    let none = show(&path, "--run 1984");
    assert_eq!(none.code, Some(2));
    assert!(none.error().contains("there is no run 1984"), "{none:?}");
    assert!(none.error().contains(name), "{none:?}");
}

#[test]
fn trials_that_a_record_lacks_are_said() {
    let scratch = Scratch::new("show-lacks");
    let path = scratch.path("record.jsonl");
    simulated(&scratch, "--frame 64");
    let whole = fs::read_to_string(&path).expect("a record");
    let lines = whole
        .lines()
        .filter(|line| !line.contains(r#""kind":"trial""#));
    fs::write(&path, lines.collect::<Vec<_>>().join("\n") + "\n").expect("a file");
    for words in ["", "--json"] {
        let shown = show(&path, words);
        let said = "of which the file has 0";
        assert!(shown.stderr.contains(said), "{shown:?}");
        assert_eq!(shown.code, Some(0));
    }
}

/// The golden runs of crates/record, a simulated one and one on a bed, as text and as JSON.
#[test]
fn golden_records_are_shown_as_committed() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (record, words, file) in [
        ("run.jsonl", vec![], "show.txt"),
        ("run.jsonl", vec!["-v"], "show-verbose.txt"),
        ("run.jsonl", vec!["--json"], "show.json"),
        ("bed.jsonl", vec![], "show-bed.txt"),
        ("bed.jsonl", vec!["-v"], "show-bed-verbose.txt"),
        ("bed.jsonl", vec!["--json"], "show-bed.json"),
        ("campaign.jsonl", vec![], "show-campaign.txt"),
        ("campaign.jsonl", vec!["--json"], "show-campaign.json"),
    ] {
        let mut command = mpps(&["show", record]);
        command.current_dir(here.join("../record/tests/golden"));
        let ended = run(command.args(&words));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{file}");
        let golden = here.join("tests/golden").join(file);
        if std::env::var_os("MPPS_WRITE_GOLDEN").is_some() {
            fs::write(&golden, &ended.stdout).expect("write");
        }
        let committed = fs::read_to_string(&golden).expect("committed");
        assert_eq!(
            ended.stdout, committed,
            "{file} changed: see the head of this file"
        );
    }
}

#[test]
fn what_cannot_be_read_is_one_line_and_exit_code_2() {
    let scratch = Scratch::new("show-bad");
    let file = scratch.path("bad.jsonl");
    for (content, words) in [
        (&b""[..], "it is empty"),
        (b"\x7fELF\0\0\0", "it is a binary file"),
        (b"\xfd7zXZ\0", "it is packed (xz): unpack it first"),
        (b"hello\n", " is no record (line 1: no JSON "),
        (
            b"{\"schema\":3,\"kind\":\"res",
            " is no record yet: it has no whole line ",
        ),
    ] {
        fs::write(&file, content).expect("a file");
        let ended = show(&file, "");
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{words}"
        );
        assert!(ended.error().contains(words), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
    let folder = show(file.parent().expect("a folder"), "");
    assert!(folder.error().contains("it is a directory"), "{folder:?}");
    let missing = show(&scratch.path("none.jsonl"), "");
    assert_eq!((folder.code, missing.code), (Some(2), Some(2)));
    assert!(missing.error().contains("there is no file "), "{missing:?}");
}

#[test]
fn a_damaged_record_is_shown_as_far_as_it_can_be_read() {
    let scratch = Scratch::new("show-damaged");
    let path = scratch.path("record.jsonl");
    let measured = simulated(&scratch, "--frame 64");
    let text = fs::read_to_string(&path).expect("a record");
    let lines: Vec<&str> = text.lines().collect();
    let whole = measured.stdout.as_str();
    let (head, last) = (lines[..lines.len() - 1].join("\n"), lines[lines.len() - 1]);
    // Without its first line nobody knows the link and the key.
    let sentence = whole.lines().nth(1).expect("a sentence");
    for (content, problem, shown) in [
        (
            format!("{head}\n{}", &last[..last.len() / 2]),
            "torn: its run was killed",
            whole,
        ),
        (format!("{head}\n"), "has no last line", whole),
        (format!("noise\n{text}"), "line 1: no JSON", whole),
        (
            text.replace("\"schema\":4", "\"schema\":9"),
            "has schema 9, newer than 4",
            whole,
        ),
        (
            text.replace("\"footnote\":null", "\"unknown\":null"),
            "",
            whole,
        ),
        (lines[1..].join("\n"), "has no first line", sentence),
        (
            head.lines().take(3).collect::<Vec<_>>().join("\n"),
            "has no last line",
            ": no result; 2 trials are in the record",
        ),
    ] {
        fs::write(&path, content).expect("a file");
        let ended = show(&path, "");
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stderr.contains(problem), "{problem}: {ended:?}");
        assert!(ended.stdout.contains(shown), "{problem}: {ended:?}");
        for line in ended.stderr.lines() {
            assert!(line.starts_with("mpps: "), "{ended:?}");
        }
        let json = show(&path, "--json");
        assert_eq!(json.code, Some(0), "{json:?}");
    }
}

/// Its cells are rows; each can be shown as its own verb shows it.
#[test]
fn a_cell_of_a_campaign_is_shown_by_its_id() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/golden");
    let record = golden.join("campaign.jsonl");
    let campaign = show(&record, "");
    assert!(campaign.stdout.contains("6.3.6: NAT MASQUERADE"));
    assert!(!campaign.stdout.contains("Tester and router"));
    let cell = show(&record, "--run 6.3.6");
    assert_eq!(cell.code, Some(0), "{cell:?}");
    assert!(
        cell.stdout
            .contains("\n64 B, nat against none: 516 ns more a frame")
    );
    let by_name = show(&record, "--run 20261122T162206Z-0a70");
    assert_eq!(by_name.stdout, cell.stdout);
    let all = show(&record, "--verbose");
    assert!(
        all.stdout
            .contains(cell.stdout.lines().next().expect("a title"))
    );
}
