//! More CPUs than two: each queue on a CPU of its own, each CPU transmitting on a queue of its own. Four CPUs do;
//! a machine that has fewer can emulate one: `cargo xtask kernel --cpus 4 -- many_cpus`.

use crate::support;
use crate::support::PortsOfBed as _;
use mpps_lab::bed::{Bed, BedPlan, CpuSplit, Front, Side};
use mpps_lab::tester::{PortKind, ReceiverMode, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial::{self, probe};
use mpps_linux::cpu;
use mpps_linux::ethtool;
use mpps_method::{Offer, Rate, Span, Trial, Verdict};

const FRAMES_MAX: u64 = 1 << 20;
const FLOWS: u32 = 64;

/// The DUT on two CPUs, the tester on two others.
fn plan(nic: Front) -> Option<BedPlan> {
    if !support::can_run() {
        return None;
    }
    // Not those available: a tester that was raised before has left this thread on its own.
    let online = cpu::online().expect("sysfs");
    let four: Vec<usize> = online.iter().take(4).collect();
    let &[first, second, third, fourth] = &four[..] else {
        support::skip!("4 CPUs, these are online: {online}");
    };
    Some(BedPlan {
        nic,
        // Behind the other fronts a veth has one, for it goes by the sender's CPU.
        queues: if nic == Front::Cpumap { 2 } else { 1 },
        cpus: CpuSplit {
            dut: vec![first, second],
            tester: vec![third, fourth],
        },
        ..support::plan()
    })
}

/// 4000 frames at a load that a slow machine can send.
fn closed_trial(bed: &Bed, traffic: &Traffic, what: &str) -> Trial {
    let mut tester = Tester::raise(bed, traffic, FRAMES_MAX, ReceiverMode::Polled)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    probe::probe(&mut tester).unwrap_or_else(|error| panic!("{what}: {error}"));
    let offer = Offer::new(Rate::from_fps(10_000.0), Span::from_millis(400));
    let trial = trial::run(&mut tester, &offer).unwrap_or_else(|error| panic!("{what}: {error}"));
    let verdict = trial.judge(&support::any_machine());
    assert!(!matches!(verdict, Verdict::Invalid(_)), "{what}: {verdict}");
    let counts = trial.counts();
    assert!(counts.received > 0, "{what}: {counts:?}");
    assert_eq!(
        (counts.duplicated, counts.reordered, counts.foreign),
        (0, 0, 0),
        "{what}: a flow stays on its queue"
    );
    trial
}

/// Frames that each receive queue of a port got.
fn per_receive_queue(bed: &Bed, side: Side) -> Vec<u64> {
    let name = &bed.port(side).name;
    let all = bed.netns(side).run(|| ethtool::statistics(name));
    let all = all.expect("namespace").expect("statistics");
    (0..2)
        .map(|queue| {
            let wanted = format!("rx_queue_{queue}_xdp_packets");
            let found = all.iter().find(|(name, _)| *name == wanted);
            found.unwrap_or_else(|| panic!("no {wanted}: {all:?}")).1
        })
        .collect()
}

#[test]
fn each_dut_cpu_has_queues_of_its_own() {
    let Some(plan) = plan(Front::Cpumap) else {
        return;
    };
    let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"));
    let traffic = Traffic {
        flows: FLOWS,
        ..support::traffic()
    };
    let before = per_receive_queue(&bed, Side::D);
    let trial = closed_trial(&bed, &traffic, "two queues");
    let after = per_receive_queue(&bed, Side::D);
    assert_eq!(trial.per_queue.len(), 2);
    assert!(
        trial.per_queue.iter().all(|&frames| frames > 0),
        "{trial:?}"
    );
    let busy: Vec<usize> = trial.busy.iter().map(|busy| busy.cpu).collect();
    assert_eq!(busy, plan.cpus.dut);
    assert!(trial.busy.iter().all(|busy| busy.run_ns > 0), "{trial:?}");
    // Nothing else tells which CPU transmitted where: what a queue of the NIC got, one of the receiver's got.
    let counts = trial.counts();
    if counts.lost == 0 {
        let received: Vec<u64> = after.iter().zip(&before).map(|(a, b)| a - b).collect();
        let canaries = received.iter().sum::<u64>() - counts.received;
        for (queue, (&got, &sent)) in received.iter().zip(&trial.per_queue).enumerate() {
            assert!(
                got.abs_diff(sent) <= canaries,
                "queue {queue}: the receiver's {received:?}, the NIC's {:?}",
                trial.per_queue
            );
        }
    }
}

#[test]
fn ledger_closes_for_every_front_and_direction() {
    for nic in [Front::Cpumap, Front::Napi, Front::Softirq] {
        let Some(plan) = plan(nic) else {
            return;
        };
        let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("{nic:?}: {error}"));
        for (port, bidirectional) in [
            (PortKind::Xdp, false),
            (PortKind::Xdp, true),
            (PortKind::AfPacket, false),
        ] {
            let traffic = Traffic {
                flows: FLOWS,
                port,
                bidirectional,
                ..support::traffic()
            };
            let what = format!("{nic:?} {port:?} both ways {bidirectional}");
            let trial = closed_trial(&bed, &traffic, &what);
            let ways = if bidirectional { 2 } else { 1 };
            assert_eq!(trial.per_queue.len(), ways * usize::from(plan.queues));
            let (frames, sent) = (trial.per_queue.iter().sum::<u64>(), trial.counts().sent);
            assert!(frames >= sent, "{what}: {trial:?}");
        }
    }
}
