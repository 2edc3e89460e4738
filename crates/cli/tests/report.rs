//! `mpps report`: the file it writes, and what it says of files that it cannot read.

use crate::program;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The record crate's golden run.
fn golden() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/golden/run.jsonl");
    path.display().to_string()
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mpps-report-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn a_page_is_written_without_rights() {
    let folder = folder("page");
    let output = folder.join("page.html").display().to_string();
    let ended = program::run(&mut program::mpps(&["report", &golden(), "-o", &output]));
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(0), ""),
        "{ended:?}"
    );
    assert_eq!(ended.stdout, format!("The report is in {output}.\n"));
    let page = fs::read_to_string(&output).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("All 15 trials"));
    fs::remove_dir_all(folder).expect("the folder goes");
}

#[test]
fn files_that_cannot_be_read_are_said() {
    let folder = folder("bad");
    let [empty, output] = ["empty.jsonl", "page.html"].map(|name| folder.join(name));
    fs::write(&empty, "").expect("a file");
    let [empty, output] = [empty, output].map(|path| path.display().to_string());
    // Alone it leaves nothing to show.
    let ended = program::run(&mut program::mpps(&["report", &empty, "-o", &output]));
    assert_eq!(ended.code, Some(2));
    assert!(ended.error().contains("it is empty"), "{ended:?}");
    assert!(!Path::new(&output).exists());
    // Beside another it hides nothing.
    let ended = program::run(&mut program::mpps(&[
        "report",
        &empty,
        &golden(),
        "-o",
        &output,
    ]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.error().contains("it is empty"), "{ended:?}");
    let page = fs::read_to_string(&output).expect("the page");
    assert!(page.contains("it is empty") && page.contains("All 15 trials"));
    // A record is never written over, whatever its name.
    let [copy, link] = ["run.jsonl", "linked"].map(|name| folder.join(name).display().to_string());
    fs::copy(golden(), &copy).expect("a copy");
    fs::hard_link(&copy, &link).expect("a link");
    for output in [&copy, &link] {
        let ended = program::run(&mut program::mpps(&["report", &copy, "-o", output]));
        assert_eq!(ended.code, Some(2));
        assert!(ended.error().contains("name another file"), "{ended:?}");
    }
    let ended = program::run(&mut program::mpps(&[
        "report",
        &copy,
        "-o",
        "/proc/none/page.html",
    ]));
    assert!(
        ended.error().contains("name a file that can be written to"),
        "{ended:?}"
    );
    fs::remove_dir_all(folder).expect("the folder goes");
}

#[test]
fn a_pipe_is_not_in_the_page_and_it_says_so() {
    let folder = folder("pipe");
    let output = folder.join("page.html").display().to_string();
    let mut mpps = program::mpps(&["report", "/dev/stdin", "-o", &output]);
    let record = fs::read(golden()).expect("a record");
    let mut child = (mpps.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()).expect("it starts");
    let written = child.stdin.take().map(|mut pipe| pipe.write_all(&record));
    assert!(matches!(written, Some(Ok(()))), "{written:?}");
    assert!(child.wait().expect("it ends").success());
    let page = fs::read_to_string(&output).expect("the page");
    assert!(page.contains("All 15 trials"));
    assert!(page.contains("/dev/stdin is not in this page: it is no regular file"));
    fs::remove_dir_all(folder).expect("the folder goes");
}

#[test]
fn other_formats_go_to_standard_output() {
    let folder = folder("formats");
    let output = folder.join("rows.csv").display().to_string();
    let report = |format: &str, words: &[&str]| {
        let golden = golden();
        let all = [&["report", &golden, "--format", format], words].concat();
        program::run(&mut program::mpps(&all))
    };
    for (format, begins, holds) in [
        ("md", "## mpps throughput, ", "- **simulated**: "),
        ("csv", "file,run,schema,", "\r\n"),
        ("openmetrics", "# HELP mpps_", "# EOF\n"),
    ] {
        let ended = report(format, &[]);
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{ended:?}"
        );
        assert!(ended.stdout.starts_with(begins), "{ended:?}");
        assert!(ended.stdout.contains(holds), "{ended:?}");
    }
    // The results of every record, as another verb prints them.
    let twice = report("json", &[&golden()]).stdout;
    let shown = program::run(&mut program::mpps(&["show", &golden(), "--json"])).stdout;
    assert!(!shown.is_empty());
    assert_eq!(twice, shown.repeat(2));
    let ended = report("csv", &["-o", &output]);
    assert_eq!(
        ended.stdout,
        format!("The report is in {output}.\n"),
        "{ended:?}"
    );
    let rows = fs::read_to_string(&output).expect("rows");
    let trials = rows.lines().filter(|row| row.ends_with(",trial,,"));
    assert_eq!(trials.count(), 15);
    let ended = report("json", &["-o", &output]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.error().contains("redirect that"), "{ended:?}");
    fs::remove_dir_all(folder).expect("the folder goes");
}

/// A dash is no file, whatever the format.
#[test]
fn a_dash_is_standard_output() {
    let folder = folder("dash");
    for (format, begins) in [("html", "<!DOCTYPE html>"), ("csv", "file,"), ("json", "{")] {
        let golden = golden();
        let mut report = program::mpps(&["report", &golden, "--format", format, "-o", "-"]);
        let ended = program::run(report.current_dir(&folder));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        assert!(ended.stdout.starts_with(begins), "{ended:?}");
        assert!(!ended.stdout.contains("The report is in"), "{ended:?}");
        assert!(!folder.join("-").exists(), "{format}");
    }
    fs::remove_dir_all(folder).expect("the folder goes");
}

