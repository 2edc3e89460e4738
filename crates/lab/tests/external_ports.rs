//! Ports of a host that a device of somebody else's is to be measured by: refused, adopted, and given back whenever a run is
//! killed. No frame is sent.
//!
//! Each test has a /run of its own (see `host`). A run that is killed is this same program, asked for the one
//! test [`LIFE`], in the namespace of the host.

use crate::device::{Lab, ip, plan, raised};
use crate::host::{again, alone, is_killed};
use crate::support;
use mpps_lab::bed::{Bed, BedError, BedPlan};
use mpps_lab::journal::fault;
use mpps_lab::recover::{Recovery, recover};

const LIFE: &str = "adopted_ports_are_given_back";
const KILLED: &str = "MPPS_TEST_EXTERNAL_LIFE";

#[test]
fn adopted_ports_are_given_back() {
    if !support::can_run() {
        return;
    }
    let adopt = || {
        let bed = raised(&plan("x1", "x2", false, false));
        bed.lower().unwrap_or_else(|error| panic!("lower: {error}"));
    };
    if std::env::var_os(KILLED).is_some() {
        // In the host's namespace, to be killed on the way.
        return adopt();
    }
    if !alone(LIFE) {
        return;
    }
    let lab = Lab::new();
    let before = lab.ports();
    lab.host.run(adopt).expect("host");
    assert_eq!(lab.ports(), before);
}

fn refused(lab: &Lab, plan: &BedPlan) -> String {
    let before = lab.ports();
    let raised = lab.host.run(|| Bed::raise(plan).map(drop));
    let error = raised.expect("host").expect_err("refused");
    assert!(!matches!(error, BedError::NotRestored(..)), "{error}");
    assert_eq!(lab.ports(), before, "{error}");
    let line = error.to_string();
    assert!(!line.contains('\n'), "{line}");
    line
}

#[test]
fn ports_that_the_host_needs_are_refused() {
    if !support::can_run() || !alone("ports_that_the_host_needs_are_refused") {
        return;
    }
    let lab = Lab::new();
    let pair = plan("x1", "x2", false, false);
    assert!(
        refused(&lab, &plan("x1", "none", false, false)).contains("port none: no such interface")
    );
    assert!(refused(&lab, &plan("x1", "x1", false, false)).contains("port x1: given twice"));
    assert!(refused(&lab, &plan("x1", "lo", false, false)).contains("port lo: the loopback"));
    for (make, undo, why) in [
        (
            "route add default via 192.0.2.9 dev x1",
            "route del default dev x1",
            "default route (IPv4)",
        ),
        (
            "-6 route add default via 2001:db8::9 dev x1",
            "-6 route del default dev x1",
            "default route (IPv6)",
        ),
        (
            "link set x2 master b0",
            "link set x2 nomaster",
            "part of b0",
        ),
        (
            "link add m0 link x2 type macvlan",
            "link del m0",
            "m0 is built on it",
        ),
    ] {
        if why == "part of b0" {
            lab.on_host("link add b0 type bridge");
        }
        lab.on_host(make);
        let line = refused(&lab, &pair);
        assert!(line.contains(why), "{line}");
        lab.on_host(undo);
    }
}

#[test]
fn a_port_over_which_somebody_works_is_refused() {
    if !support::can_run() || !alone("a_port_over_which_somebody_works_is_refused") {
        return;
    }
    let lab = Lab::new();
    ip(&lab.device, "addr add 192.0.2.9/24 dev d1");
    let listener = lab
        .device
        .run(|| std::net::TcpListener::bind("192.0.2.9:2222"));
    let listener = listener.expect("device").expect("listen");
    let joined = lab
        .host
        .run(|| std::net::TcpStream::connect("192.0.2.9:2222"));
    let session = joined.expect("host").expect("connect");
    let line = refused(&lab, &plan("x1", "x2", false, false));
    assert!(
        line.contains("port x1: a TCP connection with 192.0.2.9"),
        "{line}"
    );
    drop((listener, session));
}

#[test]
fn a_silent_device_is_named_with_a_remedy() {
    if !support::can_run() || !alone("a_silent_device_is_named_with_a_remedy") {
        return;
    }
    let lab = Lab::new();
    ip(&lab.device, "addr del 198.18.0.1/16 dev d1");
    let line = refused(&lab, &plan("x1", "x2", false, false));
    assert!(
        line.contains("no answer for 198.18.0.1") && line.contains("--dut-mac"),
        "{line}"
    );
}

fn recovered(lab: &Lab) -> Recovery {
    let recovery = lab.host.run(recover).expect("host").expect("recover");
    assert_eq!(recovery.failed, []);
    recovery
}

/// Runs the whole life in the host's namespace; whether it was killed on its way.
fn live(lab: &Lab, variable: &str, number: u64) -> bool {
    let mut command = again(LIFE);
    command.env(KILLED, "1").env(variable, number.to_string());
    // A child begins in the namespace of the thread that starts it, and with our mounts: the names of
    // namespaces are mounts, and recovery has to see them.
    let is_killed = lab.host.run(|| is_killed(&mut command));
    is_killed.expect("host")
}

#[test]
fn killed_at_every_step_the_ports_come_back() {
    if !support::can_run() || !alone("killed_at_every_step_the_ports_come_back") {
        return;
    }
    let lab = Lab::new();
    let before = lab.ports();
    for variable in [
        fault::KILL_AT_JOURNAL,
        fault::KILL_AFTER_CHANGE,
        fault::KILL_AT_REVERT,
    ] {
        let (mut killed, mut given_back) = (0, 0);
        // More than there are steps; what is no change has no moment after it.
        for number in 1..=10 {
            killed += u32::from(live(&lab, variable, number));
            for (_, reverted) in recovered(&lab).reverted {
                given_back += reverted.ports.len();
            }
            assert_eq!(lab.ports(), before, "{variable} {number}");
            assert_eq!(recovered(&lab).reverted, [], "again");
        }
        assert!(killed >= 4, "{variable}: only {killed} killed");
        assert!(given_back > 0, "{variable}");
    }
}
