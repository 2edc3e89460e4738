//! Trials of the tests, and what holds of each whatever port it went through.

use super::plan;
use mpps_lab::bed::{Bed, BedPlan, Front};
use mpps_lab::tester::{ReceiverMode, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_method::disturbed::Guard;
use mpps_method::{FrameSpec, Invalid, Offer, Rate, Rules, Span, Trial, Verdict};
use std::time::{Duration, Instant};

/// What the machine does meanwhile is not the question here.
pub const BLIND: Rules = Rules {
    unsent_max: 1.0,
    steal_max: 1e9,
    others_max: 1e9,
    disturbed_max: 1e9,
    guard: Guard {
        factor: 0.0,
        least: Span::ZERO,
        most: Span::ZERO,
    },
};

/// Trials that a restless machine may spoil before a test gives up on it.
pub const WHOLE_TRIES: u32 = 20;

/// A restless machine has so long to be quiet for one trial.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of each try, while there is patience left.
pub fn tries() -> impl Iterator<Item = u32> {
    let begun = Instant::now();
    (1..=WHOLE_TRIES).take_while(move |_| begun.elapsed() < PATIENCE)
}

pub fn offer(fps: f64, millis: u64) -> Offer {
    Offer::new(Rate::from_fps(fps), Span::from_millis(millis))
}

pub fn tester<'a>(bed: &'a Bed, traffic: &Traffic, frames_max: u64) -> Tester<'a> {
    Tester::raise(bed, traffic, frames_max, ReceiverMode::Polled)
        .unwrap_or_else(|error| panic!("tester: {error}"))
}

pub fn run(tester: &mut Tester<'_>, fps: f64, millis: u64) -> Trial {
    trial::run(tester, &offer(fps, millis)).unwrap_or_else(|error| panic!("trial: {error}"))
}

/// A trial that the machine let pass: of a few, the first that is not void, whose canaries came and whose sender
/// left nothing unsent. The ledger of each closes, also where a CPU stood still for half a second.
pub fn run_whole(tester: &mut Tester<'_>, fps: f64, millis: u64) -> Trial {
    run_until(tester, &offer(fps, millis), |trial| {
        !is_void(trial) && is_ended(trial) && trial.counts().unsent == 0
    })
}

/// Its sender passed all its slots, its canaries came, and most of its frames arrived: what else disturbed it is not the
/// question.
pub fn is_delivered(trial: &Trial) -> bool {
    is_ended(trial) && trial.counts().received > trial.counts().sent / 2
}

fn is_void(trial: &Trial) -> bool {
    matches!(trial.judge(&Rules::default()), Verdict::Void(_))
}

/// The sender passed all its slots, and the canaries came.
fn is_ended(trial: &Trial) -> bool {
    let ended = Verdict::Invalid(Invalid::SenderDidNotEnd);
    let verdict = trial.judge(&super::any_machine());
    verdict != ended && !matches!(verdict, Verdict::Invalid(Invalid::CanaryMissing { .. }))
}

/// The first trial of a few that is as wanted, else the last. The ledger of each closes.
pub fn run_until(
    tester: &mut Tester<'_>,
    offer: &Offer,
    is_wanted: impl Fn(&Trial) -> bool,
) -> Trial {
    let mut tries = 1;
    loop {
        let trial = trial::run(tester, offer).unwrap_or_else(|error| panic!("trial: {error}"));
        if tries == WHOLE_TRIES || is_wanted(&trial) {
            return trial;
        }
        let verdict = trial.judge(&Rules::default());
        println!("once more: {verdict}, {} unsent", trial.counts().unsent);
        assert_ledger(&trial, "disturbed");
        tries += 1;
    }
}

pub fn assert_ledger(trial: &Trial, what: &str) {
    for way in &trial.directions {
        way.ledger
            .close(&way.counts)
            .unwrap_or_else(|gap| panic!("{what}: {gap}\n{way:?}"));
    }
}

/// Every identity of the ledger holds, whatever else the machine did to the trial.
pub fn assert_closed(trial: &Trial, what: &str) {
    assert_ledger(trial, what);
    let verdict = trial.judge(&super::any_machine());
    assert!(
        !matches!(verdict, Verdict::Invalid(_)),
        "{what}: {verdict}\n{trial:?}"
    );
    assert!(trial.counts().sent > 0, "{what}");
}

pub fn frames(text: &str) -> FrameSpec {
    FrameSpec::parse_list(text).expect("a spec").remove(0)
}

/// With each of the traffics, a tenth of a second of it on each front: nothing stray, nothing out of order, the sizes
/// add up, and a frame costs the DUT what a frame can cost.
pub fn assert_closed_on_every_front(fps: f64, frames_max: u64, traffics: &[Traffic]) {
    for nic in [Front::Cpumap, Front::Napi, Front::Softirq] {
        let bed = Bed::raise(&BedPlan { nic, ..plan() }).unwrap_or_else(|e| panic!("{nic:?}: {e}"));
        for traffic in traffics {
            let mut tester = tester(&bed, traffic, frames_max);
            // What a busy machine leaves unsent, or a small ring loses, is not the question here.
            let trial = run_until(&mut tester, &offer(fps, 100), |trial| {
                let half = trial.counts().received > trial.counts().sent / 2;
                is_ended(trial) && (half || !is_void(trial))
            });
            let Traffic {
                frames,
                ipv6,
                bidirectional,
                ..
            } = traffic;
            let what = format!(
                "{nic:?} {frames:?} ipv6 {ipv6} both ways {bidirectional} at the {}",
                traffic.receiver.name()
            );
            assert_closed(&trial, &what);
            let counts = trial.counts();
            assert_eq!(
                (counts.intended, counts.foreign, counts.reordered),
                (fps as u64 / 10, 0, 0),
                "{what}"
            );
            assert!(counts.received > counts.sent / 2, "{what}: {counts:?}");
            let by_size = trial.per_size.iter().map(|size| size.received_frames);
            assert_eq!(by_size.sum::<u64>(), counts.received, "{what}");
            match trial.ns_per_frame() {
                Some(cost) => assert!(cost > 10.0 && cost < 2_000_000.0, "{what}: {cost}"),
                // Ticks of 10 ms are all that is known of a CPU whose work has no thread: a light load may be in none.
                None => assert_eq!(nic, Front::Softirq, "{what}"),
            }
        }
    }
}
