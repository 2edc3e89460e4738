//! A router on one CPU, on two and on four, from the command line. A machine that has fewer than five can emulate them:
//! `cargo xtask kernel --cpus 5 -- cores`. Nothing here depends on rates.

use crate::program::{Scratch, assert_gone, mpps, privileged, run};
use mpps_record::{TrialLine, read_file};
use std::fs;

/// The router's four, and the tester's.
const CPUS: usize = 5;

/// Whether CPUs 0 to 4 are here.
fn can_run() -> bool {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("sysfs");
    let first = online.trim().split(',').next().unwrap_or_default();
    let last = first.strip_prefix("0-").and_then(|last| last.parse().ok());
    let has = last.is_some_and(|last: usize| last + 1 >= CPUS);
    if !has {
        println!("SKIP: needs CPUs 0 to 4, these are online: {online}");
    }
    has && privileged()
}

/// The CPUs whose threads forwarded.
fn served_by(trial: &TrialLine) -> Vec<usize> {
    let busy = trial.busy.iter().filter(|busy| busy.run_ns > 0);
    busy.map(|busy| busy.cpu).collect()
}

const SWEEP: &str = "explain --sweep cores --frame 64 --flows 256 --time 0.3 --trials 3 \
                     --dut-cpus 1-4 --tester-cpus 0";

#[test]
fn a_sweep_over_cores_predicts_what_it_left_out() {
    if !can_run() {
        return;
    }
    let scratch = Scratch::new("cores");
    let record = scratch.path("record.jsonl");
    let words: Vec<&str> = SWEEP.split_whitespace().collect();
    let ended = run(mpps(&words).arg("--record").arg(&record));
    println!("{}", ended.stdout);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_gone(ended.bed());
    let read = read_file(&record).expect("a record");
    let (run_of, swept) = (&read.runs[0], &read.runs[0].sweeps[0]);
    let mut places: Vec<u32> = swept.points.iter().map(|point| point.cores).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places, [1, 2, 3, 4]);
    // As many queues as CPUs, each of them used.
    for trial in &run_of.trials {
        let name = trial.variant.as_deref().expect("a point");
        let cores = name
            .strip_prefix("64 B, ")
            .and_then(|rest| rest.strip_suffix(" cores"));
        let cores: usize = cores.and_then(|cores| cores.parse().ok()).expect(name);
        let queues = &trial.per_queue_frames;
        assert_eq!(
            (queues.len(), served_by(trial).len()),
            (cores, cores),
            "{trial:?}"
        );
        assert!(queues.iter().all(|&frames| frames > 0), "{trial:?}");
    }
    for point in &swept.points {
        let sum: f64 = point.load.stages.iter().map(|part| part.ns.median).sum();
        let whole = point.load.frame_ns.median;
        assert!((sum / whole - 1.0).abs() < 0.01, "{sum} of {whole}");
        assert_eq!(point.held_out, point.cores == 2, "{point:?}");
        assert!(
            point.predicted_ns.is_some() == swept.fit.is_some(),
            "{point:?}"
        );
    }
    for part in ["over cores", "predicted", "held out", "fitted"] {
        assert!(ended.stdout.contains(part), "{part}: {ended:?}");
    }
}

#[test]
fn queues_that_cpus_share_unevenly_are_refused() {
    if !can_run() {
        return;
    }
    let words: Vec<&str> = SWEEP.split_whitespace().collect();
    let ended = run(mpps(&words).args(["--queues", "6"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let why = "6 do not spread evenly over 4; leave out --queues, or give a multiple of 4";
    assert!(ended.error().contains(why), "{ended:?}");
}

const PLAN: &str = r#"
name = "cores"
title = "Queues by CPUs"
verb = "compare"
[[cell]]
id = "queues-x-cpus"
title = "1 and 4 queues on 1, 2 and 4 CPUs"
flags = "--frame 64 --flows 64 --tester-cpus 0 --budget 20s"
[[cell.factors]]
name = "queues"
levels = [
  { name = "1-queue", flags = "--queues 1" },
  { name = "4-queues", flags = "--queues 4" },
]
[[cell.factors]]
name = "CPUs"
levels = [
  { name = "1-cpu", flags = "--dut-cpus 1" },
  { name = "2-cpus", flags = "--dut-cpus 1,2", needs_cpus = 3 },
  { name = "4-cpus", flags = "--dut-cpus 1-4", needs_cpus = 5 },
]
"#;

#[test]
fn a_factor_of_cpus_runs_all_its_levels() {
    if !can_run() {
        return;
    }
    let scratch = Scratch::new("cores-campaign");
    let (plan, record) = (scratch.path("plan.toml"), scratch.path("record.jsonl"));
    fs::write(&plan, PLAN).expect("a plan");
    let ended = run(mpps(&["campaign", "run"])
        .arg(&plan)
        .arg("--record")
        .arg(&record));
    // The machine may disturb every turn of a variant.
    assert!(matches!(ended.code, Some(0 | 4)), "{ended:?}");
    let shown = run(mpps(&["show"]).arg(&record));
    println!("{}", shown.stdout);
    let read = read_file(&record).expect("a record");
    let cell = read.runs.iter().find(|run| !run.comparisons.is_empty());
    let cell = cell.expect("a comparison");
    for (queues, row) in [(1, "1-queue"), (4, "4-queues")] {
        for (cpus, column) in [(1, "1-cpu"), (2, "2-cpus"), (4, "4-cpus")] {
            let name = format!("{row}+{column}");
            let of = |trial: &&TrialLine| trial.variant.as_deref() == Some(&name);
            let trials: Vec<&TrialLine> = cell.trials.iter().filter(of).collect();
            assert!(trials.len() >= 2, "{name}: {} trials", trials.len());
            for trial in trials {
                let wanted: Vec<usize> = (1..=cpus.min(queues)).collect();
                let queues_seen = trial.per_queue_frames.len();
                assert_eq!((served_by(trial), queues_seen), (wanted, queues), "{name}");
            }
            assert!(shown.stdout.contains(column), "{column}: {shown:?}");
        }
        let is_row = |line: &str| line.trim_start().starts_with(row);
        assert!(shown.stdout.lines().any(is_row), "{row}: {shown:?}");
    }
    assert!(!shown.stdout.contains("not run"), "{shown:?}");
}
