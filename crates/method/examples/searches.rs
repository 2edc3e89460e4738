//! What each search makes of simulated routers whose truth is known: `cargo run -p mpps-method --example searches`
//! prints the table in docs/method.md.

use mpps_method::simulate::{Properties, Simulated, run};
use mpps_method::{
    Accept, Ceiling, Outcome, Preset, Rate, Resolution, Rules, SearchPlan, SearchPlanError, Span,
};

/// Searches of each kind, every one with chances of its own.
const SEEDS: u64 = 300;
/// What the router forwards in one trial of 1 s at most: its capacity and its ring.
const TRUTH_KFPS: f64 = 777.0 + 4.096;

fn main() -> Result<(), SearchPlanError> {
    println!(
        "| router | search | found, % of the truth: 5th, 50th, 95th percentile | trials: 50th, 95th | s of trials: 50th, 95th |"
    );
    println!("|---|---|---|---|---|");
    for (router, properties) in routers() {
        for (name, search) in searches() {
            let mut columns = [const { Vec::new() }; 3];
            for seed in 0..SEEDS {
                let one = one(&search, Properties { seed, ..properties })?;
                columns
                    .iter_mut()
                    .zip(one)
                    .for_each(|(column, figure)| column.push(figure));
            }
            columns
                .iter_mut()
                .for_each(|column| column.sort_by(f64::total_cmp));
            let [found, trials, seconds] = columns;
            println!(
                "| {router} | {name} | {:.0}, {:.0}, {:.0} | {:.0}, {:.0} | {:.0}, {:.0} |",
                at(&found, 0.05),
                at(&found, 0.5),
                at(&found, 0.95),
                at(&trials, 0.5),
                at(&trials, 0.95),
                at(&seconds, 0.5),
                at(&seconds, 0.95),
            );
        }
    }
    Ok(())
}

fn routers() -> [(&'static str, Properties); 5] {
    let still = Properties {
        ring: 4_096,
        ..Properties::ideal(Rate::from_fps(777_000.0))
    };
    let pauses = |pause_chance| Properties {
        pause_chance,
        pause: Span::from_millis(20),
        ..still
    };
    let noise = |noise| Properties { noise, ..still };
    [
        ("still", still),
        ("noise 5 %", noise(0.05)),
        ("noise 20 %", noise(0.2)),
        ("pauses of 20 ms in 10 % of the trials", pauses(0.1)),
        ("pauses of 20 ms in 40 % of the trials", pauses(0.4)),
    ]
}

fn searches() -> [(&'static str, SearchPlan); 5] {
    let mlr = |preset: Preset| SearchPlan::Mlr {
        goals: vec![preset.goal(0.0)],
        trials_at_most: preset.trials_at_most(),
    };
    let bisection = |trials_per_load, accept| SearchPlan::Bisection {
        trial: Span::from_millis(1_000),
        resolution: Resolution::Fraction(0.01),
        trials_per_load,
        accept,
    };
    [
        ("quick", mlr(Preset::Quick)),
        ("csit, ndr alone", mlr(Preset::Csit)),
        ("rfc2544", mlr(Preset::Rfc2544)),
        ("bisection, any of 3", bisection(3, Accept::Any)),
        ("bisection, one trial", bisection(1, Accept::All)),
    ]
}

/// Found (% of the truth), trials, seconds of them.
fn one(search: &SearchPlan, router: Properties) -> Result<[f64; 3], SearchPlanError> {
    let ceiling = Ceiling::Tester(Rate::from_fps(1_600_000.0));
    let mut search = search.begin(Rate::from_fps(10_000.0), ceiling, None)?;
    let ended = run(
        search.as_mut(),
        &mut Simulated::new(router),
        &Rules::default(),
        10_000,
    );
    let (trials, results) = ended.unwrap_or_default();
    let found = match results.first().map(|result| result.outcome) {
        Some(Outcome::Found { lossless, .. }) => lossless.fps() / 1e3 / TRUTH_KFPS * 100.0,
        _ => 0.0,
    };
    let time = trials
        .iter()
        .map(|tried| tried.offer.duration.as_secs_f64())
        .sum();
    Ok([found, trials.len() as f64, time])
}

fn at(sorted: &[f64], part: f64) -> f64 {
    let place = (sorted.len().saturating_sub(1) as f64 * part).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}
