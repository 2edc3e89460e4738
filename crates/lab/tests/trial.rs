//! Trials on a real bed, on any machine: the ledger closes to the frame, and each way to lie is caught.

use crate::support;
use crate::support::PortsOfBed as _;
use crate::support::trials::{
    WHOLE_TRIES, assert_closed, assert_closed_on_every_front, assert_ledger, frames, offer, run,
};
use mpps_lab::bed::{Bed, BedPlan, CpuSplit, Front, Side};
use mpps_lab::tester::{PortKind, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_linux::{clock, links};
use mpps_method::{Invalid, Rules, Span, Verdict};

const FRAMES_MAX: u64 = 1 << 24;

fn tester<'a>(bed: &'a Bed, traffic: &Traffic) -> Tester<'a> {
    support::trials::tester(bed, traffic, FRAMES_MAX)
}

#[test]
fn ledger_closes_from_idle_to_five_times_overload() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed, &support::traffic());
    for fps in [1_000.0, 100_000.0, 1_000_000.0, 2_000_000.0, 8_000_000.0] {
        let trial = run(&mut tester, fps, 300);
        assert_closed(&trial, &format!("{fps}"));
        assert_eq!(trial.counts().foreign, 0, "the bed is silent");
        assert_eq!(
            trial.counts().duplicated + trial.counts().reordered,
            0,
            "{fps}"
        );
    }
}

#[test]
fn warm_up_frames_do_not_count() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed, &support::traffic());
    tester.warm_up = Span::from_millis(100);
    let offered = |tester: &Tester<'_>| {
        let taken = tester.ledger.read(0).expect("the ledger's counts");
        taken.port_taken + taken.port_refused
    };
    // 5 000 of the warm-up, 10 000 of the trial; what a busy machine leaves unsent of the former nobody counts, so
    // there may be fewer: not in all of a few tries.
    let enough = (0..WHOLE_TRIES).any(|_| {
        let before = offered(&tester);
        let trial = run(&mut tester, 50_000.0, 200);
        let passed = offered(&tester) - before;
        assert_ledger(&trial, "warmed up");
        let counts = trial.counts();
        assert_eq!((counts.intended, counts.late), (10_000, 0), "{counts:?}");
        println!("{passed} frames for {counts:?}");
        passed > counts.sent + 2_500
    });
    assert!(enough, "the warm-up frames are missing");
}

#[test]
fn ledger_closes_for_every_kind_of_traffic() {
    if !support::can_run() {
        return;
    }
    let traffic = |ipv6, bidirectional, sizes| Traffic {
        ipv6,
        bidirectional,
        frames: frames(sizes),
        flows: 32,
        ..support::traffic()
    };
    let traffics = [
        traffic(false, false, "64"),
        traffic(true, false, "mix:78=7,594=4,1518=1"),
        traffic(false, true, "imix"),
        traffic(true, true, "78"),
    ];
    assert_closed_on_every_front(50_000.0, FRAMES_MAX, &traffics);
}

/// Longer than the grace that a sender gets beyond its schedule: without a pace it has none.
#[test]
fn a_burst_lasts_until_its_last_frame() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    for port in [PortKind::Xdp, PortKind::AfPacket] {
        let traffic = Traffic {
            port,
            ..support::traffic()
        };
        assert_lasts(&mut tester(&bed, &traffic));
    }
}

fn assert_lasts(tester: &mut Tester<'_>) {
    // As many as this machine's sender hands over in some two seconds.
    let short = trial::run_burst(tester, FRAMES_MAX >> 6).expect("a trial");
    let frames = (FRAMES_MAX >> 6) * 2_000_000_000 / short.duration.as_nanos();
    let mut frames = frames.min(FRAMES_MAX);
    // It may have been slow then.
    let trial = loop {
        let trial = trial::run_burst(tester, frames).expect("a trial");
        if trial.duration > Span::from_millis(1_000) {
            break trial;
        }
        assert!(frames < FRAMES_MAX, "{}", trial.duration);
        frames = (2 * frames).min(FRAMES_MAX);
    };
    let counts = trial.counts();
    assert_eq!((counts.sent, counts.unsent), (frames, 0), "{counts:?}");
    assert!(trial.sender_ended);
    assert_closed(&trial, "a long burst");
}

