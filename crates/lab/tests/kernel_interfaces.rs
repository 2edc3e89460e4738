//! The older of two ways does what the newer does: on every kernel, so that this one's newness hides nothing.

use crate::support;
use crate::support::PortsOfBed as _;
use crate::support::trials::{assert_closed, is_delivered, offer, run_until};
use mpps_lab::bed::{Bed, BedPlan, Interfaces, Side};
use mpps_lab::clock::{wait_for, wait_until};
use mpps_lab::tester::{
    KernelInterfaces, NapiList, PortKind, ReceiverMode, StallWatch, Tester, TesterError,
    TrafficControl, Watch, Wire, napi_threads,
};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::tc::{self, Filters, Hook};
use mpps_linux::{clock, kernel, setting::Setting, task};
use mpps_method::Trial;
use std::process::Command;

const FRAMES_MAX: u64 = 1 << 20;
const MS: u64 = 1_000_000;

fn bed_with(interfaces: Interfaces) -> Bed {
    Bed::raise(&BedPlan {
        interfaces,
        ..support::plan()
    })
    .unwrap_or_else(|error| panic!("raise: {error}"))
}

fn tester(bed: &Bed) -> Tester<'_> {
    Tester::raise(bed, &support::traffic(), FRAMES_MAX, ReceiverMode::Polled)
        .unwrap_or_else(|error| panic!("tester: {error}"))
}

/// 2000 frames at a load that a slow machine can send; every identity of the ledger holds, and most arrived unless a CPU
/// stood still each time.
fn closed_trial(tester: &mut Tester<'_>) -> Trial {
    let trial = run_until(tester, &offer(10_000.0, 200), is_delivered);
    assert_closed(&trial, "2000 frames");
    trial
}

fn filters(bed: &Bed, side: Side, hook: Hook) -> Filters {
    let ifindex = bed.port(side).ifindex;
    let listed = bed.netns(side).run(|| tc::filters(ifindex, hook));
    listed.expect("namespace").expect("filters")
}

/// Whether the port has a clsact qdisc; it has none afterwards.
fn had_clsact(bed: &Bed, side: Side) -> bool {
    let ifindex = bed.port(side).ifindex;
    let had = bed.netns(side).run(|| {
        let made = tc::add_clsact(ifindex)?;
        tc::delete_clsact(ifindex).map(|()| !made)
    });
    had.expect("namespace").expect("clsact")
}

#[test]
fn the_newest_interfaces_are_those_of_this_kernel() {
    if !support::can_run() {
        return;
    }
    assert_eq!(
        KernelInterfaces::find(Interfaces::Oldest).expect("interfaces"),
        KernelInterfaces::OLDEST
    );
    let found = KernelInterfaces::find(Interfaces::Newest).expect("interfaces");
    let release = kernel::release().expect("release");
    // A distribution may have more than its version says, never less.
    if release.at_least(6, 6) {
        assert_eq!(found.traffic_control, TrafficControl::Tcx);
    }
    if release.at_least(6, 7) {
        assert_eq!(found.stall_watch, StallWatch::Timers);
    }
    if release.at_least(6, 8) {
        assert_eq!(found.napi_list, NapiList::Netlink);
    }
}

