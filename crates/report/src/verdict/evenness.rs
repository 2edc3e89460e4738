//! Whether frame sizes are forwarded at one rate.

use super::Number;
use super::bed::{Alone, share};
use crate::headline::is_bound;
use crate::row::Row;
use crate::state;
use mpps_record::{FrameCost, Interval, ResultLine};

/// The smallest rate by the greatest; each end takes what is least and most favourable of all intervals.
pub fn of_rates(results: &[ResultLine]) -> Result<Number, String> {
    let rows = Row::each(results);
    let mut rates = Vec::new();
    for row in &rows {
        let (rate, ..) = row.overload.at_overload();
        let rate = rate.ok_or_else(|| format!("{}: not measured at overload", row.name))?;
        if is_bound(row) {
            return Err(format!("{}: the rate is only a bound", row.name));
        }
        rates.push(Interval::<f64>::from(rate));
    }
    if rates.len() < 2 {
        return Err("the run has fewer than two frame sizes".to_owned());
    }
    let states = rows.iter().map(|row| {
        let (_, distance_ns, work_ns) = row.overload.at_overload();
        (distance_ns, work_ns)
    });
    let slower = state::check("rate", states)?;
    let costs = rows.iter().filter_map(|row| row.overload.cost);
    let costs: Vec<FrameCost> = costs.collect();
    let alone = (costs.len() == rows.len()).then(|| {
        let parts: Vec<_> = costs.iter().map(|cost| cost.router_ns).collect();
        let shares: Vec<_> = costs.iter().map(|cost| share(*cost)).collect();
        Alone {
            share: Interval {
                low: least(&shares, |of| of.low),
                median: f64::midpoint(
                    least(&shares, |of| of.median),
                    most(&shares, |of| of.median),
                ),
                high: most(&shares, |of| of.high),
            },
            value: least_by_most(&parts, slower),
        }
    });
    Ok(Number {
        name: None,
        value: least_by_most(&rates, slower),
        alone: Ok(alone),
    })
}

/// The least of these divided by the greatest, wider by a factor that the machine's speed changed meanwhile.
fn least_by_most(all: &[Interval<f64>], slower: f64) -> Interval<f64> {
    Interval {
        low: least(all, |of| of.low) / most(all, |of| of.high) / slower,
        median: least(all, |of| of.median) / most(all, |of| of.median),
        high: (least(all, |of| of.high) / most(all, |of| of.low) * slower).min(1.0),
    }
}

fn least(all: &[Interval<f64>], end: fn(&Interval<f64>) -> f64) -> f64 {
    all.iter().map(end).fold(f64::MAX, f64::min)
}

fn most(all: &[Interval<f64>], end: fn(&Interval<f64>) -> f64) -> f64 {
    all.iter().map(end).fold(0.0, f64::max)
}
