use super::*;

const OFFER: Offer = Offer {
    rate: Rate::ZERO,
    duration: Span::from_millis(1_000),
};

fn at(fps: f64) -> Offer {
    Offer {
        rate: Rate::from_fps(fps),
        ..OFFER
    }
}

#[test]
fn every_trial_closes_its_ledger() {
    let properties = Properties {
        ring: 100,
        random_loss: 0.01,
        tester_ceiling: Some(Rate::from_fps(50_000.0)),
        stall_chance: 0.5,
        stall: Span::from_millis(20),
        ..Properties::ideal(Rate::from_fps(10_000.0))
    };
    let mut simulated = Simulated::new(properties);
    for fps in [1.0, 9_000.0, 10_000.0, 20_000.0, 60_000.0] {
        let trial = simulated.trial(&at(fps));
        let way = &trial.directions[0];
        assert_eq!(way.ledger.close(&way.counts), Ok(()), "{fps}");
    }
}

#[test]
fn loss_is_what_exceeds_capacity_and_ring() {
    let properties = Properties {
        ring: 100,
        ..Properties::ideal(Rate::from_fps(10_000.0))
    };
    let mut simulated = Simulated::new(properties);
    let mut lost = |fps| simulated.trial(&at(fps)).counts().lost;
    assert_eq!(
        [
            lost(10_000.0),
            lost(10_100.0),
            lost(10_101.0),
            lost(50_000.0)
        ],
        [0, 0, 1, 39_900]
    );
}

#[test]
fn a_stall_shows_and_loses_what_the_ring_cannot_hold() {
    let stalled = |millis| {
        let properties = Properties {
            ring: 100,
            stall_chance: 1.0,
            stall: Span::from_millis(millis),
            ..Properties::ideal(Rate::from_fps(10_000.0))
        };
        Simulated::new(properties)
    };
    let trial = stalled(50).trial(&at(5_000.0));
    assert_eq!(trial.counts().lost, 5_000 / 20 - 100);
    assert_eq!(trial.disturbed.lost, Some(150));
    assert_eq!(trial.judge(&Rules::default()), Verdict::Lossless);
    // What exceeds the capacity is lost outside too.
    let trial = stalled(50).trial(&at(20_000.0));
    assert_eq!(
        trial.judge(&Rules::default()),
        Verdict::Lossy { lost: 9_500 }
    );
    for fps in [1_000.0, 5_000.0] {
        let verdict = stalled(600).trial(&at(fps)).judge(&Rules::default());
        assert!(matches!(verdict, Verdict::Void(_)), "blind to loss");
    }
}

#[test]
fn random_loss_has_its_probability() {
    let properties = Properties {
        random_loss: 0.01,
        ..Properties::ideal(Rate::from_fps(1e6))
    };
    let lost = Simulated::new(properties).trial(&at(1e6)).counts().lost;
    assert!((9_500..10_500).contains(&lost), "{lost}");
    let all = Properties {
        random_loss: 1.0,
        ..properties
    };
    assert_eq!(Simulated::new(all).trial(&at(1e3)).counts().lost, 1_000);
}

#[test]
fn a_pause_of_the_routers_own_shows_in_its_loss_alone() {
    let properties = Properties {
        ring: 100,
        pause_chance: 1.0,
        pause: Span::from_millis(50),
        ..Properties::ideal(Rate::from_fps(10_000.0))
    };
    let trial = Simulated::new(properties).trial(&at(5_000.0));
    let lost = 5_000 / 20 - 100;
    assert_eq!(trial.judge(&Rules::default()), Verdict::Lossy { lost });
    // Each second has its chance, so a long trial does not pass where short ones fail.
    let long = Offer::new(Rate::from_fps(5_000.0), Span::from_millis(60_000));
    let trial = Simulated::new(properties).trial(&long);
    assert_eq!(trial.counts().lost, 60 * lost);
}

#[test]
fn noise_takes_up_to_its_share_of_the_capacity() {
    let properties = Properties {
        noise: 0.1,
        ..Properties::ideal(Rate::from_fps(100_000.0))
    };
    let mut simulated = Simulated::new(properties);
    let lost: Vec<u64> = (0..1_000)
        .map(|_| simulated.trial(&at(100_000.0)).counts().lost)
        .collect();
    assert!(lost.iter().all(|&lost| lost <= 10_000));
    let mean = lost.iter().sum::<u64>() / 1_000;
    assert!((4_500..5_500).contains(&mean), "{mean}");
}

#[test]
fn a_pair_is_written_as_it_is_asked_for() {
    let properties = Properties {
        ring: 4_096,
        noise: 0.05,
        random_loss: 1e-6,
        stall_chance: 0.1,
        stall: Span::from_millis(5),
        tester_ceiling: Some(Rate::from_fps(2e6)),
        ..Properties::ideal(Rate::from_fps(1.2e6))
    };
    assert_eq!(
        properties.to_string(),
        "capacity=1200000,ring=4096,noise=5%,loss=0.000001,stalls=5ms@10%,tester=2000000,seed=1"
    );
}
