//! Trials over packet sockets: the same ledger, to the frame, and frames that live frames cannot carry.

use crate::support;
use crate::support::PortsOfBed as _;
use crate::support::test_frame::TestFrame;
use crate::support::trials::{
    WHOLE_TRIES, assert_closed, assert_closed_on_every_front, assert_ledger, offer, run, run_until,
};
use mpps_ebpf::instruments::sender::Order;
use mpps_lab::bed::{Bed, BedPlan, Front, Side};
use mpps_lab::clock;
use mpps_lab::tester::{
    Fault, PacketSender, PlantedFault, PortKind, Sender, SenderPlan, Tester, ways,
};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial::{self, probe};
use mpps_linux::{links, setting::Setting};
use mpps_method::destinations::Draw;
use mpps_method::{Invalid, Offer, Rate, Rules, Span, Transport, Verdict};
use std::sync::atomic::{AtomicBool, Ordering};

const FRAMES_MAX: u64 = 1 << 22;

fn traffic(frames: &str) -> Traffic {
    Traffic {
        frames: support::trials::frames(frames),
        port: PortKind::AfPacket,
        ..support::traffic()
    }
}

fn tester<'a>(bed: &'a Bed, traffic: &Traffic) -> Tester<'a> {
    support::trials::tester(bed, traffic, FRAMES_MAX)
}

#[test]
fn ledger_closes_from_idle_to_overload() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed, &traffic("64"));
    probe::probe(&mut tester).unwrap_or_else(|error| panic!("{error}"));
    for fps in [1_000.0, 30_000.0, 100_000.0, 1_000_000.0, 8_000_000.0] {
        let trial = run(&mut tester, fps, 300);
        assert_closed(&trial, &format!("{fps}"));
        let counts = trial.counts();
        assert_eq!(
            (counts.foreign, counts.duplicated, counts.reordered),
            (0, 0, 0),
            "{fps}"
        );
        assert_eq!(trial.lateness.count(), counts.sent, "{fps}");
        assert!(
            trial.latency.count() >= counts.received,
            "every frame is timed"
        );
    }
    // Slow enough for any machine: at the pace asked for, and every frame there unless a CPU stood still for long.
    let offer = offer(1_000.0, 500);
    let trial = run_until(&mut tester, &offer, |trial| trial.counts().lost == 0);
    let counts = trial.counts();
    assert_eq!(counts.intended, 500);
    assert_eq!((counts.sent, counts.lost), (500 - counts.unsent, 0));
    let median = trial.latency.quantile(0.5).expect("timed").as_nanos();
    assert!((1_000..50_000_000).contains(&median), "{median} ns");
}

#[test]
fn ledger_closes_up_to_jumbo_frames() {
    if !support::can_run() {
        return;
    }
    let traffic = |ipv6, bidirectional, sizes| Traffic {
        ipv6,
        bidirectional,
        flows: 32,
        ..traffic(sizes)
    };
    let traffics = [
        traffic(false, false, "64"),
        traffic(false, false, "9000"),
        traffic(true, false, "mix:78=7,594=4,9018=1"),
        traffic(false, true, "mix:64=3,1518=2,4000=1,9216=1"),
        Traffic {
            transport: Transport::Tcp,
            ..traffic(true, true, "90")
        },
    ];
    assert_closed_on_every_front(20_000.0, FRAMES_MAX, &traffics);
}

