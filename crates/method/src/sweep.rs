//! What a frame costs along one axis (flows, destinations, routes, octets, cores), fitted to some points and predicted
//! at others: cost = constant + slope * x, for each stage.
//!
//! `x` is the frame's octets, or the cores beside the first, or, where a look-up's data grow, the time of one memory
//! access to a working set of so many items: measured latencies give the shape, and the size of an item is fitted. Where
//! none fits as well, `x` goes from place to place along the logarithm of their number ([`Fit::is_between`]).
//!
//! ```
//! use mpps_method::sweep::{Axis, Fit, Measured, Memory};
//!
//! let points = [64.0, 512.0, 1024.0, 1518.0].map(|octets| Measured {
//!     value: octets,
//!     parts: vec![500.0, 100.0 + 0.1 * octets],
//! });
//! let fit = Fit::new(Axis::Frame, &points, &Memory::default())?;
//! assert!((fit.at(256.0).ns - 625.6).abs() < 1e-6);
//! assert!(!fit.at(256.0).beyond && fit.at(9000.0).beyond);
//! # Ok::<(), mpps_method::sweep::CannotFit>(())
//! ```

mod check;
mod what_if;

pub use check::{Check, OFF_MAX};
pub use what_if::{Answer, Basis, CannotAnswer, WhatIf};

use crate::statistics::{mean, student_t};

/// Fewer fitted points leave nothing to check a line by.
pub const FITTED_MIN: usize = 3;
/// Points of a sweep at least: the fitted ones, and one that is held out.
pub const POINTS_MIN: usize = FITTED_MIN + 1;
/// Octets that an item of a look-up may take. With sizes up to 64 KiB the held-out places of seven recorded
/// sweeps were predicted better in one, and worse in two.
const ITEM_OCTETS: [f64; 9] = [
    16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0,
];
/// How often an interval may miss.
const WRONG: f64 = 0.05;

crate::named! {
    /// What changes from point to point.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Axis {
        /// Flows to one destination.
        Flows = "flows",
        /// Different destinations, with the table as it is.
        Destinations = "destinations",
        /// Routes, with as many destinations.
        Routes = "routes",
        /// Octets of a frame.
        Frame = "frame",
        /// CPUs of the router.
        Cores = "cores",
    }
}

impl Axis {
    /// The axis of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|axis| axis.name() == name)
    }

    /// Whether the cost follows the memory that a look-up reads.
    #[must_use]
    pub const fn is_of_memory(self) -> bool {
        matches!(self, Self::Flows | Self::Destinations | Self::Routes)
    }
}

/// What a frame cost at one point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The place on the axis.
    pub value: f64,
    /// ns of each stage, in the same order at every point.
    pub parts: Vec<f64>,
}

impl Measured {
    /// All stages together.
    #[must_use]
    pub fn whole(&self) -> f64 {
        self.parts.iter().sum()
    }
}

/// Time of one memory access by the size of the working set: octets and ns, by rising size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory(pub Vec<(f64, f64)>);

impl Memory {
    /// The time at a size: between two sizes along the logarithm, beyond the ends as at the end.
    #[must_use]
    pub fn latency_ns(&self, octets: f64) -> f64 {
        let known: Vec<(f64, f64)> = self.0.iter().map(|&(size, ns)| (size.ln(), ns)).collect();
        along(&known, octets.ln())
    }
}

/// Why points give no fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotFit {
    /// There are fewer than [`FITTED_MIN`].
    #[error("a fit needs {FITTED_MIN} points that were measured, and there are {0}")]
    TooFew(usize),
    /// A cost is no number above 0, or points differ in their stages.
    #[error("a point has no cost by stage")]
    NotANumber,
    /// All points have the same place on the axis.
    #[error("the points do not differ along the axis")]
    Alike,
}

/// What a frame is predicted to cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// ns of a frame.
    pub ns: f64,
    /// Lower end of the 95 % interval of one measurement.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Whether the place is beyond all that was measured.
    pub beyond: bool,
}

/// A line for each stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The axis.
    pub axis: Axis,
    /// Octets that one item of the look-up takes; `None` where the cost does not follow memory so.
    pub item_octets: Option<f64>,
    /// Constant cost of each stage, ns, and what it costs for each unit of `x`.
    pub parts: Vec<(f64, f64)>,
    /// How far the points lie from the lines, ns.
    pub off_ns: f64,
    /// Points fitted.
    pub points: usize,
    memory: Memory,
    range: (f64, f64),
    freedom: f64,
    middle: f64,
    spread: f64,
    /// Where no size of an item fits: the logarithm of each fitted place, and which part of the growth is there.
    between: Vec<(f64, f64)>,
}

