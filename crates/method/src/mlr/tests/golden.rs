//! Golden: what each kind of router and noise comes to, goal by goal: found, trials, seconds of trials.
// tidy: a table

use super::*;

/// One search on a simulated pair.
struct Row {
    preset: Preset,
    router: &'static str,
    ends: &'static str,
}

/// An ideal router of 777 kfps unless changed.
fn router(name: &str) -> Properties {
    let ideal = Properties::ideal(kfps(777.0));
    let stalls = |stall_chance| Properties {
        stall_chance,
        stall: Span::from_millis(600),
        ring: 4_096,
        ..ideal
    };
    match name {
        "ideal" => ideal,
        "above the tester's ceiling" => Properties::ideal(kfps(2_000.0)),
        "below the minimum" => Properties::ideal(kfps(9.0)),
        "just above the minimum" => Properties::ideal(kfps(10.5)),
        "a ring of 4096" => Properties {
            ring: 4_096,
            ..ideal
        },
        "noise of 5 %" => Properties {
            noise: 0.05,
            ..ideal
        },
        "1 frame in 10 million lost" => Properties {
            random_loss: 1e-7,
            ..ideal
        },
        "1 frame in a million lost" => Properties {
            random_loss: 1e-6,
            ..ideal
        },
        "the machine stalls in 3 of 10 seconds" => stalls(0.3),
        "the machine stalls in 9 of 10 seconds" => stalls(0.9),
        "the router pauses unseen in 2 of 10 seconds" => Properties {
            pause_chance: 0.2,
            pause: Span::from_millis(20),
            ring: 4_096,
            ..ideal
        },
        "loss that comes and goes with load" => wandering(),
        "a ring of 4096, begun at its rate" => router("a ring of 4096"),
        "noise of 5 %, begun at its rate" => router("noise of 5 %"),
        "a tester that ends at 1 Mfps" => Properties {
            tester_ceiling: Some(kfps(1_000.0)),
            ..Properties::ideal(kfps(2_000.0))
        },
        "a tester that ends at 1 Mfps, a weaker router" => Properties {
            tester_ceiling: Some(kfps(1_000.0)),
            ..ideal
        },
        "a tester that ends below the minimum" => Properties {
            tester_ceiling: Some(kfps(5.0)),
            ..ideal
        },
        other => panic!("no such router: {other}"),
    }
}

/// Where its search begins: at the rate of an overload.
fn begun(name: &str) -> Option<Rate> {
    name.ends_with("begun at its rate").then(|| kfps(777.0))
}

use Preset::{Csit, Quick, Rfc2544};

include!("golden/table.rs");

fn written(result: &GoalResult) -> String {
    let goal = result.goal.expect("a goal of MLRsearch");
    let found = match result.outcome {
        Outcome::Found {
            lossless,
            lossy,
            limited_by,
            ..
        } => {
            let lossy = lossy.map_or("none".to_owned(), |rate| rate.to_string());
            let (loss, passes) = (result.loss_ratio * 100.0, result.passes);
            format!("{lossless} .. {lossy} by {limited_by:?}, {passes}, loss {loss:.3} %")
        }
        Outcome::NoneLossless { lowest, .. } => format!("none down to {lowest}"),
        Outcome::CouldNotMeasure { why, .. } => why.to_string(),
    };
    let irregular = result
        .irregular
        .map_or(String::new(), |why| format!(" ({why})"));
    format!("{goal}: {found}{irregular}")
}

fn ends(row: &Row) -> String {
    let plan = MlrPlan {
        start: begun(row.router),
        ..plan(row.preset)
    };
    let (trials, results) = searched(&plan, router(row.router));
    let each: Vec<String> = results.iter().map(written).collect();
    let voided = trials
        .iter()
        .filter(|tried| matches!(tried.verdict, Verdict::Void(_)))
        .count();
    let time: f64 = trials
        .iter()
        .map(|tried| tried.offer.duration.as_secs_f64())
        .sum();
    format!(
        "{}; {} trials, {voided} voided, {time:.0} s",
        each.join("; "),
        trials.len()
    )
}

#[test]
fn golden_table() {
    let found: Vec<String> = TABLE.iter().map(ends).collect();
    let different = TABLE
        .iter()
        .zip(&found)
        .filter(|(row, found)| row.ends != *found);
    let told: Vec<String> = different
        .map(|(row, found)| format!("{:?}, {}:\n    {found}", row.preset, row.router))
        .collect();
    assert!(told.is_empty(), "not as written:\n{}", told.join("\n"));
}

#[test]
fn a_quick_search_is_quick() {
    for row in TABLE.iter().filter(|row| row.preset == Quick) {
        let (trials, _) = searched(&plan(Quick), router(row.router));
        let undisturbed = trials
            .iter()
            .filter(|tried| !matches!(tried.verdict, Verdict::Void(_)));
        assert!(undisturbed.count() <= 25, "{}", row.router);
    }
}