/// Frame by frame but for the time, and so for the checksum it is in.
#[test]
fn both_ports_send_the_same_frames() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    for transport in Transport::ALL {
        let drawn = |ipv6| support::destinations(Draw::PerAddress, 70, ipv6, 5);
        for (ipv6, bidirectional, flow_length, destinations) in [
            (false, false, None, None),
            (true, true, None, Some(drawn(true))),
            (false, true, None, Some(drawn(false))),
            (false, true, Some(4), Some(support::blocks(false))),
            (true, false, Some(7), Some(support::blocks(true))),
            (false, false, None, Some(support::blocks(false))),
        ] {
            let traffic = Traffic {
                destinations,
                transport,
                ipv6,
                bidirectional,
                flow_length,
                flows: 5,
                dscp: 46,
                ..traffic("mix:90=2,91-200=3,1518=1,3400=1")
            };
            let ways = ways(&bed, bidirectional);
            let plan = SenderPlan::new(&bed, &traffic, &ways).expect("a plan");
            let order = Order {
                id: 0xbeef,
                // The source address moves within these frames.
                flow_first: if flow_length.is_some() { 64_510 } else { 0 },
                // In the middle of the list, which was passed before.
                entry_first: 3,
                lap_first: 2,
                ..Order::default()
            };
            let ports: Vec<_> = ways
                .iter()
                .map(|way| (&*way.from.netns, way.from.ifindex))
                .collect();
            let ours = PacketSender::preview(&plan, &order, 300);
            let theirs = Sender::load(plan, &ports, None)
                .expect("load")
                .preview(order, 300);
            let theirs = theirs.expect("preview");
            for (number, (mine, other)) in ours.iter().zip(&theirs).enumerate() {
                let parsed = TestFrame::parse(mine).expect("a frame of ours");
                assert!(parsed.is_right(), "{traffic:?} {number}: {parsed:?}");
                assert_eq!(timeless(mine), timeless(other), "{traffic:?} {number}");
            }
        }
    }
}

fn timeless(frame: &[u8]) -> Vec<u8> {
    let parsed = TestFrame::parse(frame).expect("a frame of ours");
    let template = parsed.template;
    let tag = template.addresses.family().headers_len(template.transport);
    let checksum = match template.transport {
        mpps_wire::template::Transport::Udp => tag - 2,
        mpps_wire::template::Transport::Tcp => tag - 4,
    };
    let mut frame = frame.to_vec();
    frame[tag + 7..tag + 12].fill(0);
    frame[checksum..checksum + 2].fill(0);
    frame
}

/// After jumbo frames the same bed carries live frames again, whose programs want a small MTU.
#[test]
fn the_ports_take_turns_on_one_bed() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mtu = || {
        let name = &bed.port(Side::B).name;
        let link = bed.netns(Side::B).run(|| links::get(name));
        link.expect("netns").expect("mB").mtu
    };
    for (port, frames, expected) in [
        (PortKind::AfPacket, "9000", 8982),
        (PortKind::Xdp, "64", 1500),
        (PortKind::Xdp, "3300", 3282),
        (PortKind::AfPacket, "64", 1500),
    ] {
        let traffic = Traffic {
            port,
            ..traffic(frames)
        };
        let mut tester = tester(&bed, &traffic);
        assert_eq!(mtu(), expected, "{port:?}");
        let trial = run(&mut tester, 10_000.0, 100);
        assert_closed(&trial, &format!("{port:?} {frames}"));
        // What a busy machine leaves unsent is not the question here.
        let counts = trial.counts();
        assert!(
            counts.sent > 0 && counts.received > counts.sent / 2,
            "{port:?} {counts:?}"
        );
    }
}

