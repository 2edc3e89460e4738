use super::*;
use crate::compare::ToldBy;

const RULE: Rule = Rule {
    measure: ToldBy::Cost,
    within: 0.02,
    alike: 0.005,
};
const BASE_NS: f64 = 500.0;

/// Blocks of a router with these effects, ns, of columns and of pairs; noise of one turn is spread so far, ns.
fn blocks(
    design: &Design,
    count: usize,
    effects: &[(usize, f64)],
    pairs: &[(Pair, f64)],
    noise: &mut dyn FnMut() -> f64,
) -> Vec<Vec<f64>> {
    let cost = |run: usize| {
        let sign = |column| {
            if design.is_second(run, column) {
                0.5
            } else {
                -0.5
            }
        };
        let main: f64 = effects.iter().map(|(at, ns)| ns * sign(*at)).sum();
        let both = pairs
            .iter()
            .map(|((a, b), ns)| 2.0 * ns * sign(*a) * sign(*b));
        BASE_NS + main + both.sum::<f64>()
    };
    (0..count)
        .map(|_| (0..design.runs()).map(|run| cost(run) + noise()).collect())
        .collect()
}

/// Close to a normal distribution, and now and then a turn that is far off.
fn noisy(seed: u64, ns: f64) -> impl FnMut() -> f64 {
    let mut random = Random::from_seed(seed);
    move || {
        let near_normal: f64 = (0..12).map(|_| random.next_f64()).sum::<f64>() - 6.0;
        ns * near_normal * if random.chance(0.03) { 8.0 } else { 1.0 }
    }
}

#[test]
fn columns_of_all_designs_are_orthogonal() {
    for (factors, runs) in [
        (1, 24),
        (9, 24),
        (10, 40),
        (18, 48),
        (21, 48),
        (22, 64),
        (81, 168),
    ] {
        let design = Design::new(factors).expect("a design");
        assert_eq!(design.runs(), runs, "{factors}");
        assert!(design.columns() >= factors + PLACEBOS_MIN);
        let ones = vec![1.0; runs];
        for one in 0..design.columns() {
            assert_eq!(design.contrast(&ones, &[one]), 0.0, "as many of each level");
            for other in 0..one {
                let both = design.contrast(&ones, &[one, other]);
                assert_eq!(both, 0.0, "{factors}: {one} {other}");
                // The fold-over keeps main effects clear of each pair.
                let third = (one + other + 1) % design.columns();
                assert_eq!(design.contrast(&ones, &[one, other, third]), 0.0);
            }
        }
    }
    assert_eq!(Design::new(82), None);
}

#[test]
fn runs_come_in_an_order_of_the_seed() {
    let design = Design::new(8).expect("a design");
    let mut order = design.order(3, 7);
    assert_eq!(order, design.order(3, 7));
    assert!(order != design.order(4, 7) && order != design.order(3, 8));
    order.sort_unstable();
    assert!(order.into_iter().eq(0..24));
}

#[test]
fn planted_effects_are_found_as_they_are() {
    let design = Design::new(20).expect("a design");
    let effects = [(0, -120.0), (7, 40.0), (19, 15.0)];
    let blocks = blocks(
        &design,
        14,
        &effects,
        &[((0, 7), 30.0)],
        &mut noisy(5, 10.0),
    );
    // Pairs of factors are of the same family: 13 blocks would do for them alone, and fewer for the columns.
    let few = design.screened(&blocks[..13], None, RULE, design.tests());
    assert!(few.interactions.is_empty() && few.effects[0].cost_ns.is_none());
    let found = design.screened(&blocks, None, RULE, design.tests());
    assert_eq!(found.interactions[0].pair, (0, 7));
    for (at, effect) in found.effects.iter().enumerate() {
        let planted = effects.iter().find(|(column, _)| *column == at);
        let ns = effect.cost_ns.expect("an interval");
        let planted_ns = planted.map_or(0.0, |(_, ns)| *ns);
        assert!(
            ns.low <= planted_ns && planted_ns <= ns.high,
            "{at}: {ns:?}"
        );
        let is_found = effect.finding == Finding::Different;
        assert_eq!(is_found, planted.is_some(), "{at}: {effect:?}");
    }
    // 560 ns at one level and 440 at the other: 27 % more frames.
    let rate = found.effects[0].rate.expect("a rate");
    assert!((rate.middle - 120.0 / 440.0).abs() < 0.01, "{rate:?}");
}

