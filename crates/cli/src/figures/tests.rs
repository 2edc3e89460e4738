use super::*;
use crate::plan::tests::plan;
use mpps_lab::search::saturation::Saturated;
use mpps_method::{CouldNotMeasure, Counts, CpuBusy, Direction, Ledger, Rules, Shortfall, Span};

/// A second at 1 Mfps without loss, the DUT half busy.
fn trial() -> Trial {
    let canaries = mpps_method::Canaries {
        sent: 1,
        received: 1,
    };
    let frames = 1_000_000;
    let counts = Counts {
        intended: frames,
        sent: frames,
        received: frames,
        ..Counts::default()
    };
    let ledger = Ledger {
        sent: frames + 2,
        nic_received: frames + 2,
        nic_accepted: frames + 2,
        dut_transmitted: frames + 2,
        receiver_total: frames + 2,
        opening: canaries,
        closing: canaries,
        ..Ledger::default()
    };
    Trial {
        offered: Rate::from_fps(frames as f64),
        duration: Span::from_millis(1000),
        directions: vec![Direction { counts, ledger }],
        sender_ended: true,
        busy: vec![CpuBusy {
            cpu: 1,
            run_ns: 500_000_000,
            wait_ns: 0,
        }],
        ..Trial::default()
    }
}

fn finding(limited_by: LimitedBy) -> Finding {
    let (trial, rules) = (trial(), Rules::default());
    Finding {
        saturated: Saturated::default(),
        receiver: None,
        frames: plan("--frame 64").measurement.sizes.remove(0),
        goal: None,
        conditional_throughput: Some(trial.offered),
        irregular: None,
        outcome: Outcome::Found {
            lossless: trial.offered,
            lossy: (limited_by == LimitedBy::Dut).then(|| Rate::from_fps(1_010_000.0)),
            limited_by,
            trials: 9,
            voided: 1,
        },
        claim: Claim::from_trial(&trial, &rules),
        passes: mpps_method::Passes::default(),
        trial: Some(trial),
        stands_on: None,
        loss_above: None,
        why_lost: None,
        headroom: None,
        evenness: None,
        stability: mpps_method::Stability::Stable,
        ceiling: Rate::from_fps(1_000_000.0),
        doubts: Vec::new(),
    }
}

#[test]
fn a_dut_that_limits_has_a_rate() {
    let figures = Figures::of(&finding(LimitedBy::Dut), &plan("").measurement);
    assert_eq!(figures.reading, Reading::Is(Rate::from_fps(1_000_000.0)));
    assert_eq!(
        (figures.limited_by, figures.label),
        (Some(Limit::Dut), Some("Estimate"))
    );
    assert_eq!(
        (figures.loss_ratio, figures.busy_share),
        (Some(0.0), Some(0.5))
    );
    // 84 octets on the wire: 0.672 Gbit/s, of 40.
    assert!((figures.gbit_per_s.expect("a rate") - 0.672).abs() < 1e-9);
    assert!((figures.link_share.expect("a rate") - 0.0168).abs() < 1e-9);
}

#[test]
fn a_tester_that_limits_gives_a_lower_bound() {
    let figures = Figures::of(&finding(LimitedBy::Tester), &plan("").measurement);
    assert_eq!(
        figures.reading,
        Reading::AtLeast(Rate::from_fps(1_000_000.0))
    );
    assert_eq!(figures.limited_by, Some(Limit::Tester));
}

#[test]
fn a_shared_cpu_bounds_the_pair_and_not_the_dut() {
    let shared = finding(LimitedBy::SharedCpu);
    let figures = Figures::of(&shared, &plan("--max-rate 1M").measurement);
    assert_eq!(
        (figures.reading, figures.limited_by),
        (
            Reading::AtLeast(Rate::from_fps(1_000_000.0)),
            Some(Limit::SharedCpu)
        )
    );
    let none = Finding {
        outcome: Outcome::NoneLossless {
            lowest: Rate::from_fps(10_000.0),
            trials: 2,
            voided: 0,
        },
        doubts: vec![Doubt::CpuShared],
        ..shared
    };
    let limit = Figures::of(&none, &plan("").measurement).limited_by;
    assert_eq!(limit, Some(Limit::SharedCpu));
}

/// 320 frames one after the other, all refused by the ring, of a DUT half busy.
fn stall() -> WhyLost {
    let mut words = vec![u64::MAX; 1_000];
    words[500..505].fill(0);
    let losses = mpps_method::Losses::from_bitmap(&words, 64_000, Span::from_millis(1_000), &[]);
    WhyLost {
        rate: Rate::from_fps(10_000.0),
        losses: losses.expect("320 lost"),
        busy: Some(0.5),
        ring_frames: 4_096,
        catch_up_frames: None,
        bounds: true,
    }
}

