//! What a frame costs, from how many frames share a wake-up and a poll:
//!
//! cost = per frame + per wake-up * wake-ups a frame + per poll * polls a frame.
//!
//! A router that is loaded less wakes up more often for a frame, so its cost at a low load says little of the most that
//! it can forward. A fit over loads does. All three terms are at least 0.
//!
//! ```
//! use mpps_method::cost_model::{Batching, CostModel, Point};
//!
//! // 500 ns a frame, 2 us a wake-up, 800 ns a poll.
//! let point = |wakes: f64, polls: f64| Point {
//!     batching: Batching { wakes, polls },
//!     cost_ns: 500.0 + 2_000.0 * wakes + 800.0 * polls,
//! };
//! let loads = [point(1.0, 1.0), point(0.5, 0.6), point(0.1, 0.3), point(0.0, 0.1)];
//! let model = CostModel::fit(&loads)?;
//! let most = model.max_rate(Batching { wakes: 0.0, polls: 1.0 / 64.0 }, 1);
//! assert!((most.map_or(0.0, |rate| rate.fps()) - 1e9 / 512.5).abs() < 1.0);
//! # Ok::<(), mpps_method::cost_model::CannotFit>(())
//! ```

use crate::units::Rate;
use std::fmt;

/// Fewer loads than this leave nothing to check three terms by.
pub const POINTS_MIN: usize = 4;
/// A term whose number a frame varies by less than this part of its largest is constant.
const VARIES: f64 = 0.1;
/// Numbers a frame that are so alike (squared correlation) cannot be told apart.
const ALIKE: f64 = 0.99;
/// Terms: frame, wake-up, poll.
const TERMS: usize = 3;

/// How frames were batched: 1 / frames per wake-up and 1 / frames per poll.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batching {
    /// Wake-ups a frame.
    pub wakes: f64,
    /// Polls a frame.
    pub polls: f64,
}

/// What was measured at one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// How frames were batched there.
    pub batching: Batching,
    /// Busy time a frame, in ns.
    pub cost_ns: f64,
}

/// Why loads give no model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotFit {
    /// There are fewer than [`POINTS_MIN`].
    TooFew(usize),
    /// A number is negative or not finite, or a cost is 0.
    NotANumber,
    /// Wake-ups a frame are the same at all loads, and not 0.
    SameWakes,
    /// Polls a frame are the same at all loads, and not 0.
    SamePolls,
    /// Wake-ups and polls a frame rise and fall together.
    Alike,
}

impl fmt::Display for CannotFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew(points) => {
                write!(f, "{points} loads were measured, and a model of the cost needs {POINTS_MIN}")
            }
            Self::NotANumber => f.write_str("a load has no cost, or no number of wake-ups or polls"),
            Self::SameWakes => f.write_str(
                "the wake-ups a frame hardly differ between the loads, so their cost cannot be told from the frame's",
            ),
            Self::SamePolls => f.write_str(
                "the polls a frame hardly differ between the loads, so their cost cannot be told from the frame's",
            ),
            Self::Alike => f.write_str(
                "wake-ups and polls a frame rise and fall together over the loads, so their costs cannot be told apart",
            ),
        }
    }
}

impl std::error::Error for CannotFit {}

/// The cost of a frame, in its terms. All are in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostModel {
    /// Each frame.
    pub per_frame_ns: f64,
    /// Each wake-up; 0 where no load had any.
    pub per_wake_ns: f64,
    /// Each poll; 0 where no load had any.
    pub per_poll_ns: f64,
    /// How far the loads lie from the model: root of the mean square.
    pub off_ns: f64,
}

impl CostModel {
    /// Fits the terms, none below 0, by least squares.
    ///
    /// # Errors
    /// [`CannotFit`] where the loads cannot tell the terms apart.
    pub fn fit(points: &[Point]) -> Result<Self, CannotFit> {
        if points.len() < POINTS_MIN {
            return Err(CannotFit::TooFew(points.len()));
        }
        let sound = |number: f64| number.is_finite() && number >= 0.0;
        let is_sound = |point: &Point| {
            let Batching { wakes, polls } = point.batching;
            [wakes, polls, point.cost_ns].into_iter().all(sound) && point.cost_ns > 0.0
        };
        if !points.iter().all(is_sound) {
            return Err(CannotFit::NotANumber);
        }
        let wakes: Vec<f64> = points.iter().map(|point| point.batching.wakes).collect();
        let polls: Vec<f64> = points.iter().map(|point| point.batching.polls).collect();
        let has_wakes = has(&wakes).ok_or(CannotFit::SameWakes)?;
        let has_polls = has(&polls).ok_or(CannotFit::SamePolls)?;
        if has_wakes && has_polls && correlation_squared(&wakes, &polls) > ALIKE {
            return Err(CannotFit::Alike);
        }
        // The best fit with no term below 0 is the best of those that leave some terms out and have none below 0.
        let present = 1 | u32::from(has_wakes) << 1 | u32::from(has_polls) << 2;
        let fits = (1..1 << TERMS).filter(|used| used & !present == 0);
        let fits = fits.filter_map(|used| solved(points, used));
        let sound_fits = fits.filter(|terms| terms.iter().all(|&term| term >= 0.0));
        let models = sound_fits.map(|terms| Self::from_terms(terms, points));
        models
            .min_by(|one, other| one.off_ns.total_cmp(&other.off_ns))
            .ok_or(CannotFit::Alike)
    }

