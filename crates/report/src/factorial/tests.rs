use super::*;
use crate::{Gathered, markdown, page};
use mpps_record::{
    CampaignLine, CellLine, Difference, Direction, Factor, Level, TrialLine, Variant,
};

/// A run of so many rounds whose variants have these names and rates, with a drift from round to round.
fn run(variants: &[(&str, f64)], rounds: u32) -> Run {
    let mut run = Run::new("run");
    let mut line = ComparisonLine {
        frame: "64".to_owned(),
        alike_share: 0.01,
        within_share: 0.02,
        ..ComparisonLine::default()
    };
    for (place, (name, rate)) in (0..).zip(variants) {
        let mut variant = Variant {
            name: (*name).to_owned(),
            forwarding_fps: Some(Interval {
                low: *rate as u64,
                median: *rate as u64,
                high: *rate as u64,
            }),
            ..Variant::default()
        };
        for round in 0..rounds {
            let trial = round * variants.len() as u32 + place;
            run.trials.push(TrialLine {
                trial,
                forwarded_undisturbed_fps: Some(rate * (1.0 - 0.01 * f64::from(round))),
                // It was planned to send more than the sender did, which backs off.
                offered_fps: 1.1 * rate,
                duration_ns: 1_000_000_000_000,
                directions: vec![sent(1_020.0 * rate)],
                ..TrialLine::default()
            });
            variant.overload_trials.push(trial);
        }
        line.variants.push(variant);
    }
    run.comparisons.push(line);
    run
}

/// Two changes that multiply, in so many rounds. In the first of them the machine slows down before the last variant.
fn moved(rounds: u32, moved: usize) -> Run {
    let mut run = two_changes([1e6, 0.9e6, 0.8e6, 0.72e6], rounds);
    let last = run.comparisons[0].variants[3].overload_trials.clone();
    for trial in &mut run.trials {
        let place = last.iter().position(|number| *number == trial.trial);
        let is_slow = place.is_some_and(|place| place < moved);
        let ns = if is_slow { 300 } else { 150 };
        trial.work_ns = Some(Interval {
            low: ns,
            median: ns,
            high: ns,
        });
        if is_slow {
            trial.forwarded_undisturbed_fps = trial.forwarded_undisturbed_fps.map(|fps| fps / 2.0);
        }
    }
    run
}

/// Neither change, each alone, and both.
fn two_changes(rates: [f64; 4], rounds: u32) -> Run {
    let names = ["off", "a", "b", "both"];
    let variants: Vec<_> = names.into_iter().zip(rates).collect();
    run(&variants, rounds)
}

/// Both directions halve the rate, the filter takes a tenth, and the key does nothing alone. `three` is what all of them
/// together have beyond that.
fn three_changes(pair: f64, three: f64) -> Run {
    let mut variants = Vec::new();
    for (key, of_key) in [("plain", 1.0), ("symmetric", 1.0)] {
        for (filter, of_filter) in [("off", 1.0), ("filter", 0.9)] {
            for (ways, of_ways) in [("one", 1.0), ("two", 0.5)] {
                let is = |ways_is: bool, filter_is: bool| {
                    (ways == "two" || !ways_is) && (filter == "filter" || !filter_is)
                };
                let mut rate = 1e6 * of_key * of_filter * of_ways;
                rate *= if is(true, true) { pair } else { 1.0 };
                rate *= if is(true, true) && key == "symmetric" {
                    three
                } else {
                    1.0
                };
                variants.push((format!("{ways}+{filter}+{key}"), rate));
            }
        }
    }
    let variants: Vec<_> = variants
        .iter()
        .map(|(name, rate)| (name.as_str(), *rate))
        .collect();
    run(&variants, 12)
}

/// So many frames reached the router.
fn sent(frames: f64) -> Direction {
    let mut way = Direction::default();
    way.ledger.sent_frames = frames as u64;
    way
}

fn all_of(run: &Run) -> Vec<Contrast<'_>> {
    let found = contrasts(&run.comparisons[0], run).expect("a factorial comparison");
    found.expect("rounds enough")
}

