//! A CPU that stands still, as when a hypervisor takes it: seen by the watch, whoever's CPU it is. Where that is most
//! of a trial there is never a rate.

use crate::support;
use crate::support::planted::PlantedPauses;
use mpps_lab::bed::{Bed, BedPlan, Front, Interfaces};
use mpps_lab::jobs::{Observer, Phase, Report, Trials};
use mpps_lab::search::bisect;
use mpps_lab::tester::{Fault, KernelInterfaces, PlantedFault, ReceiverMode, StallWatch, Tester};
use mpps_lab::trial::{self, rules};
use mpps_method::{
    Accept, Ceiling, CouldNotMeasure, Disturbance, Goal, Offer, Outcome, Rate, Resolution, Rules,
    Span, Verdict, Void,
};

const PAUSE_NS: u64 = 20_000_000;
/// Longer than other programs have a CPU.
const LONG_NS: u64 = 60_000_000;
/// Several fall into each trial.
const EVERY_NS: u64 = 30_000_000;
/// The machine may disturb a trial in other ways as well.
const ATTEMPTS: u32 = 8;

fn tester(bed: &Bed) -> Tester<'_> {
    Tester::raise(bed, &support::traffic(), 1 << 20, ReceiverMode::Polled)
        .unwrap_or_else(|error| panic!("tester: {error}"))
}

fn offer() -> Offer {
    Offer::new(Rate::from_fps(20_000.0), Span::from_millis(600))
}

/// What a hypervisor takes besides is found too, and not the question here.
fn blind_to_steal(tester: &Tester<'_>, offer: &Offer) -> Rules {
    Rules {
        steal_max: 1.0,
        ..rules::choose(tester, offer)
    }
}

fn is_a_rate(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Lossless | Verdict::Lossy { .. })
}

#[test]
fn a_cpu_that_stands_still_voids_the_trial() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed);
    let offer = offer();
    for paused in [bed.plan().cpus.dut[0], bed.plan().cpus.sender()] {
        let mut seen = Vec::new();
        let named = (0..ATTEMPTS).any(|_| {
            let pauses = PlantedPauses::plant(paused, EVERY_NS, LONG_NS).expect("plant");
            let trial = trial::run(&mut tester, &offer).expect("a trial");
            let (count, longest_ns) = pauses.planted();
            drop(pauses);
            // The first comes before the trial; one more at least is in it.
            assert!(count > 1 && longest_ns >= LONG_NS, "{count} {longest_ns}");
            let gap = trial.gaps.iter().find(|gap| gap.cpu == paused);
            let gap = gap.expect("a watch on each CPU").longest_ns;
            // The watch ticks each ms, and sees no less than what was planted in the trial.
            assert!(gap >= LONG_NS, "the watch saw {gap} ns on CPU {paused}");
            let verdict = trial.judge(&blind_to_steal(&tester, &offer));
            assert!(!is_a_rate(&verdict), "{verdict}");
            seen.push(verdict.to_string());
            let of_cpu =
                |void| matches!(void, Void::Disturbed { cpu, culprit: None, .. } if cpu == paused);
            matches!(verdict, Verdict::Void(void) if of_cpu(void))
        });
        assert!(named, "CPU {paused}: {seen:#?}");
    }
}

#[test]
fn a_real_time_program_is_a_disturbance() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed);
    let offer = offer();
    for cpu in [bed.plan().cpus.dut[0], bed.plan().cpus.sender()] {
        let mut seen = Vec::new();
        // Its time may come before the first slot on a machine that is slow to begin.
        let disturbed = (0..ATTEMPTS).any(|_| {
            let trial = support::hogged(&mut tester, cpu, PAUSE_NS, &offer);
            seen.push(trial.disturbed);
            trial.disturbed.time >= Span::from_nanos(PAUSE_NS)
        });
        assert!(disturbed, "CPU {cpu}: {seen:?}");
    }
}

