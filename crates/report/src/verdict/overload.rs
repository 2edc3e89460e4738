//! What a lasting overload made of the rate.

use super::{Number, some};
use crate::number;
use crate::sentence::spread;
use mpps_record::{Interval, OverloadLine, Run};

/// Seconds without a disturbance that a share needs.
const SECONDS_MIN: usize = 3;

/// What the router forwarded under a lasting overload, divided by its maximum forwarding rate: of each frame size.
pub fn shares(run: &Run) -> Result<Vec<Number>, String> {
    let several = run.overloads.len() > 1;
    let each = run.overloads.iter().map(|line| {
        let value = share(line)?;
        let name = several.then(|| number::frame(&line.frame));
        Ok(Number { name, value })
    });
    some(each, "the run has no lasting overload")
}

/// Its ends take the seconds and the maximum, before and afterwards, that are furthest apart.
fn share(line: &OverloadLine) -> Result<Interval<f64>, String> {
    if line.undisturbed().count() < SECONDS_MIN {
        return Err(format!("fewer than {SECONDS_MIN} seconds were undisturbed"));
    }
    let [mean, least, most] = spread(&line.seconds, |second| second.forwarding_fps)
        .ok_or("the overload has no whole second")?;
    let maximum = |fps: Option<u64>, when: &str| {
        let fps = fps.filter(|fps| *fps > 0).map(|fps| fps as f64);
        fps.ok_or_else(|| format!("its maximum was not measured {when} the overload"))
    };
    let before = maximum(line.max_forwarding_fps, "before")?;
    let after = maximum(line.max_forwarding_afterwards_fps, "after")?;
    Ok(Interval {
        low: least / before.max(after),
        median: mean / f64::midpoint(before, after),
        high: most / before.min(after),
    })
}
