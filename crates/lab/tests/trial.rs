//! Trials on a real bed: the ledger closes to the frame, and each way to lie is caught.

use crate::support;
use crate::support::PortsOfBed as _;
use crate::support::trials::{
    WHOLE_TRIES, assert_closed, assert_closed_on_every_front, assert_ledger, frames, offer, run,
    run_whole,
};
use mpps_lab::bed::{Bed, BedPlan, CpuSplit, Front, Side};
use mpps_lab::tester::{Fault, PlantedFault, ReceiverPlace, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_linux::{clock, kernel, links};
use mpps_method::distance::Distance;
use mpps_method::saturation;
use mpps_method::statistics::median;
use mpps_method::{CpuExchange, Invalid, Rules, Span, Trial, Verdict};

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
fn windows_know_the_state_of_the_machine() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    if !can_time(&bed) {
        return;
    }
    let mut tester = tester(&bed, &support::traffic());
    let each = |ns: Option<u64>| ns.is_none_or(|ns| (1..100_000).contains(&ns));
    // A CPU that stands still reads nothing.
    let most_are_known = (0..WHOLE_TRIES).any(|_| {
        let windows = run(&mut tester, 200_000.0, 300).windows;
        assert!(
            (windows.iter()).all(|one| each(one.round_trip_ns) && each(one.work_ns)),
            "{windows:?}"
        );
        let known = windows.iter();
        let known = known.filter(|one| one.round_trip_ns.is_some() && one.work_ns.is_some());
        2 * known.count() > windows.len()
    });
    assert!(most_are_known);
    // No second pair of CPUs is timed, and one CPU has no distance.
    assert_eq!(
        CpuSplit {
            dut: vec![0],
            tester: vec![0]
        }
        .ends(),
        None
    );
}