#[test]
fn a_pause_bounds_from_below_and_is_named() {
    let found = finding(LimitedBy::Pause);
    let figures = Figures::of(&found, &plan("").measurement);
    let bound = Reading::AtLeast(Rate::from_fps(1_000_000.0));
    assert_eq!(
        (figures.reading, figures.limited_by.map(Limit::name)),
        (bound, Some("pause"))
    );
    // Where the lowest load failed, too; and load is the DUT's.
    let limit = |why_lost: WhyLost| {
        let none = Finding {
            outcome: Outcome::NoneLossless {
                lowest: Rate::from_fps(10_000.0),
                trials: 2,
                voided: 0,
            },
            why_lost: Some(why_lost),
            ..found.clone()
        };
        Figures::of(&none, &plan("").measurement).limited_by
    };
    let busy = WhyLost {
        busy: Some(0.99),
        ..stall()
    };
    assert_eq!(
        (limit(stall()), limit(busy)),
        (Some(Limit::Pause), Some(Limit::Dut))
    );
}

#[test]
fn a_maximum_of_the_users_is_not_the_testers_limit() {
    let limit = |flags: &str| {
        let able = Finding {
            ceiling: Rate::from_fps(2_000_000.0),
            ..finding(LimitedBy::Tester)
        };
        Figures::of(&able, &plan(flags).measurement).limited_by
    };
    assert_eq!(limit("--max-rate 1M"), Some(Limit::MaxRate));
    // The last of the steps below it is as high as the search goes ...
    assert_eq!(
        limit("--max-rate 1049k --step-fps 50k"),
        Some(Limit::MaxRate)
    );
    // ... and what lies below that, the tester could not offer.
    assert_eq!(limit("--max-rate 1020k"), Some(Limit::Tester));
}

#[test]
fn both_directions_share_two_links() {
    let one = Figures::of(&finding(LimitedBy::Dut), &plan("").measurement);
    let both = Figures::of(
        &finding(LimitedBy::Dut),
        &plan("--bidirectional").measurement,
    );
    assert_eq!(both.link_share.map(|share| share * 2.0), one.link_share);
    assert_eq!(both.gbit_per_s, one.gbit_per_s);
}

#[test]
fn what_was_not_found_has_no_figures() {
    let rate = Rate::from_fps(10_000.0);
    let why = CouldNotMeasure::LowestNotOffered {
        rate,
        why: Shortfall::LostBeforeNic(3),
    };
    for (outcome, reading) in [
        (
            Outcome::CouldNotMeasure {
                why,
                trials: 2,
                voided: 0,
            },
            Reading::Nothing,
        ),
        (
            Outcome::NoneLossless {
                lowest: rate,
                trials: 2,
                voided: 0,
            },
            Reading::Below(rate),
        ),
    ] {
        // A lossless trial there may be all the same: of a search that came to nothing.
        let figures = Figures::of(
            &Finding {
                outcome,
                ..finding(LimitedBy::Dut)
            },
            &plan("").measurement,
        );
        assert_eq!(figures.reading, reading);
        assert_eq!(figures.why.is_some(), reading == Reading::Nothing);
        assert_eq!(
            (figures.label, figures.busy_share, figures.gbit_per_s),
            (None, None, None)
        );
    }
}

#[test]
fn the_router_is_the_limit_only_where_that_was_seen() {
    let interval = |middle: f64| mpps_method::saturation::Interval {
        low: 0.9 * middle,
        middle,
        high: 1.1 * middle,
    };
    let limit = |offered: f64, busy: f64, limited_by| {
        let mut finding = finding(limited_by);
        finding.saturated.overloaded = offered > 1e6;
        finding.saturated.at_most = Some(mpps_method::saturation::Saturation {
            offered: interval(offered),
            forwarding: interval(1e6),
            busy: Some(busy),
            windows: 9,
            disturbed: 0,
            distance_ns: None,
            elsewhere: 0,
            only_disturbed: false,
        });
        let alone = Figures::of(&finding, &plan("").measurement).forwarding_limit;
        finding.doubts = vec![Doubt::CpuShared];
        let shared = Figures::of(&finding, &plan("").measurement).forwarding_limit;
        (alone.expect("a limit"), shared.expect("a limit"))
    };
    let shared = ForwardingLimit::SharedCpu;
    assert_eq!(
        limit(2e6, 0.95, LimitedBy::Pause),
        (ForwardingLimit::Cpu, shared)
    );
    assert_eq!(
        limit(2e6, 0.94, LimitedBy::Dut),
        (ForwardingLimit::Router, shared)
    );
    assert_eq!(
        limit(2e6, 0.94, LimitedBy::Pause),
        (ForwardingLimit::Unknown, shared)
    );
    assert_eq!(
        limit(1.01e6, 0.94, LimitedBy::Pause),
        (ForwardingLimit::Tester, shared)
    );
    let tester = ForwardingLimit::Tester;
    assert_eq!(limit(1e6, 1.0, LimitedBy::Tester), (tester, tester));
    let nothing = Figures::of(&finding(LimitedBy::Dut), &plan("").measurement).forwarding_limit;
    assert_eq!(nothing, None);
}
