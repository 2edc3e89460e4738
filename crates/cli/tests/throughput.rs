//! `mpps throughput` end to end, on a bed of its own and the machine's real kernel: what it prints,
//! what it writes, and that nothing is left behind however it ends.

use crate::program::{
    Ended, Scratch, assert_gone, has, hearing_ctrl_c, mpps, privileged, run, staged, wait_for,
};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// A restless machine may disturb every trial of a run; how often a test tries again.
const ATTEMPTS: u32 = 6;

/// A third of it is for overload; without, that takes 10 s.
const BUDGET: &str = "9s";

/// Short trials, coarse steps, little overload.
const QUICK: [&str; 9] = [
    "throughput",
    "--frame",
    "64",
    "--time",
    "0.2",
    "--resolution",
    "10%",
    "--budget",
    BUDGET,
];

/// Runs until the machine lets a measurement happen. Every attempt that it did not must say so, and
/// leave nothing behind.
fn measured(command: impl Fn() -> Command) -> Ended {
    measured_on(None, command)
}

/// The same, on a kept bed where one is named.
fn measured_on(kept: Option<&str>, command: impl Fn() -> Command) -> Ended {
    for _ in 0..ATTEMPTS {
        let ended = run(&mut command());
        match kept {
            Some(bed) => assert_eq!(ended.bed(), bed),
            None => assert_gone(ended.bed()),
        }
        if ended.code == Some(0) {
            return ended;
        }
        // 1: every trial that the machine let pass lost frames.
        assert!(matches!(ended.code, Some(1 | 4)), "{ended:?}");
        println!("again: {}", ended.error());
    }
    panic!("could not measure in {ATTEMPTS} attempts; the reasons stand above");
}

fn lines(record: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(record).expect("a record");
    assert!(text.ends_with('\n'), "the last line is not whole");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object a line"))
        .collect()
}

fn of_kind<'a>(lines: &'a [Value], run: &Value, kind: &str) -> Vec<&'a Value> {
    lines
        .iter()
        .filter(|line| line["kind"] == kind && line["run"] == *run)
        .collect()
}

/// The identities of the ledger, from the record alone.
fn assert_closed(trial: &Value) {
    for way in trial["directions"].as_array().expect("directions") {
        let count = |name: &str| {
            way[name]
                .as_u64()
                .unwrap_or_else(|| panic!("no {name}: {way}"))
        };
        let ledger = |name: &str| {
            way["ledger"][name]
                .as_u64()
                .unwrap_or_else(|| panic!("no {name}: {way}"))
        };
        let canaries = |name: &str| {
            ["opening", "closing"]
                .iter()
                .map(|when| way["ledger"][*when][name].as_u64().expect("canaries"))
                .sum::<u64>()
        };
        assert_eq!(
            count("intended_frames"),
            count("sent_frames") + count("unsent_frames"),
            "{trial}"
        );
        assert_eq!(
            count("sent_frames"),
            count("received_frames") + count("lost_frames"),
            "{trial}"
        );
        let lost = [
            "lost_before_nic_frames",
            "lost_nic_ring_frames",
            "lost_in_dut_frames",
            "lost_receiver_ring_frames",
        ];
        let lost: u64 = lost.iter().map(|name| ledger(name)).sum();
        let arrived = count("received_frames") + canaries("received_frames");
        assert_eq!(
            count("sent_frames") + canaries("sent_frames"),
            lost + arrived,
            "{trial}"
        );
    }
}

/// A bed that was raised before, lowered at the end even of a test that panics.
struct KeptBed(String);

impl Drop for KeptBed {
    fn drop(&mut self) {
        let down = run(&mut mpps(&["bed", "down", &self.0]));
        if !std::thread::panicking() {
            assert_eq!(down.code, Some(0), "{down:?}");
            assert_gone(&self.0);
        }
    }
}

