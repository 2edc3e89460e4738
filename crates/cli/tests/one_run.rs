//! One run measures at a time on a host; what else had a part in a result stands beside it.

use crate::program::{Scratch, assert_gone, hearing_ctrl_c, mpps, privileged, run};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const LOCK: &str = "/run/mpps.lock";
const SETTING: &str = "/proc/sys/vm/stat_interval";
/// A restless machine may disturb every trial of a run; how often a test tries again.
const ATTEMPTS: u32 = 12;

/// As another run holds it.
fn locked() -> File {
    let mut options = OpenOptions::new();
    let mut file = (options.read(true).write(true).create(true).truncate(false))
        .open(LOCK)
        .expect("open");
    file.lock().expect("lock");
    file.set_len(0).expect("empty");
    file.write_all(b"pid 1, mpps calibrate").expect("write");
    file
}

#[test]
fn a_second_run_waits_and_ctrl_c_ends_it() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("waits");
    let record = scratch.path("r.jsonl");
    let other = locked();
    let record = record.to_string_lossy();
    let mut waiting = hearing_ctrl_c(&["throughput", "--record", &record])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("start");
    let mut lines = BufReader::new(waiting.stderr.take().expect("stderr")).lines();
    let line = lines.next().expect("a line").expect("text");
    assert!(
        line.starts_with("waiting for another run to end: pid 1, mpps calibrate"),
        "{line}"
    );
    let killed = Command::new("kill")
        .args(["-INT", &waiting.id().to_string()])
        .status()
        .expect("kill");
    assert!(killed.success());
    let last = lines.map_while(Result::ok).last().expect("an error");
    assert!(
        last.contains("interrupted while another run measured"),
        "{last}"
    );
    assert_eq!(waiting.wait().expect("wait").code(), Some(130));
    drop(other);
}

/// A run that waits instead would wait for ever.
#[test]
fn bad_input_is_refused_before_a_run_waits() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("refused");
    let plan = scratch.path("plan.toml");
    let cell = "[[cell]]\nid = \"a\"\ntitle = \"a\"\nflags = \"--dut-cpus 999\"\n";
    let head = "name = \"a\"\ntitle = \"a\"\nverb = \"throughput\"\n";
    fs::write(&plan, format!("{head}{cell}")).expect("a plan");
    let campaign = format!("campaign run {}", plan.display());
    let no_cpu = "CPU 999 is not available";
    let of_cpus = [
        "throughput",
        "trial --rate 1k",
        "loss",
        "latency",
        "back-to-back",
        "recovery",
        "reset",
        "rfc2544",
        "explain",
        "explain --sweep flows",
        "explain --against --filters=25",
        "compare --a none --b --filters=25",
        "fib-scale",
        "calibrate",
        "tune measure",
    ];
    let of_cpus = of_cpus.map(|words| (format!("{words} --dut-cpus 999"), no_cpu));
    let others = [
        (campaign.as_str(), no_cpu),
        ("explain --sweep cores --dut-cpus 0", "--sweep cores"),
        ("calibrate --bed no-such", "mpps bed list"),
        ("reset --bed no-such", "mpps bed list"),
        ("throughput --dut-setup /proc/version", "chmod +x"),
        ("throughput --record /no/such/x.jsonl", "no folder /no/such"),
        ("fib-scale --plot /no/such/x.svg", "no folder /no/such"),
    ];
    let others = others.map(|(words, wanted)| (words.to_owned(), wanted));
    let _other = locked();
    for (words, wanted) in of_cpus.into_iter().chain(others) {
        let mut command = mpps(&words.split(' ').collect::<Vec<_>>());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut run = command.spawn().expect("start");
        let stderr = BufReader::new(run.stderr.take().expect("stderr"));
        let said = stderr.lines().next().expect("a line").expect("text");
        if !said.contains(wanted) {
            run.kill().expect("kill");
        }
        let code = run.wait().expect("wait").code();
        assert_eq!(code, Some(2), "{words}: {said}");
    }
}

/// Puts the setting back.
struct Restored(String);

impl Drop for Restored {
    fn drop(&mut self) {
        fs::write(SETTING, &self.0).expect("restore");
    }
}

#[test]
fn what_else_had_a_part_in_a_result_is_told() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("beside");
    // Each run sees another value than the one before.
    let text = format!("echo told\nold=$(cat {SETTING})\necho $((old + 1)) > {SETTING}\n");
    let script = scratch.script("setup.sh", &text);
    let _restored = Restored(fs::read_to_string(SETTING).expect("setting"));
    let record = scratch.path("r.jsonl");
    let (script, record) = (script.to_string_lossy(), record.to_string_lossy());
    let words = [
        "latency",
        "--share",
        "--json",
        "--frame",
        "64",
        "--load",
        "5k",
        "--time",
        "0.3",
        "--dut-setup",
        &script,
        "--record",
        &record,
    ];
    let other = locked();
    let ended = (0..ATTEMPTS)
        .map(|_| run(&mut mpps(&words)))
        .inspect(|ended| assert_gone(ended.bed()))
        .find(|ended| ended.stdout.contains("\"doubts\""))
        .expect("a measurement");
    drop(other);
    let result: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let doubts = result["results"][0]["doubts"].to_string();
    for told in [
        "other-run",
        "pid 1, mpps calibrate",
        "host-changed",
        "vm.stat_interval from",
    ] {
        assert!(doubts.contains(told), "{told}: {doubts}");
    }
    let lines = fs::read_to_string(&*record).expect("record");
    let line: Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("JSON");
    let ran = &line["bed"]["dut_setup_script"];
    assert_eq!(
        (&ran["text"], &ran["output"]),
        (&text.into(), &"told\n".into())
    );
    assert_eq!(ran["sha256"], line["comparability"]["dut_setup"]);
}
