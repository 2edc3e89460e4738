//! What a lasting overload made of the rate.

use super::{Number, some};
use crate::number;
use crate::sentence::{OVERLOADED, spread};
use crate::state;
use mpps_record::{Interval, OverloadLine, Run};

/// Seconds without a disturbance that a share needs.
const SECONDS_MIN: usize = 3;

/// What the router forwarded under a lasting overload, divided by its maximum forwarding rate: of each frame size.
pub fn shares(run: &Run) -> Result<Vec<Number>, String> {
    let several = run.overloads.len() > 1;
    let each = run.overloads.iter().map(|line| {
        let value = share(line, run)?;
        let name = several.then(|| number::frame(&line.frame));
        Ok(Number::new(name, value))
    });
    some(each, "the run has no lasting overload")
}

/// The interval: the slowest second by the higher maximum, and the fastest by the lower.
fn share(line: &OverloadLine, run: &Run) -> Result<Interval<f64>, String> {
    let rates = spread(&line.seconds, |second| second.forwarding_fps);
    let rates = rates.filter(|_| line.undisturbed().count() >= SECONDS_MIN);
    let [mean, least, most] =
        rates.ok_or_else(|| format!("fewer than {SECONDS_MIN} seconds were undisturbed"))?;
    let maximum = |fps: Option<u64>, when: &str| {
        let fps = fps.filter(|fps| *fps > 0).map(|fps| fps as f64);
        fps.ok_or_else(|| format!("its maximum was not measured {when} the overload"))
    };
    let before = maximum(line.max_forwarding_fps, "before")?;
    let after = maximum(line.max_forwarding_afterwards_fps, "after")?;
    let [offered, ..] = spread(&line.seconds, |second| second.offered_fps).unwrap_or_default();
    if offered < before.max(after) * OVERLOADED {
        return Err("the router was not overloaded".to_owned());
    }
    let mut trials = run.trials.iter();
    let trial = trials.find(|trial| Some(trial.trial) == line.trial);
    if let Some(trial) = trial {
        let readings: [fn(Interval<u64>) -> u64; 2] = [|ns| ns.low, |ns| ns.high];
        state::check(
            "rate",
            readings.map(|reading| state::of_trial(trial, reading)),
        )?;
    }
    Ok(Interval {
        low: least / before.max(after),
        median: mean / f64::midpoint(before, after),
        high: most / before.min(after),
    })
}
