use super::*;
use crate::search::saturation::Saturated;
use mpps_method::{
    CouldNotMeasure, Counts, CpuBusy, Direction, Ledger, LimitedBy, Rate, Rules, Shortfall, Span,
};

fn line(finding: &Finding) -> ResultLine {
    line_of(finding, &Traffic::default())
}

fn line_of(finding: &Finding, traffic: &Traffic) -> ResultLine {
    result(finding, traffic, &Link::NOTIONAL, &StandsOn::default())
}

/// A second at 1 Mfps without loss, the DUT half busy.
fn trial() -> Trial {
    let canaries = mpps_method::Canaries {
        sent_frames: 1,
        received_frames: 1,
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
            ..CpuBusy::default()
        }],
        ..Trial::default()
    }
}

fn finding(limited_by: LimitedBy) -> Finding {
    let (trial, rules) = (trial(), Rules::default());
    let rate = match limited_by {
        LimitedBy::Dut => Reading::Is(trial.offered),
        _ => Reading::AtLeast(trial.offered),
    };
    Finding {
        rate,
        limited_by: Some(limited_by),
        fails: None,
        forwarding_limit: None,
        saturated: Saturated::default(),
        receiver: None,
        frames: FrameSpec::parse_list("64").expect("a size").remove(0),
        goal: None,
        gate_passed: None,
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
        left_out: Vec::new(),
        loss_above: None,
        why_lost: None,
        headroom: None,
        evenness: None,
        stability: mpps_method::Stability::Stable,
        ceiling: Rate::from_fps(1_000_000.0),
        simulated: false,
        doubts: Vec::new(),
    }
}

#[test]
fn trials_left_out_are_recorded() {
    let left_out = vec![7, 9];
    let finding = Finding {
        left_out,
        ..finding(LimitedBy::Dut)
    };
    assert_eq!(line(&finding).stands_on.left_out_trials, [7, 9]);
}

#[test]
fn a_dut_that_limits_has_a_rate() {
    let line = line(&finding(LimitedBy::Dut));
    assert_eq!(
        (&line.rate_is, line.rate_fps),
        (&Some(RateIs::Equal), Some(1_000_000))
    );
    assert_eq!(
        (&line.limited_by, &line.claim),
        (
            &Some(record::LimitedBy::Dut),
            &Some(record::Claim::Estimate)
        )
    );
    assert_eq!(
        (line.loss_ratio, line.dut_busiest_cpu_share),
        (Some(0.0), Some(0.5))
    );
    // 84 octets on the wire: 0.672 Gbit/s, of 40.
    assert!((line.rate_gbit_per_s.expect("a rate") - 0.672).abs() < 1e-9);
    assert!((line.link_share.expect("a rate") - 0.0168).abs() < 1e-9);
}

#[test]
fn both_directions_share_two_links() {
    let one = line(&finding(LimitedBy::Dut));
    let traffic = Traffic {
        bidirectional: true,
        ..Traffic::default()
    };
    let both = line_of(&finding(LimitedBy::Dut), &traffic);
    assert_eq!(both.link_share.map(|share| share * 2.0), one.link_share);
    assert_eq!(both.rate_gbit_per_s, one.rate_gbit_per_s);
}

#[test]
fn a_rate_not_found_has_no_figures() {
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
        // There may be a lossless trial all the same.
        let finding = Finding {
            outcome,
            rate: reading,
            ..finding(LimitedBy::Dut)
        };
        let line = line(&finding);
        let is_nothing = reading == Reading::Nothing;
        let rate_is = (!is_nothing).then_some(RateIs::Below);
        assert_eq!((line.rate_is, line.why.is_some()), (rate_is, is_nothing));
        assert_eq!(
            (line.claim, line.dut_busiest_cpu_share, line.rate_gbit_per_s),
            (None, None, None)
        );
    }
}
