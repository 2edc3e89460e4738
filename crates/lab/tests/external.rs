//! Real ports around a device of somebody else's: veth pairs stand for the cables, a namespace for the device,
//! another for the host whose ports are adopted. The host gets its ports back as they were, whatever happens.
//!
//! Each test has a /run of its own (see `host`). A run that is killed is this same program, asked for the one
//! test [`LIFE`], in the namespace of the host.

use crate::device::{Lab, ip, plan, raised, traffic};
use crate::host::{again, alone, is_killed};
use crate::support;
use crate::support::PortsOfBed as _;
use mpps_lab::bed::{Bed, BedError, BedPlan, Side};
use mpps_lab::clock;
use mpps_lab::journal::fault;
use mpps_lab::recover::{Recovery, recover};
use mpps_lab::tester::{PortKind, ReceiverMode, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial::{self, probe};
use mpps_linux::links;
use mpps_linux::{ethtool, setting::Setting};
use mpps_method::{FrameSpec, Offer, Rate, Span, Verdict};

const LIFE: &str = "a_device_is_measured_and_the_ports_come_back";
const KILLED: &str = "MPPS_TEST_EXTERNAL_LIFE";

/// A probe and a trial on a raised bed: every frame is accounted for, and some came back.
fn measure(bed: &Bed, traffic: &Traffic) {
    let mut tester = Tester::raise(bed, traffic, 1 << 20, ReceiverMode::Polled)
        .unwrap_or_else(|error| panic!("tester: {error}"));
    probe::probe(&mut tester).unwrap_or_else(|error| panic!("{error}"));
    let offer = Offer::new(Rate::from_fps(2_000.0), Span::from_millis(200));
    let trial = trial::run(&mut tester, &offer).unwrap_or_else(|error| panic!("trial: {error}"));
    let verdict = trial.judge(&support::any_machine());
    assert!(
        !matches!(verdict, Verdict::Invalid(_)),
        "{verdict}\n{trial:?}"
    );
    assert!(trial.ledger().device_unknown);
    let counts = trial.counts();
    assert_eq!(counts.intended, 400);
    // What a busy machine leaves unsent is not the question here.
    assert!(counts.sent > 0 && counts.received > 0, "{counts:?}");
    assert!(
        trial.busy.is_empty(),
        "the device's CPU is not ours to know"
    );
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
fn a_device_is_measured_and_the_ports_come_back() {
    if !support::can_run() {
        return;
    }
    if std::env::var_os(KILLED).is_some() {
        // In the host's namespace, to be killed on the way.
        let bed = raised(&plan("x1", "x2", false, false));
        return bed.lower().unwrap_or_else(|error| panic!("lower: {error}"));
    }
    if !alone(LIFE) {
        return;
    }
    let lab = Lab::new();
    let before = lab.ports();
    for (ipv6, bidirectional, frames) in [
        (false, false, "64"),
        (true, true, "mix:78=3,1518=1"),
        (false, true, "9000"),
    ] {
        let done = lab.host.run(|| {
            let bed = raised(&plan("x1", "x2", ipv6, bidirectional));
            assert_eq!(
                PortKind::choose(&bed, &[]).expect("ports"),
                PortKind::AfPacket,
                "a veth whose other end has no NAPI takes no redirected frame"
            );
            measure(
                &bed,
                &traffic(PortKind::AfPacket, frames, ipv6, bidirectional),
            );
            bed.lower().unwrap_or_else(|error| panic!("lower: {error}"));
        });
        done.expect("host");
        assert_eq!(lab.ports(), before, "{frames}");
    }
}

/// With the receiver's program on it the port still hears the device's questions.
#[test]
fn xdp_ports_send_live_frames_and_answer_the_device() {
    if !support::can_run() || !alone("xdp_ports_send_live_frames_and_answer_the_device") {
        return;
    }
    let lab = Lab::new();
    let before = lab.ports();
    // GRO gives the far end of a veth the NAPI that redirected frames need.
    let gro = lab.device.run(|| {
        ethtool::set_feature("d1", "rx-gro", true).and(ethtool::set_feature("d2", "rx-gro", true))
    });
    gro.expect("device").expect("GRO");
    let done = lab.host.run(|| {
        let bed = raised(&plan("x1", "x2", false, false));
        let sizes = |text: &str| FrameSpec::parse_list(text).expect("sizes");
        let kind = |text: &str| PortKind::choose(&bed, &sizes(text)).expect("ports");
        assert_eq!(
            kind("64,1518"),
            PortKind::AfPacket,
            "a veth takes a plain XDP program only where its peer sends no frame above a page"
        );
        for cable in ["d1", "d2"] {
            ip(&lab.device, &format!("link set {cable} mtu 1500"));
        }
        assert_eq!(kind("64,1518"), PortKind::Xdp);
        assert_eq!(kind("64,9000"), PortKind::AfPacket);
        measure(&bed, &traffic(PortKind::Xdp, "64", false, false));
        // The device has forgotten everybody: it must ask again, in the middle of a measurement.
        ip(&lab.device, "neigh flush all");
        measure(&bed, &traffic(PortKind::Xdp, "64", false, false));
        bed.lower().unwrap_or_else(|error| panic!("lower: {error}"));
    });
    done.expect("host");
    assert_eq!(lab.ports(), before);
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
    ip(&lab.device, "addr add 198.18.0.1/16 dev d1");
    // A device that does not forward: the probe says so, and the ports come back.
    let before = lab.ports();
    let off = lab
        .device
        .run(|| Setting::sysctl("net.ipv4.ip_forward").write("0"));
    off.expect("device").expect("sysctl");
    let done = lab.host.run(|| {
        let bed = raised(&plan("x1", "x2", false, false));
        let traffic = traffic(PortKind::AfPacket, "64", false, false);
        let mut tester =
            Tester::raise(&bed, &traffic, 1 << 20, ReceiverMode::Polled).expect("tester");
        let error = probe::probe(&mut tester)
            .expect_err("no router")
            .to_string();
        assert!(error.contains("did not come back"), "{error}");
    });
    done.expect("host");
    assert_eq!(lab.ports(), before);
}

#[test]
fn a_vanished_port_is_an_error_the_other_returns() {
    let test = "a_vanished_port_is_an_error_the_other_returns";
    if !support::can_run() || !alone(test) {
        return;
    }
    for (cable, port, other, gone) in [("d2", "x2", 0, Side::D), ("d1", "x1", 1, Side::A)] {
        let lab = Lab::new();
        let before = lab.ports();
        let line = lab.host.run(|| {
            let bed = raised(&plan("x1", "x2", false, false));
            let traffic = traffic(PortKind::AfPacket, "64", false, false);
            let mut tester =
                Tester::raise(&bed, &traffic, 1 << 20, ReceiverMode::Polled).expect("tester");
            let begun = mpps_linux::clock::monotonic_ns();
            let result = std::thread::scope(|scope| {
                scope.spawn(|| {
                    clock::wait_until(begun + 300_000_000);
                    ip(&lab.device, &format!("link del {cable}"));
                });
                let offer = Offer::new(Rate::from_fps(2_000.0), Span::from_millis(800));
                trial::run(&mut tester, &offer)
            });
            assert_eq!(bed.port(gone).name, port);
            drop(tester);
            bed.lower().unwrap_or_else(|error| panic!("lower: {error}"));
            result.expect_err("no port, no trial").to_string()
        });
        let line = line.expect("host");
        assert!(line.contains(port) && !line.contains('\n'), "{line}");
        let names = if port == "x1" { "x2" } else { "x1" };
        let there = lab
            .host
            .run(|| links::get(names))
            .expect("host")
            .expect(names);
        assert!(
            before[other].contains(&format!("({}, {}", there.mtu, there.up)),
            "{before:?}"
        );
    }
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
