//! Each program by BPF_PROG_TEST_RUN: a frame in, the verdict and what the maps say out. Needs root.

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, MapType, ProgramInput};
use mpps_ebpf::Plain;
use mpps_ebpf::instruments::receiver::Looked;
use mpps_ebpf::instruments::{self, fault, ledger, nic, receiver, sender, sink, watch};
use std::mem::MaybeUninit;

const XDP_DROP: u32 = 1;
const XDP_PASS: u32 = 2;
const XDP_REDIRECT: u32 = 4;
const ZERO: [u8; 4] = [0; 4];
const TCX_DROP: u32 = 2;
const HOUR_NS: u64 = 3_600_000_000_000;
/// As watch.bpf.c has it.
const CPUS_MAX: u32 = 1024;

/// Loading needs root; without it the test says so and ends.
fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("proc is mounted");
    let root = status
        .lines()
        .any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"));
    if !root {
        println!("SKIP: needs root to load eBPF programs");
    }
    root
}

/// Ethernet, IPv4, UDP, tag, padded to 60 octets: flow `port - 1024`.
fn tagged_frame(id: u16, sequence: u64, port: u16) -> Vec<u8> {
    let mut frame = vec![0u8; 60];
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    frame[14] = 0x45;
    frame[23] = 17;
    frame[34..36].copy_from_slice(&port.to_be_bytes());
    frame[36..38].copy_from_slice(&port.to_be_bytes());
    frame[42..44].copy_from_slice(&id.to_be_bytes());
    frame[44..49].copy_from_slice(&sequence.to_be_bytes()[3..]);
    frame
}

fn verdict(program: &libbpf_rs::ProgramMut<'_>, frame: &[u8]) -> (u32, Vec<u8>) {
    let mut out = vec![0u8; 4096];
    let input = ProgramInput {
        data_in: Some(frame),
        data_out: Some(&mut out),
        repeat: 1,
        ..ProgramInput::default()
    };
    let run = program.test_run(input).expect("test run");
    let data = run.data.map(|data| data.to_vec()).unwrap_or_default();
    (run.return_value, data)
}

fn loaded_receiver(
    storage: &mut MaybeUninit<libbpf_rs::OpenObject>,
    flows: u32,
) -> receiver::ReceiverSkel<'_> {
    let mut open = receiver::ReceiverSkelBuilder::default()
        .open(storage)
        .expect("open");
    let rodata = open.maps.rodata_data.as_deref_mut().expect("rodata");
    rodata.flows = flows;
    rodata.flow_places = u64::from(flows);
    rodata.sequences_max = 128;
    open.maps.seen.set_max_entries(2).expect("seen");
    open.maps.expected.set_max_entries(flows).expect("expected");
    let skel = open.load().expect("load");
    skel.maps
        .trial
        .update(&ZERO, &9u64.to_ne_bytes(), MapFlags::ANY)
        .expect("trial id");
    skel.maps
        .trial
        .update(&1u32.to_ne_bytes(), &10u64.to_ne_bytes(), MapFlags::ANY)
        .expect("canary id");
    skel
}

fn received(skel: &receiver::ReceiverSkel<'_>) -> receiver::Received {
    let value = skel
        .maps
        .counts
        .lookup_percpu(&ZERO, MapFlags::ANY)
        .expect("lookup")
        .expect("one entry");
    let counts: Option<Vec<_>> = value.iter().map(|cpu| Plain::from_octets(cpu)).collect();
    receiver::Received::from_cpus(&counts.expect("the C struct's length"))
}

/// At the tester's port and at the DUT's exit alike.
#[test]
fn receiver_counts_each_kind_of_frame_once() {
    if !is_root() {
        return;
    }
    for at_exit in [false, true] {
        let mut storage = MaybeUninit::uninit();
        let skel = loaded_receiver(&mut storage, 1);
        let (program, dropped) = if at_exit {
            (&skel.progs.leave, TCX_DROP)
        } else {
            (&skel.progs.receive, XDP_DROP)
        };
        for (sequence, port) in [
            (0, 1024),
            (2, 1024),
            (1, 1024),
            (2, 1024),
            (3, 1025),
            (200, 1024),
        ] {
            let (got, _) = verdict(program, &tagged_frame(9, sequence, port));
            assert_eq!(got, dropped);
        }
        for frame in [
            tagged_frame(10, 0, 1024).as_slice(),     // canary
            tagged_frame(8, 5, 1024).as_slice(),      // late
            tagged_frame(0x8000, 0, 1024).as_slice(), // foreign
            &[0u8; 60],                               // foreign
        ] {
            assert_eq!(verdict(program, frame).0, dropped);
        }
        let got = received(&skel);
        assert_eq!((got.tagged, got.duplicated, got.reordered), (5, 1, 1));
        assert_eq!(
            (got.foreign, got.late, got.canary, got.beyond, got.merged),
            (2, 1, 1, 1, 0)
        );
        assert_eq!(got.latency.iter().sum::<u64>(), 5);
    }
}