    fn from_terms(
        [per_frame_ns, per_wake_ns, per_poll_ns]: [f64; TERMS],
        points: &[Point],
    ) -> Self {
        let mut model = Self {
            per_frame_ns,
            per_wake_ns,
            per_poll_ns,
            off_ns: 0.0,
        };
        let off = |point: &Point| (model.cost_ns(point.batching) - point.cost_ns).powi(2);
        let squares = points.iter().map(off).sum::<f64>();
        model.off_ns = (squares / points.len() as f64).sqrt();
        model
    }

    /// The cost of a frame that is batched so, in ns.
    #[must_use]
    pub fn cost_ns(&self, batching: Batching) -> f64 {
        self.per_frame_ns + self.per_wake_ns * batching.wakes + self.per_poll_ns * batching.polls
    }

    /// The maximum forwarding rate: as many frames as so many CPUs have time for, batched as at saturation. `None`
    /// where the model says that such a frame costs nothing.
    #[must_use]
    pub fn max_rate(&self, saturated: Batching, cpus: u32) -> Option<Rate> {
        let cost_ns = self.cost_ns(saturated);
        (cost_ns > 0.0).then(|| Rate::from_fps(1e9 * f64::from(cpus) / cost_ns))
    }
}

/// How far a predicted rate is off the measured one, as a part of the measured one: 0.1 is 10 % too high. `None` where
/// nothing was measured.
#[must_use]
pub fn prediction_error(predicted: Rate, measured: Rate) -> Option<f64> {
    (measured.fps() > 0.0).then(|| predicted.fps() / measured.fps() - 1.0)
}

/// Whether there is any of it; `None` where there is some, but the same at all loads.
fn has(numbers: &[f64]) -> Option<bool> {
    let most = numbers.iter().copied().fold(0.0, f64::max);
    let least = numbers.iter().copied().fold(most, f64::min);
    match most {
        0.0 => Some(false),
        _ => (most - least >= VARIES * most).then_some(true),
    }
}

fn correlation_squared(one: &[f64], other: &[f64]) -> f64 {
    let n = one.len() as f64;
    let (a, b) = (one.iter().sum::<f64>() / n, other.iter().sum::<f64>() / n);
    let sum = |with: fn(f64, f64) -> f64| {
        let pairs = one.iter().zip(other);
        pairs.map(|(x, y)| with(x - a, y - b)).sum::<f64>()
    };
    sum(|x, y| x * y).powi(2) / (sum(|x, _| x * x) * sum(|_, y| y * y))
}

