use super::*;
use crate::random::Random;
use crate::stage::{Cost, Router, Sample, Split, Stage, combine, place, split};

const STACKS: [[&str; 1]; 4] = [
    ["eth_type_trans"],
    ["fib_table_lookup"],
    ["ip_forward"],
    ["kfree_skb_partial"],
];
/// A frame's time in each run differs by about so much, and with it every stage.
const RUN: f64 = 0.02;

/// A profile of three trials, in which the second stack takes `routing` times as much as the others.
fn profile(random: &mut Random, routing: f64) -> Split {
    let shares = [1.0, routing, 1.0, 1.0];
    let whole = 100.0 * shares.iter().sum::<f64>();
    let mut trial = || {
        let samples: Vec<Sample<'_>> = (0..2_000)
            .map(|i| {
                let mut at = random.next_f64() * shares.iter().sum::<f64>();
                let stack = shares.iter().position(|share| {
                    at -= share;
                    at < 0.0
                });
                Sample {
                    at_ns: i * 100_000,
                    weight: 1.0,
                    placed: place(&STACKS[stack.unwrap_or(3)], Router::OnBed),
                }
            })
            .collect();
        let ns = whole * (1.0 + RUN * (random.next_f64() - 0.5));
        split(&samples, ns, random.next_u64()).expect("samples")
    };
    combine(&[trial(), trial(), trial()]).expect("three")
}

fn spent(cost: &Cost<Stage>) -> Spent {
    Spent {
        ns: cost.ns,
        low: cost.low,
        high: cost.high,
        trials: 3,
    }
}

fn compared(one: &Split, other: &Split, alike: f64) -> Vec<(Stage, Change)> {
    let pairs = one.stages.iter().zip(&other.stages);
    let parts: Vec<_> = pairs.map(|(a, b)| (spent(a), spent(b))).collect();
    let stages = one.stages.iter().map(|cost| cost.of);
    stages.zip(changes(&parts, alike)).collect()
}

#[test]
fn equal_set_ups_seldom_differ() {
    let mut random = Random::from_seed(7);
    let (mut calls, mut pairs) = (0, 0);
    for _ in 0..100 {
        let [one, other] = [1.0, 1.0].map(|routing| profile(&mut random, routing));
        let changes = compared(&one, &other, 0.0);
        calls += usize::from(changes.iter().any(|(_, change)| change.seen));
        pairs += 1;
    }
    // Of pairs: of effects it is a tenth.
    assert!(calls * 20 <= pairs, "{calls} of {pairs}");
}

#[test]
fn a_change_is_seen_in_its_stage() {
    let mut random = Random::from_seed(8);
    let (mut found, mut elsewhere) = (0, 0);
    for _ in 0..20 {
        let (one, other) = (profile(&mut random, 1.0), profile(&mut random, 2.0));
        for (stage, change) in compared(&one, &other, 0.05) {
            if stage == Stage::Routing {
                assert!(change.low < 100.0 && 100.0 < change.high, "{change:?}");
                found += usize::from(change.seen && change.ns > 0.0);
            } else {
                elsewhere += usize::from(change.seen);
            }
        }
    }
    assert!(found >= 18 && elsewhere == 0, "{found}, {elsewhere}");
}

#[test]
fn runs_of_one_set_up_differ_by_a_share() {
    let exact = |ns: f64| Spent {
        ns,
        low: ns - 0.1,
        high: ns + 0.1,
        trials: 1,
    };
    let seen = |alike| changes(&[(exact(100.0), exact(104.0))], alike)[0].seen;
    assert!(seen(0.0) && !seen(0.05));
    let less = changes(&[(exact(104.0), exact(90.0))], 0.05)[0];
    assert!(less.seen && (less.ns + 14.0).abs() < 1e-9);
}

#[test]
fn more_parts_widen_each_interval() {
    let spent = Spent {
        ns: 100.0,
        low: 90.0,
        high: 110.0,
        trials: 1,
    };
    let width = |parts: usize| {
        let change = changes(&vec![(spent, spent); parts], 0.0)[0];
        (change.high - change.low) / 2.0
    };
    // One: the sum of both errors.
    assert!((width(1) - 10.0 * 2.0_f64.sqrt()).abs() < 0.05);
    assert!(width(10) > 1.4 * width(1));
    let few = Spent { trials: 3, ..spent };
    let wide = changes(&[(few, few); 10], 0.0)[0];
    // Three trials: the error has four degrees of freedom.
    assert!(wide.high - wide.low < 2.0 * width(10), "{wide:?}");
    // What no sample of either saw differs by nothing, within what both may have missed.
    let none = Spent {
        high: 3.0,
        ..Spent::default()
    };
    let change = changes(&[(none, none)], 0.0)[0];
    assert!(!change.seen && change.high > 3.0);
    assert!(!changes(&[Default::default()], 0.0)[0].seen);
}

/// What ten parts take more in each of `pairs` pairs: each scatters by some ns, and the first gains so much.
fn differences(random: &mut Random, pairs: usize, gain: f64) -> Vec<Vec<f64>> {
    let mut part = |gain: f64| {
        let mut uniform = || random.next_f64() - 0.5;
        (0..pairs)
            .map(|_| gain + 20.0 * (uniform() + uniform() + uniform()))
            .collect()
    };
    (0..10)
        .map(|at| part(if at == 0 { gain } else { 0.0 }))
        .collect()
}

#[test]
fn equal_pairs_seldom_differ() {
    let mut random = Random::from_seed(9);
    for pairs in [5, 20] {
        let wrong = (0..400).filter(|_| {
            let changes = paired_changes(&differences(&mut random, pairs, 0.0), 0.0);
            changes.expect("pairs").iter().any(|change| change.seen)
        });
        // Of whole comparisons one in 20 at most, within what chance allows of 400.
        let wrong = wrong.count();
        assert!(
            (2..=33).contains(&wrong),
            "{wrong} of 400 with {pairs} pairs"
        );
    }
}

#[test]
fn pairs_find_a_gain_and_hold_it() {
    let mut random = Random::from_seed(10);
    for _ in 0..20 {
        let found = paired_changes(&differences(&mut random, 20, 50.0), 4.0).expect("pairs");
        assert!(found[0].seen && found[0].low < 50.0 && 50.0 < found[0].high);
        assert!(found[1..].iter().all(|change| !change.seen), "{found:?}");
    }
    assert_eq!(paired_changes(&[vec![1.0, 2.0]], 0.0), None);
    let exact = vec![vec![3.0; 5]];
    let seen = |alike| paired_changes(&exact, alike).expect("pairs")[0].seen;
    assert!(seen(2.0) && !seen(4.0));
}