#[test]
fn receiver_notes_gaps_around_a_time_alone() {
    if !is_root() {
        return;
    }
    let mut storage = MaybeUninit::uninit();
    let skel = loaded_receiver(&mut storage, 1);
    let mut sequence = 0;
    let mut gap_after_frame = |looked: Looked| {
        let written = skel.maps.gaps.update(&ZERO, looked.octets(), MapFlags::ANY);
        written.expect("a span");
        let frame = tagged_frame(9, sequence, 1024);
        sequence += 1;
        verdict(&skel.progs.receive, &frame);
        received(&skel).gap
    };
    assert_eq!(gap_after_frame(Looked::from(0)), None, "the first frame");
    assert_eq!(gap_after_frame(Looked::NEVER), None);
    assert_eq!(gap_after_frame(Looked::from(0).until(1)), None);
    let gap = gap_after_frame(Looked::from(0)).expect("a gap");
    assert_eq!(gap.before, 3);
}

#[test]
fn receiver_counts_frames_whose_ttl_is_as_sent() {
    if !is_root() {
        return;
    }
    let mut storage = MaybeUninit::uninit();
    let skel = loaded_receiver(&mut storage, 1);
    for (sequence, ttl) in [(0, 63), (1, 64), (2, 1), (3, 255)] {
        let mut frame = tagged_frame(9, sequence, 1024);
        frame[22] = ttl;
        verdict(&skel.progs.receive, &frame);
    }
    assert_eq!(received(&skel).not_lowered, 2);
    let mut ipv6 = vec![0u8; 74];
    ipv6[12..14].copy_from_slice(&[0x86, 0xdd]);
    (ipv6[20], ipv6[21]) = (17, receiver::SENT_TTL);
    ipv6[62..64].copy_from_slice(&9u16.to_be_bytes());
    ipv6[68] = 5;
    verdict(&skel.progs.receive, &ipv6);
    let got = received(&skel);
    assert_eq!((got.tagged, got.not_lowered), (5, 3));
}

#[test]
fn reordering_is_seen_within_a_flow_only() {
    if !is_root() {
        return;
    }
    let mut storage = MaybeUninit::uninit();
    let skel = loaded_receiver(&mut storage, 4);
    for (sequence, port) in [(5, 1024), (4, 1025), (7, 1026), (6, 1027)] {
        verdict(&skel.progs.receive, &tagged_frame(9, sequence, port));
    }
    assert_eq!(received(&skel).reordered, 0);
    verdict(&skel.progs.receive, &tagged_frame(9, 3, 1024));
    assert_eq!(received(&skel).reordered, 1);
}

/// A sender with an order, and without a port: each redirect is refused.
fn ordered_sender<'a>(
    storage: &'a mut MaybeUninit<libbpf_rs::OpenObject>,
    order: &sender::Order,
) -> sender::SenderSkel<'a> {
    sender_at(storage, &order.to_state())
}

fn sender_at<'a>(
    storage: &'a mut MaybeUninit<libbpf_rs::OpenObject>,
    state: &sender::types::sender_state,
) -> sender::SenderSkel<'a> {
    let open = sender::SenderSkelBuilder::default()
        .open(storage)
        .expect("open");
    let skel = open.load().expect("load");
    skel.maps
        .data_state
        .update(&ZERO, state.octets(), MapFlags::ANY)
        .expect("order");
    skel
}

