//! What a trial's lost frames say of why they were lost: causes planted on a real bed, each told apart.

use crate::support;
use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::tester::{Fault, PlantedFault, ReceiverMode, Tester};
use mpps_lab::trial::{self, rules};
use mpps_method::{LossPattern, Losses, Offer, Rate, Span, Trial, Verdict};

/// So many trials in a row may be disturbed before one of these has to do.
const ATTEMPTS: u32 = 12;

/// A small ring shows a stall; a large one hides the machine's own from what else is looked for.
fn bed(rx_ring: u32) -> Bed {
    let plan = BedPlan {
        rx_ring,
        ..support::plan()
    };
    Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"))
}

fn tester(bed: &Bed) -> Tester<'_> {
    Tester::raise(bed, &support::traffic(), 1 << 20, ReceiverMode::Polled)
        .unwrap_or_else(|error| panic!("tester: {error}"))
}

fn offer(fps: f64, millis: u64) -> Offer {
    Offer::new(Rate::from_fps(fps), Span::from_millis(millis))
}

fn run(tester: &mut Tester<'_>, offer: &Offer) -> Trial {
    trial::run(tester, offer).unwrap_or_else(|error| panic!("trial: {error}"))
}

/// The loss of a trial that nothing disturbed; where none was, of the one that is evidence for most of its frames, for
/// what is planted outweighs what the machine adds. `None`: for fewer than half of them.
fn loss_of(tester: &mut Tester<'_>, fault: Fault, offer: &Offer) -> Option<Losses> {
    let _planted = PlantedFault::plant(fault, tester.bed, tester.ways()[0]).expect("plant");
    let (mut disturbed, mut why) = (None::<Losses>, String::new());
    for _ in 0..ATTEMPTS {
        let trial = run(tester, offer);
        let verdict = trial.judge(&rules::choose(tester, offer));
        let Some(losses) = trial.losses.first().cloned() else {
            continue;
        };
        // As the directions have it: frames that came too late to count were not lost on their way.
        let lost: u64 = trial.directions.iter().map(|way| way.counts.lost).sum();
        let then = (trial.lost_disturbed(), trial.disturbed.sent);
        assert_eq!(
            (losses.lost + then.0, losses.sent + then.1),
            (lost, trial.counts().sent)
        );
        match verdict {
            Verdict::Lossy { .. } => return Some(losses),
            Verdict::Invalid(_) => {}
            _ if disturbed
                .as_ref()
                .is_some_and(|most| most.sent >= losses.sent) => {}
            _ => disturbed = Some(losses),
        }
        why = verdict.to_string();
    }
    println!("{ATTEMPTS} trials in a row were disturbed, the last: {why}");
    let half = offer.rate.frames_in(offer.duration) / 2;
    let most = disturbed.filter(|losses| losses.sent >= half);
    if most.is_none() {
        support::skip!("a quieter machine: {why}");
    }
    most
}

#[test]
fn one_in_a_thousand_is_periodic_and_all_are_known() {
    if !support::can_run() {
        return;
    }
    let bed = bed(4096);
    let mut tester = tester(&bed);
    for every in [1_000, 100, 7] {
        let fault = Fault {
            drop_every: every,
            ..Fault::NONE
        };
        let Some(losses) = loss_of(&mut tester, fault, &offer(50_000.0, 400)) else {
            return;
        };
        let expected = LossPattern::Periodic { every };
        assert_eq!(losses.pattern(), expected, "{losses:?}");
        // Nothing but the frames that the planting program takes: the middle of each stretch of N.
        let planted =
            |run: &mpps_method::pattern::Run| run.frames == 1 && run.first % every == every / 2;
        assert!(losses.first_runs.iter().all(planted), "{losses:?}");
    }
}

#[test]
fn a_policer_and_a_ring_overflow() {
    if !support::can_run() {
        return;
    }
    let bed = bed(4096);
    let mut tester = tester(&bed);
    let policer = Fault {
        police_fps: 50_000,
        police_burst: 64,
        ..Fault::NONE
    };
    let slow = Fault::spin(40_000);
    // Of a policer's loss the ring knows nothing; of a slow DUT's it is the place.
    for (what, fault, fps, at_ring) in [
        ("policer", policer, 60_000.0, false),
        ("policer", policer, 100_000.0, false),
        ("slow DUT", slow, 50_000.0, true),
        ("slow DUT", slow, 100_000.0, true),
    ] {
        let Some(losses) = loss_of(&mut tester, fault, &offer(fps, 400)) else {
            return;
        };
        assert_eq!(
            losses.pattern(),
            LossPattern::Overflow,
            "{what}: {losses:?}"
        );
        // Of what both lost in part, some of it in disturbances, nobody knows the place.
        if let Some(refused) = losses.at_ring {
            assert_eq!(refused > losses.lost / 2, at_ring, "{what}: {losses:?}");
        }
    }
}

#[test]
fn an_overload_overflows() {
    if !support::can_run() {
        return;
    }
    let bed = bed(512);
    let mut tester = tester(&bed);
    // A DUT with a CPU of its own takes about what the sender can give: this one takes a third of it. The sender need not
    // reach the load, nor the machine be quiet.
    let third = Fault::spin(2_000);
    let Some(losses) = loss_of(&mut tester, third, &offer(3_000_000.0, 300)) else {
        return;
    };
    assert_eq!(losses.pattern(), LossPattern::Overflow, "{losses:?}");
}

#[test]
fn a_dut_that_loses_its_cpu_for_a_while_has_stalled() {
    if !support::can_run() {
        return;
    }
    let bed = bed(512);
    if bed.plan().cpus.shared() {
        support::skip!("two CPUs");
    }
    let mut tester = tester(&bed);
    // 60 ms at 50 000 frames/s are 3000 frames, of which the ring holds 512: what it took is hidden.
    let offer = offer(50_000.0, 500);
    let hidden_ns = 512 * 20_000;
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        // What the router's own tasks do is no disturbance.
        let cpu = bed.plan().cpus.dut[0];
        let trial = support::hogged_by_router(&mut tester, cpu, 60_000_000, &offer);
        let Some(losses) = trial.losses.first() else {
            seen.push("no loss: the hog came outside the load".to_owned());
            continue;
        };
        match losses.pattern() {
            LossPattern::Stall { longest, .. }
                if (50_000_000..80_000_000).contains(&(longest.as_nanos() + hidden_ns)) =>
            {
                return;
            }
            other => seen.push(format!("{other:?} {losses:?}")),
        }
        assert!(seen.len() < 5, "{seen:#?}");
    }
}