/// The DUT's own ring is what overflows: never the tester's loss, and never ignored.
#[test]
fn a_slow_dut_loses_frames_at_its_ring() {
    if !support::can_run() {
        return;
    }
    for nic in [Front::Cpumap, Front::Napi] {
        let bed = Bed::raise(&BedPlan {
            nic,
            rx_ring: 256,
            ..support::plan()
        })
        .expect("bed");
        let mut tester = tester(&bed, &traffic("64"));
        // Slower than the sender of any machine.
        let slow = Fault::spin(1_000_000);
        let planted = PlantedFault::plant(slow, &bed, tester.ways()[0]).expect("fault");
        // A CPU that stands still loses frames before the ring too.
        let mut bursts =
            (0..WHOLE_TRIES).map(|_| trial::run_burst(&mut tester, 5_000).expect("burst"));
        let trial = bursts
            .find(|trial| trial.ledger().lost_before_nic == 0)
            .expect("a burst that reached the ring");
        // A canary may find the ring still full.
        assert_ledger(&trial, &format!("{nic:?}"));
        let (ledger, counts) = (trial.ledger(), trial.counts());
        assert!(ledger.lost_nic_ring > 1_000, "{nic:?}: {ledger:?}");
        assert_eq!(
            (ledger.lost_before_nic, ledger.lost_receiver_ring),
            (0, 0),
            "{nic:?}: {ledger:?}"
        );
        assert_eq!(counts.lost, ledger.lost_nic_ring + ledger.lost_in_dut);
        drop(planted);
    }
}

#[test]
fn a_dut_that_drops_is_lossy_and_a_dead_one_is_named() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed, &traffic("64"));
    let netns = bed.netns(Side::B);
    let forward = |value: &str| {
        let wrote = netns.run(|| Setting::sysctl("net.ipv4.ip_forward").write(value));
        wrote.expect("netns").expect("sysctl");
    };
    forward("0");
    let error = probe::probe(&mut tester).expect_err("no router");
    assert!(error.to_string().contains("did not forward"), "{error}");
    forward("1");
    probe::probe(&mut tester).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn ports_that_go_down_or_away_are_errors_not_rates() {
    if !support::can_run() {
        return;
    }
    for (side, gone, named) in [
        (Side::A, false, "send on mA"),
        (Side::D, false, "receive on mD"),
        (Side::A, true, "mA"),
        (Side::D, true, "mD"),
    ] {
        let bed = support::bed();
        let mut tester = tester(&bed, &traffic("64"));
        let (netns, port) = (bed.netns(side), &bed.port(side).name);
        let begun = mpps_linux::clock::monotonic_ns();
        let result = std::thread::scope(|scope| {
            scope.spawn(move || {
                clock::wait_until(begun + 300_000_000);
                let done = netns.run(|| {
                    if gone {
                        links::delete(port)
                    } else {
                        links::set_down(port)
                    }
                });
                done.expect("netns").expect("gone or down");
            });
            let offer = Offer::new(Rate::from_fps(20_000.0), Span::from_millis(600));
            trial::run(&mut tester, &offer)
        });
        let error = result
            .map(|trial| trial.judge(&Rules::default()))
            .expect_err("no port, no trial");
        assert!(error.to_string().contains(named), "{side:?}: {error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn a_frame_that_nobody_counts_makes_the_trial_invalid() {
    if !support::can_run() {
        return;
    }
    // What the port sent and nobody ordered: the tester's own counters disagree. It is sent again and again, because
    // nobody knows how long a slow machine prepares a trial.
    let bed = support::bed();
    let mut tester = tester(&bed, &traffic("64"));
    let over = AtomicBool::new(false);
    let trial = std::thread::scope(|scope| {
        scope.spawn(|| {
            let nothing = mpps_linux::packet::Filter::first_octets(0);
            let (netns, port) = (bed.netns(Side::A), &bed.port(Side::A).name);
            let socket = netns.run(|| mpps_linux::packet::PacketSocket::open(port, &nothing, &[]));
            let socket = socket.expect("netns").expect("socket");
            while !over.load(Ordering::Relaxed) {
                socket.send(&[0xff; 60]).expect("send");
                clock::wait_until(mpps_linux::clock::monotonic_ns() + 20_000_000);
            }
        });
        let trial = trial::run(&mut tester, &offer(10_000.0, 500));
        over.store(true, Ordering::Relaxed);
        trial.unwrap_or_else(|error| panic!("trial: {error}"))
    });
    let verdict = trial.judge(&support::any_machine());
    assert!(
        matches!(verdict, Verdict::Invalid(Invalid::LedgerOpen(_))),
        "{verdict}"
    );
}
