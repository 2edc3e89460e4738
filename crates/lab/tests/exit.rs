//! The receiver at the router's exit: every frame is accounted for there too, and where it cannot see them all, the
//! run says so or receives at the tester's port.

use crate::device;
use crate::host::alone;
use crate::support;
use crate::support::PortsOfBed as _;
use crate::support::printed::Printed;
use crate::support::trials::{assert_closed, assert_closed_on_every_front, frames, run, tries};
use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};
use mpps_ebpf::instruments::fault::Planted;
use mpps_ebpf::instruments::wire::WireSkelBuilder;
use mpps_lab::bed::{Bed, BedPlan, CpuSplit, Front, Interfaces, Side};
use mpps_lab::doubt::frame_doubts;
use mpps_lab::jobs::fixed_load::{self, FixedLoadPlan, Load};
use mpps_lab::jobs::throughput::{self, ThroughputPlan};
use mpps_lab::jobs::{JobError, UnderTest};
use mpps_lab::search::exit_program;
use mpps_lab::search::link::Link;
use mpps_lab::search::saturation::{Saturated, time_exit};
use mpps_lab::tester::{
    Fault, KernelInterfaces, NoExit, PlantedFault, PortKind, Receiver, ReceiverMode, ReceiverPlace,
    ReceiverPlan, Tester, TesterError, TrafficControl, Wire, receiver_place, ways,
};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_lab::trial::probe::{Hop, ProbeError, probe};
use mpps_linux::bpf::{self, LinkKind};
use mpps_linux::packet::{Filter, PacketSocket, TxRing, TxSpec};
use mpps_linux::tc::{self, Hook};
use mpps_linux::{cpu, ethtool, setting::Setting};
use mpps_method::interval::Interval;
use mpps_method::saturation::{FrameCost, Saturation};
use mpps_method::{Accept, Invalid, Rate, Resolution, SearchPlan, Span, Transport, Trial, Verdict};
use mpps_record::{LoadLine, ResultLine};
use std::mem::MaybeUninit;
use std::os::fd::AsFd as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const FRAMES_MAX: u64 = 1 << 21;
const BOTH: [Interfaces; 2] = [Interfaces::Newest, Interfaces::Oldest];

fn traffic() -> Traffic {
    Traffic {
        receiver: ReceiverPlace::Exit,
        ..support::traffic()
    }
}

/// Of one CPU each, so that sender and receiver would share one.
fn plan() -> BedPlan {
    let CpuSplit { dut, tester } = support::plan().cpus;
    BedPlan {
        cpus: CpuSplit {
            dut: vec![dut[0]],
            tester: vec![tester[0]],
        },
        ..support::plan()
    }
}

fn raised(plan: &BedPlan) -> Bed {
    Bed::raise(plan).unwrap_or_else(|error| panic!("raise: {error}"))
}

fn tester<'a>(bed: &'a Bed, traffic: &Traffic) -> Tester<'a> {
    support::trials::tester(bed, traffic, FRAMES_MAX)
}

/// Runs a program in the DUT's namespace.
fn in_dut(bed: &Bed, words: &str) {
    let mut words = words.split(' ');
    let mut command = Command::new(words.next().expect("a program"));
    let ended = bed
        .netns(Side::B)
        .run(move || command.args(words).status())
        .expect("namespace");
    assert!(ended.expect("the program").success());
}