fn of_first(run: &Run) -> Result<Interval<f64>, String> {
    interaction(&run.comparisons[0], run)
}

#[test]
fn changes_that_multiply_do_not_interact() {
    let run = two_changes([1000.0, 500.0, 800.0, 400.0], 12);
    let value = of_first(&run).expect("a number");
    assert!(value.low > -1e-9 && value.high < 1e-9, "{value:?}");
    let findings: Vec<Finding> = all_of(&run).into_iter().map(|one| one.finding).collect();
    let wanted = [
        Finding::Different,
        Finding::Different,
        Finding::NoDifference,
    ];
    assert_eq!(findings, wanted);
}

#[test]
fn a_planted_interaction_is_found() {
    // Together they forward a fifth less than the product.
    let mut run = two_changes([1000.0, 500.0, 800.0, 320.0], 12);
    // A round with a disturbed turn does not count.
    run.trials[3].forwarded_undisturbed_fps = None;
    let value = of_first(&run).expect("a number");
    assert!((value.median + 0.2).abs() < 1e-9, "{value:?}");
    assert!(value.low <= value.median && value.high < -0.19, "{value:?}");
    let wanted = [
        "64 B, a against off over all levels of the others: -55.3 % frames/s (-55.3 to -55.3 %, 11 rounds): a difference",
        "64 B, b against off over all levels of the others: -28.4 % frames/s (-28.4 to -28.4 %, 11 rounds): a difference",
        "64 B, a and b together: -20.0 % frames/s (-20.0 to -20.0 %, 11 rounds) against what the two alone predict: an interaction",
    ];
    assert_eq!(sentences(&run), wanted);
}

/// Else the slow times of one variant would be an interaction.
#[test]
fn a_round_in_two_states_does_not_count() {
    let found = |of_moved: usize| of_first(&moved(20, of_moved)).expect("enough rounds");
    let steady = found(9);
    assert!(steady.low > -1e-9 && steady.high < 1e-9, "{steady:?}");
    // Where most have moved, all count, and decide nothing.
    let all = found(11);
    assert!(all.median < -0.4, "{all:?}");
    for told in sentences(&moved(20, 11)) {
        assert!(
            told.contains(" rounds, most in changing states of the machine)"),
            "{told}"
        );
        assert!(told.ends_with("not decided"), "{told}");
    }
}

#[test]
fn three_changes_have_seven_contrasts() {
    let run = three_changes(1.0, 0.8);
    let found = all_of(&run);
    let told: Vec<(String, f64, &Finding)> = found
        .iter()
        .map(|one| {
            let median = (one.rate_change.median * 1e3).round() / 1e3;
            (one.changes.join(" "), median, &one.finding)
        })
        .collect();
    // The fifth that all three take more is halved in the mean over a factor, as a logarithm.
    let half = (0.8_f64.sqrt() * 1e3).round() / 1e3 - 1.0;
    let half = (half * 1e3).round() / 1e3;
    let quarter = 0.8_f64.powf(0.25);
    let mean = |alone: f64| ((alone * quarter - 1.0) * 1e3).round() / 1e3;
    let wanted = [
        ("two", mean(0.5)),
        ("filter", mean(0.9)),
        ("symmetric", mean(1.0)),
        ("two filter", half),
        ("two symmetric", half),
        ("filter symmetric", half),
        ("two filter symmetric", -0.2),
    ];
    for ((changes, median, finding), wanted) in told.iter().zip(wanted) {
        assert_eq!((changes.as_str(), *median), wanted);
        assert_eq!(**finding, Finding::Different, "{changes}");
    }
    assert_eq!(told.len(), wanted.len());
    assert_eq!(
        of_first(&run).expect("a number").median,
        found[6].rate_change.median
    );
    // Of two changes that interact whatever the third one is, the third is no part.
    let pair = three_changes(0.8, 1.0);
    let acting = all_of(&pair);
    let acting = acting
        .iter()
        .filter(|one| one.finding == Finding::Different);
    let acting: Vec<String> = acting.map(|one| one.changes.join(" ")).collect();
    assert_eq!(acting, ["two", "filter", "two filter"]);
}

