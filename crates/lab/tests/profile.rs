//! Samples of CPUs: complete while busy, with names, not in step with the load, and of the router's path on a bed. Needs
//! root and perf events.

use crate::support;
use crate::support::trials;
use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::clock::{monotonic_ns, wait_until};
use mpps_lab::profile::{
    Profile, Sample, Sampler, SamplerPlan, SamplingClock, SymbolId, Symbols, completeness,
    symbols as all_symbols,
};
use mpps_lab::tester::{Fault, PlantedFault, Tester};
use mpps_lab::traffic::{ReceiverPlace, Traffic};
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::task;
use mpps_method::{Span, Trial, statistics};
use std::fs::File;
use std::io::Read;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// A restless machine may take a CPU away in any of them.
const TRIES: u32 = 5;

fn sampler_plan() -> SamplerPlan {
    let cpus = support::plan().cpus;
    SamplerPlan::usual(&cpus.dut, cpus.sender())
}

fn symbols() -> &'static Symbols {
    static SYMBOLS: OnceLock<Symbols> = OnceLock::new();
    SYMBOLS.get_or_init(|| all_symbols().unwrap_or_else(|error| panic!("{error}")))
}

/// Samples for so long beside a thread that does `work` again and again on the first sampled CPU; its thread id.
fn sampled_beside(
    plan: &SamplerPlan,
    millis: u64,
    mut work: impl FnMut() + Send,
) -> (Profile, i32) {
    let (stop, tid) = (AtomicBool::new(false), AtomicI32::new(0));
    let on = CpuSet::single(plan.cpus[0]);
    let profile = std::thread::scope(|scope| {
        scope.spawn(|| {
            cpu::pin_current_thread(&on).expect("pin");
            tid.store(task::current_tid(), Ordering::Release);
            while !stop.load(Ordering::Acquire) {
                work();
            }
        });
        while tid.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        let sampler = Sampler::start(plan).unwrap_or_else(|error| panic!("{error}"));
        wait_until(monotonic_ns() + millis * 1_000_000);
        let profile = sampler.stop(symbols());
        stop.store(true, Ordering::Release);
        profile.unwrap_or_else(|error| panic!("{error}"))
    });
    (profile, tid.into_inner())
}

fn calls(profile: &Profile, sample: &Sample, part: &str) -> bool {
    let mut names = sample.stack.iter().map(|id| profile.name(*id));
    names.any(|name| name.contains(part))
}

#[test]
fn samples_of_a_busy_cpu_are_complete() {
    if !support::can_run() {
        return;
    }
    let plan = sampler_plan();
    let mut seen = Vec::new();
    let complete = (0..TRIES).any(|_| {
        let each = completeness(&plan, symbols(), Span::from_millis(400));
        let each = each.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(each.len(), plan.cpus.len());
        // Never more than should come, beyond a sample for each period's end.
        for cpu in &each {
            let share = cpu.busy.share().expect("samples to expect");
            assert!(cpu.busy.expected > 100.0 && share < 1.02, "{cpu:?}");
            // More than 1 000 interrupts a second, of at least 1 us.
            assert!((0.001..0.5).contains(&cpu.interrupted), "{cpu:?}");
        }
        let busy = each.iter().map(|cpu| cpu.busy.share().unwrap_or(0.0));
        let worst = busy.fold(f64::INFINITY, f64::min);
        seen.push(each);
        worst >= 0.95
    });
    println!("{seen:?}");
    assert!(complete, "{seen:?}");
}

