//! How long a trial goes on: until the time outside disturbances is as long as asked for, by either port. One that
//! cannot offer its load ends early, and its ledger closes all the same.

use crate::support;
use crate::support::planted::PlantedPauses;
use crate::support::trials::{WHOLE_TRIES, assert_ledger, offer, tester};
use mpps_lab::bed::{Bed, BedPlan, Front};
use mpps_lab::tester::{PortKind, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_lab::trial::rules;
use mpps_method::{Offer, Shortfall, Span, Trial, Verdict};

/// Overload for longer than any trial here lasts.
const FRAMES_MAX: u64 = 1 << 26;
const PORTS: [PortKind; 2] = [PortKind::Xdp, PortKind::AfPacket];

fn traffic(port: PortKind) -> Traffic {
    Traffic {
        port,
        ..support::traffic()
    }
}

/// As a search runs it, and what it says.
fn run(tester: &mut Tester<'_>, offer: &Offer) -> (Trial, Verdict) {
    let rules = rules::choose(tester, offer);
    let trial = trial::run_undisturbed(tester, offer, &rules)
        .unwrap_or_else(|error| panic!("trial: {error}"));
    assert_ledger(&trial, &format!("{offer:?}"));
    assert_slots(&trial);
    let verdict = trial.judge(&rules);
    (trial, verdict)
}

/// Whenever it ended, it counts the slots that had passed by then.
fn assert_slots(trial: &Trial) {
    let (counts, slots) = (trial.counts(), trial.offered.frames_in(trial.duration));
    assert_eq!(counts.intended, counts.sent + counts.unsent);
    assert!(counts.intended.abs_diff(slots) <= 1, "{slots}: {counts:?}");
}

#[test]
fn a_load_that_cannot_be_offered_ends_early() {
    if !support::can_run() {
        return;
    }
    for port in PORTS {
        let bed = support::bed();
        let mut tester = tester(&bed, &traffic(port), FRAMES_MAX);
        let offer = offer(8_000_000.0, 3_000);
        let mut seen = Vec::new();
        let found = (0..WHOLE_TRIES).any(|_| {
            let (trial, verdict) = run(&mut tester, &offer);
            seen.push(format!(
                "{} {verdict} {:?}",
                trial.duration, trial.disturbed
            ));
            // What is unsent while others have the CPUs is excused, and may be all of it.
            if trial.cut_short_from.is_none() && matches!(verdict, Verdict::Void(_)) {
                return false;
            }
            assert_eq!(trial.cut_short_from, Some(offer.duration), "{seen:#?}");
            assert!(trial.duration < offer.duration, "{seen:#?}");
            // What the DUT lost of such a load counts.
            let short = matches!(
                verdict,
                Verdict::NotOffered(Shortfall::UnsentAboveBound { .. }) | Verdict::Lossy { .. }
            );
            // Half a second is ten looks.
            short && trial.duration < Span::from_millis(500)
        });
        assert!(found, "{port:?}: {seen:#?}");
    }
}

/// A CPU that stands still for 20 ms now and then lets the ring overflow, or leaves slots unsent: neither counts.
#[test]
fn a_trial_lasts_longer_after_a_stall() {
    if !support::can_run() {
        return;
    }
    for port in PORTS {
        let bed = Bed::raise(&BedPlan {
            rx_ring: 512,
            ..support::plan()
        })
        .expect("bed");
        let (dut, sender) = (bed.plan().cpus.dut[0], bed.plan().cpus.sender());
        let mut tester = tester(&bed, &traffic(port), FRAMES_MAX);
        // A ring's worth in less than such a pause.
        let offer = offer(f64::from(rules::one_ring(&bed)) / 0.010, 600);
        for paused in [dut, sender] {
            let _pauses = PlantedPauses::plant(paused, 150_000_000, 20_000_000).expect("plant");
            let mut seen = Vec::new();
            let found = (0..WHOLE_TRIES).any(|_| {
                let (trial, verdict) = run(&mut tester, &offer);
                let disturbed = trial.disturbed;
                seen.push(format!("{} {verdict} {disturbed:?}", trial.duration));
                if trial.cut_short_from.is_some() {
                    return false;
                }
                // Three pauses at least; what a disturbance that was under way at the end took is missing.
                assert!(disturbed.time >= Span::from_millis(40), "{disturbed:?}");
                let undisturbed = trial.duration.as_nanos() - disturbed.time.as_nanos();
                assert!(trial.duration <= trial::longest(offer.duration));
                let spoilt = disturbed.unsent + trial.lost_disturbed();
                spoilt > 500 && undisturbed > 500_000_000 && verdict == Verdict::Lossless
            });
            assert!(found, "{port:?} CPU {paused}: {seen:#?}");
        }
    }
}

/// On every front: what was cut short has not passed, and what passed was not cut short.
#[test]
fn a_trial_that_passes_was_not_cut_short() {
    if !support::can_run() {
        return;
    }
    for (nic, port) in [Front::Cpumap, Front::Napi, Front::Softirq]
        .into_iter()
        .flat_map(|nic| PORTS.map(|port| (nic, port)))
    {
        let bed = Bed::raise(&BedPlan {
            nic,
            ..support::plan()
        })
        .expect("bed");
        let mut tester = tester(&bed, &traffic(port), FRAMES_MAX);
        let mut seen = Vec::new();
        let counted = (0..WHOLE_TRIES).any(|_| {
            let offer = offer(20_000.0, 300);
            let (trial, verdict) = run(&mut tester, &offer);
            let counts = matches!(verdict, Verdict::Lossless | Verdict::Lossy { .. });
            match trial.cut_short_from {
                Some(_) => assert_ne!(verdict, Verdict::Lossless, "{nic:?} {port:?}"),
                None => assert!(trial.duration >= offer.duration, "{}", trial.duration),
            }
            seen.push(verdict.to_string());
            counts
        });
        assert!(counted, "{nic:?} {port:?}: {seen:#?}");
    }
}
