//! Golden cases, and comparisons on a simulated machine as bad as those that were seen.

use super::*;
use crate::random::Random;
use crate::saturation::Window;
use crate::units::{Rate, Span};

const RULE: Rule = Rule {
    measure: ToldBy::Rate,
    within: 0.02,
    alike: 0.005,
};

/// A trial of 20 windows with this cost of a frame, ns, at this load.
fn block(cost_ns: f64, sent: f64) -> Block {
    let rate = sent.min(1e9 / cost_ns);
    let window = Window {
        duration: Span::from_millis(100),
        forwarded: (rate * 0.1) as u64,
        disturbed: false,
        round_trip_ns: None,
        work_ns: None,
        busy: None,
    };
    Block {
        sent: Rate::from_fps(sent),
        lost: 0.0,
        busiest: Some(rate * cost_ns / 1e9),
        threads: None,
        ns_per_frame: Some(cost_ns),
        distance: Distance::at(60.0),
        windows: vec![window; 20],
    }
}

fn turn(cost_ns: f64) -> Turn {
    Turn {
        overload: block(cost_ns, 2e6),
        fixed: block(cost_ns * 1.2, 5e5),
    }
}

/// A comparison of pairs whose variant takes so much more than 700 ns.
fn compared(rule: Rule, more_ns: impl IntoIterator<Item = f64>) -> (bool, Compared) {
    let mut comparison = Comparison::new(rule);
    let mut ended = false;
    for more in more_ns {
        comparison.add(&turn(700.0), &turn(700.0 + more));
        ended = comparison.look();
    }
    (ended, comparison.end())
}

#[test]
fn eight_pairs_tell_a_large_difference() {
    let more = [231.0, 206.0, 240.0, 255.0, 228.0, 233.0, 219.0, 238.0];
    let (ended, found) = compared(RULE, more);
    assert!(ended);
    assert_eq!(
        (found.finding, found.pairs.counted),
        (Finding::Different, 8)
    );
    let cost = found.cost_ns.expect("an interval");
    assert_eq!((cost.low, cost.high), (206.0, 255.0));
    assert!((cost.middle - 231.0).abs() < 3.0, "{cost:?}");
    let rate = found.rate.expect("an interval");
    assert!((rate.middle + 0.248).abs() < 0.003, "{rate:?}");
    let fixed = found.fixed_cost_ns.expect("an interval");
    assert_eq!(found.pairs.fixed, found.pairs.counted);
    assert!((fixed.low - 206.0 * 1.2).abs() < 1e-6, "{fixed:?}");
}

/// Pairs of one setting on a machine whose trials differ by some 30 ns, with so much more at its second level.
fn setting(random: &mut Random, more_ns: f64, tests: usize) -> Compared {
    let mut comparison = Comparison::one_of(RULE, tests);
    let mut noise = || (0..12).map(|_| random.next_f64() - 0.5).sum::<f64>() * 30.0;
    for _ in 0..40 {
        comparison.add(&turn(700.0 + noise()), &turn(700.0 + more_ns + noise()));
        if comparison.look() {
            break;
        }
    }
    comparison.end()
}

#[test]
fn a_planted_effect_is_found_and_a_placebo_is_not() {
    let (mut wrong, runs) = (0, 60);
    for seed in 0..runs {
        let mut random = Random::from_seed(seed);
        let found = setting(&mut random, 200.0, 21);
        assert_eq!(found.finding, Finding::Different, "seed {seed}: {found:?}");
        let cost = found.cost_ns.expect("an interval");
        assert!(cost.low > 100.0 && cost.high < 300.0, "{cost:?}");
        let mut placebos = (0..20).map(|_| setting(&mut random, 0.0, 21));
        wrong += u32::from(placebos.any(|found| found.finding == Finding::Different));
    }
    // One run of 20 at most, of all 20 settings together.
    assert!(wrong <= 3, "{wrong} of {runs} runs");
}

#[test]
fn many_comparisons_need_more_pairs() {
    assert_eq!(Comparison::pairs_min(1), 8);
    assert_eq!(Comparison::pairs_min(5), 12);
    assert_eq!(Comparison::pairs_min(21), 18);
    let mut comparison = Comparison::one_of(RULE, 21);
    for pair in 1..=18 {
        comparison.add(&turn(700.0), &turn(931.0));
        assert_eq!(comparison.look(), pair == 18, "pair {pair}");
    }
    assert_eq!(comparison.end().finding, Finding::Different);
}

#[test]
fn seven_pairs_decide_nothing() {
    let (ended, found) = compared(RULE, [231.0; 7]);
    assert!(!ended);
    assert_eq!((found.finding, found.rate), (Finding::NotDecided, None));
}

#[test]
fn equal_variants_end_at_the_first_look() {
    let more = [3.0, -2.0, 1.0, -4.0, 2.0, -1.0, 5.0, -3.0];
    let (ended, found) = compared(RULE, more);
    assert!(ended);
    assert_eq!(found.finding, Finding::NoDifference);
    assert_eq!(found.pairs.looks, 1);
}