#[test]
fn a_known_call_of_the_kernel_is_named() {
    if !support::can_run() {
        return;
    }
    let mut zeros = File::open("/dev/zero").expect("/dev/zero");
    let mut room = vec![0; 64 << 10];
    let read = || zeros.read_exact(&mut room).expect("zeros");
    let plan = sampler_plan();
    let (profile, tid) = sampled_beside(&plan, 400, read);
    let ours: Vec<&Sample> = profile.of_tasks(&[tid]).collect();
    // An emulated machine takes few.
    assert!(ours.len() > 30, "{} samples", ours.len());
    let named = ours.iter().filter(|s| calls(&profile, s, "vfs_read"));
    let share = named.count() as f64 / ours.len() as f64;
    let folded = profile.fold(ours.iter().copied());
    assert!(share > 0.7, "{share}: {folded:?}");
    let unknown = folded
        .iter()
        .filter(|(stack, _)| stack.contains("[unknown]"));
    assert_eq!(unknown.count(), 0, "{folded:?}");
    assert_eq!(profile.cpus[0].lost, 0);
    let ran = &profile.tasks[&tid];
    assert_eq!(*ran, task::comm(task::current_tid()).expect("our name"));
    if profile.clock == SamplingClock::Timer {
        // An emulated machine's timer is so uneven that many samples have no lateness.
        let late: Vec<u64> = ours.iter().filter_map(|s| s.lateness_ns).collect();
        assert!(late.len() > 30, "{} of {}", late.len(), ours.len());
        let soon = plan.periods_ns.start() / 10;
        let prompt = late.iter().filter(|&&late| late < soon).count();
        assert!(prompt * 2 > late.len(), "{late:?}");
    }
}

/// Half of each 200 us of the clock the thread reads zeros, and half it stays out of the kernel. The share of its samples
/// in the kernel, and the share of its time in it by the clock.
fn shares_of_reading(plan: &SamplerPlan) -> (f64, f64) {
    const HALF_NS: u64 = 100_000;
    /// A longer step was interrupted by another program.
    const STEP_MAX_NS: u64 = 100_000;
    let mut zeros = File::open("/dev/zero").expect("/dev/zero");
    // So much that what is around the call takes next to no time.
    let mut room = vec![0; 256 << 10];
    let (mut reading_ns, mut all_ns, mut last) = (0, 0, monotonic_ns());
    let work = || {
        let reads = last % (2 * HALF_NS) < HALF_NS;
        if reads {
            zeros.read_exact(&mut room).expect("zeros");
        }
        let now = monotonic_ns();
        let step = now - last;
        last = now;
        if step < STEP_MAX_NS {
            all_ns += step;
            reading_ns += if reads { step } else { 0 };
        }
    };
    let (profile, tid) = sampled_beside(plan, 800, work);
    let ours: Vec<&Sample> = profile.of_tasks(&[tid]).collect();
    assert!(ours.len() > 300, "{} samples", ours.len());
    let reads = ours.iter().filter(|s| *s.stack != [SymbolId::USER]);
    let sampled = reads.count() as f64 / ours.len() as f64;
    (sampled, reading_ns as f64 / all_ns as f64)
}

#[test]
fn a_load_in_step_with_the_clock_is_split_rightly() {
    if !support::can_run() {
        return;
    }
    let errors = |plan: &SamplerPlan| -> Vec<f64> {
        let shares = (0..3).map(|_| shares_of_reading(plan));
        shares.map(|(sampled, clocked)| sampled - clocked).collect()
    };
    let random = errors(&sampler_plan());
    // One period that never changes, and is the load's own: it meets one place of the load for ever.
    let in_step = errors(&SamplerPlan {
        periods_ns: 200_000..=200_000,
        redraw_ns: 900_000_000..=900_000_000,
        ..sampler_plan()
    });
    println!("random periods {random:?}, one period {in_step:?}");
    let small = random.iter().filter(|error| error.abs() < 0.08).count();
    assert!(small > random.len() / 2, "{random:?}");
    assert!(
        in_step.iter().any(|error| error.abs() > 0.15),
        "{in_step:?}"
    );
}