/// On a restless machine the pauses of a long trial are more than there is room for.
#[test]
fn the_load_drops_when_no_mark_is_left() {
    if !is_root() {
        return;
    }
    let order = sender::Order {
        gap_fp: 1 << 20,
        slots: 1_000,
        late_max_ns: u64::MAX,
        slow: Some(sender::Slow {
            after_ns: 0,
            gap_fp: HOUR_NS << 20,
        }),
        ..sender::Order::default()
    };
    // The sender last sent a frame long ago: it paused.
    let at = |marks| sender::types::sender_state {
        marks,
        started_ns: 1,
        last_ns: 1,
        ..order.to_state()
    };
    for (before, made) in [
        (0, 2),
        (sender::MARKS_MAX / 2 - 1, 2),
        (sender::MARKS_MAX / 2, 1),
        (sender::MARKS_MAX, 0),
    ] {
        let mut storage = MaybeUninit::uninit();
        let skel = sender_at(&mut storage, &at(before));
        verdict(&skel.progs.send, &[0u8; 60]);
        let found = outcome(&skel);
        assert_eq!(found.marks, before + made, "{before}");
        assert!(found.slowed_ns > 0, "{before}");
    }
}

#[test]
fn sender_paces_and_counts_unsent_slots() {
    if !is_root() {
        return;
    }
    let mut storage = MaybeUninit::uninit();
    // A slot each hour: the first is due at once, the second not.
    let order = sender::Order {
        gap_fp: HOUR_NS << 20,
        slots: 2,
        late_max_ns: 1,
        id: 7,
        ..sender::Order::default()
    };
    let skel = ordered_sender(&mut storage, &order);
    // No port is set: the redirect is refused, which the sender must count as its own fault.
    assert_eq!(verdict(&skel.progs.send, &[0u8; 60]).0, XDP_DROP);
    let first = outcome(&skel);
    assert_eq!((first.slots, first.refused, first.sent), (1, 1, [0, 0]));
    assert_eq!(verdict(&skel.progs.send, &[0u8; 60]).0, XDP_DROP);
    assert_eq!(outcome(&skel).slots, 1, "the second slot is an hour away");
}

/// Dropping pages until a slot is due would slow down the DUT, which frees its frames into the same pool.
#[test]
fn sender_waits_for_a_slot_within_its_window() {
    if !is_root() {
        return;
    }
    let mut storage = MaybeUninit::uninit();
    let in_window = sender::Order {
        gap_fp: HOUR_NS << 20,
        slots: 2,
        late_max_ns: HOUR_NS,
        delay_ns: sender::BATCH_WAIT_NS / 2,
        batch: 4,
        ..sender::Order::default()
    };
    let skel = ordered_sender(&mut storage, &in_window);
    verdict(&skel.progs.send, &[0u8; 60]);
    assert_eq!(outcome(&skel).slots, 1, "one call waited for the slot");

    let mut storage = MaybeUninit::uninit();
    let much_later = sender::Order {
        delay_ns: HOUR_NS,
        ..in_window
    };
    let skel = ordered_sender(&mut storage, &much_later);
    let run = skel.progs.send.test_run(ProgramInput {
        data_in: Some(&[0u8; 60]),
        repeat: 64,
        ..ProgramInput::default()
    });
    // One of four calls waits for the window's end; the duration is the mean of all.
    let mean_ns = run.expect("run").duration.as_nanos();
    assert!(
        mean_ns >= u128::from(sender::BATCH_WAIT_NS) / 4,
        "{mean_ns}"
    );
    assert_eq!(outcome(&skel).slots, 0);
}

/// Back-to-back for ever, with a pause after a refusal.
fn overload() -> sender::Order {
    sender::Order {
        slots: u64::MAX,
        late_max_ns: u64::MAX,
        batch: 1,
        back_off_frames: 1 << 20,
        ..sender::Order::default()
    }
}

#[test]
fn sender_pauses_once_after_a_refusal() {
    if !is_root() {
        return;
    }
    let mut storage = MaybeUninit::uninit();
    let order = overload();
    let skel = ordered_sender(&mut storage, &order);
    let took_ns = || {
        let input = ProgramInput {
            data_in: Some(&[0u8; 60]),
            repeat: 1,
            ..ProgramInput::default()
        };
        let run = skel.progs.send.test_run(input).expect("run");
        run.duration.as_nanos() as u64
    };
    // The first look is at what was refused before.
    took_ns();
    let refused = ledger::Taken {
        ring_refused: 3,
        ..ledger::Taken::default()
    };
    let cpus = libbpf_rs::num_possible_cpus().expect("CPUs");
    let each = vec![refused.octets().to_vec(); cpus];
    let counts = &skel.maps.counts;
    counts
        .update_percpu(&ZERO, &each, MapFlags::ANY)
        .expect("counts");
    // Nothing was taken, so the pause is the longest.
    assert!(took_ns() >= sender::PAUSE_MAX_NS);
    // It has seen them: of so many calls not each pauses again.
    let shortest = (0..100).map(|_| took_ns()).min();
    assert!(shortest < Some(sender::PAUSE_MAX_NS), "{shortest:?}");
}

