//! `mpps reset` end to end: what was held down for a known time is told by both methods, and bad input in one line.

use crate::program::{Scratch, assert_gone, mpps, privileged, run};
use serde_json::Value;
use std::path::Path;

const HELD_NS: u64 = 300_000_000;
const FPS: u64 = 50_000;
/// Frames that the ring of the router's port holds arrive later where its CPU was taken at the end of a reset.
const QUEUED_NS: u64 = 4_096 * 1_000_000_000 / FPS;

/// The results of a run, which `mpps show` tells as well. `None`: the machine was too restless.
fn results(scratch: &Scratch, words: &str, script: Option<&Path>) -> Option<Vec<Value>> {
    let record = scratch.path("record.jsonl");
    let _of_before = std::fs::remove_file(&record);
    let words: Vec<&str> = words.split(' ').collect();
    let mut command = mpps(&words);
    command.arg("--record").arg(&record);
    if let Some(script) = script {
        command.arg("--dut-setup").arg(script);
    }
    let ended = run(&mut command);
    assert_gone(ended.bed());
    println!("{}", ended.stdout);
    let shown = run(mpps(&["show"]).arg(&record));
    assert_eq!(shown.stdout, ended.stdout, "{ended:?}");
    let shown = run(mpps(&["show", "--json"]).arg(&record));
    let document: Value = serde_json::from_str(&shown.stdout).expect("one JSON object");
    if ended.code == Some(4) {
        println!("SKIP: needs a quieter machine: {}", ended.stderr);
        return None;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    Some(document["results"].as_array().expect("results").clone())
}

/// Each reset is told by both methods to be as long as it was held at least, less what waited in a ring.
fn assert_held(line: &Value, trials: usize) {
    let all = line["trials"].as_array().expect("trials");
    assert_eq!(all.len(), trials, "{line}");
    let says = |trial: &&Value| trial["recovered"] != "not-measured";
    let told: Vec<&Value> = all.iter().filter(says).collect();
    assert!(!told.is_empty(), "{line}");
    for trial in told {
        assert_eq!(trial["recovered"], "recovered", "{trial}");
        let number = |name: &str| trial[name].as_u64().unwrap_or(0);
        assert!(number("took_ns") >= HELD_NS, "{trial}");
        assert!(number("time_stamp_ns") >= HELD_NS, "{trial}");
        let lost_for = number("recovery_ns") + number("resolution_ns");
        assert!(lost_for + QUEUED_NS >= HELD_NS, "{trial}");
    }
}

fn names(lines: &[Value]) -> Vec<&str> {
    let names = lines.iter().map(|line| line["reset"].as_str());
    names.map(|name| name.expect("a name")).collect()
}

#[test]
fn a_link_and_routes_that_were_held_are_told() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("reset");
    let words = "reset --frame 64 --rate 50k --time 0.7 --hold 300ms --repeat 2";
    if let Some(lines) = results(&scratch, words, None) {
        // Without a script there is no set-up.
        assert_eq!(names(&lines), ["link", "routes"]);
        lines.iter().for_each(|line| assert_held(line, 2));
    }
}

/// A swap of programs takes no frame from the router, so it forwards to the end.
#[test]
fn a_program_is_swapped_by_name_only() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("reset-program");
    let words = "reset --reset program --frame 64 --rate 50k --time 0.5 --repeat 2";
    let Some(lines) = results(&scratch, words, None) else {
        return;
    };
    assert_eq!(names(&lines), ["program"]);
    for trial in lines[0]["trials"].as_array().expect("trials") {
        assert_ne!(trial["recovered"], "not-recovered", "{trial}");
        assert!(trial["took_ns"].as_u64() > Some(0), "{trial}");
    }
}

#[test]
fn a_set_up_script_runs_again() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("reset-set-up");
    let text = "#!/bin/sh\nset -e\nip rule add blackhole pref 1\nsleep 0.3\nip rule del pref 1\n";
    let script = scratch.script("set-up.sh", text);
    let words = "reset --reset set-up --frame 64 --rate 50k --time 0.7 --repeat 2";
    if let Some(lines) = results(&scratch, words, Some(&script)) {
        assert_eq!(names(&lines), ["set-up"]);
        assert_held(&lines[0], 2);
    }
}

/// The start script forwards nothing for a while, as a router without its process would.
#[test]
fn a_process_is_killed_and_started() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("reset-process");
    let daemon = scratch.path("mpps-daemon");
    std::fs::copy("/bin/sleep", &daemon).expect("a program");
    let start = format!("{} 1000 &\n", daemon.display());
    let set_up = scratch.script("set-up.sh", &format!("#!/bin/sh\n{start}"));
    // The killed one is gone by then: the name of none that lives is the daemon's.
    let gone = "for pid in $(ip netns pids $MPPS_NETNS_DUT); do\n  \
        case $(cat /proc/$pid/comm) in mpps-daemon) exit 9;; esac\ndone\n\
        ip rule add blackhole pref 1\nsleep 0.3\nip rule del pref 1\n";
    let again = format!("#!/bin/sh\nset -e\n{gone}{start}");
    let again = scratch.script("again.sh", &again);
    let words = format!(
        "reset --reset process --process mpps-daemon --process-start {} --frame 64 --rate 50k --time 0.7 --repeat 2",
        again.display()
    );
    if let Some(lines) = results(&scratch, &words, Some(&set_up)) {
        assert_eq!(names(&lines), ["process"]);
        assert_held(&lines[0], 2);
    }
    std::fs::write(&set_up, "#!/bin/sh\n").expect("a script");
    let mut command = mpps(&words.split(' ').collect::<Vec<_>>());
    let ended = run(command.arg("--dut-setup").arg(&set_up));
    let wanted = "no process mpps-daemon runs in the router's namespace";
    assert!(ended.stdout.contains(wanted), "{ended:?}");
}

#[test]
fn what_cannot_be_reset_is_refused_in_one_line() {
    for (words, wanted) in [
        (
            "reset --reset cable",
            "give link, routes, set-up, process, program",
        ),
        (
            "reset --reset set-up --dry-run",
            "give one with --dut-setup",
        ),
        ("reset --reset process", "name it with --process"),
        ("reset --process bird", "--process-start"),
        (
            "reset --process bird --process-start /no/such --dry-run",
            "start script /no/such is not a file",
        ),
        (
            "reset --bidirectional",
            "needs one direction and --port xdp",
        ),
        ("reset --hold soon", "give a time such as 200ms or 1"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let ended = run(&mut mpps(&words));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.error().contains(wanted), "{ended:?}");
    }
}