#[test]
fn the_routers_thread_is_seen_to_forward() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    // The program at the exit runs in the router's thread, for each frame.
    let traffic = Traffic {
        receiver: ReceiverPlace::Exit,
        ..support::traffic()
    };
    let mut tester = trials::tester(&bed, &traffic, 1 << 20);
    // Not `symbols`: the programs of this bed are to have names.
    let symbols = all_symbols().unwrap_or_else(|error| panic!("{error}"));
    let (trial, profile) = sampled_trial(&mut tester, &symbols, 350);
    let ours: Vec<&Sample> = profile.of_tasks(&router_threads(&profile)).collect();
    assert!(ours.len() > 30, "{} of {:?}", ours.len(), profile.tasks);
    // Lists of frames go through other functions than single ones.
    let path = ["ip_forward", "ip_rcv", "ip_list_rcv", "ip_sublist_rcv"];
    let routed = |s: &&&Sample| path.iter().any(|f| calls(&profile, s, f));
    let share = ours.iter().filter(routed).count() as f64 / ours.len() as f64;
    println!(
        "{} samples, routed {share}, {} ns/frame",
        ours.len(),
        trial.ns_per_frame().unwrap_or(0.0)
    );
    assert!(share > 0.2, "{share}");
    let forwards = ours.iter().filter(|s| calls(&profile, s, "ip_forward"));
    assert!(forwards.count() > 0, "{share}");
    // The bed's own programs have names too, also where the kernel's list leaves them out.
    let mut names = profile.names.iter();
    let named = names.any(|name| name.starts_with("bpf_prog_") && name.ends_with("_leave"));
    assert!(named, "{:?}", profile.names);
}

fn sampled_trial(tester: &mut Tester<'_>, symbols: &Symbols, millis: u64) -> (Trial, Profile) {
    let sampler = Sampler::start(&sampler_plan()).unwrap_or_else(|error| panic!("{error}"));
    let trial = trials::run(tester, 3_000_000.0, millis);
    let profile = sampler.stop(symbols);
    trials::assert_ledger(&trial, "sampled");
    (trial, profile.unwrap_or_else(|error| panic!("{error}")))
}

fn router_threads(profile: &Profile) -> Vec<i32> {
    let is_router = |(tid, name): (&i32, &String)| name.starts_with("cpumap/").then_some(*tid);
    profile.tasks.iter().filter_map(is_router).collect()
}

/// The sampled time of the router's threads is their busy time by the scheduler. The router empties a large ring slowly, and
/// that is a part of both.
#[test]
fn samples_and_scheduler_count_the_same_time() {
    if !support::can_run() {
        return;
    }
    let plan = BedPlan {
        rx_ring: 16_384,
        ..support::plan()
    };
    let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"));
    let mut tester = trials::tester(&bed, &support::traffic(), 1 << 22);
    let burn = Fault::spin(1_000);
    let _burning = PlantedFault::plant_on_router(burn, &bed, tester.ways()[0]).expect("a burn");
    let mut each = Vec::new();
    for _ in trials::tries() {
        let (trial, profile) = sampled_trial(&mut tester, symbols(), 1_000);
        if profile.clock == SamplingClock::Cycles || profile.cpus.len() > 1 {
            support::skip!("one CPU of the router without a PMU");
        }
        let begun = trial.begun.expect("a trial").as_nanos();
        let ours = profile.of_tasks(&router_threads(&profile));
        let ours = ours.filter(|sample| sample.time_ns >= begun);
        let sampled_ns: u64 = ours.map(|sample| sample.weight).sum();
        let busy_ns: u64 = trial.busy.iter().map(|cpu| cpu.run_ns).sum();
        // A pause of the machine moves samples.
        let whole_ns = trial.duration.as_nanos() as f64;
        let disturbed_ns = trial.disturbed.time.as_nanos() as f64;
        if busy_ns as f64 > 0.95 * whole_ns && disturbed_ns < 0.1 * whole_ns {
            each.push(sampled_ns as f64 / busy_ns as f64);
        }
        if each.len() == TRIES as usize {
            break;
        }
    }
    if each.len() < 3 {
        support::skip!("a quieter machine");
    }
    let median = statistics::median(&each).expect("trials");
    assert!((median - 1.0).abs() < 0.005, "{each:?}");
    println!("sampled of the busy time: {each:?}");
}

#[test]
fn a_cpu_that_is_not_there_is_an_error() {
    if !support::can_run() {
        return;
    }
    let plan = SamplerPlan::usual(&[4095], sampler_plan().reader);
    let error = Sampler::start(&plan)
        .err()
        .expect("no such CPU")
        .to_string();
    assert!(error.contains("CPU 4095"), "{error}");
}