#[test]
fn sender_ends_when_its_time_is_over() {
    if !is_root() {
        return;
    }
    let mut storage = MaybeUninit::uninit();
    let order = sender::Order {
        lasts_ns: 1,
        ..overload()
    };
    let skel = ordered_sender(&mut storage, &order);
    for _ in 0..3 {
        verdict(&skel.progs.send, &[0u8; 60]);
    }
    let outcome = outcome(&skel);
    assert!(outcome.ended_ns > 0 && outcome.slots <= 2, "{outcome:?}");
}

#[test]
fn sender_never_makes_up_for_more_than_the_bound() {
    if !is_root() {
        return;
    }
    let mut storage = MaybeUninit::uninit();
    // 1000 slots of 1 ns each, bound 1 ns: by the second call all slots are long overdue.
    let order = sender::Order {
        gap_fp: 1 << 20,
        slots: 1000,
        late_max_ns: 1,
        id: 7,
        ..sender::Order::default()
    };
    let skel = ordered_sender(&mut storage, &order);
    for _ in 0..3 {
        verdict(&skel.progs.send, &[0u8; 60]);
    }
    let outcome = outcome(&skel);
    assert_eq!(outcome.slots, 1000);
    assert!(outcome.unsent[0] >= 997, "{outcome:?}");
    assert_eq!(outcome.unsent[1], 0);
    assert!(outcome.ended_ns > 0);
}

fn outcome(skel: &sender::SenderSkel<'_>) -> sender::Outcome {
    let value = skel
        .maps
        .data_state
        .lookup(&ZERO, MapFlags::ANY)
        .expect("lookup")
        .expect("one entry");
    let state = sender::types::sender_state::from_octets(&value).expect("the C struct's length");
    let mapped = skel.maps.data_state_data.as_deref().expect("mapped");
    assert_eq!(mapped.state.read_volatile().octets(), state.octets());
    sender::Outcome::from(&state)
}

#[test]
fn nic_counts_by_queue_of_the_toeplitz_hash() {
    if !is_root() {
        return;
    }
    let mut storage = MaybeUninit::uninit();
    let mut open = nic::NicSkelBuilder::default()
        .open(&mut storage)
        .expect("open");
    let rodata = open.maps.rodata_data.as_deref_mut().expect("rodata");
    rodata.queues = 2;
    // A table in which only the last octet of the destination port counts: hash = that octet's low bit.
    for octet in 0..256u32 {
        rodata.toeplitz[11][octet as usize] = octet & 1;
    }
    rodata.indirection[1] = 1;
    let skel = open.load().expect("load");
    for port in [1024, 1025, 1027] {
        assert_eq!(
            verdict(&skel.progs.pass, &tagged_frame(9, 0, port)).0,
            XDP_PASS
        );
    }
    let queue = |number: u32| {
        let value = skel
            .maps
            .received
            .lookup_percpu(&number.to_ne_bytes(), MapFlags::ANY)
            .expect("lookup")
            .expect("entry");
        let count = |cpu: &Vec<u8>| u64::from_octets(cpu).expect("a count");
        value.iter().map(count).sum::<u64>()
    };
    assert_eq!((queue(0), queue(1)), (1, 2));
    // Without a ring the frame is refused, not passed.
    assert_ne!(
        verdict(&skel.progs.nic, &tagged_frame(9, 0, 1024)).0,
        XDP_REDIRECT
    );
}

#[test]
fn the_tap_passes_frames_to_the_socket_only() {
    if !is_root() {
        return;
    }
    const TCX_DROP: u32 = 2;
    let mut storage = MaybeUninit::uninit();
    let open = mpps_ebpf::instruments::tap::TapSkelBuilder::default()
        .open(&mut storage)
        .expect("open");
    let skel = open.load().expect("load");
    let frame = tagged_frame(9, 0, 1024);
    assert_eq!(
        verdict(&skel.progs.admit, &frame),
        (XDP_PASS, frame.clone())
    );
    assert_eq!(verdict(&skel.progs.end, &frame).0, TCX_DROP);
}