#[test]
fn the_exit_program_is_timed_in_trials_of_its_own() {
    if !support::can_run() {
        return;
    }
    let bed = raised(&plan());
    let mut at_exit = tester(&bed, &traffic());
    let runs = |tester: &Tester<'_>| {
        let found = tester.receivers[0].program_runs().expect("fdinfo");
        found.expect("a program").runs
    };
    let burst = |tester: &mut Tester<'_>| trial::run_burst(tester, 5_000).expect("a burst");
    burst(&mut at_exit);
    assert_eq!(runs(&at_exit), 0, "no trial is timed");
    let loads = [Rate::from_fps(100_000.0); 2];
    let found =
        exit_program::measure(&mut at_exit, loads, None, trial::run_overload).expect("timed");
    // On a restless machine too few pairs count.
    if let Some(found) = found {
        assert!((1.0..5_000.0).contains(&found.router_ns), "{found:?}");
    }
    let timed = runs(&at_exit);
    assert!(timed > 0, "its trials are");
    burst(&mut at_exit);
    assert_eq!(runs(&at_exit), timed, "timing ends with them");
    // After overload only the parts of a cost need it.
    let [rate, wire_carries] = loads;
    let forwards = Saturation {
        forwarding: Interval::from_value(rate.fps()),
        ..Saturation::default()
    };
    let cost = FrameCost::default();
    for (cost, needs) in [(None, false), (Some(cost), true)] {
        let found = Saturated {
            at_most: Some(forwards),
            wire_carries: Some(wire_carries),
            cost,
            ..Saturated::default()
        };
        let before = runs(&at_exit);
        let found = time_exit(&mut at_exit, found).expect("timed");
        assert_eq!(runs(&at_exit) > before, needs);
        assert!(needs || found.exit_program.is_none(), "{found:?}");
    }
    drop(at_exit);
    let mut at_port = tester(&bed, &support::traffic());
    let none =
        exit_program::measure(&mut at_port, loads, None, trial::run_overload).expect("the port");
    assert_eq!(none, None);
}

#[test]
fn every_ledger_closes_at_the_exit() {
    if !support::can_run() {
        return;
    }
    let traffic = |ipv6, bidirectional, sizes| Traffic {
        ipv6,
        bidirectional,
        frames: frames(sizes),
        flows: 32,
        ..traffic()
    };
    let traffics = [
        traffic(false, false, "64"),
        traffic(true, false, "mix:78=7,594=4,1518=1"),
        traffic(false, true, "imix"),
        traffic(true, true, "78"),
        Traffic {
            transport: Transport::Tcp,
            ..traffic(true, true, "90")
        },
    ];
    assert_closed_on_every_front(50_000.0, FRAMES_MAX, &traffics);
}

#[test]
fn the_ledger_closes_at_the_exit_under_overload() {
    if !support::can_run() {
        return;
    }
    for interfaces in BOTH {
        let bed = raised(&BedPlan {
            interfaces,
            ..support::plan()
        });
        let mut tester = tester(&bed, &traffic());
        for fps in [1_000.0, 1_000_000.0, 8_000_000.0] {
            let trial = run(&mut tester, fps, 150);
            assert_closed(&trial, &format!("{interfaces:?} {fps}"));
            let counts = trial.counts();
            assert_eq!(
                (counts.foreign, counts.duplicated, counts.merged),
                (0, 0, 0)
            );
            assert_eq!(trial.ledger().lost_receiver_ring, 0);
        }
    }
}

/// The filters at mC's egress.
fn egress_filters(bed: &Bed) -> tc::Filters {
    let port = bed.port(Side::C).ifindex;
    let listed = bed.netns(Side::C).run(|| tc::filters(port, Hook::Egress));
    listed.expect("namespace").expect("filters")
}

/// A fault, what the planting program and the receiver count of it, and the doubt that it raises.
type Counted = (
    Fault,
    fn(&Planted) -> u64,
    fn(&Trial) -> u64,
    Option<&'static str>,
);