#[test]
fn threads_of_a_port_are_found_among_all_tasks() {
    if !support::can_run() {
        return;
    }
    // Two beds: their threads have the same names but for a number.
    let beds = [support::bed(), support::bed()];
    let _testers: Vec<Tester<'_>> = beds.iter().map(tester).collect();
    let found = |bed: &Bed, list| napi_threads(bed.port(Side::D), list).expect("threads");
    let by_tasks: Vec<Vec<i32>> = beds.iter().map(|bed| found(bed, NapiList::Tasks)).collect();
    for (bed, tids) in beds.iter().zip(&by_tasks) {
        let plan = bed.plan();
        let queues = usize::from(plan.queues).max(plan.cpus.dut.len());
        assert_eq!(tids.len(), queues, "{by_tasks:?}");
        let name = task::comm(tids[0]).expect("a live thread");
        assert!(name.starts_with("napi/mD-"), "{name}");
    }
    assert_ne!(by_tasks[0], by_tasks[1]);
    if KernelInterfaces::find(Interfaces::Newest)
        .expect("interfaces")
        .napi_list
        == NapiList::Netlink
    {
        let by_netlink = beds.iter().map(|bed| found(bed, NapiList::Netlink));
        assert_eq!(by_netlink.collect::<Vec<_>>(), by_tasks);
    }
    // The DUT's port is not threaded behind this front.
    let unthreaded = napi_threads(beds[0].port(Side::C), NapiList::Tasks).expect("threads");
    assert!(unthreaded.is_empty(), "{unthreaded:?}");
}

#[test]
fn either_interface_lays_a_wire() {
    if !support::can_run() {
        return;
    }
    for interfaces in [Interfaces::Newest, Interfaces::Oldest] {
        let bed = bed_with(interfaces);
        let mut tester = tester(&bed);
        let ways = tester.ways();
        let off = bed
            .netns(Side::B)
            .run(|| Setting::sysctl("net.ipv4.ip_forward").write("0"));
        off.expect("namespace").expect("no router");
        let wire = Wire::lay(&bed, &ways).expect("laid").expect("a wire");
        let trial = closed_trial(&mut tester);
        assert!(
            trial.counts().received > trial.counts().sent / 2,
            "{interfaces:?}: {trial:?}"
        );
        drop(wire);
        assert!(!had_clsact(&bed, Side::B), "{interfaces:?}");
        let trial = trial::run(&mut tester, &offer(10_000.0, 50)).expect("trial");
        assert_eq!(
            trial.counts().received,
            0,
            "{interfaces:?}: the wire is gone"
        );
        drop(tester);
        bed.lower().expect("lower");
    }
}

#[test]
fn filters_of_a_killed_process_are_removed() {
    if !support::can_run() {
        return;
    }
    let bed = bed_with(Interfaces::Oldest);
    let ways = mpps_lab::tester::ways(&bed, false);
    let others = Filters {
        others: 1,
        ..Filters::default()
    };
    for users_own in [false, true] {
        if users_own {
            let run = |words: &str, last: &[&str]| {
                let tc = || {
                    Command::new("tc")
                        .args(words.split(' '))
                        .args(last)
                        .status()
                };
                let ended = bed.netns(Side::B).run(tc).expect("namespace");
                assert!(ended.expect("tc of iproute2").success(), "{words}");
            };
            run("qdisc add dev mB clsact", &[]);
            // One instruction of classic BPF: return -1, go on.
            let go_on = ["1,6 0 0 4294967295"];
            run("filter add dev mB egress prio 1 bpf bytecode", &go_on);
        }
        // As a process that was killed: nothing is dropped.
        std::mem::forget(Wire::lay(&bed, &ways).expect("laid").expect("a wire"));
        assert!(filters(&bed, Side::B, Hook::Ingress).ours_first);
        let mut tester = tester(&bed);
        assert_eq!(
            filters(&bed, Side::B, Hook::Ingress),
            Filters::default(),
            "users own: {users_own}"
        );
        if users_own {
            assert_eq!(filters(&bed, Side::B, Hook::Egress), others, "left alone");
            // And left alone by a wire that comes and goes.
            drop(Wire::lay(&bed, &ways).expect("laid").expect("a wire"));
            assert_eq!(filters(&bed, Side::B, Hook::Egress), others, "left alone");
        } else {
            assert!(!had_clsact(&bed, Side::B));
        }
        // The router routes again.
        let trial = closed_trial(&mut tester);
        assert!(trial.counts().received > 0);
    }
}

