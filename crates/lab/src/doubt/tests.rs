//! Searches that the rules' tests look at.

use super::*;
use mpps_method::{
    CpuBusy, CpuSteal, GoalResult, Losses, Outcome, Passes, Rate, Span, Trial, Verdict,
};
use mpps_record::doubts::TESTER_NEAR_CEILING;

/// What a search found that ended so.
pub(super) fn result(outcome: Outcome) -> GoalResult {
    GoalResult {
        goal: None,
        outcome,
        loss_ratio: 0.0,
        final_trial: Span::from_millis(1_000),
        passes: Passes::default(),
        irregular: None,
    }
}

pub(super) fn found_by(limited_by: LimitedBy, lossless: Rate, lossy: Option<Rate>) -> Outcome {
    Outcome::Found {
        lossless,
        lossy,
        limited_by,
        trials: 7,
        voided: 0,
    }
}

/// A search bound by a loss, with the DUT's one CPU so busy in the trial that lost.
pub(super) fn bound_by_loss(busy: f64) -> Searched {
    let failed = Rate::from_fps(489_100.0);
    let trial = Trial {
        offered: failed,
        duration: Span::from_millis(1_000),
        busy: vec![CpuBusy {
            cpu: 0,
            run_ns: (busy * 1e9) as u64,
            ..CpuBusy::default()
        }],
        ..Trial::default()
    };
    let found = found_by(LimitedBy::Dut, Rate::from_fps(484_200.0), Some(failed));
    Searched {
        stands_on: None,
        result: result(found),
        evidence: None,
        trials: [(trial, Verdict::Lossy { lost: 556 })].into(),
        left_out: [].into(),
        elsewhere: 0,
    }
}

/// As [`bound_by_loss`], with these frames of 64 000 in a second lost, so many of them at the ring.
pub(super) fn bound_by_these(
    lost: impl IntoIterator<Item = usize>,
    at_ring: u64,
    busy: f64,
) -> Searched {
    let mut searched = bound_by_loss(busy);
    let mut words = vec![u64::MAX; 1_000];
    lost.into_iter()
        .for_each(|sequence| words[sequence / 64] &= !(1 << (sequence % 64)));
    let losses = Losses::from_bitmap(&words, 64_000, Span::from_millis(1_000), &[]);
    let (mut trial, verdict) = searched.trials[0].clone();
    trial.losses = losses.into_iter().collect();
    for losses in &mut trial.losses {
        losses.at_ring = Some(at_ring);
    }
    searched.trials = [(trial, verdict)].into();
    searched
}

#[test]
fn weights_order_groups_then_places() {
    let footnote = Weight::Footnote(0, "no wire");
    let weights = [
        Weight::Another(0),
        Weight::Another(12),
        Weight::Shifted(0),
        Weight::Unsure(0),
        Weight::Unknown(0),
        footnote,
    ];
    let places = weights.map(Weight::place);
    assert!(weights.is_sorted() && places.is_sorted() && weights[4] < footnote);
    let footnotes = [weights[4], footnote].map(Weight::footnote);
    assert_eq!(footnotes, [None, Some("no wire")]);
}

#[test]
fn a_series_has_the_doubts_of_its_trials() {
    let load = Rate::from_fps(1e6);
    let trial = |stolen_ns| Trial {
        offered: load,
        duration: Span::from_millis(1_000),
        steal: vec![CpuSteal {
            cpu: 0,
            steal_ns: stolen_ns,
        }],
        ..Trial::default()
    };
    let names = |around: &Surroundings, trials: &[(Trial, Verdict)], void, length, limit| {
        let length = Span::from_millis(length);
        let series = Series {
            limit,
            ceiling: load,
            length,
            trials,
            void,
            passed: None,
        };
        let doubts = series_doubts(around, &series);
        let names = doubts.iter().map(|doubt| doubt.name);
        names.collect::<Vec<_>>()
    };
    let quiet = Surroundings {
        closed: true,
        ..Surroundings::default()
    };
    let device = ["ceiling-unproven", "device-unknown"];
    let lossless = [(trial(0), Verdict::Lossless)];
    let link = LimitedBy::Link;
    assert_eq!(names(&quiet, &lossless, 0, 60_000, link), device);
    let shared = Surroundings {
        cpus_shared: true,
        core_shared: Some((1, 2)),
        ..quiet
    };
    let unsent = Verdict::NotOffered(mpps_method::Shortfall::LostAtReceiver(1));
    let mut trials = vec![(trial(20_000_000), unsent); 5];
    trials.push((trial(20_000_000), Verdict::Lossless));
    let found = names(&shared, &trials, 2, 1_000, LimitedBy::Tester);
    for name in [
        "short-trial",
        "voided",
        "not-offered",
        TESTER_NEAR_CEILING,
        "steal",
        "cpu-shared",
        "core-shared",
    ] {
        assert!(found.contains(&name), "{name}: {found:?}");
    }
}
