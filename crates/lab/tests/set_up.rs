//! The end of a set-up script's output is kept and can be read, however much the script writes.

use crate::host::alone;
use crate::support;
use crate::support::trials;
use mpps_lab::bed::{self, Bed, BedPlan};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

fn raise(name: &str, script: &str) -> Bed {
    let path = PathBuf::from(format!("/run/{name}.sh"));
    fs::write(&path, script).expect("script");
    let plan = BedPlan {
        name: Some(name.to_owned()),
        dut_setup: Some(path),
        ..support::plan()
    };
    Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"))
}

#[test]
fn only_the_end_of_a_long_output_is_kept() {
    if !support::can_run() || !alone("only_the_end_of_a_long_output_is_kept") {
        return;
    }
    let bed = raise(
        "long",
        "head -c 60000000 /dev/zero | tr '\\0' x\necho last words\necho a complaint >&2\n",
    );
    let file = Path::new("/run/mpps/long/dut-setup.out");
    let occupied = fs::metadata(file).expect("output").blocks() * 512;
    assert!(occupied <= 1 << 20, "{occupied} octets are occupied");
    let script = bed.set_up_script();
    let output = script.as_ref().and_then(|script| script.output.as_deref());
    let output = output.expect("output");
    let stdout = output.strip_suffix("a complaint\n").expect("errors last");
    assert_eq!(stdout.len(), 64 << 10);
    assert!(stdout.ends_with("xxxlast words\n"));
    // It stays with the bed.
    bed::keep(bed).expect("keep");
    let kept = bed::open("long").expect("open");
    assert_eq!(kept.set_up_script(), script);
    kept.lower().expect("lower");
}

/// A daemon logs without end. Each trial begins with the end of it alone.
#[test]
fn what_is_left_running_does_not_fill_run() {
    if !support::can_run() || !alone("what_is_left_running_does_not_fill_run") {
        return;
    }
    // It writes when it is told to, and then says that it has.
    let script = "mkfifo /run/go /run/gone\n\
        (cat /run/go >/dev/null; head -c 30000000 /dev/zero | tr '\\0' x; echo last words; echo >/run/gone; sleep 9999) &\n";
    bed::keep(raise("daemon", script)).expect("keep");
    let kept = bed::open("daemon").expect("open");
    let mut tester = trials::tester(&kept, &support::traffic(), 1 << 16);
    let occupied = || {
        let file = fs::metadata("/run/mpps/daemon/dut-setup.out").expect("output");
        file.blocks() * 512
    };
    fs::write("/run/go", "go\n").expect("a word");
    fs::read("/run/gone").expect("an answer");
    assert!(occupied() >= 30_000_000, "{}", occupied());
    trials::run(&mut tester, 1_000.0, 50);
    assert!(occupied() <= 256 << 10, "{}", occupied());
    drop(tester);
    let output = kept.set_up_script().and_then(|script| script.output);
    assert!(output.expect("output").ends_with("xxxlast words\n"));
    kept.lower().expect("lower");
}

#[test]
fn without_a_script_there_is_none() {
    if !support::can_run() || !alone("without_a_script_there_is_none") {
        return;
    }
    let bed = support::bed();
    assert_eq!(bed.set_up_script(), None);
    bed.lower().expect("lower");
}

/// Of a kept bed results are known to stand on the script that ran, whatever its file holds by then.
#[test]
fn the_script_that_ran_stays_with_the_bed() {
    if !support::can_run() || !alone("the_script_that_ran_stays_with_the_bed") {
        return;
    }
    let bed = raise("edited", "echo first\n");
    let ran = bed.set_up_script().expect("a script");
    assert_eq!(ran.text.as_deref(), Some("echo first\n"));
    assert_eq!(ran.output.as_deref(), Some("first\n"));
    let script = bed.plan().dut_setup.clone().expect("a path");
    fs::write(&script, "echo second\n").expect("edit");
    bed::keep(bed).expect("keep");
    fs::remove_file(&script).expect("remove");
    let kept = bed::open("edited").expect("open");
    assert_eq!(kept.set_up_script(), Some(ran));
    // Nor does another one run for it.
    fs::write(&script, "echo second\n").expect("write");
    let refused = bed::run_set_up(&kept).expect_err("changed").to_string();
    assert!(refused.contains("was changed after"), "{refused}");
    fs::write(&script, "echo first\n").expect("write");
    bed::run_set_up(&kept).expect("the same");
    kept.lower().expect("lower");
    // A bed of an earlier version tells nothing of it: a result on it could not be compared.
    let bed = raise("older", "true\n");
    bed::keep(bed).expect("keep");
    fs::remove_file("/run/mpps/older/dut-setup.json").expect("remove");
    let refused = bed::open("older").expect_err("unknown").to_string();
    assert!(refused.contains("lower it and raise it anew"), "{refused}");
    bed::down("older").expect("down");
}