#[test]
fn a_record_that_is_not_there_has_one_text() {
    let [shown, reported] =
        ["show", "report"].map(|verb| program::run(&mut program::mpps(&[verb, "absent"])).stderr);
    assert!(shown.contains("no record of this name"), "{shown}");
    assert_eq!(reported, shown);
}

#[test]
fn rows_and_gauges_say_what_is_missing_beside_them() {
    let folder = folder("torn");
    let text = fs::read_to_string(golden()).expect("the golden run");
    let [torn, empty] = ["torn.jsonl", "empty.jsonl"].map(|name| folder.join(name));
    fs::write(&torn, &text[..text.len() * 2 / 3]).expect("a file");
    fs::write(&empty, "").expect("a file");
    let [torn, empty] = [torn, empty].map(|path| path.display().to_string());
    for format in ["csv", "openmetrics", "json"] {
        let ended = program::run(&mut program::mpps(&[
            "report", &torn, &empty, "--format", format,
        ]));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        for wanted in ["torn: its run was killed", "it is empty"] {
            assert_eq!(
                ended.stderr.matches(wanted).count(),
                1,
                "{wanted}: {ended:?}"
            );
        }
    }
    fs::remove_dir_all(folder).expect("the folder goes");
}

#[test]
fn a_calibration_is_disturbed_where_a_row_is() {
    let folder = folder("calibration");
    let path = folder.join("run.jsonl");
    let shown = path.display().to_string();
    let line = |fault: &str, disturbed: &str| {
        format!(
            "{{\"schema\":3,\"kind\":\"calibration\",\"run\":\"r\",\"fault\":\"{fault}\",\"unit\":\"frames\",\
             \"planted\":1.0,\"found\":1.0,\"tolerance\":0.0,\"holds\":true,\"disturbed\":{disturbed}}}\n"
        )
    };
    let end = |code: u8| {
        format!(
            "{{\"schema\":3,\"kind\":\"end\",\"run\":\"r\",\"ended_utc\":\"\",\"exit_code\":{code},\"error\":null,\
             \"trials\":0}}\n"
        )
    };
    for (rows, code, disturbed) in [
        (line("a", "null"), 4, false),
        (line("a", "null") + &line("b", "\"steal\""), 1, true),
    ] {
        fs::write(&path, rows + &end(code)).expect("a record");
        let ended = program::run(&mut program::mpps(&["report", &shown, "--format", "json"]));
        let wanted = format!("\"disturbed\": {disturbed},\n  \"rows\"");
        assert!(ended.stdout.contains(&wanted), "{ended:?}");
    }
    fs::remove_dir_all(folder).expect("the folder goes");
}

/// A file of this record's lines, with its trials again and again up to so many.
fn repeated(folder: &Path, text: &str, trials: usize) -> String {
    let path = folder.join(format!("{trials}.jsonl"));
    let is_trial = |line: &&str| line.contains("\"kind\":\"trial\"");
    let (known, others): (Vec<&str>, Vec<&str>) = text.lines().partition(is_trial);
    let mut file = std::io::BufWriter::new(fs::File::create(&path).expect("a file"));
    writeln!(file, "{}", others[0]).expect("a line");
    for (number, line) in (1..=trials).zip(known.iter().cycle()) {
        let (before, rest) = line.split_once("\"trial\":").expect("its number");
        let rest = rest.split_once(',').expect("its end").1;
        writeln!(file, "{before}\"trial\":{number},{rest}").expect("a line");
    }
    // A part of a suite is shown where it found something.
    for line in &others[1..] {
        writeln!(file, "{line}").expect("a line");
    }
    file.flush().expect("a file");
    path.display().to_string()
}

/// Peak memory of a report, MB: read while the report waits for a reader of its output.
fn peak_mb(path: &str, format: &str) -> f64 {
    let mut command = program::mpps(&["report", path, "--format", format, "-o", "/dev/stdout"]);
    let mut report = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut said = BufReader::new(report.stdout.take().expect("a pipe"));
    said.read_line(&mut String::new()).expect("its first line");
    let status = fs::read_to_string(format!("/proc/{}/status", report.id())).expect("its status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.expect("its peak").trim().trim_end_matches(" kB");
    std::io::copy(&mut said, &mut std::io::sink()).expect("the rest");
    assert!(report.wait().expect("it ends").success());
    peak.parse::<f64>().expect("a number") / 1e3
}

/// 100 000 trials take less than 200 MB. Unoptimised code reads fewer, so its bound holds less room for what all need.
#[test]
fn memory_of_a_report_is_bounded() {
    let (trials, bound_mb) = match cfg!(debug_assertions) {
        true => (4_000, 38.0),
        false => (100_000, 200.0),
    };
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/golden/bed.jsonl");
    let search = fs::read_to_string(golden).expect("the measured run");
    let parts = r#""plan":{"parts":[{"verb":"throughput","section":"26.1","rule":"","shortened_from":null}],"#;
    let suite = search.replacen("\"plan\":{", parts, 1);
    for (job, text) in [("search", search), ("suite", suite)] {
        let folder = folder("memory");
        let path = repeated(&folder, &text, trials);
        for format in ["csv", "html"] {
            let peak_mb = peak_mb(&path, format);
            println!("{job} as {format}: {peak_mb} MB for {trials} trials");
            assert!(peak_mb < bound_mb, "{job} as {format}: {peak_mb} MB");
        }
        fs::remove_dir_all(folder).expect("the folder goes");
    }
}
