use super::*;
use crate::reason::Shortfall;
use crate::search::Offer;
use crate::simulate::{Properties, Simulated};

/// A trial on a router of 10 kfps with a tester of 20 kfps.
fn trial(fps: f64, secs: f64) -> Trial {
    let properties = Properties {
        tester_ceiling: Some(Rate::from_fps(20_000.0)),
        ..Properties::ideal(Rate::from_fps(10_000.0))
    };
    let offer = Offer::new(Rate::from_fps(fps), Span::from_secs_f64(secs));
    Simulated::new(properties).trial(&offer)
}

#[test]
fn zero_loss_in_sixty_seconds_is_throughput() {
    let throughput = Throughput::from_trial(&trial(10_000.0, 60.0), &Rules::default()).unwrap();
    assert_eq!(throughput.rate().fps(), 10_000.0);
    assert_eq!(throughput.trial(), FINAL_TRIAL);
}

#[test]
fn one_lost_frame_is_none() {
    // One frame more than the router forwards in 60 s.
    let lossy = trial(10_000.0 + 1.0 / 60.0, 60.0);
    assert_eq!(lossy.counts().lost, 1);
    let error = Throughput::from_trial(&lossy, &Rules::default()).unwrap_err();
    assert_eq!(error, NotThroughput::Verdict(Verdict::Lossy { lost: 1 }));
    assert_eq!(
        error.to_string(),
        "no throughput: the trial is lossy: 1 frames lost"
    );
    let loss = LossRate::from_trial(&lossy, &Rules::default()).unwrap();
    assert_eq!((loss.lost(), loss.ratio()), (1, 1.0 / 600_001.0));
}

#[test]
fn a_nanosecond_too_short_is_none() {
    let short = trial(10_000.0, 59.999_999_999);
    let error = Throughput::from_trial(&short, &Rules::default()).unwrap_err();
    assert_eq!(
        error,
        NotThroughput::TooShort {
            trial: short.duration
        }
    );
    let text = trial(10_000.0, 1.0);
    let error = Throughput::from_trial(&text, &Rules::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no throughput: the trial lasted 1 s, RFC 2544 section 24 asks for 60 s (--preset rfc2544)"
    );
}

#[test]
fn what_says_nothing_of_the_dut_carries_no_claim() {
    let properties = Properties {
        tester_ceiling: Some(Rate::from_fps(20_000.0)),
        ..Properties::ideal(Rate::from_fps(50_000.0))
    };
    let not_offered =
        Simulated::new(properties).trial(&Offer::new(Rate::from_fps(30_000.0), FINAL_TRIAL));
    let error = Throughput::from_trial(&not_offered, &Rules::default()).unwrap_err();
    let expected = Shortfall::UnsentAboveBound {
        unsent: 600_000,
        intended: 1_800_000,
    };
    assert_eq!(error, NotThroughput::Verdict(Verdict::NotOffered(expected)));
    assert_eq!(Claim::from_trial(&not_offered, &Rules::default()), None);
    assert_eq!(
        Claim::from_trial(&Trial::default(), &Rules::default()),
        None
    );
}

#[test]
fn each_trial_allows_its_strongest_claim() {
    let claim = |fps, secs| Claim::from_trial(&trial(fps, secs), &Rules::default()).unwrap();
    assert!(matches!(claim(9_000.0, 60.0), Claim::Throughput(_)));
    assert!(
        matches!(claim(15_000.0, 60.0), Claim::LossRate(loss) if (loss.ratio() - 1.0 / 3.0).abs() < 1e-9)
    );
    let Claim::Estimate(estimate) = claim(9_000.0, 2.0) else {
        panic!("a short trial is an estimate")
    };
    assert_eq!(estimate.rate().fps(), 9_000.0);
    assert_eq!(
        estimate.basis(),
        Basis::ShortTrial {
            trial: Span::from_secs_f64(2.0)
        }
    );
}

#[test]
fn unsent_frames_within_their_bound_lower_the_claim() {
    // 0.09 % above what the tester can: within the bound, but not tested.
    let properties = Properties {
        tester_ceiling: Some(Rate::from_fps(10_000.0)),
        ..Properties::ideal(Rate::from_fps(50_000.0))
    };
    let offer = Offer::new(Rate::from_fps(10_009.0), FINAL_TRIAL);
    let trial = Simulated::new(properties).trial(&offer);
    let throughput = Throughput::from_trial(&trial, &Rules::default()).unwrap();
    assert_eq!(throughput.rate().fps(), 10_000.0);
}