#[test]
fn beds_may_differ_more_over_eight_variants() {
    // All three together have 1.9 %, and eight beds of equal set-ups differ by up to 2 % there.
    let found = three_changes(1.0, 0.981);
    let last = all_of(&found).pop().expect("a contrast");
    assert_eq!(last.finding, Finding::NoDifference);
    let found = three_changes(1.0, 0.979);
    let last = all_of(&found).pop().expect("a contrast");
    assert_eq!(last.finding, Finding::Different);
}

#[test]
fn levels_are_a_table_of_numbers() {
    let variants = [
        ("1-queue+1-cpu", 1e6),
        ("2-queues+1-cpu", 0.9e6),
        ("1-queue+2-cpus", 1e6),
        ("2-queues+2-cpus", 1.8e6),
    ];
    let level = |name: &str, not_run: Option<&str>| Level {
        name: name.to_owned(),
        not_run: not_run.map(str::to_owned),
    };
    let mut cell = CellLine {
        factors: vec![
            Factor {
                name: "queues".to_owned(),
                levels: vec![level("1-queue", None), level("2-queues", None)],
            },
            Factor {
                name: "CPUs".to_owned(),
                levels: vec![
                    level("1-cpu", None),
                    level("2-cpus", None),
                    level("4-cpus", Some("needs 5 CPUs")),
                ],
            },
        ],
        ..CellLine::default()
    };
    let whole = run(&variants, 12);
    let shown = |cell: &CellLine, run: &Run| {
        let grid = of_cell(cell, Some(run));
        let Grid { title, table } = grid.expect("a grid");
        let rows = table.rows.iter().map(|row| row.join("|"));
        [title, table.head.join("|")]
            .into_iter()
            .chain(rows)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        shown(&cell, &whole),
        [
            "queues x CPUs, 64 B: an interaction",
            "frames/s|1-cpu|2-cpus|4-cpus",
            "1-queue|1.000M (1.000 to 1.000)|1.000M (1.000 to 1.000)|not run",
            "2-queues|900.0k (900.0 to 900.0)|1.800M (1.800 to 1.800)|not run",
        ]
    );
    // On two CPUs one column is left.
    cell.factors[1].levels[1].not_run = Some("needs 3 CPUs".to_owned());
    let narrow = shown(&cell, &run(&variants[..2], 12));
    let title = "queues x CPUs, 64 B: one factor alone changes here, so no interaction is told";
    assert_eq!(narrow[0], title);
    assert_eq!(
        narrow[3],
        "2-queues|900.0k (900.0 to 900.0)|not run|not run"
    );
    // Without a plan levels name the factors.
    let [grid] = &grids(&whole)[..] else {
        panic!("one grid");
    };
    assert_eq!(
        grid.title,
        "1-queue/2-queues x 1-cpu/2-cpus, 64 B: an interaction"
    );
    cell.factors.clear();
    assert!(of_cell(&cell, Some(&whole)).is_none());
}