#[test]
fn a_measurement_on_a_kept_bed_is_told_and_recorded() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("kept");
    let record = scratch.path("record.jsonl");
    let name = format!("kept-{}", std::process::id());
    assert_eq!(run(&mut mpps(&["bed", "up", &name])).code, Some(0));
    let kept = KeptBed(name);
    let ended = measured_on(Some(&kept.0), || {
        let mut command = mpps(&QUICK);
        command
            .args(["--max-rate", "50k", "--bed", &kept.0, "--json", "--record"])
            .arg(&record);
        command
    });
    let listed = run(&mut mpps(&["bed", "list"]));
    assert!(listed.stdout.contains(&kept.0), "{listed:?}");
    // A line a phase in a file.
    assert!(ended.stderr.contains("\n64: overload: "), "{ended:?}");
    assert!(ended.stderr.contains("\n64: search: "), "{ended:?}");
    assert_eq!(lines(&record)[0]["bed"]["name"], kept.0);
    assert_table(&record);
    assert_numbers(&ended, &record);
}

/// Its table for a person.
fn assert_table(record: &Path) {
    let shown = run(mpps(&["show"]).arg(record));
    assert!(shown.stdout.starts_with("64 B: forwards "), "{shown:?}");
    for wanted in [
        " thousand without loss",
        ", the most that --max-rate allows",
        "limited\n",
        ">= ",
        "Limits of every such result: ",
        "comparable with: ",
    ] {
        assert!(shown.stdout.contains(wanted), "{wanted}: {}", shown.stdout);
    }
}

/// What it prints as JSON, and each trial in its record.
fn assert_numbers(ended: &Ended, record: &Path) {
    let document: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    assert_eq!(
        (&document["schema"], &document["exit_code"]),
        (&mpps_record::SCHEMA.into(), &0.into())
    );
    assert!(document["error"].is_null(), "{document}");
    let result = &document["results"][0];
    assert_eq!(
        (&result["frame"], &result["outcome"]),
        (&"64".into(), &"found".into())
    );
    assert_eq!(result["claim"], "Estimate", "0.2 s is no Throughput");
    assert!(
        result["rate_fps"]
            .as_f64()
            .is_some_and(|fps| fps >= 10_000.0),
        "{result}"
    );
    for (member, parts) in [
        ("max_forwarding_fps", ["low", "median", "high"]),
        ("cost", ["bed_ns", "router_ns", "total_ns"]),
    ] {
        // A restless machine may leave too few undisturbed windows.
        let known = result[member].is_object();
        for part in parts.iter().filter(|_| known) {
            assert!(!result[member][part].is_null(), "{result}");
        }
    }
    assert!(
        ["exit", "port"]
            .map(Value::from)
            .contains(&result["receiver"])
    );
    assert!(result["judged_trials"].as_u64() >= result["lossless_trials"].as_u64());
    for number in [
        "tester_ceiling_fps",
        "dut_busy_share",
        "dut_busy_ns_per_frame",
        "rate_gbit_per_s",
    ] {
        assert!(
            result[number].as_f64().is_some_and(|number| number > 0.0),
            "{number}: {result}"
        );
    }
    assert_eq!(result["loss_ratio"], 0.0);
    let doubts: Vec<&Value> = result["doubts"]
        .as_array()
        .expect("doubts")
        .iter()
        .map(|doubt| &doubt["name"])
        .collect();
    assert!(
        doubts.contains(&&Value::from("short-trial"))
            && doubts.contains(&&Value::from("notional-link"))
    );

    let read = mpps_record::read_file(record).expect("a record");
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    let timed = |trial: &mpps_record::TrialLine| trial.latency.histogram_ns.clone();
    let timed = read.runs[0].trials.iter().filter_map(timed);
    assert!(timed.map(|all| all.frames()).max() > Some(0), "histograms");
    // A trial without a pace has the load that was really sent.
    let mut trials = read.runs[0].trials.iter();
    assert!(trials.all(|trial| trial.offered_fps > 0.0), "offered loads");

    let (lines, run) = (lines(record), &document["run"]);
    let runs = of_kind(&lines, run, "run");
    let [begun] = runs[..] else {
        panic!("one run line: {runs:?}")
    };
    for key in [
        "key",
        "method_version",
        "bed",
        "nic",
        "rx_ring_frames",
        "queues",
        "kernel_release",
        "mitigations",
        "tool_version",
    ] {
        assert!(!begun["comparability"][key].is_null(), "{key}: {begun}");
    }
    let trials = of_kind(&lines, run, "trial");
    for (number, trial) in (1..).zip(&trials) {
        assert_eq!(trial["trial"], number);
        if trial["verdict"] != "invalid" {
            assert_closed(trial);
        }
    }
    let results = of_kind(&lines, run, "result");
    let [recorded] = results[..] else {
        panic!("one result line: {results:?}")
    };
    assert_eq!(recorded["rate_fps"], result["rate_fps"]);
    assert_eq!(
        (&result["goal"], &result["goal_code"]),
        (&"ndr".into(), &"0.2f1d0l50e".into())
    );
    assert_eq!(result["simulated"], false);
    let stands_on = result["stands_on_trial"].as_u64().expect("a trial") as usize;
    let trial = trials[stands_on - 1];
    assert_eq!(
        (&trial["verdict"], &trial["phase"]),
        (&"lossless".into(), &"search".into())
    );
    assert!(
        // The result's rate is whole frames/s, the nearest.
        trial["offered_fps"].as_f64().map(f64::round) >= result["rate_fps"].as_f64(),
        "{trial} {result}"
    );
    let ends = of_kind(&lines, run, "end");
    assert_eq!(
        (ends.len(), &ends[0]["exit_code"], &ends[0]["trials"]),
        (1, &0.into(), &trials.len().into())
    );
}