#[test]
fn planted_faults_are_found_to_the_frame_at_the_exit() {
    if !support::can_run() {
        return;
    }
    let faults: [Counted; 4] = [
        (
            Fault {
                drop_every: 100,
                ..Fault::NONE
            },
            |planted| planted.dropped,
            |trial| trial.ledger().lost_in_dut,
            None,
        ),
        (
            Fault {
                duplicate_every: 50,
                ..Fault::NONE
            },
            |planted| planted.duplicated,
            |trial| trial.counts().duplicated,
            Some("duplicates"),
        ),
        (
            Fault {
                swap_every: 70,
                ..Fault::NONE
            },
            |planted| planted.swapped,
            |trial| trial.counts().reordered,
            Some("reordered"),
        ),
        // The second frames of the swaps at 35 and 2555 are dropped.
        (
            Fault {
                drop_every: 72,
                swap_every: 70,
                ..Fault::NONE
            },
            |planted| planted.swapped,
            |trial| trial.counts().reordered,
            Some("reordered"),
        ),
    ];
    for interfaces in BOTH {
        let bed = raised(&BedPlan {
            interfaces,
            ..support::plan()
        });
        let mut tester = tester(&bed, &traffic());
        for (fault, planted, found, doubt) in &faults {
            // Where a CPU stands still, frames come late too.
            let is_told = tries().any(|_| {
                let in_place = PlantedFault::plant(*fault, &bed, tester.ways()[0]).expect("plant");
                let trial = run(&mut tester, 10_000.0, 300);
                assert_closed(&trial, &format!("{fault:?}"));
                let planted = planted(&in_place.planted().expect("counts"));
                assert!(planted > 0, "{fault:?}");
                assert_eq!(found(&trial), planted, "{interfaces:?} {fault:?}");
                let verdict = trial.judge(&support::any_machine());
                let raised = frame_doubts(&[(trial, verdict)], support::plan().rx_ring);
                println!("{raised:?}");
                raised.first().map(|doubt| doubt.name) == *doubt
            });
            assert!(is_told, "{fault:?}: not {doubt:?}");
        }
        drop(tester);
        assert_eq!(egress_filters(&bed), tc::Filters::default());
        let port = bed.port(Side::C).ifindex;
        let is_new = bed.netns(Side::C).run(|| tc::add_clsact(port));
        let is_new = is_new.expect("namespace").expect("clsact");
        assert!(is_new, "{interfaces:?}: no clsact was left");
    }
}

/// The exit is refused for this reason in one line, and nobody would have chosen it.
fn assert_no_exit(bed: &Bed, traffic: &Traffic, why: &NoExit) {
    let raised = Tester::raise(bed, traffic, FRAMES_MAX, ReceiverMode::Polled);
    let error = raised.map(drop).expect_err("no exit");
    assert!(
        matches!(&error, TesterError::NoExit(given) if given == why),
        "{error}"
    );
    let line = error.to_string();
    assert!(
        line.ends_with("give --receiver port") && !line.contains('\n'),
        "{line}"
    );
    assert_eq!(
        receiver_place(bed, traffic).expect("a place"),
        ReceiverPlace::Port
    );
}

#[test]
fn what_an_exit_cannot_measure_is_refused() {
    if !support::can_run() {
        return;
    }
    let bed = raised(&plan());
    assert_eq!(
        receiver_place(&bed, &support::traffic()).expect("a place"),
        ReceiverPlace::Exit
    );
    let stream = Traffic {
        transport: Transport::TcpStream,
        frames: frames("1518"),
        ..traffic()
    };
    assert_no_exit(&bed, &stream, &NoExit::Merged);
    let packets = Traffic {
        port: PortKind::AfPacket,
        ..traffic()
    };
    assert_no_exit(&bed, &packets, &NoExit::PacketSockets);
    in_dut(
        &bed,
        "tc qdisc add dev mC root tbf rate 20mbit burst 32kb limit 20mb",
    );
    let why = NoExit::Queued("mC".to_owned(), "tbf".to_owned());
    assert_no_exit(&bed, &traffic(), &why);
    // A wire's frames would pass the shaper.
    assert!(!has_wire(&bed));
    in_dut(&bed, "tc qdisc del dev mC root");
    assert!(has_wire(&bed));
    in_dut(&bed, "tc qdisc add dev mC clsact");
    // A clsact qdisc without filters is in nobody's way.
    drop(tester(&bed, &traffic()));
    in_dut(
        &bed,
        "tc filter add dev mC egress prio 1 protocol all u32 match u32 0 0 flowid 1:1",
    );
    assert_no_exit(&bed, &traffic(), &NoExit::Filters("mC".to_owned()));
    // Nor is a filter at the other port's egress, but for traffic both ways.
    in_dut(&bed, "tc qdisc del dev mC clsact");
    in_dut(&bed, "tc qdisc add dev mB clsact");
    in_dut(
        &bed,
        "tc filter add dev mB egress prio 1 protocol all u32 match u32 0 0 flowid 1:1",
    );
    drop(tester(&bed, &traffic()));
    let both_ways = Traffic {
        bidirectional: true,
        ..traffic()
    };
    assert_no_exit(&bed, &both_ways, &NoExit::Filters("mB".to_owned()));
}