/// Spins at the highest real-time priority.
fn stop_cpu(cpu: usize, for_ns: u64) {
    cpu::pin_current_thread(&CpuSet::single(cpu)).expect("pin");
    cpu::set_fifo(task::current_tid(), 99).expect("FIFO");
    let end = clock::monotonic_ns() + for_ns;
    while clock::monotonic_ns() < end {
        std::hint::spin_loop();
    }
}

#[test]
fn either_interface_ends_frames_at_a_packet_port() {
    if !support::can_run() {
        return;
    }
    for interfaces in [Interfaces::Newest, Interfaces::Oldest] {
        let bed = bed_with(interfaces);
        let traffic = Traffic {
            port: PortKind::AfPacket,
            ..support::traffic()
        };
        let raised = Tester::raise(&bed, &traffic, FRAMES_MAX, ReceiverMode::Polled);
        let mut tester = raised.unwrap_or_else(|error| panic!("{interfaces:?}: {error}"));
        let traffic_control = KernelInterfaces::find(interfaces)
            .expect("interfaces")
            .traffic_control;
        assert_eq!(
            filters(&bed, Side::D, Hook::Ingress).ours_last,
            traffic_control == TrafficControl::Clsact
        );
        let trial = closed_trial(&mut tester);
        assert!(trial.counts().received > 0, "{interfaces:?}: {trial:?}");
        drop(tester);
        assert!(!had_clsact(&bed, Side::D), "{interfaces:?}");
    }
}

#[test]
fn either_watch_ticks_on_every_cpu_and_forgets() {
    if !support::can_run() {
        return;
    }
    let cpus = support::plan().cpus.all();
    let newest = KernelInterfaces::find(Interfaces::Newest)
        .expect("interfaces")
        .stall_watch;
    for by in [newest, StallWatch::Threads] {
        let watch = Watch::start(&cpus, None, by).expect("watch");
        let begun = clock::monotonic_ns();
        watch.clear().expect("clear");
        let mut first = Vec::new();
        let has_ticked = wait_for(10_000 * MS, MS, || {
            first = watch.read()?;
            Ok::<_, TesterError>(first.iter().all(|(_, seen)| seen.ticks > 2))
        });
        assert!(has_ticked.expect("read"), "{by:?}: {first:?}");
        let passed = clock::monotonic_ns() - begun;
        assert_eq!(first.len(), cpus.len());
        for (cpu, seen) in &first {
            // Between two ticks a period passes; so many ticks need so much time.
            assert!(seen.ticks <= 2 + passed / MS, "{by:?}, CPU {cpu}: {seen:?}");
            assert!(
                (MS..=passed).contains(&seen.longest_ns),
                "{by:?}, CPU {cpu}: {seen:?}"
            );
        }
        watch.clear().expect("clear");
        for (cpu, seen) in watch.read().expect("read") {
            let before = first.iter().find(|(at, _)| *at == cpu).expect("same CPUs");
            assert!(seen.epoch > before.1.epoch, "{by:?}, CPU {cpu}: {seen:?}");
        }
    }
}

#[test]
fn the_watch_by_threads_sees_a_cpu_stand_still() {
    if !support::can_run() {
        return;
    }
    let plan = support::plan();
    if plan.cpus.shared() {
        support::skip!("two CPUs");
    }
    let stopped = plan.cpus.dut[0];
    let watch = Watch::start(&plan.cpus.all(), None, StallWatch::Threads).expect("watch");
    watch.clear().expect("clear");
    std::thread::scope(|scope| {
        scope.spawn(|| stop_cpu(stopped, 40 * MS));
    });
    // Its next tick tells how long it was.
    let end = clock::monotonic_ns() + 5_000 * MS;
    let longest = || {
        let seen = watch.read().expect("read");
        let of = seen.iter().find(|(cpu, _)| *cpu == stopped);
        of.expect("a watched CPU").1.longest_ns
    };
    while longest() < 35 * MS {
        assert!(clock::monotonic_ns() < end, "{:?}", watch.read());
        wait_until(clock::monotonic_ns() + MS);
    }
}