/// No frame of the time in which another program had the tester's CPU may count.
#[test]
fn a_hog_on_the_testers_cpu_never_becomes_a_rate() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed, &support::traffic());
    let cpu = bed.plan().cpus.sender();
    // The hog may come too early or too late for the trial: not in all of a few tries.
    let met = (0..WHOLE_TRIES).any(|_| {
        let offer = offer(300_000.0, 500);
        let (trial, hog) = support::hogged_between(&mut tester, cpu, 400_000_000, &offer);
        let verdict = trial.judge(&Rules::default());
        let begun = trial.begun.map_or(u64::MAX, Span::as_nanos);
        let ended = begun.saturating_add(trial.duration.as_nanos());
        let together = hog.end.min(ended).saturating_sub(hog.start.max(begun));
        println!(
            "{verdict}, {together} ns with the hog: {:?}",
            trial.disturbed
        );
        let refused = matches!(
            verdict,
            Verdict::NotOffered(_) | Verdict::Invalid(_) | Verdict::Void(_)
        );
        // The kernel may keep a twentieth of its time from a real-time task (sched_rt_runtime_us).
        let left_out = trial.disturbed.time.as_nanos() >= together / 10 * 9;
        assert!(refused || left_out, "{verdict}, {together} ns: {trial:?}");
        // A trial that cannot offer its load ends at once.
        together > 10_000_000
    });
    assert!(met, "no trial met the hog");
}

/// What becomes of a trial in whose middle the receiving port goes down.
fn without_receiver() -> Verdict {
    let bed = support::bed();
    let mut tester = tester(&bed, &support::traffic());
    let netns = bed.netns(Side::D);
    let trial = std::thread::scope(|scope| {
        let port = &bed.port(Side::D).name;
        let threads = tester.receivers.len();
        assert_eq!(threads, 1);
        let sent = clock::monotonic_ns();
        scope.spawn(move || {
            mpps_lab::clock::wait_until(sent + 300_000_000);
            netns
                .run(|| links::set_down(port))
                .expect("netns")
                .expect("down");
        });
        trial::run(&mut tester, &offer(20_000.0, 600))
    });
    trial
        .expect("counters are still there")
        .judge(&support::any_machine())
}

#[test]
fn a_receiver_that_dies_makes_the_trial_invalid() {
    if !support::can_run() {
        return;
    }
    let mut verdict = without_receiver();
    // A sender whose CPU stood still is found out first.
    for _ in 1..5 {
        if verdict != Verdict::Invalid(Invalid::SenderDidNotEnd) {
            break;
        }
        verdict = without_receiver();
    }
    assert!(
        matches!(verdict, Verdict::Invalid(Invalid::CanaryMissing { .. })),
        "{verdict}"
    );
}

#[test]
fn a_vanished_port_is_an_error_not_a_rate() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed, &support::traffic());
    let gone = bed
        .netns(Side::C)
        .run(|| links::delete(&bed.port(Side::C).name));
    gone.expect("netns").expect("delete");
    let result = trial::run(&mut tester, &offer(20_000.0, 200));
    let error = result
        .map(|trial| trial.judge(&Rules::default()))
        .expect_err("no port, no trial");
    assert!(error.to_string().contains("mC"), "{error}");
}

#[test]
fn in_lock_step_on_one_cpu_an_overload_is_no_pass() {
    if !support::can_run() {
        return;
    }
    let cpu = *support::plan().cpus.tester.first().expect("a CPU");
    let cpus = CpuSplit {
        dut: vec![cpu],
        tester: vec![cpu],
    };
    let bed = Bed::raise(&BedPlan {
        cpus,
        ..support::plan()
    })
    .expect("bed");
    let mut tester = tester(&bed, &support::traffic());
    // Sender and DUT take turns: what the DUT works, the sender sleeps. Loss there is the pair's.
    let trial = run(&mut tester, 3_000_000.0, 500);
    let verdict = trial.judge(&Rules::default());
    assert_ne!(verdict, Verdict::Lossless);
}

#[test]
fn work_in_no_thread_is_in_no_window() {
    if !support::can_run() {
        return;
    }
    let bed = Bed::raise(&BedPlan {
        nic: Front::Softirq,
        ..support::plan()
    })
    .expect("bed");
    let mut tester = tester(&bed, &support::traffic());
    let trial = run(&mut tester, 50_000.0, 200);
    assert!(!trial.windows.is_empty());
    assert!(trial.windows.iter().all(|window| window.busy.is_none()));
}
