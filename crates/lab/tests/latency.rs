//! Latency as `mpps latency` measures it: a delay on the router's path is found there and not on the wire's.

use crate::support;
use crate::support::printed::Printed;
use mpps_ebpf::instruments::sender::Order;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::Trials;
use mpps_lab::jobs::latency::{self, LatencyLoad, LoadLatency, PathLatency};
use mpps_lab::tester::{Fault, PlantedFault, Tester};
use mpps_method::{Rate, Span, statistics};

/// A restless machine can slow one attempt down, but not all.
const ATTEMPTS: u32 = 3;
/// The same where one number is compared with a bound.
const OWN_ATTEMPTS: u32 = 5;
/// Of trials without and with the delay, for a machine's latency wanders.
const PAIRS: u32 = 3;
const TIME: Span = Span::from_millis(250);
/// The delay is time of the DUT's CPU: at 10 000 frames/s it would be all of it.
const DELAYED_FPS: f64 = 2_000.0;
const DELAY_NS: u64 = 100_000;

fn at_load(tester: &mut Tester<'_>, fps: f64) -> LoadLatency {
    let (rate, mut printed) = (Rate::from_fps(fps), Printed::<()>::new());
    let mut trials = Trials::new(&mut printed);
    latency::at_load(tester, LatencyLoad::At(rate), rate, TIME, &mut trials)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// NaN where no trial counts.
fn median_ns(path: &PathLatency) -> f64 {
    let median = path.latency().quantile(0.5);
    median.map_or(f64::NAN, |span| span.as_nanos() as f64)
}

fn bed_of(load: &LoadLatency) -> &PathLatency {
    load.bed.as_ref().expect("a wire can be laid")
}

/// The latency with a delay on the router's path, and the delay as its program counted it, ns.
fn delayed(tester: &mut Tester<'_>, delay_ns: u64) -> (LoadLatency, f64) {
    let fault = Fault::spin(delay_ns);
    let planted = PlantedFault::plant_on_router(fault, tester.bed, tester.ways()[0]);
    let planted = planted.expect("plant");
    let load = at_load(tester, DELAYED_FPS);
    let held = planted.held_ns().expect("the planting program's count");
    (load, held.unwrap_or_default())
}

#[test]
fn a_planted_delay_is_found_on_the_routers_path() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = latency::raise(&bed, &support::traffic(), TIME, None).expect("a tester");
    for attempt in 1..=ATTEMPTS {
        let (mut grown, mut planted) = (Vec::new(), Vec::new());
        for _ in 0..PAIRS {
            let (without, _) = delayed(&mut tester, 0);
            let (with, delay_ns) = delayed(&mut tester, DELAY_NS);
            grown.push(median_ns(&with.router) - median_ns(&without.router));
            planted.push(delay_ns);
            let own = median_ns(bed_of(&with));
            assert!(
                own < DELAY_NS as f64 || own.is_nan(),
                "{own} ns on the wire"
            );
        }
        if grown.iter().any(|grown| grown.is_nan()) {
            support::skip!("a quieter machine: no trial counts");
        }
        let (found, planted) = (statistics::median(&grown), statistics::median(&planted));
        let (found, planted) = (found.expect("pairs"), planted.expect("pairs"));
        println!("planted {planted} ns, found {found} ns: {grown:?}");
        assert!(planted >= 0.99 * DELAY_NS as f64);
        if (found - planted).abs() <= 5_000.0 {
            return;
        }
        assert!(attempt < ATTEMPTS, "{found} ns found, {planted} ns planted");
    }
}

/// It is 5 to 9 us on a virtual machine whose CPUs stay awake, and 17 to 50 us where they sleep. A receiver that waits
/// for its timer would show here too.
const OWN_NS_MAX: f64 = 10_000.0;

/// Sleeps of the bed's CPUs. `None`: the kernel does not count them.
fn sleeps(bed: &Bed) -> Option<u64> {
    let cpus = &bed.plan().cpus;
    let all = cpus.dut.iter().chain(&cpus.tester);
    all.map(|cpu| mpps_linux::cpu::sleeps(*cpu)).sum()
}

/// A path whose frames the machine kept waiting, more than one of a thousand, or that was never measured.
fn is_disturbed(path: &PathLatency) -> bool {
    median_ns(path).is_nan() || path.disturbed_frames() * 1_000 > path.counts().sent
}

#[test]
fn the_beds_own_latency_is_beside_the_routers() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = latency::raise(&bed, &support::traffic(), TIME, None).expect("a tester");
    assert_eq!(tester.continued(Order::default()).batch, 1, "one at a time");
    let _awake = mpps_linux::cpu::keep_awake().expect("/dev/cpu_dma_latency");
    let (mut seen, mut counts) = (Vec::new(), false);
    for _ in 0..OWN_ATTEMPTS {
        let before = sleeps(&bed);
        let load = at_load(&mut tester, 10_000.0);
        let slept = sleeps(&bed)
            .zip(before)
            .map(|(after, before)| after - before);
        let (router, own) = (&load.router, bed_of(&load));
        let medians = [router, own].map(median_ns);
        // Every frame is timed.
        assert_eq!(router.latency().count(), router.counts().received);
        assert_eq!(own.latency().count(), own.counts().received);
        if medians[1] <= OWN_NS_MAX && medians[0] < OWN_NS_MAX + medians[1] {
            return;
        }
        // Each of them may sleep once: a sleep that the request ends is counted afterwards.
        let awake = slept.is_some_and(|times| times <= bed.plan().cpus.tester.len() as u64 + 1);
        let disturbed = is_disturbed(router) || is_disturbed(own);
        counts |= awake && !disturbed;
        seen.push(format!(
            "{medians:?} ns, sleeps {slept:?}, disturbed {disturbed}"
        ));
    }
    if !counts {
        support::skip!("CPUs that stay awake on a quieter machine: {seen:?}");
    }
    panic!("router and bed: {seen:?}");
}