#[test]
fn a_table_of_levels_is_on_a_page_and_in_markdown() {
    let variants = [("1+x", 1e6), ("2+x", 0.9e6), ("1+y", 1e6), ("2+y", 1.8e6)];
    let compared = run(&variants, 12);
    let level = |name: &str| Level {
        name: name.to_owned(),
        not_run: (name == "z").then(|| "needs 9 CPUs".to_owned()),
    };
    let factor = |name: &str, levels: &[&str]| Factor {
        name: name.to_owned(),
        levels: levels.iter().map(|name| level(name)).collect(),
    };
    let mut own = Run::new("campaign");
    own.campaign = Some(CampaignLine::default());
    own.cells.push(CellLine {
        measured_run: Some(compared.name.clone()),
        factors: vec![
            factor("queues", &["1", "2"]),
            factor("CPUs", &["x", "y", "z"]),
        ],
        ..CellLine::default()
    });
    let alone = Gathered {
        runs: vec![("f".to_owned(), compared.clone())],
        ..Gathered::default()
    };
    let of_campaign = Gathered {
        runs: vec![("f".to_owned(), own), ("f".to_owned(), compared)],
        ..Gathered::default()
    };
    let text = markdown(&of_campaign);
    for wanted in [
        "queues x CPUs, 64 B: an interaction\n\n| frames/s | x | y | z |\n",
        "| 2 | 900.0k (900.0 to 900.0) | 1.800M (1.800 to 1.800) | not run |\n",
        "z cannot be tested here: needs 9 CPUs",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let text = markdown(&alone);
    assert!(
        text.contains("1/2 x x/y, 64 B: an interaction\n\n| frames/s | x | y |\n"),
        "{text}"
    );
    for (gathered, title) in [
        (of_campaign, "queues x CPUs, 64 B"),
        (alone, "1/2 x x/y, 64 B"),
    ] {
        let page = page(gathered);
        let table = page.split(title).nth(1).expect("a title");
        assert!(
            table.contains("<td>1.800M (1.800 to 1.800)</td>"),
            "{title}"
        );
    }
}

#[test]
fn three_levels_have_a_contrast_each() {
    let variants = [
        ("1+x", 1e6),
        ("2+x", 0.9e6),
        ("8+x", 0.8e6),
        ("1+y", 2e6),
        ("2+y", 1.8e6),
        ("8+y", 1.2e6),
    ];
    let run = run(&variants, 12);
    let found = all_of(&run);
    let last = |back: usize| &found[found.len() - 1 - back];
    assert_eq!(found.len(), 5);
    assert_eq!(last(1).changes, ["2", "y"]);
    assert_eq!(last(1).finding, Finding::NoDifference);
    assert_eq!(last(0).changes, ["8", "y"]);
    assert!((last(0).rate_change.median + 0.25).abs() < 1e-9);
    let why = of_first(&run).expect_err("three levels");
    assert_eq!(why, "an interaction needs two levels of each factor");
}

#[test]
fn too_few_rounds_and_other_comparisons_say_so() {
    let few = of_first(&two_changes([1.0; 4], 5)).expect_err("5 rounds");
    let why = |found: u32, all: u32, [disturbed, moved, idle]: [u32; 3]| {
        format!(
            "only {found} of {all} rounds count, and an interval needs 7: {disturbed} were disturbed, in {moved} the machine \
             changed its state, and in {idle} a router was not overloaded; give a longer --budget"
        )
    };
    assert_eq!(few, why(5, 5, [0; 3]));
    let mut idle = two_changes([1.0; 4], 8);
    idle.trials[0].directions = vec![sent(1_000.0)];
    idle.trials[5].forwarded_undisturbed_fps = None;
    let few = of_first(&idle).expect_err("a router was not overloaded, another one disturbed");
    assert_eq!(few, why(6, 8, [1, 0, 1]));
    let few = of_first(&moved(8, 3)).expect_err("rounds in two states");
    assert_eq!(few, why(5, 8, [0, 3, 0]));
    let mut capped = two_changes([1.0; 4], 12);
    capped.comparisons[0].variants[3].difference = Some(Difference {
        told_by: ToldBy::Cost,
        ..Difference::default()
    });
    let limited = of_first(&capped).expect_err("the tester's own rates");
    assert_eq!(limited, "the tester reached its limit before the router");
    let title = &grids(&capped)[0].title;
    let untold = "not known, because the tester reached its limit before the router";
    assert!(title.ends_with(untold), "{title}");
    let told = sentences(&two_changes([1.0; 4], 6));
    let wanted = format!(
        "64 B: it is not known whether changes interact, because {}",
        why(6, 6, [0; 3])
    );
    assert_eq!(told, [wanted]);
    let mut three = two_changes([1.0; 4], 6);
    three.comparisons[0].variants.pop();
    let why = of_first(&three).expect_err("3 variants");
    assert_eq!(why, "an interaction needs all combinations of changes");
    assert!(sentences(&three).is_empty() && grids(&three).is_empty());
    let cuts = [5, 6, 8, 9, 12, 20, 2_000].map(|count| cut(count, 0.025));
    assert_eq!(
        cuts,
        [None, Some(0), Some(0), Some(1), Some(2), Some(5), Some(955)]
    );
}