#[test]
fn what_beds_differ_by_is_no_difference() {
    // 0.4 %, in every pair.
    let (_, found) = compared(RULE, [2.8; 12]);
    assert_eq!(found.finding, Finding::NoDifference);
    let (_, found) = compared(RULE, [5.0; 12]);
    assert_eq!(found.finding, Finding::Different);
}

#[test]
fn a_wide_interval_is_not_decided() {
    let more = (0..30).map(|pair| if pair % 2 == 0 { 150.0 } else { -140.0 });
    let (ended, found) = compared(RULE, more);
    assert!(!ended);
    assert_eq!(
        (found.finding, found.pairs.counted),
        (Finding::NotDecided, 30)
    );
    assert_eq!(found.pairs.looks, 5, "four, and the one at the end");
}

#[test]
fn pairs_that_do_not_compare_are_left_out() {
    let mut comparison = Comparison::new(RULE);
    let base = turn(700.0);
    let with = |change: fn(&mut Block)| {
        let mut other = turn(700.0);
        change(&mut other.overload);
        other
    };
    let far = with(|block| block.distance = Distance::at(310.0));
    let moved = with(|block| block.distance = Distance::Changed);
    let disturbed = with(|block| {
        for window in block.windows.iter_mut().skip(3) {
            window.disturbed = true;
        }
    });
    let carried = with(|block| block.sent = Rate::from_fps(1e6));
    for other in [&disturbed, &carried] {
        assert!(!comparison.add(&base, other) && !comparison.add(other, &base));
    }
    for other in [&far, &moved] {
        assert!(!comparison.add(&base, other) && !comparison.add(other, &base));
    }
    // Where CPUs move in most pairs, these count.
    assert!(comparison.add(&far, &far.clone()));
    let pairs = Pairs {
        counted: 5,
        fixed: 5,
        looks: 1,
        moved: 4,
        disturbed: 2,
        not_overloaded: 2,
        ..Pairs::default()
    };
    assert_eq!(comparison.clone().end().pairs, pairs);
    // Where they stay in half of the pairs, only these do.
    for _ in 0..3 {
        assert!(comparison.add(&far, &far.clone()));
    }
    let pairs = Pairs {
        counted: 4,
        fixed: 4,
        moved: 0,
        distance: 4,
        ..pairs
    };
    assert_eq!(comparison.end().pairs, pairs);
    assert_eq!(pairs.left_out(), 8);
}

#[test]
fn a_fixed_load_that_overloads_has_no_cost() {
    let found = |overloaded: usize, change: fn(&mut Block)| {
        let mut comparison = Comparison::new(RULE);
        for pair in 0..30 {
            let mut turns = [turn(700.0), turn(931.0)];
            if pair < overloaded {
                change(&mut turns[pair % 2].fixed);
            }
            comparison.add(&turns[0], &turns[1]);
        }
        let found = comparison.end();
        (
            found.pairs.counted,
            found.pairs.fixed,
            found.fixed_cost_ns.is_some(),
        )
    };
    let busy: fn(&mut Block) = |block| block.busiest = Some(1.0);
    // A ring too short for a burst loses frames of a CPU that has time.
    assert_eq!(found(4, |block| block.lost = 0.03), (30, 30, true));
    assert_eq!(found(15, busy), (30, 15, true));
    // Of the fast states of the machine alone.
    assert_eq!(found(16, busy), (30, 14, false));
}

#[test]
fn more_pairs_tell_the_cost_at_the_fixed_load() {
    let pair = |is_full: bool| {
        let mut turns = [turn(700.0), turn(931.0)];
        turns[0].fixed.busiest = is_full.then_some(1.0).or(turns[0].fixed.busiest);
        turns
    };
    let compared = |full: usize| {
        let mut comparison = Comparison::new(RULE);
        let mut pairs = 0;
        while !comparison.is_done() {
            let [base, variant] = pair(pairs < full);
            comparison.add(&base, &variant);
            pairs += 1;
        }
        let found = comparison.end();
        assert_eq!(
            (found.finding, found.pairs.counted),
            (Finding::Different, 8)
        );
        (pairs, found.pairs.fixed, found.fixed_cost_ns.is_some())
    };
    assert_eq!(compared(0), (8, 8, true));
    assert_eq!(compared(5), (13, 8, true));
    // They have to be half of all, and none of the first eight tells it.
    assert_eq!(compared(7), (15, 8, true));
    assert_eq!(compared(8), (8, 0, false));
}

