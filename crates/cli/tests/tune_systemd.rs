//! Services and kept settings under systemd itself, which runs as the first process of namespaces of its own.

use crate::program::{MPPS, privileged, run};
use std::path::Path;
use std::process::Command;

const SYSTEMD: &str = "/lib/systemd/systemd";
/// Shell functions of the scripts: state of two services and a sysctl, and calls of mpps tune.
const FUNCTIONS: &str = "state() { echo $*: $(systemctl is-active irqbalance mpps-tune) $(cat /proc/sys/net/ipv4/ip_forward); }
tune() { ./mpps tune \"$@\" > told 2>&1 || cat told; }
apply() { tune apply --profile router --only irqbalance,ip_forward --allow-system-changes --no-confirm \"$@\"; }
";

/// Boots once for each script, and returns what they said.
fn boots(scripts: &[&str]) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/systemd.sh");
    let mut command = Command::new("timeout");
    command.args([
        "-s",
        "KILL",
        "200",
        "unshare",
        "--mount",
        "--kill-child=KILL",
        "--fork",
    ]);
    command.args(["sh", script, MPPS]);
    command.args(scripts.iter().map(|script| format!("{FUNCTIONS}{script}")));
    let ended = run(&mut command);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.stdout
}

#[test]
fn a_service_and_kept_settings_under_systemd() {
    if !privileged() {
        return;
    }
    if !Path::new(SYSTEMD).exists() {
        println!("SKIP: needs {SYSTEMD}");
        return;
    }
    let said = boots(&[
        "state booted; apply; state applied; tune revert; state reverted; apply --persist; state kept",
        "state booted again; tune revert --persisted; ls /etc/mpps /etc/systemd/system /etc/sysctl.d/90-mpps.conf 2> /dev/null",
        "state booted last",
    ]);
    let wanted = [
        "booted: active inactive 0",
        "applied: inactive inactive 1",
        "reverted: active inactive 0",
        "kept: inactive inactive 1",
        // The service that mpps wrote stopped the other one.
        "booted again: inactive active 1",
        "/etc/systemd/system:",
        "booted last: active inactive 0",
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), wanted);
}
