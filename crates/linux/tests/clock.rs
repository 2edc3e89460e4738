//! The clock in a time namespace. Needs root.

use crate::scratch::{privileged, skip};
use mpps_linux::clock::monotonic_ns;
use std::process::Command;

/// Says to this test, in a time namespace of its own, what the clock was outside.
const OUTSIDE: &str = "MPPS_TEST_OUTSIDE_NS";

/// Programs in the kernel know of no such namespace.
#[test]
fn a_time_namespace_does_not_shift_the_clock() {
    if let Ok(outside) = std::env::var(OUTSIDE) {
        let outside: u64 = outside.parse().unwrap();
        let own = std::fs::read_to_string("/proc/uptime").unwrap();
        let apart = monotonic_ns() - outside;
        assert!(
            apart < 3_600_000_000_000,
            "{apart} ns, and an uptime of {own}"
        );
        return;
    }
    if !privileged() {
        return;
    }
    let test = std::env::current_exe().unwrap();
    let name = "clock::a_time_namespace_does_not_shift_the_clock";
    let shifted = ["--time", "--fork", "--monotonic", "86400"];
    let mut inside = Command::new("unshare");
    inside.args(shifted).arg(test).args(["--exact", name]);
    let Ok(output) = inside.env(OUTSIDE, monotonic_ns().to_string()).output() else {
        return skip("unshare (util-linux)");
    };
    let said = String::from_utf8_lossy(&output.stdout);
    if said.is_empty() {
        return skip(&String::from_utf8_lossy(&output.stderr));
    }
    assert!(said.contains("1 passed"), "{said}");
}