#[test]
fn costs_tell_where_the_tester_ends_first() {
    let rule = Rule {
        measure: ToldBy::Cost,
        ..RULE
    };
    let mut comparison = Comparison::new(rule);
    let slow = |cost_ns| Turn {
        overload: block(cost_ns, 1e6),
        fixed: block(cost_ns, 5e5),
    };
    for _ in 0..8 {
        comparison.add(&slow(700.0), &slow(770.0));
    }
    assert!(comparison.look());
    let found = comparison.end();
    assert_eq!(found.finding, Finding::Different);
    assert!(found.rate.is_some_and(|rate| rate.middle == 0.0));
    let cost = found.cost.expect("an interval");
    assert!((cost.middle - 0.1).abs() < 1e-9, "{cost:?}");
}

/// A machine whose CPUs slow down for seconds, move apart and drift; time goes by in it.
struct Machine {
    random: Random,
    now_s: f64,
    slow: f64,
    slow_until_s: f64,
    far: bool,
    far_until_s: f64,
    drift: f64,
}

impl Machine {
    fn from_seed(seed: u64) -> Self {
        let mut random = Random::from_seed(seed);
        let drift = (random.next_f64() - 0.5) * 0.004;
        Self {
            random,
            now_s: 0.0,
            slow: 1.0,
            slow_until_s: 0.0,
            far: false,
            far_until_s: 0.0,
            drift,
        }
    }

    fn lasts(&mut self, mean_s: f64) -> f64 {
        self.now_s - mean_s * (1.0 - self.random.next_f64()).ln()
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.random.next_f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.random.next_f64()).cos()
    }

    /// A trial of a DUT that takes `cost_ns` for a frame on this machine at its best.
    fn trial(&mut self, cost_ns: f64, sent: f64) -> Block {
        self.now_s += 0.5;
        if self.now_s > self.slow_until_s {
            let slow = self.random.chance(0.2);
            self.slow = if slow {
                1.0 + 0.6 * self.random.next_f64()
            } else {
                1.0
            };
            self.slow_until_s = self.lasts(4.0);
        }
        let moved = self.now_s > self.far_until_s;
        if moved {
            self.far = self.random.chance(0.5);
            self.far_until_s = self.lasts(12.0);
        }
        let noise = 0.015 * self.normal();
        let tail = if self.random.chance(0.08) {
            0.3 * self.random.next_f64()
        } else {
            0.0
        };
        let drift = 1.0 + self.drift * self.now_s;
        let far = if self.far { 1.28 } else { 1.0 };
        let cost = cost_ns * self.slow * far * drift * (1.0 + tail) * noise.exp();
        let mut block = block(cost, sent / (far * self.slow));
        let place = if self.far { 320.0 } else { 60.0 };
        block.distance = Distance::at(place);
        // A trial in which the CPUs move is not told apart every time.
        if moved && self.random.chance(0.5) {
            block.distance = Distance::Changed;
        }
        block
    }

    fn turn(&mut self, cost_ns: f64) -> Turn {
        Turn {
            overload: self.trial(cost_ns, 2.5e6),
            fixed: self.trial(cost_ns * 1.2, 5e5),
        }
    }

    /// 110 s of turns: A B, B A, B A, A B.
    fn compare(mut self, more: f64) -> Compared {
        let mut comparison = Comparison::new(RULE);
        let mut base_first = true;
        let mut flip = 0;
        while self.now_s < 110.0 && !comparison.look() {
            let costs = if base_first {
                [700.0, 700.0 * (1.0 + more)]
            } else {
                [700.0 * (1.0 + more), 700.0]
            };
            let [one, other] = costs.map(|cost| self.turn(cost));
            let (base, variant) = if base_first {
                (one, other)
            } else {
                (other, one)
            };
            comparison.add(&base, &variant);
            // Two pairs of one order follow each other: A B, B A, B A, A B.
            flip += 1;
            base_first ^= flip % 2 == 1;
        }
        comparison.end()
    }
}

/// Of `runs` comparisons with this difference, how many found one, of this sign, and how many intervals hold it.
fn simulated(more: f64, runs: u64) -> (u32, u32) {
    let (mut different, mut held, mut pairs) = (0, 0, 0.0);
    for seed in 0..runs {
        let found = Machine::from_seed(seed).compare(more);
        let rate = found.rate.expect("8 pairs in two minutes");
        let truth = 1.0 / (1.0 + more) - 1.0;
        let right = more == 0.0 || rate.middle < 0.0;
        different += u32::from(found.finding == Finding::Different && right);
        held += u32::from(rate.low <= truth && truth <= rate.high);
        pairs += f64::from(found.pairs.counted) / runs as f64;
    }
    println!("{more}: {different} different, {held} held of {runs}, {pairs:.1} pairs");
    (different, held)
}

#[test]
fn equals_are_called_different_once_in_twenty() {
    let (different, held) = simulated(0.0, 2_000);
    assert!(different <= 100, "{different} of 2000");
    assert!(held >= 1_900, "{held} of 2000");
}

#[test]
fn three_and_ten_percent_are_found() {
    let (different, held) = simulated(0.1, 300);
    assert!(different >= 294 && held >= 285, "{different}, {held}");
    let (different, held) = simulated(0.03, 300);
    assert!(different >= 240 && held >= 285, "{different}, {held}");
}