impl Fit {
    /// Fits lines by least squares.
    ///
    /// # Errors
    /// [`CannotFit`].
    pub fn new(axis: Axis, points: &[Measured], memory: &Memory) -> Result<Self, CannotFit> {
        let mut places: Vec<f64> = points.iter().map(|point| point.value).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let range = match places[..] {
            [low, .., high] if places.len() >= FITTED_MIN => (low, high),
            [_] if points.len() >= FITTED_MIN => return Err(CannotFit::Alike),
            _ => return Err(CannotFit::TooFew(places.len())),
        };
        let stages = points.first().map_or(0, |point| point.parts.len());
        let is_sound = |point: &Measured| {
            let whole = point.whole();
            point.parts.len() == stages && whole.is_finite() && whole > 0.0
        };
        if !points.iter().all(is_sound) {
            return Err(CannotFit::NotANumber);
        }
        let sizes: Vec<Option<f64>> = match axis.is_of_memory() {
            true => ITEM_OCTETS.into_iter().map(Some).collect(),
            false => vec![None],
        };
        let fits = sizes.into_iter().map(|item_octets| {
            let empty = Self {
                axis,
                item_octets,
                parts: Vec::new(),
                off_ns: 0.0,
                points: points.len(),
                memory: memory.clone(),
                range,
                freedom: 1.0,
                middle: 0.0,
                spread: 0.0,
                between: Vec::new(),
            };
            empty.fitted(points, stages)
        });
        let best = fits.min_by(|one, other| one.off_ns.total_cmp(&other.off_ns));
        let best = best.ok_or(CannotFit::Alike)?;
        let between = best.place_to_place(points);
        let is_better = |between: &Self| between.off_ns < best.off_ns;
        Ok(between.filter(is_better).unwrap_or(best))
    }

    /// From place to place. How far a place lies from the line between its neighbours tells how far another one may: no
    /// farther, because its own neighbours are nearer. `None`: too few places, or the cost does not grow.
    fn place_to_place(&self, points: &[Measured]) -> Option<Self> {
        let mut costs: Vec<(f64, f64)> = (points.iter())
            .map(|point| (point.value.max(1.0).ln(), point.whole()))
            .collect();
        costs.sort_by(|one, other| one.0.total_cmp(&other.0));
        let same = |one: &(f64, f64), other: &(f64, f64)| one.0 == other.0;
        let place = |same: &[(f64, f64)]| {
            let wholes: Vec<f64> = same.iter().map(|(_, whole)| *whole).collect();
            Some((same.first()?.0, mean(&wholes)?))
        };
        let costs: Vec<(f64, f64)> = costs.chunk_by(same).filter_map(place).collect();
        let (&(_, first), &(_, last)) = costs.first().zip(costs.last())?;
        let off = costs.windows(3).filter_map(|near| match near {
            [low, (at, whole), high] => Some((whole - along(&[*low, *high], *at)).powi(2)),
            _ => None,
        });
        let off: Vec<f64> = off.collect();
        if !self.axis.is_of_memory() || off.len() < 2 || last <= first {
            return None;
        }
        let mut fit = Self {
            item_octets: None,
            between: (costs.iter())
                .map(|(at, whole)| (*at, (whole - first) / (last - first)))
                .collect(),
            ..self.clone()
        };
        fit = fit.fitted(points, self.parts.len());
        (fit.off_ns, fit.spread) = (mean(&off)?.sqrt(), 0.0);
        fit.freedom = off.len() as f64;
        Some(fit)
    }

    /// Whether the cost goes from place to place, because no size of an item fits as well.
    #[must_use]
    pub const fn is_between(&self) -> bool {
        !self.between.is_empty()
    }

    /// Octets of an item, if a smaller one and a larger one fit worse: at an end of the sizes nobody knows that.
    #[must_use]
    pub fn known_item_octets(&self) -> Option<f64> {
        let [first, .., last] = ITEM_OCTETS;
        self.item_octets
            .filter(|octets| *octets > first && *octets < last)
    }

