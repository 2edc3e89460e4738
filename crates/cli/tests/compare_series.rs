//! The rule of `mpps compare` on turns that a machine really measured (bench/runs), of equal set-ups: heavy tails, drift
//! and CPUs at two distances included.

use mpps_lab::jobs::compare::ALIKE;
use mpps_method::compare::{Comparison, Finding, Rule, ToldBy, Turn};
use mpps_method::distance::Distance;
use mpps_method::random::Random;
use mpps_method::saturation::{Block, Window};
use mpps_method::{Rate, Span};
use serde_json::Value;

const SERIES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../bench/runs/2026-11-22-epyc-vm-2cpu/compare/raw.json"
);
/// Length of a trial, and its only window.
const TRIAL: Span = Span::from_millis(350);
/// Turns that follow each other as they were measured, on average; then others follow.
const STRETCH: f64 = 40.0;
/// Pairs at most: some four minutes.
const PAIRS: usize = 60;

/// A trial of one window; disturbed where too few of its windows were not.
fn block(rate: Option<f64>, sent: f64, ns: Option<f64>, distance: &Value) -> Block {
    let window = Window {
        duration: TRIAL,
        forwarded: (rate.unwrap_or(sent) * TRIAL.as_secs_f64()) as u64,
        disturbed: rate.is_none(),
        round_trip_ns: None,
        work_ns: None,
        busy: None,
    };
    Block {
        sent: Rate::from_fps(sent),
        lost: 0.0,
        busiest: None,
        threads: None,
        ns_per_frame: ns,
        distance: match distance.as_f64() {
            Some(ns) => Distance::at(ns),
            None => Distance::Changed,
        },
        windows: vec![window],
    }
}

/// All turns in the order in which they were measured: A B, B A, B A, A B.
fn series() -> Vec<Turn> {
    let text = std::fs::read_to_string(SERIES).expect("a series");
    let mut turns = Vec::new();
    for line in text.lines() {
        let run: Value = serde_json::from_str(line).expect("a comparison");
        let variants = run["variants"].as_array().expect("variants");
        let turn = |variant: &Value, place: usize| {
            let number = |what: &str| variant[what][place].as_f64();
            let distance = &variant["distances_ns"][place];
            let sent = number("sent_fps").filter(|_| !distance.is_null())?;
            let fixed = run["fixed_fps"].as_f64();
            Some(Turn {
                overload: block(number("rates_fps"), sent, number("ns_per_frame"), distance),
                fixed: block(fixed, fixed?, number("fixed_ns_per_frame"), distance),
            })
        };
        for half_round in 0.. {
            let mut both = variants
                .iter()
                .map(|one| turn(one, half_round))
                .collect::<Vec<_>>();
            if matches!(half_round % 4, 1 | 2) {
                both.reverse();
            }
            if both.iter().all(Option::is_none) {
                break;
            }
            turns.extend(both.into_iter().flatten());
        }
    }
    turns
}

/// A frame of this turn took so much more.
fn slower(mut turn: Turn, share: f64) -> Turn {
    for block in [&mut turn.overload, &mut turn.fixed] {
        block.ns_per_frame = block.ns_per_frame.map(|ns| ns * (1.0 + share));
    }
    for window in &mut turn.overload.windows {
        window.forwarded = (window.forwarded as f64 / (1.0 + share)) as u64;
    }
    turn
}

/// What is found of two variants that take these turns one after the other, from a place of the series on; the second
/// is slower by this share.
fn compared(turns: &[Turn], seed: u64, share: f64) -> Finding {
    let mut random = Random::from_seed(seed);
    let mut place = 0;
    let mut next = |anew: bool| {
        place = if anew || random.chance(1.0 / STRETCH) {
            (random.next_f64() * turns.len() as f64) as usize
        } else {
            place + 1
        } % turns.len();
        turns[place].clone()
    };
    let mut comparison = Comparison::new(Rule {
        measure: ToldBy::Rate,
        within: 0.02,
        alike: ALIKE,
    });
    for half_round in 0..PAIRS {
        if comparison.look() {
            break;
        }
        let (one, other) = (next(half_round == 0), next(false));
        match half_round % 4 {
            1 | 2 => comparison.add(&other, &slower(one, share)),
            _ => comparison.add(&one, &slower(other, share)),
        };
    }
    comparison.end().finding
}

fn different(share: f64, runs: u64) -> usize {
    let turns = series();
    assert!(turns.len() > 400, "{} turns", turns.len());
    let found: Vec<Finding> = (0..runs)
        .map(|seed| compared(&turns, seed, share))
        .collect();
    let count = |wanted| found.iter().filter(|one| **one == wanted).count();
    println!(
        "slower by {share}: {} different, {} no difference, {} not decided of {runs}",
        count(Finding::Different),
        count(Finding::NoDifference),
        count(Finding::NotDecided)
    );
    count(Finding::Different)
}

#[test]
fn measured_equals_differ_once_in_twenty_at_most() {
    let found = different(0.0, 1_000);
    assert!(found <= 50, "{found} of 1000");
}

#[test]
fn ten_percent_are_found_in_measured_noise() {
    let found = different(0.1, 1_000);
    assert!(found >= 900, "{found} of 1000");
}
