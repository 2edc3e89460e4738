//! What the search flags mean: goals of MLRsearch, or a bisection.

use crate::args::goal::GoalArg;
use crate::args::{KindArg, SearchArgs};
use anyhow::{Result, bail, ensure};
use mpps_lab::search::saturation::SENDER_MAX;
use mpps_method::claim::FINAL_TRIAL;
use mpps_method::{Accept, Ceiling, Preset, Rate, Resolution, SearchGoal, SearchPlan, Span};

/// Length of a quick search's trials.
const QUICK_TRIAL: Span = Span::from_millis(1_000);
/// Length of a bisection's trials when none is given.
const BISECTION_TRIAL: Span = Span::from_millis(1_000);
/// A bisection's resolution when none is given.
const BISECTION_RESOLUTION: Resolution = Resolution::Fraction(0.01);
/// A bisection's trials at a load when nobody says how many.
const TRIALS_PER_LOAD: u32 = 3;

/// The search, checked between these loads.
pub fn search(args: &SearchArgs, minimum: Rate, maximum: Option<Rate>) -> Result<SearchPlan> {
    let plan = match kind(args)? {
        KindArg::Mlr => mlr(args),
        KindArg::Bisection => bisection(args)?,
    };
    check(&plan, args, minimum, maximum.unwrap_or(SENDER_MAX))?;
    Ok(plan)
}

/// Which search: as asked for, or as the flags that only one of them has imply.
fn kind(args: &SearchArgs) -> Result<KindArg> {
    let steps = matches!(args.resolution, Some(Resolution::StepFps(_)));
    let bisections = [
        ("--trials-per-load", args.trials_per_load.is_some()),
        ("--accept", args.accept.is_some()),
        ("--verify-loss", args.verify_loss.is_some()),
        ("--resolution in frames/s", steps),
    ];
    let mlrs = [
        ("--goal", !args.goal.is_empty()),
        ("--preset", args.preset.is_some()),
        ("--trials-at-most", args.trials_at_most.is_some()),
    ];
    let first = |flags: &[(&'static str, bool)]| {
        let given = flags.iter().find(|(_, given)| *given);
        given.map(|(flag, _)| *flag)
    };
    match (args.search, first(&bisections), first(&mlrs)) {
        (None, Some(bisection), Some(mlr)) => {
            bail!("{bisection} belongs to bisection, {mlr} to MLRsearch: leave out one of them")
        }
        (Some(KindArg::Mlr), Some(flag), _) => {
            bail!("{flag} belongs to bisection: leave it out, or give --search bisection")
        }
        (Some(KindArg::Bisection), _, Some(flag)) => {
            bail!("{flag} belongs to MLRsearch: leave it out, or give --search mlr")
        }
        (Some(kind), ..) => Ok(kind),
        (None, Some(_), None) => Ok(KindArg::Bisection),
        (None, None, _) => Ok(KindArg::Mlr),
    }
}

/// Time for a frame size, where nothing longer than the quick preset is asked for.
const BUDGET: Span = Span::from_millis(30_000);

/// As given; else only a quick search ends by the clock.
pub fn budget(args: &SearchArgs) -> Option<Span> {
    let longer = args.time.is_some_and(|time| time > QUICK_TRIAL);
    let quick = matches!(kind(args), Ok(KindArg::Mlr)) && preset(args) == Preset::Quick && !longer;
    args.budget.or(quick.then_some(BUDGET))
}

fn preset(args: &SearchArgs) -> Preset {
    // Whoever asks for trials of a minute wants RFC 2544's throughput.
    let long = args.time.is_some_and(|time| time >= FINAL_TRIAL);
    let usual = if long { Preset::Rfc2544 } else { Preset::Quick };
    args.preset.unwrap_or(usual)
}

fn mlr(args: &SearchArgs) -> SearchPlan {
    let preset = preset(args);
    let mut typed: Vec<GoalArg> = args.goal.iter().flat_map(|goals| goals.0.clone()).collect();
    if typed.is_empty() {
        let ratios = preset.loss_ratios().iter();
        typed = ratios
            .map(|&loss_ratio| GoalArg {
                loss_ratio,
                ..GoalArg::default()
            })
            .collect();
    }
    SearchPlan::Mlr {
        goals: typed
            .iter()
            .map(|goal| goal_of(goal, preset, args))
            .collect(),
        trials_at_most: args.trials_at_most.unwrap_or(preset.trials_at_most()),
    }
}

/// A goal: what it says itself, else what the flags say, else the preset's. Where a trial's length changes, the
/// duration sum stays as many trials, and the initial trial gets no longer than the final one.
fn goal_of(typed: &GoalArg, preset: Preset, args: &SearchArgs) -> SearchGoal {
    let base = preset.goal(typed.loss_ratio);
    let final_trial = typed.final_trial.or(args.time).unwrap_or(base.final_trial);
    let trials = base.duration_sum.as_nanos() / base.final_trial.as_nanos().max(1);
    let sum = Span::from_nanos(final_trial.as_nanos().saturating_mul(trials));
    let width = match args.resolution {
        Some(Resolution::Fraction(share)) => share,
        Some(Resolution::StepFps(_)) | None => base.width,
    };
    SearchGoal {
        loss_ratio: typed.loss_ratio,
        exceed_ratio: typed.exceed_ratio.unwrap_or(base.exceed_ratio),
        initial_trial: typed
            .initial_trial
            .unwrap_or(base.initial_trial.min(final_trial)),
        final_trial,
        duration_sum: typed.duration_sum.unwrap_or(sum),
        width: typed.width.unwrap_or(width),
    }
}

fn bisection(args: &SearchArgs) -> Result<SearchPlan> {
    let accept = match (args.verify_loss, args.accept) {
        (Some(verification), _) => Accept::Verified {
            lost_at_most: verification.lost_at_most,
        },
        (None, accept) => accept.unwrap_or(Accept::Any),
    };
    let verified = args.verify_loss.map(|verification| verification.trials);
    let trials_per_load = verified.or(args.trials_per_load).unwrap_or(TRIALS_PER_LOAD);
    ensure!(trials_per_load > 0, "--trials-per-load 0: give at least 1");
    Ok(SearchPlan::Bisection {
        trial: args.time.unwrap_or(BISECTION_TRIAL),
        resolution: args.resolution.unwrap_or(BISECTION_RESOLUTION),
        trials_per_load,
        accept,
    })
}

fn check(plan: &SearchPlan, args: &SearchArgs, minimum: Rate, maximum: Rate) -> Result<()> {
    ensure!(
        minimum <= maximum,
        "--min-rate {minimum} is above the highest load, {maximum}: lower it, or raise --max-rate"
    );
    ensure!(
        maximum <= SENDER_MAX,
        "--max-rate {maximum} is more than this sender can offer: give at most {SENDER_MAX}, or none"
    );
    if let Some(expected) = args.expect_min {
        ensure!(
            expected <= maximum,
            "--expect-min {expected} is above the highest load, {maximum}: no result could reach it"
        );
    }
    if let SearchPlan::Bisection {
        resolution: Resolution::StepFps(step),
        ..
    } = plan
    {
        let step = Rate::from_fps(*step);
        ensure!(
            step <= maximum,
            "a step of {step} is above the highest load, {maximum}: give a smaller --resolution"
        );
    }
    // What the search itself would refuse, before anything is touched.
    plan.begin(minimum, Ceiling::Tester(maximum), None)?;
    Ok(())
}