fn has_wire(bed: &Bed) -> bool {
    let wire = Wire::lay(bed, &ways(bed, false));
    wire.unwrap_or_else(|error| panic!("{error}")).is_some()
}

/// What stands at the outgoing port's egress is the router's. Through a wire it would count as the bed's.
#[test]
fn no_wire_leads_through_the_routers_egress() {
    if !support::can_run() {
        return;
    }
    let bed = raised(&plan());
    let router = bed.dut().netns().expect("a router of ours");
    let _receiver = tester(&bed, &traffic());
    // The receiver is ours.
    assert!(has_wire(&bed));
    let added = |device: &str| {
        let nft = format!(
            "nft add table netdev t && nft 'add chain netdev t e {{ type filter hook egress device {device} priority 0; }}'"
        );
        let ended = router.run(|| Command::new("sh").args(["-ec", &nft]).status());
        ended
            .expect("the namespace")
            .is_ok_and(|ended| ended.success())
    };
    if added("lo") {
        assert!(has_wire(&bed), "no frame leaves by lo");
        in_dut(&bed, "nft delete table netdev t");
        assert!(added("mC") && !has_wire(&bed), "nft");
        in_dut(&bed, "nft delete table netdev t");
    } else {
        println!("SKIP: needs nft with egress chains");
    }
    assert!(has_wire(&bed));
    // Another's program before the receiver: both work, and the wire would pass it.
    let interfaces = KernelInterfaces::find(Interfaces::Newest).expect("interfaces");
    if interfaces.traffic_control == TrafficControl::Clsact {
        support::skip!("tcx (Linux 6.6)");
    }
    let mut place = MaybeUninit::uninit();
    let open = WireSkelBuilder::default().open(&mut place).expect("open");
    let other = open.load().expect("load");
    let mc = bed.port_at(Side::C).expect("mC");
    let program = other.progs.wire.as_fd();
    let attach = || bpf::attach_first(program, mc.ifindex, LinkKind::TcxEgress);
    let link = mc.netns.run(attach).expect("namespace").expect("attached");
    assert!(!has_wire(&bed), "tcx");
    drop(link);
    assert!(has_wire(&bed));
}

#[test]
fn a_device_of_others_has_no_exit() {
    if !support::can_run() || !alone("a_device_of_others_has_no_exit") {
        return;
    }
    let lab = device::Lab::new();
    let refused = lab.host.run(|| {
        let usual = device::plan("x1", "x2", false, false);
        let bed = raised(&usual);
        assert_no_exit(
            &bed,
            &traffic(),
            &NoExit::Dut("an external device has no exit for the receiver"),
        );
        bed.lower().unwrap_or_else(|error| panic!("lower: {error}"));
    });
    refused.expect("host");
}

/// Octets of the longest frame.
const ROOM: usize = 2048;

/// Sends frames that arrive at mB out of mC, past its egress hook, while this runs; how many, at its end.
fn past_the_exit<T>(bed: &Bed, work: impl FnOnce() -> T) -> (T, u64) {
    let (stop, passed) = (AtomicBool::new(false), AtomicU64::new(0));
    let open = || {
        let every = Filter::first_octets(u32::from(u16::MAX));
        let arriving = PacketSocket::open("mB", &every, &[])?;
        let (slots, frame_max) = (1, ROOM);
        let leaving = TxRing::open("mC", TxSpec { slots, frame_max })?;
        Ok::<_, mpps_linux::Error>((arriving, leaving))
    };
    let (arriving, mut leaving) = bed
        .netns(Side::B)
        .run(open)
        .expect("namespace")
        .expect("sockets");
    let forward = || {
        cpu::pin_current_thread(&bed.plan().cpus.dut_set()).expect("pin");
        let mut room = [0; ROOM];
        while !stop.load(Ordering::Relaxed) {
            if let Some(frame) = arriving.receive(&mut room, 10).expect("receive") {
                // At overload the cable's other end has no room for all of them.
                leaving.stage(frame.len(), |slot| slot.copy_from_slice(frame));
                let sent = leaving.flush().expect("send").taken;
                passed.fetch_add(sent as u64, Ordering::Relaxed);
            }
        }
    };
    let done = std::thread::scope(|scope| {
        let forwarding = scope.spawn(forward);
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        stop.store(true, Ordering::Relaxed);
        forwarding.join().expect("the forwarder");
        done
    });
    let done = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    (done, passed.into_inner())
}