#[test]
fn one_cpu_is_enough_and_is_doubted() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("one-cpu");
    let record = scratch.path("record.jsonl");
    let ended = measured(|| {
        let mut command = staged(
            "cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//'); exec taskset -c $cpu \"$MPPS\" \"$@\"",
        );
        command
            .arg("sh")
            .args(QUICK)
            .args(["--max-rate", "50k", "--receiver", "port", "--record"])
            .arg(&record);
        command
    });
    assert!(
        ended.stdout.contains("tester and DUT share a CPU"),
        "{}",
        ended.stdout
    );
}

#[test]
fn frames_redirected_past_routing_are_told_first() {
    if !privileged() || !has("tc") {
        return;
    }
    let scratch = Scratch::new("unrouted");
    let redirect = "#!/bin/sh\nset -e\n\
        tc qdisc add dev $MPPS_DUT_IN clsact\n\
        tc filter add dev $MPPS_DUT_IN ingress protocol all u32 match u32 0 0 \\\n\
        action mirred egress redirect dev $MPPS_DUT_OUT\n";
    let redirect = scratch.script("set-up.sh", redirect);
    let record = scratch.path("record.jsonl");
    let ended = measured(|| {
        let mut command = mpps(&QUICK);
        command.args(["--max-rate", "50k", "--dut-setup"]);
        command.arg(&redirect).arg("--record").arg(&record);
        command
    });
    let mut lines = ended.stdout.lines();
    let sentence = lines.find(|line| line.starts_with("64 B: "));
    let words = "64 B: frames bypassed routing, so this is no router's rate: ";
    assert!(
        sentence.is_some_and(|line| line.starts_with(words)),
        "{ended:?}"
    );
}

#[test]
fn a_full_disk_ends_the_run_and_keeps_the_trials() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("full");
    let (disk, copy) = (scratch.path("disk"), scratch.path("record.jsonl"));
    std::fs::create_dir_all(&disk).expect("mount point");
    // Room for the run's line and a few trials, whose lines are long where much disturbs them. The mount goes with the
    // namespace.
    let stage = "unshare -m sh -ec '
        mount -t tmpfs -o size=40k none \"$DISK\"
        code=0; \"$MPPS\" \"$@\" --record \"$DISK/record.jsonl\" || code=$?
        cp \"$DISK/record.jsonl\" \"$COPY\"; exit $code' sh \"$@\"";
    let mut command = staged(stage);
    // Many sizes, so that the disk is full before the run is over.
    command.arg("sh").args([
        "throughput",
        "--frame",
        "64-1024/64",
        "-v",
        "--time",
        "0.05",
        "--max-rate",
        "50k",
    ]);
    let ended = run(command.env("DISK", &disk).env("COPY", &copy));
    assert_gone(ended.bed());
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let error = ended.error();
    let full = error.contains("--record") && error.contains("space");
    assert!(full, "{ended:?}");
    assert_eq!(
        ended
            .stderr
            .lines()
            .filter(|line| line.starts_with("mpps: "))
            .count(),
        1,
        "{ended:?}"
    );
    let lines = lines(&copy);
    let shown = ended
        .stderr
        .lines()
        .filter(|line| {
            [" wire ", " overload ", " gate ", " search "]
                .iter()
                .any(|phase| line.contains(phase))
        })
        .count();
    let trials = lines.iter().filter(|line| line["kind"] == "trial").count();
    assert!(trials > 0, "no trial was kept");
    assert_eq!(
        trials, shown,
        "every finished trial is in the file: {ended:?}"
    );
}

