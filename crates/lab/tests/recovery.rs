//! Loads that change within a trial. System recovery as `mpps recovery` measures it: the load drops once within a trial, and when the last frame was lost
//! is known.

use crate::support;
use crate::support::printed::Printed;
use crate::support::trials::{WHOLE_TRIES, assert_ledger, offer, tester, tries};
use mpps_lab::jobs::Trials;
use mpps_lab::jobs::recovery::{self, Recovery, RecoveryTrial};
use mpps_lab::tester::{Fault, PlantedFault, Tester};
use mpps_lab::trial::{self, InTurns, Stepped, mean, run_in_turns};
use mpps_method::saturation::Window;
use mpps_method::{Offer, Rate, Span, statistics};

const FRAMES_MAX: u64 = 1 << 21;
const HIGH_FPS: f64 = 100_000.0;

/// Half a second each, the second at half the load.
fn loads() -> (Offer, Offer) {
    (offer(HIGH_FPS, 500), offer(HIGH_FPS / 2.0, 500))
}

/// A trial whose counts are the tester's own doing alone.
fn one_trial(tester: &mut Tester<'_>) -> RecoveryTrial {
    let (high, low) = loads();
    let mut printed = Printed::<()>::new();
    let mut trials = Trials::new(&mut printed);
    recovery::one_trial(tester, &high, &low, &mut trials).unwrap_or_else(|e| panic!("{e}"))
}

fn planted(tester: &Tester<'_>, fault: Fault) -> PlantedFault {
    PlantedFault::plant(fault, tester.bed, tester.ways()[0]).expect("plant")
}

#[test]
fn the_load_drops_within_a_trial() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed, &support::traffic(), FRAMES_MAX);
    let (high, low) = loads();
    let found = (0..WHOLE_TRIES).any(|_| {
        let Stepped { trial, dropped, .. } =
            trial::run_stepped(&mut tester, &high, &low).unwrap_or_else(|e| panic!("{e}"));
        assert_ledger(&trial, "stepped");
        let dropped = dropped.expect("it dropped");
        println!("dropped at {dropped}, {:?}", trial.counts());
        assert!(dropped >= high.duration);
        assert_eq!(trial.counts().intended, 75_000);
        // The first mark after its time, unless the sender stood still.
        dropped.as_nanos() < high.duration.as_nanos() + 3_000_000 && trial.counts().unsent == 0
    });
    assert!(found);
}

#[test]
fn loss_that_goes_on_is_no_recovery() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed, &support::traffic(), FRAMES_MAX);
    let fault = Fault {
        drop_every: 100,
        ..Fault::NONE
    };
    let _planted = planted(&tester, fault);
    let mut seen = Vec::new();
    for _ in tries() {
        let RecoveryTrial { recovery, .. } = one_trial(&mut tester);
        seen.push(recovery);
        if recovery == Recovery::NotRecovered {
            return;
        }
        assert_eq!(recovery, Recovery::NotMeasured, "{seen:?}");
    }
    support::skip!("a quieter machine: {seen:?}");
}

/// A policer between the two loads: what exceeds it is lost until the drop, and nothing after it.
#[test]
fn a_policer_recovers_at_the_drop() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed, &support::traffic(), FRAMES_MAX);
    let fault = Fault {
        police_fps: Rate::from_fps(HIGH_FPS * 0.8).fps() as u64,
        police_burst: 64,
        ..Fault::NONE
    };
    let _planted = planted(&tester, fault);
    let mut seen = Vec::new();
    for _ in tries() {
        let found = one_trial(&mut tester);
        seen.push(found.recovery);
        // A restless machine makes bunches of frames, which the policer drops at any load.
        if matches!(found.recovery, Recovery::After(time) if time.as_nanos() < 5_000_000) {
            assert!(found.judged.trial.counts().lost > 5_000);
            return;
        }
        assert_ne!(found.recovery, Recovery::NotOverloaded, "{seen:?}");
    }
    support::skip!("a quieter machine: {seen:?}");
}

#[test]
fn loads_take_turns_within_a_trial() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut tester = tester(&bed, &support::traffic(), FRAMES_MAX);
    let loads = [200e3, 50e3, 100e3].map(Rate::from_fps);
    let found = (0..WHOLE_TRIES).any(|_| {
        let whole = mean(&loads, Span::from_millis(500));
        let InTurns { trial, windows } = run_in_turns(&mut tester, &loads, whole.duration, None)
            .unwrap_or_else(|e| panic!("{e}"));
        assert_ledger(&trial, "in turns");
        assert_eq!(windows.len(), loads.len());
        windows.iter().zip(loads).all(|(windows, load)| {
            let rate = |window: &Window| {
                let forwarded = Rate::from_frames(window.forwarded, window.duration);
                forwarded.map_or(0.0, |rate| rate.fps())
            };
            let rates: Vec<f64> = windows.iter().map(rate).collect();
            let median = statistics::median(&rates);
            println!("{load}: {} windows, {median:?}", windows.len());
            median.is_some_and(|fps| (fps / load.fps() - 1.0).abs() < 0.02)
        })
    });
    assert!(found);
}