/// In some of the batches, because other programs or the hypervisor have the CPU in the others.
#[test]
fn a_spin_takes_its_time_in_the_mean() {
    const BATCHES: usize = 41;
    if !is_root() {
        return;
    }
    for delay_ns in [250, 500, 1_000] {
        let mut storage = MaybeUninit::uninit();
        let mut open = fault::FaultSkelBuilder::default()
            .open(&mut storage)
            .expect("open");
        let rodata = open.maps.rodata_data.as_deref_mut().expect("rodata");
        rodata.delay_ns = delay_ns;
        let skel = open.load().expect("load");
        let held = || {
            let counts = skel.maps.counts.lookup_percpu(&ZERO, MapFlags::ANY);
            let counts = counts.expect("look up").expect("counts");
            let each: Option<Vec<_>> = counts.iter().map(|cpu| Plain::from_octets(cpu)).collect();
            fault::Planted::from_cpus(&each.expect("the C struct's length"))
        };
        let frame = tagged_frame(9, 100, 1024);
        let mut means = [(); BATCHES].map(|()| {
            let before = held();
            let input = ProgramInput {
                data_in: Some(&frame),
                repeat: 1_000,
                ..ProgramInput::default()
            };
            skel.progs.plant.test_run(input).expect("test run");
            let after = held();
            assert_eq!(after.delayed - before.delayed, 1_000);
            (after.delayed_ns - before.delayed_ns) as f64 / 1_000.0
        });
        means.sort_by(f64::total_cmp);
        println!("{delay_ns} ns asked for: {means:?}");
        let is_right = |mean: &&f64| (**mean / delay_ns as f64 - 1.0).abs() < 0.01;
        let right = means.iter().filter(is_right).count();
        // A spin of another length has it in each batch. Where batches differ, the machine takes time from them.
        let middle = means[BATCHES * 3 / 4] - means[BATCHES / 4];
        if right < BATCHES / 8 && middle > 0.02 * delay_ns as f64 {
            println!("SKIP: needs a quieter machine: half of the batches are {middle:.0} ns apart");
            return;
        }
        assert!(right >= BATCHES / 8, "{delay_ns}: {means:?}");
    }
}

#[test]
fn the_sink_drops_whatever_comes() {
    if !is_root() {
        return;
    }
    let mut storage = MaybeUninit::uninit();
    let open = sink::SinkSkelBuilder::default()
        .open(&mut storage)
        .expect("open");
    let skel = open.load().expect("load");
    for frame in [tagged_frame(1, 0, 1024), vec![0xff; 1514]] {
        assert_eq!(verdict(&skel.progs.sink, &frame).0, XDP_DROP);
    }
}

/// As after a run that failed between its bpf_timer_init and its bpf_timer_start.
#[test]
fn the_watch_starts_where_its_timer_is_initialised() {
    const EINVAL: u32 = 22;
    if !is_root() {
        return;
    }
    let mut storage = MaybeUninit::uninit();
    let open = mpps_ebpf::instruments::watch::WatchSkelBuilder::default()
        .open(&mut storage)
        .expect("open");
    let skel = open.load().expect("load");
    let cpus = std::thread::available_parallelism().expect("CPUs").get();
    for _ in 0..=cpus {
        match verdict(&skel.progs.start, &[0; 64]).0 {
            EINVAL => return println!("SKIP: needs Linux 6.7: timers that stay on their CPU"),
            code => assert_eq!(code, 0),
        }
    }
}

/// It begins where a piece of work takes over three times the usual, and ends some time after.
#[test]
fn a_slow_cpu_is_seen_by_its_work() {
    if !is_root() {
        return;
    }
    let mut seen = Vec::new();
    for _ in 0..5 {
        let Some([planted, none, lasting]) = slow_ms(2) else {
            return println!("SKIP: needs Linux 6.7: timers that stay on their CPU");
        };
        assert!(planted > 150, "{planted} ms");
        seen.push([none, lasting]);
        if none < 150 && lasting > 400 && lasting < 900 {
            return assert_eq!(slow_ms(0), Some([0; 3]), "nothing is looked for");
        }
    }
    // A restless machine adds slow times of its own, in most of these.
    let restless = seen.iter().filter(|[none, _]| *none >= 50).count();
    assert!(restless >= 3, "{seen:?}");
    println!("SKIP: needs a quieter machine: {seen:?}");
}

