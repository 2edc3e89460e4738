//! Time by stage and by cause: samples only split the time that the scheduler counted, so the parts sum to it.
//!
//! Samples that are near in time are correlated: a burst of frames goes through the stages together. The interval
//! therefore comes from a moving-block bootstrap (Künsch 1989) over blocks of 40 ms. Runs differ by more than
//! that, so three trials or more give Student's interval over trials instead.

use super::{Cause, Placed, Stage, UNCLASSIFIED};
use crate::random::Random;
use crate::statistics::{mean, quantile, student_t};
use mpps_record::FunctionCost;
use std::collections::BTreeMap;

/// Time that samples are gathered over, in ns.
const CELL_NS: u64 = 5_000_000;
/// Cells of a block.
const BLOCK: usize = 8;
/// Times that the blocks are drawn again.
const DRAWS: usize = 400;
/// Functions named for each part.
const TOP: usize = 8;
/// With none of n samples, the share is below 3 / n (95 %).
const NONE_OF: f64 = 3.0;

/// A sample with its place.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// When, in ns, from any beginning.
    pub at_ns: u64,
    /// Time that it stands for, in one unit for all samples.
    pub weight: f64,
    /// Its place.
    pub placed: Placed<'a>,
}

/// The cost of one part: a stage, or a cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost<K> {
    /// What it is the cost of.
    pub of: K,
    /// Per frame, in ns.
    pub ns: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Samples it rests on.
    pub samples: u64,
    /// The functions that took the most of it, with their ns per frame.
    pub top: Vec<FunctionCost>,
}

/// The time of a frame, split.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// By stage, every stage once, in [`Stage::ALL`]'s order.
    pub stages: Vec<Cost<Stage>>,
    /// By cause, likewise.
    pub causes: Vec<Cost<Cause>>,
    /// Per frame, in ns: what was to be split.
    pub whole_ns: f64,
    /// Samples in all.
    pub samples: u64,
    /// Part of the time that no rule places.
    pub unclassified: f64,
    /// Part of the time in samples that fired late.
    pub shadow: f64,
    /// Functions that no rule places and that no caller decides, with their ns per frame.
    pub unplaced: Vec<FunctionCost>,
}

impl Split {
    /// What lies in the router's stages, in ns.
    #[must_use]
    pub fn router_ns(&self) -> f64 {
        let routers = self.stages.iter().filter(|cost| cost.of.is_routers());
        routers.map(|cost| cost.ns).sum()
    }
}

/// Splits the busy time of a frame. Each `seed` gives the same intervals every time. `None` without a sample that
/// weighs something, or where a number is not finite.
#[must_use]
pub fn split(samples: &[Sample<'_>], whole_ns: f64, seed: u64) -> Option<Split> {
    let whole = total(samples.iter().map(|sample| sample.weight));
    let sound = samples.iter().all(|sample| sample.weight >= 0.0);
    if !sound || !whole.is_finite() || whole <= 0.0 || !whole_ns.is_finite() {
        return None;
    }
    let part = |holds: fn(&Placed<'_>) -> bool| {
        let held = samples.iter().filter(|sample| holds(&sample.placed));
        total(held.map(|sample| sample.weight)) / whole
    };
    let scale = whole_ns / whole;
    let lost = samples
        .iter()
        .filter(|sample| sample.placed.substage == UNCLASSIFIED);
    Some(Split {
        stages: costs(samples, &Stage::ALL, |placed| placed.stage, scale, seed),
        causes: costs(samples, &Cause::ALL, |placed| placed.cause, scale, seed),
        whole_ns,
        samples: samples.len() as u64,
        unclassified: part(|placed| placed.substage == UNCLASSIFIED),
        shadow: part(|placed| placed.shadow),
        unplaced: top(lost, scale),
    })
}

/// The sum; of nothing it is 0, where `sum` gives -0.
fn total(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |sum, number| sum + number)
}

