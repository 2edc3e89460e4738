//! `mpps back-to-back` without a bed: its plan. A run of it is part of `rfc2544.rs`.

use crate::program::{mpps, run};

#[test]
fn a_dry_run_names_searches_and_longest_burst() {
    let ended = run(&mut mpps(&["back-to-back", "--dry-run", "--repeat", "7"]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let wanted = "rule         7 searches, bursts of 2 s at most\n";
    assert!(ended.stdout.contains(wanted), "{ended:?}");
}
