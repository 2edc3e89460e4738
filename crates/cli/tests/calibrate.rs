//! `mpps calibrate` end to end, on a bed of its own: the meter finds planted faults, says so, and leaves nothing behind.
//! (All faults at the port, a cost and a delay at the exit: lab's own test. Copies and swaps at the exit, to the frame:
//! `exit.rs` there.)

use crate::program::{Scratch, assert_gone, mpps, privileged, run};
use serde_json::Value;

fn is_disturbed(row: &Value) -> bool {
    row["disturbed"].is_string()
}

/// As the rows have it: what was not found is graver than what the machine disturbed.
fn exit_code_of(rows: &[Value]) -> i32 {
    let missed = |row: &Value| !is_disturbed(row) && row["holds"] != true;
    match (rows.iter().any(missed), rows.iter().any(is_disturbed)) {
        (true, _) => 1,
        (false, true) => 4,
        (false, false) => 0,
    }
}

/// A restless machine can plant a fault of its own; one that stays is the meter's.
const ATTEMPTS: u32 = 3;

/// A row that the machine disturbed proves nothing.
fn is_found(row: &Value) -> bool {
    is_disturbed(row) || row["holds"] == true
}

#[test]
fn planted_faults_are_found_printed_and_recorded() {
    if !privileged() {
        return;
    }
    for attempt in 1..=ATTEMPTS {
        let rows = calibrated(&format!("calibrate-{attempt}"));
        if rows.iter().all(is_found) {
            let disturbed = rows.iter().filter(|row| is_disturbed(row));
            let faults: Vec<&Value> = disturbed.map(|row| &row["fault"]).collect();
            if !faults.is_empty() {
                println!("SKIP: needs a quieter machine: {faults:?}");
            }
            return;
        }
        assert!(attempt < ATTEMPTS, "{rows:#?}");
    }
}

/// The rows of a run, after its output, its record and its exit code were held against each other.
fn calibrated(name: &str) -> Vec<Value> {
    let scratch = Scratch::new(name);
    let record = scratch.path("record.jsonl");
    let faults = "loss,policer,ring";
    let words = [
        "calibrate",
        "--only",
        faults,
        "--receiver",
        "exit",
        "--json",
    ];
    let ended = run(mpps(&words).arg("--record").arg(&record));
    assert_gone(ended.bed());
    let document: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    assert!(document["error"].is_null(), "{document}");
    let rows = document["rows"].as_array().expect("rows");
    // A disturbed row takes no other away.
    assert_eq!(rows.len(), 3, "{document}");
    let exit_code = exit_code_of(rows);
    assert_eq!(ended.code, Some(exit_code), "{document}");
    let disturbed = rows.iter().any(is_disturbed);
    assert_eq!(document["disturbed"], disturbed, "{document}");
    for row in rows {
        let planted = row["planted"].as_f64();
        assert!(
            is_disturbed(row) || planted.is_some_and(|planted| planted > 0.0),
            "{row}"
        );
    }

    let text = std::fs::read_to_string(&record).expect("a record");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object a line"))
        .filter(|line: &Value| line["run"] == document["run"])
        .collect();
    let of_kind = |kind: &'static str| lines.iter().filter(move |line| line["kind"] == kind);
    let begun = &lines[0];
    assert_eq!(
        (&begun["kind"], &begun["job"]),
        (&"run".into(), &"calibrate".into())
    );
    assert_eq!(begun["plan"]["frames"], serde_json::json!(["64"]));
    assert_eq!(begun["bed"]["queues"], 1);
    let recorded: Vec<&Value> = of_kind("calibration").collect();
    assert_eq!(recorded.len(), rows.len());
    for (recorded, row) in recorded.iter().zip(rows) {
        assert_eq!(
            (&recorded["fault"], &recorded["found"]),
            (&row["fault"], &row["found"])
        );
    }
    let end = lines.last().expect("an end");
    assert_eq!(
        (&end["kind"], &end["exit_code"], &end["trials"]),
        (
            &"end".into(),
            &exit_code.into(),
            &of_kind("trial").count().into()
        )
    );
    rows.clone()
}

#[test]
fn a_kept_bed_that_does_not_fit_is_refused_and_stays() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("calibrate-kept");
    let record = scratch.path("record.jsonl");
    let name = format!("unfit-{}", std::process::id());
    let up = ["bed", "up", &name, "--nic", "napi"];
    assert_eq!(run(&mut mpps(&up)).code, Some(0));
    let ended = run(mpps(&["calibrate", "--quiet", "--bed", &name, "--record"]).arg(&record));
    let listed = run(&mut mpps(&["bed", "list", "--json"]));
    assert_eq!(run(&mut mpps(&["bed", "down", &name])).code, Some(0));
    assert_gone(&name);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.error().contains("--queues 1"), "{ended:?}");
    assert!(!record.exists(), "an empty record was left behind");
    let listed: Value = serde_json::from_str(&listed.stdout).expect("one JSON object");
    let mut beds = listed["beds"].as_array().expect("beds").iter();
    let bed = beds.find(|bed| bed["name"] == *name).expect("it stands");
    assert_eq!(
        (&bed["kept"], &bed["nic"], &bed["namespaces"][1]),
        (
            &true.into(),
            &"napi".into(),
            &format!("mpps-{name}-dut").into()
        )
    );
}
