use super::*;
use crate::stage::{Router, place};

/// Stacks of two stages.
const RX: [&str; 1] = ["eth_type_trans"];
const ROUTING: [&str; 1] = ["fib_table_lookup"];
const STRANGE: [&str; 1] = ["nobody_knows"];

fn sample(at_ns: u64, stack: &'static [&'static str]) -> Sample<'static> {
    Sample {
        at_ns,
        weight: 1.0,
        placed: place(stack, Router::OnBed),
    }
}

/// A second of samples, one each 100 us; `routes(i)` says whether the i-th is of routing.
fn second(mut routes: impl FnMut(u64) -> bool) -> Vec<Sample<'static>> {
    let stack = |routes| if routes { &ROUTING } else { &RX };
    (0..10_000)
        .map(|i| sample(i * 100_000, stack(routes(i))))
        .collect()
}

fn routing(split: &Split) -> &Cost<Stage> {
    split
        .stages
        .iter()
        .find(|cost| cost.of == Stage::Routing)
        .expect("every stage")
}

fn width(split: &Split) -> f64 {
    routing(split).high - routing(split).low
}

#[test]
fn parts_sum_to_the_whole() {
    let mut samples = second(|i| i % 4 == 0);
    samples.extend((0..100).map(|i| sample(i * 3_000_000, &STRANGE)));
    let split = split(&samples, 600.0, 7).expect("samples");
    let stages: f64 = split.stages.iter().map(|cost| cost.ns).sum();
    let causes: f64 = split.causes.iter().map(|cost| cost.ns).sum();
    assert!((stages - 600.0).abs() < 1e-6 && (causes - 600.0).abs() < 1e-6);
    assert_eq!(
        split.stages.iter().map(|cost| cost.samples).sum::<u64>(),
        10_100
    );
    assert!((routing(&split).ns - 600.0 * 2_500.0 / 10_100.0).abs() < 1e-6);
    assert_eq!(
        routing(&split).top.first().map(|one| one.function.as_str()),
        Some("fib_table_lookup")
    );
    assert!((split.unclassified - 100.0 / 10_100.0).abs() < 1e-9);
    assert_eq!(split.unplaced.len(), 1);
    assert!(
        split
            .stages
            .iter()
            .all(|cost| cost.low <= cost.ns && cost.ns <= cost.high)
    );
    // Nothing was seen of allocation, which bounds it and no more.
    let alloc = split
        .stages
        .iter()
        .find(|cost| cost.of == Stage::Alloc)
        .expect("every stage");
    assert_eq!((alloc.ns, alloc.low), (0.0, 0.0));
    assert!((alloc.high - 600.0 * 3.0 / 10_100.0).abs() < 1e-9);
}

#[test]
fn a_seed_gives_the_same_interval() {
    let mut random = Random::from_seed(3);
    let samples = second(|_| random.chance(0.3));
    assert_eq!(split(&samples, 600.0, 7), split(&samples, 600.0, 7));
    assert_ne!(split(&samples, 600.0, 7), split(&samples, 600.0, 8));
}

#[test]
fn intervals_hold_the_truth_and_widen_with_bursts() {
    let (mut held, mut alone, mut bursts) = (0, 0.0, 0.0);
    for seed in 0..40 {
        let mut random = Random::from_seed(seed);
        let split_of = |samples: &[Sample<'_>]| split(samples, 1_000.0, seed).expect("samples");
        let independent = split_of(&second(|_| random.chance(0.3)));
        held +=
            u32::from(routing(&independent).low <= 300.0 && 300.0 <= routing(&independent).high);
        alone += width(&independent);
        // The same share, but 40 samples in a row are of one stage.
        let mut now = false;
        let together = second(|i| {
            if i % 40 == 0 {
                now = random.chance(0.3);
            }
            now
        });
        bursts += width(&split_of(&together));
    }
    assert!((34..=40).contains(&held), "{held}");
    // A binomial interval is 18 wide; samples in bursts of 40 are worth a fortieth.
    assert!((14.0..22.0).contains(&(alone / 40.0)), "{alone}");
    assert!((4.0..8.0).contains(&(bursts / alone)), "{bursts} {alone}");
}

#[test]
fn nothing_to_split_is_no_split() {
    assert_eq!(split(&[], 600.0, 1), None);
    let mut weightless = sample(0, &RX);
    weightless.weight = 0.0;
    assert_eq!(split(&[weightless], 600.0, 1), None);
    assert_eq!(split(&[sample(0, &RX)], f64::NAN, 1), None);
    assert!(split(&[sample(0, &RX)], 600.0, 1).is_some());
}

#[test]
fn three_trials_give_the_interval_between_them() {
    let trial = |every: u64, whole| split(&second(|i| i % every == 0), whole, 1).expect("samples");
    let trials = [trial(4, 400.0), trial(4, 440.0), trial(4, 480.0)];
    let all = combine(&trials).expect("trials");
    // 100, 110, 120 ns: a mean of 110, and 4.3027 times 10 / sqrt(3).
    let half = 4.3027 * 10.0 / 3.0_f64.sqrt();
    let routing = routing(&all);
    assert!((routing.ns - 110.0).abs() < 1e-9);
    assert!(
        (routing.low - (110.0 - half)).abs() < 0.01 && (routing.high - (110.0 + half)).abs() < 0.01
    );
    assert_eq!(
        (all.whole_ns, all.samples, routing.samples),
        (440.0, 30_000, 7_500)
    );
    assert!((all.stages.iter().map(|cost| cost.ns).sum::<f64>() - 440.0).abs() < 1e-6);
    let [top] = routing.top.as_slice() else {
        panic!("{routing:?}");
    };
    assert_eq!(
        (top.function.as_str(), top.ns),
        ("fib_table_lookup", routing.ns)
    );
    // No trial saw allocation: that is no certainty.
    assert!(all.stages.iter().all(|cost| cost.high > 0.0));
}

#[test]
fn two_trials_give_the_range_of_both() {
    let trial = |whole| split(&second(|i| i % 4 == 0), whole, 1).expect("samples");
    let (one, other) = (trial(400.0), trial(480.0));
    let both = combine(&[one.clone(), other.clone()]).expect("trials");
    assert_eq!(routing(&both).low, routing(&one).low);
    assert_eq!(routing(&both).high, routing(&other).high);
    assert_eq!(
        combine(std::slice::from_ref(&one)).map(|only| only.stages),
        Some(one.stages)
    );
    assert_eq!(combine(&[]), None);
}