#[test]
fn a_planted_interaction_is_told_with_aliases() {
    let design = Design::new(8).expect("a design");
    let blocks = blocks(
        &design,
        14,
        &[(2, 80.0)],
        &[((2, 5), 60.0)],
        &mut noisy(9, 8.0),
    );
    let found = design.screened(&blocks, None, RULE, design.tests());
    assert!(found.tells_interactions);
    let [one] = &found.interactions[..] else {
        panic!("{:?}", found.interactions);
    };
    assert_eq!(one.pair, (2, 5));
    assert!(one.ns.low < 60.0 && one.ns.high > 60.0, "{one:?}");
    // In 12 runs each pair shows a third of every pair that shares no factor with it.
    assert_eq!(one.aliases.len(), 15);
    for ((a, b), share) in &one.aliases {
        assert!(![*a, *b].iter().any(|at| [2, 5].contains(at)));
        assert!((share.abs() - 1.0 / 3.0).abs() < 1e-9, "{share}");
    }
    let others = found.effects.iter().enumerate().filter(|(at, _)| *at != 2);
    for (at, effect) in others {
        assert_ne!(
            effect.finding,
            Finding::Different,
            "{at}: clear of the pair"
        );
    }
}

#[test]
fn of_thousand_screens_of_nothing_few_find_any() {
    let design = Design::new(8).expect("a design");
    let mut wrong = 0;
    for seed in 0..1_000 {
        let mut noise = noisy(seed, 20.0);
        let mut drift = 0.0;
        let blocks = blocks(&design, 11, &[], &[], &mut || {
            drift += 0.05;
            noise() + drift
        });
        let found = design.screened(&blocks, None, RULE, design.tests());
        let mut effects = found.effects.iter();
        let acts = effects.any(|effect| effect.finding == Finding::Different);
        wrong += usize::from(acts || !found.interactions.is_empty());
    }
    assert!(wrong <= 50, "{wrong} of 1000");
}

#[test]
fn under_a_planted_load_nobody_can_tell() {
    let design = Design::new(8).expect("a design");
    let mut random = Random::from_seed(2);
    // Another program takes part of the CPU in every third turn.
    let mut load = || match random.chance(0.3) {
        true => 400.0 * random.next_f64(),
        false => 0.0,
    };
    let blocks = blocks(&design, 11, &[(1, 20.0)], &[], &mut load);
    let found = design.screened(&blocks, None, RULE, design.tests());
    for effect in &found.effects {
        assert_eq!(effect.finding, Finding::NotDecided, "{effect:?}");
        let rate = effect.rate.expect("an interval");
        assert!(rate.high - rate.low > 0.1, "{rate:?}");
    }
    let few = design.screened(&blocks[..4], None, RULE, design.tests());
    let mut effects = few.effects.iter();
    assert!(
        effects.all(|effect| effect.cost_ns.is_none()),
        "too few blocks"
    );
    assert!(few.interactions.is_empty() && !few.tells_interactions);
}

/// As many settings as ever stand beside it, a setting is worth the same share of a frame's cost.
#[test]
fn a_share_is_of_the_cost_as_it_stands() {
    let design = Design::new(10).expect("a design");
    for others in [0.0, 100.0, 400.0] {
        let mut effects = vec![(0, 370.0)];
        effects.extend((1..10).map(|column| (column, others)));
        let blocks = blocks(&design, 12, &effects, &[], &mut noisy(5, 1.0));
        let share = |at_second: bool, ns: f64| {
            let stands = AsItStands {
                ns,
                at_second: vec![at_second; 10],
            };
            let found = design.screened(&blocks, Some(&stands), RULE, design.tests());
            found.effects[0].cost.expect("an interval").middle
        };
        assert!(
            (share(false, 600.0) - 370.0 / 600.0).abs() < 0.01,
            "{others}"
        );
        assert!(
            (share(true, 970.0) - 370.0 / 600.0).abs() < 0.01,
            "{others}"
        );
    }
}

#[test]
fn blocks_needed_grow_with_effects() {
    assert_eq!(blocks_min(11), 9);
    assert_eq!(blocks_min(23), 10);
    let zeros = vec![0.0; 9];
    assert!(interval(&zeros, WRONG / 11.0).is_some());
    assert!(interval(&zeros[1..], WRONG / 11.0).is_none());
}