/// Least squares with the terms that are used (a bit each), the others 0: the normal equations, by elimination.
fn solved(points: &[Point], used: u32) -> Option<[f64; TERMS]> {
    let is_used = |term: usize| used >> term & 1 == 1;
    // Each equation: its coefficients, then its right side.
    let mut equations = [[0.0; TERMS + 1]; TERMS];
    for point in points {
        let Batching { wakes, polls } = point.batching;
        let mut row = [1.0, wakes, polls, point.cost_ns];
        let terms = row.iter_mut().take(TERMS).enumerate();
        terms
            .filter(|&(term, _)| !is_used(term))
            .for_each(|(_, number)| *number = 0.0);
        for (equation, own) in equations.iter_mut().zip(row) {
            let cells = equation.iter_mut().zip(row);
            cells.for_each(|(cell, other)| *cell += own * other);
        }
    }
    for (term, equation) in equations.iter_mut().enumerate() {
        if !is_used(term) {
            *equation.get_mut(term)? = 1.0;
        }
    }
    for column in 0..TERMS {
        let pivot = *equations.get(column)?;
        let head = *pivot.get(column)?;
        if head.abs() < f64::MIN_POSITIVE {
            return None;
        }
        for (at, equation) in equations.iter_mut().enumerate() {
            if at != column {
                let times = equation.get(column)? / head;
                let cells = equation.iter_mut().zip(pivot);
                cells.for_each(|(cell, own)| *cell -= times * own);
            }
        }
    }
    let mut found = [0.0; TERMS];
    for (term, (cost, equation)) in found.iter_mut().zip(&equations).enumerate() {
        *cost = equation.get(TERMS)? / equation.get(term)?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const SATURATED: Batching = Batching {
        wakes: 0.0,
        polls: 1.0 / 64.0,
    };

    fn point(wakes: f64, polls: f64, cost_ns: f64) -> Point {
        Point {
            batching: Batching { wakes, polls },
            cost_ns,
        }
    }

    /// Loads whose cost is 600 ns a frame, 3 us a wake-up, 900 ns a poll, and `noise` besides.
    fn loads(mut noise: impl FnMut() -> f64) -> Vec<Point> {
        let batchings = [
            (0.9, 1.0),
            (0.6, 0.7),
            (0.3, 0.55),
            (0.08, 0.3),
            (0.02, 0.1),
            (0.0, 0.02),
        ];
        let cost = |(wakes, polls)| 600.0 + 3_000.0 * wakes + 900.0 * polls;
        batchings
            .map(|(wakes, polls)| point(wakes, polls, cost((wakes, polls)) * (1.0 + noise())))
            .to_vec()
    }

    #[test]
    fn exact_loads_give_their_terms() {
        let model = CostModel::fit(&loads(|| 0.0)).expect("a model");
        assert!((model.per_frame_ns - 600.0).abs() < 1e-6, "{model:?}");
        assert!((model.per_wake_ns - 3_000.0).abs() < 1e-6);
        assert!((model.per_poll_ns - 900.0).abs() < 1e-6);
        assert!(model.off_ns < 1e-6);
        let most = model.max_rate(SATURATED, 2).expect("a cost");
        assert!((most.fps() - 2e9 / (600.0 + 900.0 / 64.0)).abs() < 1.0);
    }

    #[test]
    fn noise_of_a_few_percent_keeps_the_prediction() {
        let right = Rate::from_fps(1e9 / (600.0 + 900.0 / 64.0));
        let mut near = 0;
        for seed in 0..100 {
            let mut random = Random::from_seed(seed);
            let model =
                CostModel::fit(&loads(|| 0.06 * (random.next_f64() - 0.5))).expect("a model");
            assert!(model.per_wake_ns >= 0.0 && model.per_poll_ns >= 0.0);
            let most = model.max_rate(SATURATED, 1).expect("a cost");
            let off = prediction_error(most, right).expect("a rate");
            near += u32::from(off.abs() < 0.1);
        }
        assert!(near >= 90, "{near}");
    }

    #[test]
    fn no_term_falls_below_nothing() {
        // Polls seem to make frames cheaper.
        let loads = [(0.9, 0.1), (0.6, 0.7), (0.3, 0.5), (0.0, 0.9)];
        let costs =
            loads.map(|(wakes, polls)| point(wakes, polls, 900.0 + 100.0 * wakes - 400.0 * polls));
        let model = CostModel::fit(&costs).expect("a model");
        assert_eq!(model.per_poll_ns, 0.0);
        assert!(
            model.per_frame_ns > 0.0 && model.per_wake_ns > 0.0 && model.off_ns > 1.0,
            "{model:?}"
        );
    }

    #[test]
    fn a_term_that_never_occurs_is_left_out() {
        let without: Vec<Point> = loads(|| 0.0)
            .into_iter()
            .map(|load| {
                point(
                    load.batching.wakes,
                    0.0,
                    600.0 + 3_000.0 * load.batching.wakes,
                )
            })
            .collect();
        let model = CostModel::fit(&without).expect("a model");
        assert_eq!(model.per_poll_ns, 0.0);
        assert!((model.per_wake_ns - 3_000.0).abs() < 1e-6);
        let free = CostModel {
            per_frame_ns: 0.0,
            ..model
        };
        assert_eq!(free.max_rate(SATURATED, 1), None);
    }

    #[test]
    fn loads_that_say_too_little_are_refused() {
        let all = loads(|| 0.0);
        let changed = |change: fn(&mut Point)| {
            let mut changed = all.clone();
            changed.iter_mut().for_each(change);
            CostModel::fit(&changed)
        };
        assert_eq!(
            CostModel::fit(all.get(..3).expect("three")),
            Err(CannotFit::TooFew(3))
        );
        assert_eq!(
            changed(|load| load.batching.wakes = 0.5),
            Err(CannotFit::SameWakes)
        );
        assert_eq!(
            changed(|load| load.batching.polls = 0.02),
            Err(CannotFit::SamePolls)
        );
        assert_eq!(
            changed(|load| load.batching.polls = 0.1 + load.batching.wakes),
            Err(CannotFit::Alike)
        );
        assert_eq!(
            changed(|load| load.cost_ns = f64::NAN),
            Err(CannotFit::NotANumber)
        );
        assert_eq!(
            changed(|load| load.cost_ns = 0.0),
            Err(CannotFit::NotANumber)
        );
        assert_eq!(
            changed(|load| load.batching.polls = -1.0),
            Err(CannotFit::NotANumber)
        );
        assert!(CannotFit::TooFew(3).to_string().contains("needs 4"));
    }

    #[test]
    fn an_error_is_a_part_of_what_was_measured() {
        let rate = Rate::from_fps;
        let error = prediction_error(rate(1.1e6), rate(1e6)).expect("measured");
        assert!((error - 0.1).abs() < 1e-9);
        assert_eq!(prediction_error(rate(1e6), rate(0.0)), None);
    }
}
