//! Trials on a quiet machine: what their windows know, and what they say of whoever else had a CPU. What holds of a trial
//! on any machine is in `trial.rs`.

use crate::support;
use crate::support::PortsOfBed as _;
use crate::support::trials::{WHOLE_TRIES, assert_closed, assert_ledger, offer, run, run_whole};
use mpps_lab::bed::{Bed, BedPlan, CpuSplit, Front, Side};
use mpps_lab::tester::{Fault, PlantedFault, ReceiverPlace, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_linux::kernel;
use mpps_method::distance::Distance;
use mpps_method::saturation;
use mpps_method::statistics::median;
use mpps_method::{CpuExchange, Rules, Trial, Verdict};

const FRAMES_MAX: u64 = 1 << 24;

fn tester<'a>(bed: &'a Bed, traffic: &Traffic) -> Tester<'a> {
    support::trials::tester(bed, traffic, FRAMES_MAX)
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

/// A bed by this plan whose windows timers can time.
fn timed_bed(plan: &BedPlan) -> Option<Bed> {
    if !support::can_run() {
        return None;
    }
    if !kernel::release().expect("a kernel").at_least(6, 7) {
        support::skip!("timers bound to their CPU (Linux 6.7)");
    }
    let bed = Bed::raise(plan).expect("bed");
    if bed.plan().cpus.ends().is_none() {
        support::skip!("a CPU for the DUT beside the tester's");
    }
    Some(bed)
}

#[test]
fn windows_know_the_state_of_the_machine() {
    let Some(bed) = timed_bed(&support::plan()) else {
        return;
    };
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
    let Some(bed) = timed_bed(&support::plan()) else {
        return;
    };
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
fn busy_time_of_windows_adds_up_to_the_trials() {
    for nic in [Front::Cpumap, Front::Napi] {
        let plan = BedPlan {
            nic,
            ..support::plan()
        };
        let Some(bed) = timed_bed(&plan) else {
            return;
        };
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
fn a_burn_shows_in_windows() {
    const BURN_NS: u64 = 1_000;
    let Some(bed) = timed_bed(&support::plan()) else {
        return;
    };
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