/// For half a second: what lasts longer is another state of the machine.
#[test]
fn a_slow_cpu_is_a_disturbance() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed);
    let (cpus, offer) = (bed.plan().cpus.all(), offer());
    let mut seen = Vec::new();
    let disturbed = (0..ATTEMPTS).any(|_| {
        // The usual speed becomes known.
        trial::run(&mut tester, &offer).expect("a trial");
        let sees_slow = tester.watch.plant_slow(true);
        let trial = trial::run(&mut tester, &offer).expect("a trial");
        tester.watch.plant_slow(false);
        let of_cpu = |cpu: &usize| {
            let times = trial.slow.iter().filter(|time| time.cpu == *cpu);
            times.map(Disturbance::length).fold(Span::ZERO, Span::plus)
        };
        let slow: Vec<Span> = cpus.iter().map(of_cpu).collect();
        // A part of the half second passes before the first slot.
        let long = Span::from_millis(100);
        let is_seen = |time: &Span| *time >= long && trial.disturbed.time >= *time;
        let is_seen = slow.iter().all(is_seen);
        seen.push((sees_slow, slow, trial.disturbed.time));
        !sees_slow || is_seen
    });
    if seen.iter().any(|(sees_slow, ..)| !sees_slow) {
        support::skip!(
            "a hypervisor with a name, a fine clock, and timers bound to a CPU (Linux 6.7)"
        );
    }
    assert!(disturbed, "{seen:?}");
}

/// A router that works in soft interrupts, or in a thread with them off, delays the watch's timer by its own work: that is
/// neither standing still nor slow. The thread polls 64 frames at a time.
#[test]
fn the_routers_own_work_is_no_stall() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let interfaces = KernelInterfaces::find(Interfaces::Newest).expect("interfaces");
    if interfaces.stall_watch == StallWatch::Threads {
        support::skip!("eBPF timers bound to a CPU (Linux 6.7)");
    }
    for (nic, spin_ns) in [(Front::Softirq, 8_000), (Front::Napi, 80_000)] {
        let bed = Bed::raise(&BedPlan {
            nic,
            ..support::plan()
        })
        .expect("bed");
        let mut tester = tester(&bed);
        let slow = Fault::spin(spin_ns);
        let dut = bed.plan().cpus.dut[0];
        let _slow = PlantedFault::plant(slow, &bed, tester.ways()[0]).expect("plant");
        let offer = Offer::new(Rate::from_fps(300_000.0), Span::from_millis(300));
        let mut seen = Vec::new();
        let clear = (0..ATTEMPTS).any(|_| {
            let trial = trial::run(&mut tester, &offer).expect("a trial");
            let still_or_slow = trial.stalls.iter().chain(&trial.slow);
            let of_dut = still_or_slow.filter(|time| time.cpu == dut);
            let stalled_ns: u64 = of_dut.map(|time| time.length().as_nanos()).sum();
            let lost = trial.counts().lost;
            seen.push((stalled_ns, lost));
            // The machine may stall too; overload by three times loses over half.
            lost > 30_000 && stalled_ns < 60_000_000
        });
        assert!(clear, "{nic:?}: ns stalled, frames lost: {seen:?}");
    }
}

/// Verdicts of a search.
#[derive(Default)]
struct Seen(Vec<Verdict>);

impl Observer for Seen {
    fn trial(&mut self, report: &Report<'_>) -> std::io::Result<()> {
        self.0.push(*report.verdict);
        Ok(())
    }

    fn last_number(&self) -> u32 {
        self.0.len() as u32
    }
}

#[test]
fn a_search_on_such_a_machine_could_not_measure() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed);
    let goal = Goal {
        trial: Span::from_millis(50),
        resolution: Resolution::Fraction(0.1),
        trials_per_load: 3,
        accept: Accept::Any,
        maximum: Ceiling::Tester(Rate::from_fps(50_000.0)),
        minimum: Rate::from_fps(10_000.0),
    };
    let _pauses = PlantedPauses::plant(bed.plan().cpus.dut[0], EVERY_NS, PAUSE_NS).expect("plant");
    let mut seen = Seen::default();
    let outcome = bisect(
        &mut tester,
        goal,
        Phase::Search,
        &mut Trials::new(&mut seen),
    )
    .expect("an end");
    assert!(
        matches!(
            outcome,
            Outcome::CouldNotMeasure {
                why: CouldNotMeasure::TooManyVoided { .. },
                ..
            }
        ),
        "{outcome:?}"
    );
    assert!(!seen.0.iter().any(is_a_rate), "{:?}", seen.0);
}
