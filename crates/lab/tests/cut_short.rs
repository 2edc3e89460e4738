//! A trial that cannot pass ends early, by either port, and its ledger closes all the same; one that may pass never
//! does.

mod support;

use mpps_lab::bed::{Bed, BedPlan, Front};
use mpps_lab::rules;
use mpps_lab::tester::{PlantedPauses, PortKind, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_method::{Offer, Shortfall, Span, Trial, Verdict, Void};
use support::trials::{WHOLE_TRIES, assert_ledger, offer, tester};

/// Overload for longer than any trial here lasts.
const FRAMES_MAX: u64 = 1 << 25;
const PORTS: [PortKind; 2] = [PortKind::Xdp, PortKind::AfPacket];

fn traffic(port: PortKind) -> Traffic {
    Traffic {
        port,
        ..support::traffic()
    }
}

/// As a search runs it, and what it says.
fn run(tester: &mut Tester<'_>, offer: &Offer) -> (Trial, Verdict) {
    let rules = rules::of(tester, offer);
    let trial = trial::run_while_it_may_count(tester, offer, &rules)
        .unwrap_or_else(|error| panic!("trial: {error}"));
    assert_ledger(&trial, &format!("{offer:?}"));
    let verdict = trial.judge(&rules);
    (trial, verdict)
}

fn assert_cut_short(trial: &Trial, of: Span) {
    assert_eq!(trial.cut_short_from, Some(of));
    assert!(trial.duration < of, "{}", trial.duration);
    let (counts, slots) = (trial.counts(), trial.offered.frames_in(trial.duration));
    assert_eq!(counts.intended, counts.sent + counts.unsent);
    assert!(counts.intended.abs_diff(slots) <= 1, "{slots}: {counts:?}");
}

#[test]
fn a_load_that_cannot_be_offered_takes_no_longer_than_to_see_it() {
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
            assert_cut_short(&trial, offer.duration);
            seen.push(format!("{} {verdict}", trial.duration));
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

#[test]
fn a_trial_in_which_a_cpu_stood_still_ends_and_is_void() {
    if !support::can_run() {
        return;
    }
    for port in PORTS {
        let bed = support::bed();
        let dut = bed.plan().cpus.dut[0];
        let mut tester = tester(&bed, &traffic(port), FRAMES_MAX);
        let offer = offer(10_000.0, 3_000);
        let _pauses = PlantedPauses::plant(dut, 150_000_000, 20_000_000).expect("plant");
        let mut seen = Vec::new();
        let found = (0..WHOLE_TRIES).any(|_| {
            let (trial, verdict) = run(&mut tester, &offer);
            assert_cut_short(&trial, offer.duration);
            seen.push(format!("{} {verdict}", trial.duration));
            let named = matches!(verdict, Verdict::Void(Void::Stall { cpu, .. }) if cpu == dut);
            named && trial.duration < Span::from_millis(1_000)
        });
        assert!(found, "{port:?}: {seen:#?}");
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
                None => assert_eq!(trial.duration, offer.duration),
            }
            seen.push(verdict.to_string());
            counts
        });
        assert!(counted, "{nic:?} {port:?}: {seen:#?}");
    }
}