/// The cost of each part of `all`. `scale` makes ns per frame of a weight.
fn costs<K: Copy + PartialEq>(
    samples: &[Sample<'_>],
    all: &[K],
    part_of: impl Fn(&Placed<'_>) -> K,
    scale: f64,
    seed: u64,
) -> Vec<Cost<K>> {
    let whole_ns = total(samples.iter().map(|sample| sample.weight * scale));
    let drawn = resampled(samples, all, &part_of, seed);
    let cost = |(at, &of): (usize, &K)| {
        let own = || {
            samples
                .iter()
                .filter(|sample| part_of(&sample.placed) == of)
        };
        let ns = total(own().map(|sample| sample.weight * scale));
        let number = own().count() as u64;
        let shares: Vec<f64> = drawn
            .iter()
            .filter_map(|shares| shares.get(at).copied())
            .collect();
        let end = |part| quantile(&shares, part).map_or(ns, |share| share * whole_ns);
        let none = if number == 0 {
            NONE_OF / samples.len() as f64
        } else {
            0.0
        };
        Cost {
            of,
            ns,
            low: end(0.025).min(ns),
            high: end(0.975).max(ns).max(none.min(1.0) * whole_ns),
            samples: number,
            top: top(own(), scale),
        }
    };
    all.iter().enumerate().map(cost).collect()
}

/// The shares of all parts, each time that blocks of cells are drawn with replacement.
fn resampled<K: Copy + PartialEq>(
    samples: &[Sample<'_>],
    all: &[K],
    part_of: &impl Fn(&Placed<'_>) -> K,
    seed: u64,
) -> Vec<Vec<f64>> {
    let cell = |sample: &Sample<'_>| sample.at_ns / CELL_NS;
    let first = samples.iter().map(cell).min().unwrap_or_default();
    // Cells without a sample are left out: the CPU was idle then, or another's.
    let mut filled: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for sample in samples {
        let parts = filled
            .entry(cell(sample) - first)
            .or_insert_with(|| vec![0.0; all.len()]);
        let at = all.iter().position(|&part| part == part_of(&sample.placed));
        if let Some(sum) = at.and_then(|at| parts.get_mut(at)) {
            *sum += sample.weight;
        }
    }
    let cells: Vec<Vec<f64>> = filled.into_values().collect();
    // A short profile has few blocks, so they are made shorter: at least four.
    let length = BLOCK.min(cells.len() / 4).max(1);
    let blocks: Vec<Vec<f64>> = cells.windows(length).map(summed).collect();
    let mut random = Random::from_seed(seed);
    let mut draw = || {
        let drawn = (0..cells.len().div_ceil(length)).filter_map(|_| {
            let at = random.below(blocks.len() as u64) as usize;
            blocks.get(at).cloned()
        });
        let sums = summed(&drawn.collect::<Vec<_>>());
        let whole = total(sums.iter().copied());
        sums.iter()
            .map(|sum| if whole > 0.0 { sum / whole } else { 0.0 })
            .collect()
    };
    (0..DRAWS).map(|_| draw()).collect()
}

/// The sums, part by part.
fn summed(cells: &[Vec<f64>]) -> Vec<f64> {
    let mut sums = cells.first().cloned().unwrap_or_default();
    for cell in cells.iter().skip(1) {
        sums.iter_mut()
            .zip(cell)
            .for_each(|(sum, part)| *sum += part);
    }
    sums
}

/// The functions that took the most.
fn top<'a, 'b: 'a>(samples: impl Iterator<Item = &'a Sample<'b>>, scale: f64) -> Vec<FunctionCost> {
    let mut by_name: BTreeMap<&str, f64> = BTreeMap::new();
    for sample in samples {
        *by_name.entry(sample.placed.function).or_default() += sample.weight * scale;
    }
    most(by_name)
}

fn most(by_name: BTreeMap<&str, f64>) -> Vec<FunctionCost> {
    let mut functions = by_cost(by_name);
    functions.truncate(TOP);
    functions
}

/// The dearest function first.
#[must_use]
pub fn by_cost(by_name: BTreeMap<&str, f64>) -> Vec<FunctionCost> {
    let cost = |(function, ns): (&str, f64)| FunctionCost {
        function: function.to_owned(),
        ns,
    };
    let mut functions: Vec<FunctionCost> = by_name.into_iter().map(cost).collect();
    functions.sort_by(|one, other| other.ns.total_cmp(&one.ns));
    functions
}

/// Several trials as one: their mean. Three or more give Student's interval over trials; fewer, the whole range of
/// their own intervals. `None` without a trial.
#[must_use]
pub fn combine(trials: &[Split]) -> Option<Split> {
    let first = trials.first()?;
    let over = |number: fn(&Split) -> f64| {
        mean(&trials.iter().map(number).collect::<Vec<_>>()).unwrap_or_default()
    };
    let parts = |names: fn(&Split) -> &Vec<FunctionCost>| {
        let lists: Vec<_> = trials.iter().map(names).collect();
        merged(&lists)
    };
    Some(Split {
        stages: combined(
            first.stages.len(),
            &trials.iter().map(|trial| &trial.stages).collect::<Vec<_>>(),
        ),
        causes: combined(
            first.causes.len(),
            &trials.iter().map(|trial| &trial.causes).collect::<Vec<_>>(),
        ),
        whole_ns: over(|trial| trial.whole_ns),
        samples: trials.iter().map(|trial| trial.samples).sum(),
        unclassified: over(|trial| trial.unclassified),
        shadow: over(|trial| trial.shadow),
        unplaced: parts(|trial| &trial.unplaced),
    })
}

fn combined<K: Copy>(parts: usize, trials: &[&Vec<Cost<K>>]) -> Vec<Cost<K>> {
    let cost = |part: usize| {
        let each: Vec<&Cost<K>> = trials.iter().filter_map(|costs| costs.get(part)).collect();
        let of = each.first()?.of;
        let ns = each.iter().map(|cost| cost.ns).collect::<Vec<_>>();
        let samples = each.iter().map(|cost| cost.samples).sum();
        // Trials that all saw nothing agree, but not that there is nothing.
        let (low, high) = match student(&ns).filter(|_| samples > 0) {
            Some(ends) => ends,
            None => (
                each.iter()
                    .map(|cost| cost.low)
                    .fold(f64::INFINITY, f64::min),
                each.iter().map(|cost| cost.high).fold(0.0, f64::max),
            ),
        };
        Some(Cost {
            of,
            ns: mean(&ns)?,
            low: low.max(0.0),
            high,
            samples,
            top: merged(&each.iter().map(|cost| &cost.top).collect::<Vec<_>>()),
        })
    };
    (0..parts).filter_map(cost).collect()
}

/// Student's 95 % interval of the mean; `None` with fewer than three values.
#[must_use]
pub fn student(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len();
    let middle = mean(values).filter(|_| n >= 3)?;
    let squares = total(values.iter().map(|value| (value - middle).powi(2)));
    let t = student_t((n - 1) as f64, 0.05);
    let half = t * (squares / (n - 1) as f64 / n as f64).sqrt();
    Some((middle - half, middle + half))
}

/// The mean of each function's time over the lists. A function that a list leaves out counts as 0 there.
fn merged(lists: &[&Vec<FunctionCost>]) -> Vec<FunctionCost> {
    let mut by_name: BTreeMap<&str, f64> = BTreeMap::new();
    for one in lists.iter().copied().flatten() {
        *by_name.entry(&one.function).or_default() += one.ns / lists.len() as f64;
    }
    most(by_name)
}

#[cfg(test)]
mod tests;