/// The bed is gone, and what was known by then is printed.
#[test]
fn ctrl_c_keeps_the_results_and_leaves_no_bed() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("interrupt");
    let record = scratch.path("record.jsonl");
    let words = [
        "throughput",
        "--frame",
        "64,imix,1518",
        "--time",
        "0.2",
        "--max-rate",
        "50k",
        "--budget",
        "4s",
        "--receiver",
        "port",
        "-v",
        "--record",
    ];
    let mut child = hearing_ctrl_c(&words)
        .arg(&record)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut progress = BufReader::new(child.stderr.take().expect("piped"));
    let mut stderr = String::new();
    // The first size is over when a trial of the second is.
    while !stderr.contains("  imix ") {
        assert!(
            progress.read_line(&mut stderr).expect("progress") > 0,
            "it ended too soon: {stderr}"
        );
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill");
    assert!(killed.success());
    progress
        .read_to_string(&mut stderr)
        .expect("its last words");
    let mut stdout = String::new();
    child
        .stdout
        .take()
        .expect("piped")
        .read_to_string(&mut stdout)
        .expect("the results so far");
    let status = wait_for("the interrupted run", || child.try_wait().expect("wait"));
    let ended = Ended {
        code: status.code(),
        stdout,
        stderr,
    };
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let told = format!(
        "mpps: interrupted: the bed is gone, the record is {}",
        record.display()
    );
    assert_eq!(ended.error(), told, "{ended:?}");
    assert_gone(ended.bed());
    assert!(ended.stdout.starts_with("64 B: "), "{ended:?}");
    for size in ["imix", "1518 B"] {
        let line = format!("\n{size}: not measured: interrupted.\n");
        assert!(ended.stdout.contains(&line), "{ended:?}");
    }
    let lines = lines(&record);
    let last = lines.last().expect("lines");
    assert_eq!(
        (&last["kind"], &last["exit_code"]),
        (&"end".into(), &130.into())
    );
    assert!(
        lines
            .iter()
            .any(|line| line["kind"] == "result" && line["frame"] == "64")
    );
}

/// A router that lets small frames through only: the others take nothing from them.
#[test]
fn a_size_that_fails_takes_no_other_away() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("one-fails");
    let script = scratch.forward_rule("ip length gt 500 drop");
    let ended = run(mpps(&[
        "throughput",
        "--frame",
        "1518,64",
        "--time",
        "0.2",
        "--resolution",
        "10%",
        "--budget",
        // There is one attempt: a restless machine needs longer to send any trial.
        "10s",
        "--receiver",
        "port",
        "--json",
        "--max-rate",
        "50k",
        "--expect-min",
        "20k",
        "--dut-setup",
    ])
    .arg(&script)
    .arg("--record")
    .arg(scratch.path("record.jsonl")));
    assert_gone(ended.bed());
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let document: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    let results = document["results"].as_array().expect("results");
    let frames: Vec<&Value> = results.iter().map(|result| &result["frame"]).collect();
    assert_eq!(frames, ["1518", "64"]);
    assert_eq!(results[0]["outcome"], "not-measured", "{document}");
    assert!(results[0]["why"].is_string(), "{document}");
    let unmet = document["expectation_unmet"].as_array().expect("lines");
    assert!(
        unmet
            .iter()
            .any(|line| line.as_str().is_some_and(|line| line.starts_with("1518: ")))
    );
    assert_ne!(results[1]["trials"], 0, "{document}");
}