#[test]
fn frames_that_pass_the_exit_by_void_the_count() {
    if !support::can_run() {
        return;
    }
    // Copies pass by, and the router's own frames do not.
    let bed = raised(&plan());
    let mut tester = tester(&bed, &traffic());
    let (trial, passed) = past_the_exit(&bed, || run(&mut tester, 2_000.0, 200));
    let verdict = trial.judge(&support::any_machine());
    assert!(
        matches!(verdict, Verdict::Invalid(Invalid::PassedExit(frames)) if frames <= passed),
        "{verdict}, {passed} passed"
    );
    assert!(
        verdict.to_string().ends_with("give --receiver port"),
        "{verdict}"
    );
    drop(tester);
    // The receiver at the port counts them for what they are.
    let mut tester = self::tester(&bed, &support::traffic());
    let (trial, _) = past_the_exit(&bed, || run(&mut tester, 2_000.0, 200));
    assert!(trial.counts().duplicated > 0, "{:?}", trial.counts());
}

#[test]
fn a_filter_put_before_the_receiver_is_noticed() {
    if !support::can_run() {
        return;
    }
    let bed = raised(&BedPlan {
        interfaces: Interfaces::Oldest,
        ..plan()
    });
    let mut tester = tester(&bed, &traffic());
    in_dut(
        &bed,
        "tc filter add dev mC egress prio 2 protocol all u32 match u32 0 0 flowid 1:1",
    );
    let trial = run(&mut tester, 2_000.0, 100);
    let verdict = trial.judge(&support::any_machine());
    assert!(
        matches!(verdict, Verdict::Invalid(Invalid::PassedExit(_))),
        "{verdict}"
    );
}

/// A short search for whatever the traffic's receiver, or the one chosen, says.
fn search(
    bed: &Bed,
    traffic: &Traffic,
    receiver: Option<ReceiverPlace>,
) -> Result<ResultLine, JobError> {
    let plan = ThroughputPlan {
        sizes: vec![traffic.frames.clone()],
        traffic: traffic.clone(),
        port: None,
        search: SearchPlan::Bisection {
            trial: Span::from_millis(100),
            resolution: Resolution::Fraction(0.2),
            trials_per_load: 1,
            accept: Accept::Any,
        },
        warm_up: Span::ZERO,
        minimum: Rate::from_fps(500.0),
        maximum: Some(Rate::from_fps(2_000.0)),
        link: Link::NOTIONAL,
        // What it finds is not the question: where it received is.
        budget: Some(Span::from_millis(1_000)),
        receiver,
    };
    let mut found = Printed::<ResultLine>::new();
    match throughput::measure(UnderTest::Bed(bed), &plan, &mut found).0 {
        None => Ok(found.0.remove(0)),
        Some(error) => Err(error),
    }
}

/// A tenth of a second of a fixed load.
fn fixed(traffic: Traffic) -> FixedLoadPlan {
    FixedLoadPlan {
        sizes: vec![traffic.frames.clone()],
        traffic,
        port: None,
        loads: vec![Load::At(Rate::from_fps(2_000.0))],
        time: Span::from_millis(100),
        trials: 1,
        wire: false,
        receiver: None,
    }
}

#[test]
fn a_router_past_the_exit_is_measured_at_the_port() {
    if !support::can_run() {
        return;
    }
    let bed = raised(&plan());
    // The router is a program of its own: it forwards by packet sockets.
    let off = || Setting::sysctl("net.ipv4.ip_forward").write("0");
    bed.netns(Side::B)
        .run(off)
        .expect("namespace")
        .expect("no router");
    let ((), passed) = past_the_exit(&bed, || {
        let mut at_exit = tester(&bed, &traffic());
        let error = probe(&mut at_exit).expect_err("past the exit");
        assert!(
            matches!(
                error,
                ProbeError::Stopped {
                    hop: Hop::PastExit,
                    ..
                }
            ),
            "{error}"
        );
        let line = error.to_string();
        assert!(line.ends_with("give --receiver port"), "{line}");
        drop(at_exit);
        let error = search(&bed, &support::traffic(), Some(ReceiverPlace::Exit));
        assert!(error.expect_err("as asked for").is_past_exit());
        let mut found = Printed::<LoadLine>::new();
        let error =
            fixed_load::measure(UnderTest::Bed(&bed), &fixed(support::traffic()), &mut found);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(found.0[0].receiver, Some(ReceiverPlace::Port.into()));
    });
    assert!(passed > 0);
}