/// How long a CPU is slow by a watch with this factor, ms: in 200 ticks that are, 200 that are not, and 1 000 whose work
/// lasts, so that after 0.5 s it is the usual. `None`: this kernel has no such watch.
fn slow_ms(slow_factor: u64) -> Option<[u64; 3]> {
    let mut storage = MaybeUninit::uninit();
    let mut open = watch::WatchSkelBuilder::default()
        .open(&mut storage)
        .expect("open");
    open.maps
        .slow_times
        .set_max_entries(CPUS_MAX * watch::STALLS_MAX)
        .expect("size");
    let rodata = open.maps.rodata_data.as_deref_mut().expect("rodata");
    // Only the work may tell: no time between two ticks is a stall.
    (rodata.slow_factor, rodata.slow_tail_ns) = (slow_factor, 20_000_000);
    rodata.stall_ns = u64::MAX;
    let mut skel = open.load().expect("load");
    if verdict(&skel.progs.start, &[0; 64]).0 != 0 {
        return None;
    }
    after_ticks(&skel, 200);
    Some([(1, 200), (0, 200), (1, 1_000)].map(|(planted, ticks)| {
        skel.maps.bss_data.as_deref_mut().expect("bss").planted_slow = planted;
        after_ticks(&skel, ticks)
    }))
}

/// Waits for so many ticks of the one CPU that is watched. Returns how much longer its slow times are by then, ms.
fn after_ticks(skel: &watch::WatchSkel<'_>, ticks: u64) -> u64 {
    let cpus = 0..skel.maps.watched.max_entries();
    let watched = |cpu: u32| -> watch::Watched {
        let octets = skel.maps.watched.lookup(&cpu.to_ne_bytes(), MapFlags::ANY);
        let octets = octets.expect("look up").expect("a CPU");
        let cpu: Option<watch::types::watch_cpu> = Plain::from_octets(&octets);
        cpu.expect("the C struct's length").into()
    };
    let cpu = loop {
        if let Some(cpu) = cpus.clone().find(|&cpu| watched(cpu).ticks > 0) {
            break cpu;
        }
    };
    let slow_ms = || {
        let slot = |number: u64| {
            let slot = cpu * watch::STALLS_MAX + number as u32;
            let octets = skel
                .maps
                .slow_times
                .lookup(&slot.to_ne_bytes(), MapFlags::ANY);
            let octets = octets.expect("look up").expect("a slow time");
            let time: Option<watch::types::watch_stall> = Plain::from_octets(&octets);
            time.map_or(0, |time| time.to_ns - time.from_ns)
        };
        (0..watched(cpu).slow_times).map(slot).sum::<u64>() / 1_000_000
    };
    let (until, before_ms) = (watched(cpu).ticks + ticks, slow_ms());
    while watched(cpu).ticks < until {
        std::thread::yield_now();
    }
    slow_ms() - before_ms
}

/// The verifier accepts every program, also those that no test here runs: tracepoints, timers, iterators. `cargo xtask kernel`
/// asks the verifiers of other kernels.
#[test]
fn every_program_loads() {
    if !is_root() {
        return;
    }
    let mut loaded = Vec::new();
    macro_rules! load {
        ($($name:ident :: $builder:ident),+ $(,)?) => {$({
            loaded.push(stringify!($name));
            let mut storage = MaybeUninit::uninit();
            let mut open = instruments::$name::$builder::default().open(&mut storage).expect("it opens");
            for mut map in open.open_object_mut().maps_mut() {
                if map.max_entries() == 0 && map.map_type() != MapType::RingBuf {
                    map.set_max_entries(1).expect("not loaded yet");
                }
            }
            if let Err(refused) = open.load() {
                panic!("{}: {refused:#}", stringify!($name));
            }
        })+};
    }
    load!(
        departures::DeparturesSkelBuilder,
        drops::DropsSkelBuilder,
        evidence::EvidenceSkelBuilder,
        fault::FaultSkelBuilder,
        ledger::LedgerSkelBuilder,
        napi::NapiSkelBuilder,
        nic::NicSkelBuilder,
        observer::ObserverSkelBuilder,
        other_tasks::OtherTasksSkelBuilder,
        pause::PauseSkelBuilder,
        receiver::ReceiverSkelBuilder,
        sender::SenderSkelBuilder,
        sink::SinkSkelBuilder,
        tap::TapSkelBuilder,
        watch::WatchSkelBuilder,
        wire::WireSkelBuilder,
    );
    // Where this runs away from its sources, as on another kernel, the list is not compared with them.
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/src/instruments");
    let files = std::fs::read_dir(sources).into_iter().flatten().flatten();
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    let programs = names.filter_map(|name| Some(name.strip_suffix(".bpf.c")?.to_owned()));
    for program in programs {
        assert!(
            loaded.contains(&program.as_str()),
            "{program} was not loaded"
        );
    }
}
