//! `mpps doctor`: says what is there, is right where something is taken away, leaves nothing behind.

use crate::program::{self, Ended, Scratch, mpps, privileged, run, staged};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

fn document(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// State and text of one check.
fn check(document: &Value, name: &str) -> (String, String) {
    let all = document["checks"].as_array().expect("checks");
    let found = all
        .iter()
        .filter(|check| check["check"] == name)
        .collect::<Vec<_>>();
    assert_eq!(found.len(), 1, "{name}: {document}");
    let text = |member: &str| found[0][member].as_str().expect("text").to_owned();
    (text("state"), text("seen"))
}

fn state_of_job(document: &Value, name: &str) -> String {
    let all = document["jobs"].as_array().expect("jobs");
    let job = all.iter().find(|job| job["job"] == name).expect("the job");
    job["state"].as_str().expect("text").to_owned()
}

/// Beds there are, by their namespaces and journals; other tests' too, so only ours by name count.
fn no_bed_of(before: &[String]) {
    let left: Vec<String> = beds()
        .into_iter()
        .filter(|bed| !before.contains(bed))
        .collect();
    // Whoever runs beside us may have raised some; ours go with the program, so those in use are others'.
    for bed in left {
        let listed = run(&mut mpps(&["bed", "list"])).stdout;
        let dead = listed
            .lines()
            .any(|line| line.starts_with(&bed) && line.contains("left behind"));
        assert!(!dead, "{bed} was left behind: {listed}");
    }
}

fn beds() -> Vec<String> {
    let entries = std::fs::read_dir("/run/mpps").map(|entries| entries.flatten().collect());
    let names: Vec<std::fs::DirEntry> = entries.unwrap_or_default();
    names
        .iter()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn as_root_every_part_of_the_tester_is_tried() {
    if !privileged() {
        return;
    }
    let before = beds();
    let ended = run(&mut mpps(&["doctor", "--json"]));
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(0), ""),
        "{ended:?}"
    );
    no_bed_of(&before);
    let document = document(&ended);
    assert_eq!(document["main_job_can_run"], true);
    assert_eq!(state_of_job(&document, "throughput"), "can run");
    for name in [
        "bed",
        "native-xdp",
        "tracepoints",
        "stall-watch",
        "live-frames",
        "port-programs",
        "front-cpumap",
        "front-napi",
        "front-softirq",
        "af-packet",
    ] {
        assert_eq!(check(&document, name).0, "good", "{document}");
    }
    assert!(document["facts"]["kernel"]["settings"]["net.core.dev_weight"].is_string());
    // In words: the same, and every lack that a job minds with its cost and remedy.
    let words = run(&mut mpps(&["doctor"])).stdout;
    for wanted in [
        "Jobs",
        "throughput  ",
        "can run",
        "Checks",
        "frames come through",
    ] {
        assert!(words.contains(wanted), "{wanted}: {words}");
    }
    assert_eq!(
        words.matches("    cost: ").count(),
        words.matches("    do:   ").count(),
        "{words}"
    );
}

#[test]
fn without_root_it_says_what_was_not_tried() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("doctor-nobody");
    let copy = scratch.program();
    let mut command = std::process::Command::new(&copy);
    command
        .args(["doctor", "--json"])
        .uid(65_534)
        .gid(65_534)
        .current_dir("/");
    let ended = run(&mut command);
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(1), ""),
        "{ended:?}"
    );
    let document = document(&ended);
    assert_eq!(
        check(&document, "rights"),
        ("lacks".to_owned(), "not root".to_owned())
    );
    assert_eq!(check(&document, "live-frames").0, "unknown");
    assert_eq!(check(&document, "kernel").0, "good");
    assert_eq!(state_of_job(&document, "throughput"), "cannot");
    assert_eq!(state_of_job(&document, "limits --measure"), "can run");
}

#[test]
fn what_is_taken_away_is_named() {
    if !privileged() {
        return;
    }
    let before = beds();
    let hide =
        "unshare -m sh -ec 'mount -t tmpfs none /sys/kernel/btf; exec \"$MPPS\" doctor --json'";
    let ended = run(&mut staged(hide));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let without_types = document(&ended);
    assert_eq!(check(&without_types, "kernel-types").0, "lacks");
    let (state, seen) = check(&without_types, "tracepoints");
    assert!(state == "lacks" && seen.contains("tracepoints"), "{seen}");
    assert_eq!(check(&without_types, "front-cpumap").0, "lacks");
    assert_eq!(check(&without_types, "native-xdp").0, "good");
    // A process namespace hides the kernel's threads, and frames do not come through without them.
    let apart = "unshare -p -f --mount-proc sh -ec '\"$MPPS\" doctor --json; exit $?'";
    let ended = run(&mut staged(apart));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let without_threads = document(&ended);
    assert_eq!(check(&without_threads, "kernel-threads").0, "lacks");
    let (state, seen) = check(&without_threads, "front-cpumap");
    assert!(state == "lacks" && seen.contains("--pid host"), "{seen}");
    assert_eq!(state_of_job(&without_threads, "throughput"), "cannot");
    no_bed_of(&before);
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    if !privileged() {
        return;
    }
    let before = beds();
    let mut command = program::hearing_ctrl_c(&["doctor"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    // Somebody else's bed would only make it early.
    let begun = || beds().iter().any(|bed| !before.contains(bed));
    program::wait_for("a bed", || begun().then_some(()));
    let pid = child.id().to_string();
    let told = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status();
    assert!(told.expect("kill").success());
    let ended = Ended::from(child.wait_with_output().expect("its end"));
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert_eq!(
        (ended.stdout.as_str(), ended.error()),
        ("", "mpps: interrupted")
    );
    no_bed_of(&before);
}
