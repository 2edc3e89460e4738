//! The state of the machine as records tell it. Numbers of different states are not held against each other.

use mpps_record::{Interval, Run, TrialLine, is_same_distance, is_same_speed};

/// The distance of the CPUs, and how long fixed work took the router's, ns, where they were timed.
pub type State = (Option<f64>, Option<f64>);

/// A reading within the windows of a trial.
pub fn of_trial(trial: &TrialLine, reading: fn(Interval<u64>) -> u64) -> State {
    let ns = |all: Option<Interval<u64>>| all.map(|all| reading(all) as f64);
    (ns(trial.round_trip_ns), ns(trial.work_ns))
}

/// The medians over trials of these numbers.
pub fn of_trials(run: &Run, numbers: &[u32]) -> State {
    let trials = run.trials.iter();
    let trials = trials.filter(|trial| numbers.contains(&trial.trial));
    let (distances, works): (Vec<_>, Vec<_>) =
        trials.map(|trial| of_trial(trial, |ns| ns.median)).unzip();
    let median = |all: Vec<Option<f64>>| {
        let mut all: Vec<f64> = all.into_iter().flatten().collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    };
    (median(distances), median(works))
}

/// Refuses different states: they change the rate or the cost, so the number is not the claim's alone. Returns by what factor
/// the work differs still.
pub fn check(of: &str, states: impl IntoIterator<Item = State>) -> Result<f64, String> {
    let (distances, works): (Vec<_>, Vec<_>) = states.into_iter().unzip();
    let ends = |all: &[Option<f64>]| {
        let timed = || all.iter().flatten().copied();
        timed().reduce(f64::min).zip(timed().reduce(f64::max))
    };
    match (ends(&distances), ends(&works)) {
        (Some((near, far)), _) if !is_same_distance(near, far) => Err(format!(
            "the CPUs were {near:.0} to {far:.0} ns apart, which changes the {of} too"
        )),
        (_, Some((fast, slow))) if !is_same_speed(fast, slow) => Err(format!(
            "fixed work took the router's CPU {fast:.0} to {slow:.0} ns, which changes the {of} too"
        )),
        (_, works) => Ok(works.map_or(1.0, |(fast, slow)| slow / fast)),
    }
}