    /// With this size of an item. A look-up that grows cheaper with its data is noise, and so is a frame
    /// that costs less than nothing beside its look-up: the cost is constant then.
    fn fitted(mut self, points: &[Measured], stages: usize) -> Self {
        let xs: Vec<f64> = points.iter().map(|point| self.x(point.value)).collect();
        self.middle = mean(&xs).unwrap_or(0.0);
        self.spread = xs.iter().map(|x| (x - self.middle).powi(2)).sum();
        let line = |ys: &[f64], flat: bool| {
            let level = mean(ys).unwrap_or(0.0);
            let pairs = xs.iter().zip(ys);
            let both: f64 = pairs.map(|(x, y)| (x - self.middle) * (y - level)).sum();
            let slope = match flat || self.spread <= 0.0 {
                true => 0.0,
                false => both / self.spread,
            };
            (level - slope * self.middle, slope)
        };
        let wholes: Vec<f64> = points.iter().map(Measured::whole).collect();
        let of_memory = self.axis.is_of_memory();
        let (constant, slope) = line(&wholes, false);
        let flat = of_memory && (slope <= 0.0 || constant < 0.0);
        let stage = |stage: usize| {
            let ys = points.iter().filter_map(|point| point.parts.get(stage));
            line(&ys.copied().collect::<Vec<_>>(), flat)
        };
        self.parts = (0..stages).map(stage).collect();
        let terms = if of_memory { 3 } else { 2 };
        self.freedom = points.len().saturating_sub(terms).max(1) as f64;
        let off = points
            .iter()
            .map(|point| (point.whole() - self.ns(point.value)).powi(2));
        self.off_ns = (off.sum::<f64>() / self.freedom).sqrt();
        self
    }

    /// What the lines are over, at a place on the axis.
    #[must_use]
    pub fn x(&self, value: f64) -> f64 {
        match self.axis {
            Axis::Frame => value,
            Axis::Cores => value - 1.0,
            _ if self.is_between() => along(&self.between, value.max(1.0).ln()),
            _ => self
                .memory
                .latency_ns(value * self.item_octets.unwrap_or(1.0)),
        }
    }

    fn ns(&self, value: f64) -> f64 {
        let x = self.x(value);
        self.parts
            .iter()
            .map(|(constant, slope)| constant + slope * x)
            .sum()
    }

    /// The part of the cost at this place that waits for the look-up's memory, ns.
    #[must_use]
    pub fn memory_ns(&self, value: f64) -> f64 {
        let slope: f64 = self.parts.iter().map(|(_, slope)| slope).sum();
        match self.axis.is_of_memory() {
            true => slope.max(0.0) * self.x(value),
            false => 0.0,
        }
    }

    /// Whether the line ends before this place, because no larger memory was measured. It stays level from there on,
    /// whatever the cost does.
    fn is_past_end(&self, value: f64) -> bool {
        let last = self.memory.0.last().map_or(0.0, |(octets, _)| *octets);
        let is_past = self.is_between() || value * self.item_octets.unwrap_or(1.0) > last;
        self.axis.is_of_memory() && self.at(value).beyond && is_past
    }

    /// The cost at a place. Its interval is that of one more measurement (Student's, over the fitted points).
    #[must_use]
    pub fn at(&self, value: f64) -> Predicted {
        let ns = self.ns(value);
        let lever = match self.spread {
            0.0 => 0.0,
            spread => (self.x(value) - self.middle).powi(2) / spread,
        };
        let error = self.off_ns * (1.0 + 1.0 / self.points as f64 + lever).sqrt();
        let reach = student_t(self.freedom, WRONG) * error;
        Predicted {
            ns,
            low: (ns - reach).max(0.0),
            high: ns + reach,
            beyond: value < self.range.0 || value > self.range.1,
        }
    }
}

/// The height at a place of a line through these points; beyond its ends that of the end.
fn along(points: &[(f64, f64)], at: f64) -> f64 {
    let above = points.partition_point(|&(place, _)| place < at);
    let point = |place: Option<usize>| place.and_then(|place| points.get(place)).copied();
    match (point(above.checked_sub(1)), point(Some(above))) {
        (Some((low, from)), Some((high, to))) => from + (to - from) * (at - low) / (high - low),
        (Some((_, height)), None) | (None, Some((_, height))) => height,
        (None, None) => 0.0,
    }
}

/// Which points are held out, by their place among the sorted values: every other one, never the ends.
#[must_use]
pub fn is_held_out(place: usize, points: usize) -> bool {
    let left = points.saturating_sub(place.div_ceil(2));
    place % 2 == 1 && place + 1 < points && points >= POINTS_MIN && left >= FITTED_MIN
}

#[cfg(test)]
mod tests;
