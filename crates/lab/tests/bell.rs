//! The receiver's bell: the port is polled when the sender rings, and by its timer where there is no bell. What comes
//! back is the same.

mod support;

use mpps_lab::bed::{Bed, BedPlan, Interfaces, Side};
use mpps_lab::probe::probe;
use mpps_lab::tester::{Means, NapiList, ReceiverMode, ReceiverPoll, Tester, napi_threads};
use mpps_linux::{links, task};
use mpps_method::Trial;
use support::trials;

const FPS: f64 = 100_000.0;
const MILLIS: u64 = 300;
const FRAMES: u64 = 30_000;

/// Frames that busy polling took off queues of this namespace so far (`BusyPollRxPackets`).
fn polled(bed: &Bed, side: Side) -> u64 {
    let read = || std::fs::read_to_string("/proc/thread-self/net/netstat");
    let text = bed
        .netns(side)
        .run(read)
        .expect("namespace")
        .expect("netstat");
    let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:"));
    let mut columns = || lines.next().expect("a line").split_ascii_whitespace();
    let place = columns().position(|name| name == "BusyPollRxPackets");
    let place = place.expect("CONFIG_NET_RX_BUSY_POLL");
    let value = columns().nth(place).expect("a value");
    value.parse().expect("a number")
}

struct Seen {
    trial: Trial,
    /// Frames that busy polling took.
    polled: u64,
    /// How often the port's own thread had a CPU.
    woken: u64,
}

fn seen(plan: BedPlan, bidirectional: bool) -> Seen {
    let interfaces = plan.interfaces;
    let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"));
    let traffic = mpps_lab::traffic::Traffic {
        bidirectional,
        ..support::traffic()
    };
    let mut tester = trials::tester(&bed, &traffic, FRAMES);
    let list = match interfaces {
        Interfaces::Newest => Means::of(interfaces).expect("means").napi_list,
        Interfaces::Oldest => NapiList::Tasks,
    };
    let threads = napi_threads(&bed, Side::D, list).expect("threads");
    let count = || {
        let slices = threads
            .iter()
            .map(|tid| task::schedstat(*tid).expect("schedstat").slices);
        slices.sum::<u64>()
    };
    let sides = if bidirectional {
        vec![Side::D, Side::A]
    } else {
        vec![Side::D]
    };
    let took = || sides.iter().map(|side| polled(&bed, *side)).sum::<u64>();
    let (mut polled_before, mut woken_before) = (took(), count());
    let mut trial = trials::run(&mut tester, FPS, MILLIS);
    for _ in 1..trials::WHOLE_TRIES {
        if trial.counts().unsent == 0 && trial.counts().lost == 0 {
            break;
        }
        trials::assert_ledger(&trial, "disturbed");
        (polled_before, woken_before) = (took(), count());
        trial = trials::run(&mut tester, FPS, MILLIS);
    }
    trials::assert_closed(&trial, "bell");
    Seen {
        polled: took() - polled_before,
        woken: count() - woken_before,
        trial,
    }
}

/// The tester has one CPU of its own: else there is no bell, on any kernel.
fn has_a_bell(plan: &BedPlan) -> bool {
    let alone = plan.cpus.tester.len() == 1 && plan.port_queues() == 1 && !plan.cpus.shared();
    if !alone {
        println!("SKIP: needs a machine of 2 CPUs, one for the tester and one for the DUT");
        return false;
    }
    let means = Means::of(Interfaces::Newest).expect("means");
    assert_eq!(
        means.receiver_poll,
        ReceiverPoll::Bell,
        "a kernel with CONFIG_XDP_SOCKETS and CONFIG_NET_RX_BUSY_POLL"
    );
    true
}

#[test]
fn the_sender_has_the_port_polled_and_its_timer_stays_in_reserve() {
    let plan = support::plan();
    if !support::can_run() || !has_a_bell(&plan) {
        return;
    }
    for bidirectional in [false, true] {
        let rung = seen(plan.clone(), bidirectional);
        let received = rung.trial.counts().received;
        assert_eq!(received, FRAMES, "{:?}", rung.trial);
        // The timer may take some: canaries, and what comes while the sender is away.
        assert!(
            rung.polled > received * 8 / 10,
            "{} of {received} frames by busy polling",
            rung.polled
        );
        // Every 50 us it would be 6000 in a trial.
        assert!(rung.woken < 1_500, "woken {} times", rung.woken);
        println!(
            "bell: {} polled, timer woke {} times",
            rung.polled, rung.woken
        );
    }
}

/// The frame by which the bell learns whose port it has polled does not pass a rule that drops it, and no port that is
/// down; a slow queue it goes past.
#[test]
fn what_the_user_has_at_the_duts_port_is_named_or_does_no_harm() {
    let plan = support::plan();
    if !support::can_run() || !has_a_bell(&plan) {
        return;
    }
    let script = std::env::temp_dir().join(format!("mpps-bell-{}", std::process::id()));
    let ruled = |text: &str| {
        std::fs::write(&script, text).expect("script");
        BedPlan {
            dut_setup: Some(script.clone()),
            ..plan.clone()
        }
    };
    let slow = ruled("tc qdisc add dev mC root handle 1: tbf rate 8bit burst 100 latency 1s");
    let bed = Bed::raise(&slow).unwrap_or_else(|error| panic!("raise: {error}"));
    drop(trials::tester(&bed, &support::traffic(), FRAMES));
    drop(bed);
    let dropping = ruled(
        "nft 'add table netdev f; \
         add chain netdev f out { type filter hook egress device \"mC\" priority 0; }; \
         add rule netdev f out ip daddr 255.255.255.255 drop'",
    );
    let bed = Bed::raise(&dropping).unwrap_or_else(|error| panic!("raise: {error}"));
    std::fs::remove_file(&script).expect("script");
    let raised = Tester::raise(&bed, &support::traffic(), FRAMES, ReceiverMode::Polled);
    let error = raised.err().expect("nobody's port").to_string();
    assert!(error.contains("drop what mC sends"), "{error}");
    drop(bed);

    let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"));
    let down = bed
        .netns(Side::C)
        .run(|| links::set_down(&bed.port(Side::C).name));
    down.expect("namespace").expect("down");
    let mut tester = trials::tester(&bed, &support::traffic(), FRAMES);
    let error = probe(&mut tester).expect_err("no way");
    assert!(error.to_string().contains("down: mC"), "{error}");
}

#[test]
fn without_a_bell_the_timer_does_it_all() {
    if !support::can_run() {
        return;
    }
    let plan = BedPlan {
        interfaces: Interfaces::Oldest,
        ..support::plan()
    };
    let timed = seen(plan, false);
    assert_eq!(timed.trial.counts().received, FRAMES, "{:?}", timed.trial);
    assert_eq!(timed.polled, 0, "nobody polls but the port's thread");
    assert!(timed.woken > 1_500, "woken {} times", timed.woken);
}