/// On a busy machine the probe's few frames wait for each other and are merged too. It says so, and nothing is counted.
fn is_of_merged_probe(error: &JobError) -> bool {
    error.to_string().contains("changed the frames so much")
}

#[test]
fn frames_merged_by_gro_are_never_miscounted() {
    if !support::can_run() {
        return;
    }
    let mut searched = false;
    for nic in [Front::Cpumap, Front::Napi] {
        let bed = raised(&BedPlan { nic, ..plan() });
        let merge = || {
            ethtool::set_feature("mB", "rx-gro", true)?;
            ethtool::set_feature("mB", "rx-udp-gro-forwarding", true)
        };
        bed.netns(Side::B)
            .run(merge)
            .expect("namespace")
            .expect("GRO");
        let family = |receiver| Traffic {
            ipv6: true,
            frames: frames("78"),
            receiver,
            ..support::traffic()
        };
        let mut tester = tester(&bed, &family(ReceiverPlace::Exit));
        let trial = trial::run_burst(&mut tester, 50_000).expect("trial");
        let (verdict, counts) = (trial.judge(&support::any_machine()), trial.counts());
        println!("{nic:?}: {verdict}, {counts:?}");
        drop(tester);
        let merged = counts.merged > 0;
        if merged {
            assert!(
                matches!(verdict, Verdict::Invalid(Invalid::MergedAtExit(n)) if n == counts.merged),
                "{verdict}"
            );
        } else {
            assert_closed(&trial, "not merged");
        }
        let plan = fixed(family(ReceiverPlace::Port));
        let mut found = Printed::<LoadLine>::new();
        if let Some(error) = fixed_load::measure(UnderTest::Bed(&bed), &plan, &mut found) {
            assert!(merged && is_of_merged_probe(&error), "{nic:?}: {error}");
            continue;
        }
        let found = found.0;
        assert_eq!(
            found[0].receiver == Some(ReceiverPlace::Port.into()),
            merged,
            "{nic:?}"
        );
        // A search asks no front for its place: one of them is enough.
        if merged && !searched {
            let error = search(
                &bed,
                &family(ReceiverPlace::Port),
                Some(ReceiverPlace::Exit),
            );
            let error = error.expect_err("as asked for");
            assert!(
                matches!(error, JobError::PastExit(Invalid::MergedAtExit(_)))
                    || is_of_merged_probe(&error),
                "{error}"
            );
            match search(&bed, &family(ReceiverPlace::Port), None) {
                Ok(found) => {
                    assert_eq!(found.receiver, Some(ReceiverPlace::Port.into()), "{nic:?}")
                }
                Err(error) => assert!(is_of_merged_probe(&error), "{nic:?}: {error}"),
            }
            searched = true;
        }
    }
}

#[test]
fn what_a_killed_exit_left_is_taken_off() {
    if !support::can_run() {
        return;
    }
    let bed = raised(&BedPlan {
        interfaces: Interfaces::Oldest,
        ..support::plan()
    });
    // As a process that was killed: nothing is dropped.
    let plan = ReceiverPlan {
        order: traffic().flow_order(),
        place_flow: None,
        tcp: false,
        sequences_max: 64,
        all_timed: false,
        pass_foreign: false,
    };
    let receiver = Receiver::attach_at_exit(plan, &bed, bed.port(Side::C)).expect("attach");
    std::mem::forget(receiver);
    assert!(egress_filters(&bed).ours_last);
    let mut tester = tester(&bed, &support::traffic());
    assert_eq!(egress_filters(&bed), tc::Filters::default());
    assert!(run(&mut tester, 2_000.0, 50).counts().received > 0);
}
