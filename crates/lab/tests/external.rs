//! Real ports around a device of somebody else's: veth pairs stand for the cables, a namespace for the device,
//! another for the host whose ports are adopted. The host gets its ports back as they were, whatever happens.
//!
//! Each test has a /run of its own (see `host`). Ports without a frame are in `external_ports.rs`.

use crate::device::{Lab, ip, plan, raised, traffic};
use crate::host::alone;
use crate::support;
use crate::support::PortsOfBed as _;
use mpps_lab::bed::{Bed, Side};
use mpps_lab::clock;
use mpps_lab::tester::{PortKind, ReceiverMode, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial::{self, probe};
use mpps_linux::{ethtool, setting::Setting, xdp};
use mpps_linux::{kernel, links};
use mpps_method::{FrameSpec, Offer, Rate, Span, Verdict};

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

#[test]
fn a_device_is_measured_and_the_ports_come_back() {
    if !support::can_run() {
        return;
    }
    if !alone("a_device_is_measured_and_the_ports_come_back") {
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
        // A kernel that does not say what a driver can do: packet sockets, unless XDP is asked for.
        let says = bed.tester().iter().all(|port| {
            let asked = port.netns.run(|| xdp::features(&port.name));
            asked.expect("the tester's namespace").is_ok()
        });
        let release = kernel::release().expect("release");
        assert!(says || !release.at_least(6, 3), "{release:?}");
        let faster = [PortKind::AfPacket, PortKind::Xdp][usize::from(says)];
        assert_eq!(kind("64,1518"), faster);
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
fn a_device_that_does_not_forward_is_named() {
    if !support::can_run() || !alone("a_device_that_does_not_forward_is_named") {
        return;
    }
    let lab = Lab::new();
    // The probe says so, and the ports come back.
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
