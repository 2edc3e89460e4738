//! The probe on real beds: it comes through one that forwards, raised now or kept, and names the hop where
//! one does not.

use crate::host::{self, Host, again, alone};
use crate::support;
use crate::support::PortsOfBed as _;
use mpps_lab::bed::{self, Bed, Side};
use mpps_lab::tester::{ReceiverMode, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial::probe::{Hop, ProbeError, probe};
use mpps_linux::links;
use std::process::Command;

const AGAIN: &str = "processes_measure_a_kept_bed_in_turn";
const BED: &str = "MPPS_TEST_PROBE_BED";

fn probe_on(bed: &Bed, traffic: &Traffic) -> Result<(), ProbeError> {
    let mut tester = Tester::raise(bed, traffic, 1 << 16, ReceiverMode::Polled)
        .unwrap_or_else(|error| panic!("tester: {error}"));
    probe(&mut tester)
}

fn pass(bed: &Bed) {
    for (ipv6, bidirectional) in [(false, false), (true, true)] {
        let traffic = Traffic {
            ipv6,
            bidirectional,
            frames: mpps_method::FrameSpec::parse_list("78")
                .expect("a size")
                .remove(0),
            ..support::traffic()
        };
        probe_on(bed, &traffic).unwrap_or_else(|error| panic!("ipv6 {ipv6}: {error}"));
    }
}

fn stopped(bed: &Bed) -> (usize, Hop, u64) {
    match probe_on(bed, &support::traffic()) {
        Err(ProbeError::Stopped {
            direction,
            hop,
            received,
            ..
        }) => (direction, hop, received),
        other => panic!("{other:?}"),
    }
}

/// A bed whose script is `text`.
fn configured(text: &str) -> Bed {
    support::bed_set_up(&support::plan(), text)
}

#[test]
fn processes_measure_a_kept_bed_in_turn() {
    if !support::can_run() || !alone(AGAIN) {
        return;
    }
    if let Ok(name) = std::env::var(BED) {
        return pass(&bed::open(&name).expect("open"));
    }
    let before = Host::now();
    let bed = support::bed();
    let name = bed.name().to_owned();
    pass(&bed);
    bed::keep(bed).expect("keep");
    // In this process, in another, and in this again; a tester leaves nothing in the bed's way.
    for by_another in [false, true, false] {
        if by_another {
            let ended = again(AGAIN).arg("--nocapture").env(BED, &name).output();
            host::succeeded(AGAIN, &ended.expect("this program again"));
        } else {
            pass(&bed::open(&name).expect("open"));
        }
    }
    bed::down(&name).expect("down");
    assert_eq!(Host::now(), before);
}

#[test]
fn a_dut_that_does_not_forward_is_named() {
    if !support::can_run() || !alone("a_dut_that_does_not_forward_is_named") {
        return;
    }
    let before = Host::now();
    for (tool, text) in [
        ("sh", "echo 0 >/proc/sys/net/ipv4/ip_forward"),
        ("ip", "ip route add blackhole 198.19.0.2/32"),
        ("ip", "ip link set $MPPS_DUT_OUT down"),
        (
            "nft",
            "nft add table ip t; nft 'add chain ip t f { type filter hook forward priority 0; policy drop; }'",
        ),
    ] {
        let there = Command::new("sh")
            .args(["-c", &format!("command -v {tool}")])
            .output();
        if !there.expect("sh").status.success() {
            println!("SKIP: {text}: no {tool} here");
            continue;
        }
        let bed = configured(text);
        assert_eq!(stopped(&bed), (0, Hop::Dut, 0), "{text}");
        bed.lower().expect("lower");
    }
    assert_eq!(Host::now(), before);
}

/// What the script allows comes through: nft rules that forward, in the namespace and nowhere else.
#[test]
fn a_dut_that_forwards_by_rules_of_its_own_is_passed() {
    if !support::can_run() || !alone("a_dut_that_forwards_by_rules_of_its_own_is_passed") {
        return;
    }
    if !support::has("nft") {
        return;
    }
    let bed = configured(
        "nft add table ip t\n\
         nft 'add chain ip t f { type filter hook forward priority 0; policy drop; }'\n\
         nft add rule ip t f iifname $MPPS_DUT_IN oifname $MPPS_DUT_OUT counter accept\n",
    );
    probe_on(&bed, &support::traffic()).unwrap_or_else(|error| panic!("{error}"));
    let command = ["nft", "list", "ruleset"].map(str::to_owned);
    let shell = bed::shell(&bed, Side::B, &command).expect("nft");
    assert!(shell.wait_with_output().expect("its end").status.success());
    let host = Command::new("nft").args(["list", "tables"]).output();
    let host = String::from_utf8(host.expect("nft").stdout).expect("text");
    assert!(!host.contains("table ip t\n"), "{host}");
    bed.lower().expect("lower");
}

#[test]
fn a_port_that_is_down_is_named_with_its_hop() {
    if !support::can_run() {
        return;
    }
    for (side, hop) in [(Side::B, Hop::BeforeNic), (Side::C, Hop::Dut)] {
        let bed = support::bed();
        let port = set_down(&bed, side);
        let error = probe_on(&bed, &support::traffic()).expect_err("nothing comes through");
        assert!(
            matches!(&error, ProbeError::Stopped { hop: at, down, .. } if *at == hop && *down == [port.clone()]),
            "{error}"
        );
        assert!(
            error.to_string().ends_with(&format!("down: {port})")),
            "{error}"
        );
    }
}

/// The tester cannot even be set up there: the kernel's own word for it, EOPNOTSUPP, names no port.
#[test]
fn a_port_of_the_testers_that_is_down_is_named() {
    if !support::can_run() {
        return;
    }
    for side in [Side::A, Side::D] {
        let bed = support::bed();
        let port = set_down(&bed, side);
        let raised = Tester::raise(&bed, &support::traffic(), 1 << 16, ReceiverMode::Polled);
        let error = raised
            .map(drop)
            .expect_err("no tester without ports")
            .to_string();
        let netns = bed.netns(side).name();
        assert!(
            error.starts_with(&format!(
                "the tester's port {port} in netns {netns} is down"
            )),
            "{error}"
        );
        assert!(
            error.contains(&format!("ip -n {netns} link set {port} up")),
            "{error}"
        );
    }
}

fn set_down(bed: &Bed, side: Side) -> String {
    let port = bed.port(side).name.clone();
    let down = bed.netns(side).run(|| links::set_down(&port));
    down.expect("namespace").expect("down");
    port
}
