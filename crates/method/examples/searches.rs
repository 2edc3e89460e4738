//! What each search makes of simulated routers whose truth is known: `cargo run -p mpps-method --example searches`
//! prints the table in docs/method.md.

use mpps_method::simulate::{Properties, Simulated, Wander, run};
use mpps_method::{
    Accept, Ceiling, Outcome, Preset, Rate, Resolution, Rules, SearchPlan, SearchPlanError, Span,
};

/// Searches of each kind, every one with chances of its own.
const SEEDS: u64 = 300;

/// A kind of search.
struct Kind {
    name: &'static str,
    plan: SearchPlan,
    /// Whether it begins at the forwarding rate of an overload.
    begun: bool,
}

fn main() -> Result<(), SearchPlanError> {
    println!(
        "| router | search | found, % of the truth: 5th, 50th, 95th percentile | trials: 50th, 95th | s of trials: 50th, 95th |"
    );
    println!("|---|---|---|---|---|");
    for (router, properties) in routers() {
        for kind in kinds() {
            let mut columns = [const { Vec::new() }; 3];
            for seed in 0..SEEDS {
                let one = one(&kind, Properties { seed, ..properties })?;
                let cells = columns.iter_mut().zip(one);
                cells.for_each(|(column, figure)| column.push(figure));
            }
            columns
                .iter_mut()
                .for_each(|column| column.sort_by(f64::total_cmp));
            let [found, trials, seconds] = columns;
            println!(
                "| {router} | {} | {:.0}, {:.0}, {:.0} | {:.0}, {:.0} | {:.0}, {:.0} |",
                kind.name,
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

fn routers() -> [(&'static str, Properties); 6] {
    let kfps = |kfps: f64| Rate::from_fps(kfps * 1e3);
    let still = Properties {
        ring: 4_096,
        ..Properties::ideal(kfps(777.0))
    };
    let pauses = |pause_chance| Properties {
        pause_chance,
        pause: Span::from_millis(20),
        ..still
    };
    let noise = |noise| Properties { noise, ..still };
    let wander = Wander {
        sure: kfps(450.0),
        never: kfps(600.0),
        lucky: kfps(900.0),
        luck: 0.1,
    };
    let wandering = Properties {
        capacity: kfps(1_200.0),
        wander: Some(wander),
        ..still
    };
    [
        ("still", still),
        ("noise 5 %", noise(0.05)),
        ("noise 20 %", noise(0.2)),
        ("pauses of 20 ms in 10 % of the seconds", pauses(0.1)),
        ("pauses of 20 ms in 40 % of the seconds", pauses(0.4)),
        ("loss that comes and goes", wandering),
    ]
}

fn kinds() -> [Kind; 7] {
    let kind = |name, plan| Kind {
        name,
        plan,
        begun: false,
    };
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
    let begun = Kind {
        begun: true,
        ..kind("quick, begun at the forwarding rate", mlr(Preset::Quick))
    };
    let ended = SearchPlan::Mlr {
        goals: vec![Preset::Quick.goal(0.0)],
        trials_at_most: 8,
    };
    let ended = Kind {
        begun: true,
        ..kind("the same, ended after 8 trials", ended)
    };
    [
        begun,
        ended,
        kind("quick", mlr(Preset::Quick)),
        kind("csit, ndr alone", mlr(Preset::Csit)),
        kind("rfc2544", mlr(Preset::Rfc2544)),
        kind("bisection, any of 3", bisection(3, Accept::Any)),
        kind("bisection, one trial", bisection(1, Accept::All)),
    ]
}

/// The truth: the highest load at which at least half of the trials of this length lose nothing, kfps.
fn truth_kfps(router: &Properties, trial: Span) -> f64 {
    let seconds = trial.as_secs_f64();
    let mut truth = forwarded_fps(router) + router.ring as f64 / seconds;
    if (1.0 - router.pause_chance).powf(seconds) < 0.5 {
        truth = truth.min(router.ring as f64 / router.pause.as_secs_f64());
    }
    if let Some(Wander { sure, never, .. }) = router.wander {
        let passes = 0.5_f64.powf(1.0 / seconds);
        truth = truth.min(never.fps() - passes * (never.fps() - sure.fps()));
    }
    truth / 1e3
}

/// What it forwards of an overload: half of the noise is missing.
fn forwarded_fps(router: &Properties) -> f64 {
    router.capacity.fps() * (1.0 - router.noise / 2.0)
}

/// Found (% of the truth), trials, seconds of them.
fn one(kind: &Kind, router: Properties) -> Result<[f64; 3], SearchPlanError> {
    let ceiling = Ceiling::Tester(Rate::from_fps(1_600_000.0));
    let start = (kind.begun).then(|| Rate::from_fps(forwarded_fps(&router)));
    let mut search = (kind.plan).begin(Rate::from_fps(10_000.0), ceiling, start)?;
    let ended = run(
        search.as_mut(),
        &mut Simulated::new(router),
        &Rules::default(),
        10_000,
    );
    let (trials, results) = ended.unwrap_or_default();
    let truth = truth_kfps(&router, kind.plan.final_trial());
    let found = match results.first().map(|result| result.outcome) {
        Some(Outcome::Found { lossless, .. }) => lossless.fps() / 1e3 / truth * 100.0,
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