/// Two programs time the distance of the CPUs: timers within the trial, threads before and after it.
#[test]
fn both_ways_to_time_the_cpu_distance_agree() {
    /// One trial in another state of the machine is not their median.
    const RATIOS: usize = 9;
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    if !can_time(&bed) {
        return;
    }
    let mut tester = tester(&bed, &support::traffic());
    // A machine that changes its state within most trials has few that tell it.
    let ratios: Vec<f64> = (0..4 * WHOLE_TRIES)
        .filter_map(|_| {
            let trial = run(&mut tester, 200_000.0, 100);
            let CpuExchange { before, after } = trial.exchange?;
            let [before, after] = [before, after].map(|took| took.as_nanos() as f64);
            let around = Distance::from_round_trips(before, after);
            let (Distance::Steady(around), Distance::Steady(within)) =
                (around, Distance::from_trial(&trial))
            else {
                return None;
            };
            Some(within.round_trip_ns / around.round_trip_ns)
        })
        .take(RATIOS)
        .collect();
    let Some(ratio) = median(&ratios) else {
        support::skip!("a machine in one state for a tenth of a second");
    };
    assert!((0.25..4.0).contains(&ratio), "{ratios:?}");
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

#[test]
fn flows_spread_over_queues_as_the_hash_says() {
    if !support::can_run() {
        return;
    }
    let bed = Bed::raise(&BedPlan {
        queues: 4,
        ..support::plan()
    })
    .expect("bed");
    let traffic = Traffic {
        flows: 256,
        ..support::traffic()
    };
    let mut tester = tester(&bed, &traffic);
    let trial = run_whole(&mut tester, 51_200.0, 50);
    assert_closed(&trial, "4 queues");
    // The hash by another implementation, flow by flow, in a table of 128 entries.
    let mut expected = [0u64; 4];
    let (from, to) = (bed.port(Side::A).v4, bed.port(Side::D).v4);
    for number in 0..256 {
        let port = mpps_method::flows::PORT_FIRST + number;
        let input = mpps_wire::toeplitz::input(from.into(), to.into(), port, port);
        let hash = mpps_wire::toeplitz::hash(&mpps_wire::toeplitz::DEFAULT_KEY, &input);
        expected[hash as usize % 128 % 4] += 10;
    }
    let canaries = trial.per_queue.iter().sum::<u64>() - trial.counts().sent;
    for (queue, (&got, &want)) in trial.per_queue.iter().zip(&expected).enumerate() {
        assert!(
            got.abs_diff(want) <= canaries,
            "queue {queue}: {:?} against {expected:?}",
            trial.per_queue
        );
    }
}

/// Longer than the grace that a sender gets beyond its schedule: without a pace it has none.
#[test]
fn a_burst_lasts_until_its_last_frame() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed, &support::traffic());
    // As many as this machine's sender hands over in some two seconds.
    let short = trial::run_burst(&mut tester, FRAMES_MAX >> 6).expect("a trial");
    let frames = (FRAMES_MAX >> 6) * 2_000_000_000 / short.duration.as_nanos();
    let mut frames = frames.min(FRAMES_MAX);
    // It may have been slow then.
    let trial = loop {
        let trial = trial::run_burst(&mut tester, frames).expect("a trial");
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

/// A sender that backs off keeps the ring full, and so the router busy, with few losses.
#[test]
fn an_overload_loses_fewer_frames_than_a_burst() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let traffic = Traffic {
        receiver: ReceiverPlace::Exit,
        ..support::traffic()
    };
    let mut tester = tester(&bed, &traffic);
    let slow = PlantedFault::plant_on_router(Fault::spin(500), &bed, tester.ways()[0]);
    let _slow = slow.expect("a slow router");
    let lost = |trial: &Trial| trial.counts().lost as f64 / trial.counts().sent.max(1) as f64;
    for _ in 0..WHOLE_TRIES {
        let burst = trial::run_burst(&mut tester, 1 << 19).expect("a burst");
        let offer = offer(1_000_000.0, 300);
        let overload = trial::run_overload(&mut tester, &offer).expect("an overload");
        assert_closed(&overload, "backing off");
        let counts = overload.counts();
        assert_eq!(counts.unsent, 0, "{counts:?}");
        assert!(overload.duration <= offer.duration, "{}", overload.duration);
        let is_whole = |trial: &Trial| trial.disturbances().next().is_none();
        if is_whole(&burst) && is_whole(&overload) {
            assert!(counts.lost > 0, "the ring was full");
            assert!(lost(&overload) < lost(&burst) / 2.0, "{counts:?}");
            return;
        }
    }
    support::skip!("a quieter machine");
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

/// What is lost while another program has the DUT's CPU is placed there, and counts for nothing.
#[test]
fn another_program_on_the_duts_cpu_is_no_loss() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    if bed.plan().cpus.shared() {
        support::skip!("two CPUs");
    }
    let mut tester = tester(&bed, &support::traffic());
    let cpu = bed.plan().cpus.dut[0];
    let (mut seen, mut by_this_alone) = (Vec::new(), 0);
    let lossless = (0..WHOLE_TRIES).any(|_| {
        let trial = support::hogged(&mut tester, cpu, 50_000_000, &offer(200_000.0, 500));
        assert_ledger(&trial, "beside another program");
        let verdict = trial.judge(&Rules::default());
        // It had a tenth of the trial, which voids none.
        by_this_alone += u32::from(!matches!(verdict, Verdict::Void(_)));
        seen.push(format!("{verdict} {:?}", trial.disturbed));
        let had_ns: u64 = (trial.others.iter().filter(|time| time.cpu == cpu))
            .map(|time| time.to.as_nanos() - time.from.as_nanos())
            .sum();
        // The hypervisor may have had it meanwhile.
        had_ns > 40_000_000 && trial.lost_disturbed() > 1_000 && verdict == Verdict::Lossless
    });
    if !lossless && by_this_alone < 3 {
        support::skip!("a quieter machine");
    }
    assert!(lossless, "{seen:#?}");
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

/// CPU time of a frame by the windows of a trial, ns. `None` where they do not know it.
fn ns_per_frame(trial: &Trial) -> Option<f64> {
    saturation::ns_per_frame(&trial.windows)
}

/// The median over some trials of what each tells. `None`: the machine voided them all.
fn over_trials(
    tester: &mut Tester<'_>,
    fps: f64,
    told: impl Fn(&Trial) -> Option<f64>,
) -> Option<f64> {
    let trials = (0..3).map(|_| run_whole(tester, fps, 300));
    let whole = |trial: &Trial| !matches!(trial.judge(&Rules::default()), Verdict::Void(_));
    let each = trials.filter(whole).filter_map(|trial| told(&trial));
    median(&each.collect::<Vec<f64>>())
}

/// Whether timers can time the windows of this bed.
fn can_time(bed: &Bed) -> bool {
    if !kernel::release().expect("a kernel").at_least(6, 7) {
        support::skip!("timers bound to their CPU (Linux 6.7)");
    }
    if bed.plan().cpus.ends().is_none() {
        support::skip!("a CPU for the DUT beside the tester's");
    }
    true
}

#[test]
fn busy_time_of_windows_adds_up_to_the_trials() {
    if !support::can_run() {
        return;
    }
    for nic in [Front::Cpumap, Front::Napi] {
        let bed = Bed::raise(&BedPlan {
            nic,
            ..support::plan()
        })
        .expect("bed");
        if !can_time(&bed) {
            return;
        }
        let mut tester = tester(&bed, &support::traffic());
        for fps in [100_000.0, 400_000.0] {
            let part = |trial: &Trial| {
                let busy_ns: u64 = trial.busy.iter().map(|cpu| cpu.run_ns).sum();
                let of_all = busy_ns as f64 / trial.ledger().nic_accepted as f64;
                Some(ns_per_frame(trial)? / of_all)
            };
            let Some(part) = over_trials(&mut tester, fps, part) else {
                support::skip!("a quieter machine");
            };
            println!("{nic:?} {fps}: {part:.4} of the trial's");
            assert!((part - 1.0).abs() < 0.01, "{nic:?} {fps}: {part}");
        }
    }
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

#[test]
fn a_burn_shows_in_windows() {
    const BURN_NS: u64 = 1_000;
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    if !can_time(&bed) {
        return;
    }
    let mut tester = tester(&bed, &support::traffic());
    let Some(plain) = over_trials(&mut tester, 200_000.0, ns_per_frame) else {
        support::skip!("a quieter machine");
    };
    let fault = Fault::spin(BURN_NS);
    let _burning = PlantedFault::plant_on_router(fault, &bed, tester.ways()[0]).expect("a burn");
    let Some(burnt) = over_trials(&mut tester, 200_000.0, ns_per_frame) else {
        support::skip!("a quieter machine");
    };
    println!("{plain:.0} ns, with the burn {burnt:.0}");
    // The machine may change its state between both.
    let more = (burnt - plain) / BURN_NS as f64;
    assert!((0.5..1.8).contains(&more), "{more} of the burn");
}
