//! What a frame costs, from how many frames share a wake-up and a poll:
//!
//! cost = per frame + per wake-up * wake-ups a frame + per poll * polls a frame.
//!
//! A router that is loaded less wakes up more often for a frame, so its cost at a low load says little of the most that
//! it can forward. A fit over loads does. No term is below 0.
//!
//! ```
//! use mpps_method::cost_model::{Batching, CostModel, Point};
//!
//! // 500 ns a frame, 2 us a wake-up, 800 ns a poll.
//! let point = |wakes: f64, polls: f64| {
//!     let batching = Batching { wakes, polls };
//!     Point { batching, cost_ns: 500.0 + 2_000.0 * wakes + 800.0 * polls }
//! };
//! let loads = [point(1.0, 1.0), point(0.5, 0.6), point(0.1, 0.3), point(0.05, 0.15), point(0.0, 0.1)];
//! let saturated = Batching { wakes: 0.0, polls: 1.0 / 64.0 };
//! let model = CostModel::fit(&loads, saturated)?;
//! let most = model.max_rate(saturated, 1.0);
//! assert!((most.map_or(0.0, |rate| rate.fps()) - 1e9 / 512.5).abs() < 1.0);
//! # Ok::<(), mpps_method::cost_model::CannotFit>(())
//! ```

use crate::units::Rate;

/// Fewer loads than this leave too little to check three terms by.
const POINTS_MIN: usize = 5;
/// A term whose number a frame varies by less than this part of its largest is constant.
const VARIES: f64 = 0.1;
/// Without any one of the loads the cost at saturation changes by at most this part, or nothing is predicted.
const SURE: f64 = 0.1;
/// Numbers a frame that are so alike (squared correlation) cannot be told apart.
const ALIKE: f64 = 0.99;
/// Other terms stand for these if their relative errors are at most so many times as large, or a thousandth.
const AS_WELL: f64 = 2.0;
const EXACT: f64 = 1e-3;
/// Terms: frame, wake-up, poll.
pub const TERMS: usize = 3;
/// A bit each: all, frames, wake-ups, polls.
const ALL: u32 = (1 << TERMS) - 1;
const FRAMES: u32 = 1;
const WAKES: u32 = 1 << 1;
const POLLS: u32 = 1 << 2;
/// Their names, in this order.
const NAMES: [&str; TERMS] = ["frame", "wake-up", "poll"];

/// How frames were batched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batching {
    /// Wake-ups a frame.
    pub wakes: f64,
    /// Polls a frame.
    pub polls: f64,
}

impl Batching {
    /// How often each term occurs for a frame.
    const fn terms(self) -> [f64; TERMS] {
        [1.0, self.wakes, self.polls]
    }
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
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum CannotFit {
    /// There are fewer than 5.
    #[error(
        "only {0} loads below saturation can be compared, and a model of the cost needs {POINTS_MIN}"
    )]
    TooFew(usize),
    /// A number is negative or not finite, or a cost is 0.
    #[error("a load has no cost, or no number of wake-ups or polls")]
    NotANumber,
    /// A term's number is the same at all loads, and another one at saturation.
    #[error(
        "the {0} number hardly differs between the loads, but does at saturation, so its cost there is not known"
    )]
    Same(&'static str),
    /// The cost at saturation changes by so large a part without one of the loads.
    #[error("the loads cannot tell the costs apart: without one of them the prediction changes by {percent:.0} %", percent = .0 * 100.0)]
    Unsure(f64),
}

/// The cost of a frame, in its terms. All are in ns.
#[derive(Clone, Debug, PartialEq)]
pub struct CostModel {
    /// Each frame.
    pub per_frame_ns: f64,
    /// Each wake-up; 0 where no load had any.
    pub per_wake_ns: f64,
    /// Each poll; 0 where no load had any.
    pub per_poll_ns: f64,
    /// The smallest and the largest of each term, in this order, over all fits that explain the loads about as well.
    pub range_of_fits_ns: [(f64, f64); TERMS],
    /// How far the loads lie from the model: root of the mean square.
    pub off_ns: f64,
}

impl CostModel {
    /// Fits the terms, none below 0, by least squares of the relative errors, to predict a cost at saturation.
    ///
    /// # Errors
    /// [`CannotFit`] where the loads cannot tell what a frame costs there.
    pub fn fit(points: &[Point], saturated: Batching) -> Result<Self, CannotFit> {
        if points.len() < POINTS_MIN {
            return Err(CannotFit::TooFew(points.len()));
        }
        let is_sound = |point: &Point| {
            let mut numbers = point.batching.terms().into_iter().chain([point.cost_ns]);
            numbers.all(|number| number.is_finite() && number >= 0.0) && point.cost_ns > 0.0
        };
        if !points.iter().all(is_sound) {
            return Err(CannotFit::NotANumber);
        }
        for (term, (name, there)) in NAMES.into_iter().zip(saturated.terms()).enumerate() {
            let numbers = points
                .iter()
                .filter_map(|point| point.batching.terms().get(term).copied());
            let (least, most) = numbers
                .fold((f64::MAX, 0.0), |(least, most): (f64, f64), number| {
                    (least.min(number), most.max(number))
                });
            let near = (there - most).abs() <= VARIES * most.max(there);
            if most - least < VARIES * most && !near {
                return Err(CannotFit::Same(name));
            }
        }
        // A frame costs something of its own, even where its share of the polls fits a little better.
        let terms = best(points, FRAMES, ALL).ok_or(CannotFit::NotANumber)?;
        // What each term and the cost at saturation are without any one of the loads.
        let without = |left_out: usize| {
            let others = points.iter().enumerate().filter(|(at, _)| *at != left_out);
            let others: Vec<Point> = others.map(|(_, point)| *point).collect();
            best(&others, FRAMES, ALL)
        };
        let mut others: Vec<[f64; TERMS]> = (0..points.len()).filter_map(without).collect();
        let mut rivals = vec![best(points, 0, ALL)];
        // Two terms that rise and fall together may stand for each other.
        if correlation_squared(points) > ALIKE {
            rivals.extend([ALL & !WAKES, ALL & !POLLS].map(|may| best(points, FRAMES, may)));
        }
        let off = relative_error(&terms, points).max(EXACT);
        let fits = |rival: &[f64; TERMS]| relative_error(rival, points) <= AS_WELL * off;
        let rivals: Vec<_> = rivals.into_iter().flatten().filter(fits).collect();
        others.extend(&rivals);
        let cost = cost_ns(&terms, saturated);
        let change = |other: &[f64; TERMS]| (cost / cost_ns(other, saturated) - 1.0).abs();
        let most = others.iter().map(change).fold(0.0, f64::max);
        if most > SURE || !most.is_finite() {
            return Err(CannotFit::Unsure(most));
        }
        let mut range_of_fits_ns = terms.map(|own| (own, own));
        for rival in &rivals {
            for ((low, high), other) in range_of_fits_ns.iter_mut().zip(rival) {
                (*low, *high) = (low.min(*other), high.max(*other));
            }
        }
        let squares = points
            .iter()
            .map(|point| (cost_ns(&terms, point.batching) - point.cost_ns).powi(2));
        let off_ns = (squares.sum::<f64>() / points.len() as f64).sqrt();
        let [per_frame_ns, per_wake_ns, per_poll_ns] = terms;
        Ok(Self {
            per_frame_ns,
            per_wake_ns,
            per_poll_ns,
            range_of_fits_ns,
            off_ns,
        })
    }

    /// The cost of a frame that is batched so, in ns.
    #[must_use]
    pub fn cost_ns(&self, batching: Batching) -> f64 {
        cost_ns(&self.terms_ns(), batching)
    }

    /// Each frame, each wake-up, each poll.
    #[must_use]
    pub const fn terms_ns(&self) -> [f64; TERMS] {
        [self.per_frame_ns, self.per_wake_ns, self.per_poll_ns]
    }

    /// The maximum forwarding rate: as many frames as so many CPUs have time for, batched as at saturation. A part of
    /// a CPU counts as such. `None` where the model says that such a frame costs nothing.
    #[must_use]
    pub fn max_rate(&self, saturated: Batching, cpus: f64) -> Option<Rate> {
        let cost_ns = self.cost_ns(saturated);
        (cost_ns > 0.0).then(|| Rate::from_fps(1e9 * cpus / cost_ns))
    }
}

/// How far a predicted rate is off the measured one, as a part of the measured one: 0.1 is 10 % too high. `None` where
/// nothing was measured.
#[must_use]
pub fn prediction_error(predicted: Rate, measured: Rate) -> Option<f64> {
    (measured.fps() > 0.0).then(|| predicted.fps() / measured.fps() - 1.0)
}

fn cost_ns(terms: &[f64; TERMS], batching: Batching) -> f64 {
    let each = terms.iter().zip(batching.terms());
    each.map(|(term, number)| term * number).sum()
}

/// Of wake-ups and polls a frame.
fn correlation_squared(points: &[Point]) -> f64 {
    let n = points.len() as f64;
    let mean = |number: fn(&Batching) -> f64| {
        points
            .iter()
            .map(|point| number(&point.batching))
            .sum::<f64>()
            / n
    };
    let (a, b) = (mean(|at| at.wakes), mean(|at| at.polls));
    let sum = |with: fn(f64, f64) -> f64| {
        let each = points.iter().map(|point| point.batching);
        each.map(|at| with(at.wakes - a, at.polls - b)).sum::<f64>()
    };
    sum(|x, y| x * y).powi(2) / (sum(|x, _| x * x) * sum(|_, y| y * y))
}

/// The best fit with no term below 0 is the best of those that leave some out and have none below 0. It must have the terms
/// of `must`, and has none that are not in `may`.
fn best(points: &[Point], must: u32, may: u32) -> Option<[f64; TERMS]> {
    let used = (1..=ALL).filter(|used| used & must == must && used & !may == 0);
    let fits = used.filter_map(|used| solved(points, used));
    let is_sound = |&term: &f64| term.is_finite() && term >= 0.0;
    let sound = fits.filter(|terms| terms.iter().all(is_sound));
    let error = |terms: &[f64; TERMS]| relative_error(terms, points);
    sound.min_by(|one, other| error(one).total_cmp(&error(other)))
}

/// How far the points lie from these terms, as a part of their costs: root of the mean square.
fn relative_error(terms: &[f64; TERMS], points: &[Point]) -> f64 {
    let off = |point: &Point| (cost_ns(terms, point.batching) / point.cost_ns - 1.0).powi(2);
    (points.iter().map(off).sum::<f64>() / points.len() as f64).sqrt()
}

/// Least squares with the terms that are used (a bit each), the others 0: the normal equations, by elimination.
fn solved(points: &[Point], used: u32) -> Option<[f64; TERMS]> {
    let is_used = |term: usize| used >> term & 1 == 1;
    // Each equation: its coefficients, then its right side.
    let mut equations = [[0.0; TERMS + 1]; TERMS];
    for point in points {
        let mut row = [0.0; TERMS + 1];
        let numbers = point.batching.terms().into_iter().chain([point.cost_ns]);
        // Each error counts by its part of the cost.
        (row.iter_mut().zip(numbers)).for_each(|(cell, number)| *cell = number / point.cost_ns);
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
        if head.abs() < 1e-15 {
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
        let model = CostModel::fit(&loads(|| 0.0), SATURATED).expect("a model");
        assert!((model.per_frame_ns - 600.0).abs() < 1e-6, "{model:?}");
        assert!((model.per_wake_ns - 3_000.0).abs() < 1e-6);
        assert!((model.per_poll_ns - 900.0).abs() < 1e-6);
        assert!(model.off_ns < 1e-6);
        let most = model.max_rate(SATURATED, 2.0).expect("a cost");
        assert!((most.fps() - 2e9 / (600.0 + 900.0 / 64.0)).abs() < 1.0);
    }

    #[test]
    fn noise_of_a_few_percent_keeps_the_prediction() {
        let right = Rate::from_fps(1e9 / (600.0 + 900.0 / 64.0));
        let mut near = 0;
        for seed in 0..100 {
            let mut random = Random::from_seed(seed);
            let noisy = loads(|| 0.06 * (random.next_f64() - 0.5));
            let model = CostModel::fit(&noisy, SATURATED);
            let Ok(model) = model else { continue };
            assert!(model.per_wake_ns >= 0.0 && model.per_poll_ns >= 0.0);
            let most = model.max_rate(SATURATED, 1.0).expect("a cost");
            let off = prediction_error(most, right).expect("a rate");
            near += u32::from(off.abs() < 0.1);
        }
        assert!(near >= 90, "{near}");
    }

    #[test]
    fn terms_that_stand_for_each_other_have_a_range() {
        let mut all = loads(|| 0.0);
        let model = CostModel::fit(&all, SATURATED).expect("a model");
        let [frame, ..] = model.range_of_fits_ns;
        assert!((frame.1 - frame.0).abs() < 1e-6, "{model:?}");
        // At saturation they are alike too, so the prediction stands, but not the terms.
        for load in &mut all {
            load.batching.polls = 0.125 + load.batching.wakes;
            load.cost_ns = 600.0 + 3_000.0 * load.batching.wakes;
        }
        let saturated = Batching {
            polls: 0.125,
            ..SATURATED
        };
        let model = CostModel::fit(&all, saturated).expect("a model");
        let [_, wake, poll] = model.range_of_fits_ns;
        assert!(wake.0 < 1e-6 && wake.1 > 2_999.0, "{wake:?}");
        assert!(poll.0 < 1e-6 && poll.1 > 2_999.0, "{poll:?}");
        assert!((model.cost_ns(saturated) - 600.0).abs() < 1e-6, "{model:?}");
    }

    /// Each poll takes 8 frames at most, so many polls a frame look like a cost of the frame.
    #[test]
    fn a_frame_has_a_cost_of_its_own() {
        let load = |(wakes, more): (f64, f64)| {
            let polls = 0.125 + 0.4 * wakes + more;
            point(wakes, polls, 3_000.0 * polls + 3_000.0 * wakes - 50.0)
        };
        let at = [
            (0.003, 1e-3),
            (0.005, -1e-3),
            (0.013, 1e-3),
            (0.04, -1e-3),
            (0.12, 0.0),
        ];
        let loads = at.map(load);
        let [frame, ..] = best(&loads, 0, ALL).expect("a fit");
        assert_eq!(frame, 0.0);
        let full = Batching {
            wakes: 0.0,
            polls: 0.125,
        };
        let model = CostModel::fit(&loads, full).expect("a model");
        assert!((model.per_frame_ns - 325.0).abs() < 5.0, "{model:?}");
        assert_eq!(model.range_of_fits_ns[0].0, 0.0, "{model:?}");
        // Wake-ups explain what polls do not: a fit of polls alone is far worse, and says nothing.
        assert!(correlation_squared(&loads) > ALIKE);
        let alone = best(&loads, FRAMES, ALL & !WAKES).expect("a fit");
        assert!((cost_ns(&alone, full) / model.cost_ns(full) - 1.0).abs() > SURE);
        // Where saturation has fewer polls, the two differ.
        let few = Batching {
            polls: 0.02,
            ..full
        };
        let unsure = CostModel::fit(&loads, few);
        assert!(matches!(unsure, Err(CannotFit::Unsure(_))), "{unsure:?}");
    }

    #[test]
    fn no_term_falls_below_nothing() {
        // Polls seem to make frames cheaper.
        let loads = [(0.9, 0.1), (0.6, 0.7), (0.3, 0.5), (0.1, 0.2), (0.0, 0.9)];
        let costs =
            loads.map(|(wakes, polls)| point(wakes, polls, 900.0 + 100.0 * wakes - 400.0 * polls));
        let [frame, wake, poll] = best(&costs, 0, ALL).expect("a fit");
        assert_eq!(poll, 0.0);
        assert!(frame > 0.0 && wake > 0.0, "{frame} {wake}");
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
        let model = CostModel::fit(
            &without,
            Batching {
                polls: 0.0,
                ..SATURATED
            },
        )
        .expect("a model");
        assert_eq!(model.per_poll_ns, 0.0);
        assert!((model.per_wake_ns - 3_000.0).abs() < 1e-6);
        let free = CostModel {
            per_frame_ns: 0.0,
            ..model
        };
        assert_eq!(free.max_rate(SATURATED, 1.0), None);
    }

    #[test]
    fn loads_that_say_too_little_are_refused() {
        let all = loads(|| 0.0);
        let changed = |change: fn(&mut Point)| {
            let mut changed = all.clone();
            changed.iter_mut().for_each(change);
            CostModel::fit(&changed, SATURATED)
        };
        assert_eq!(
            CostModel::fit(all.get(..4).expect("four"), SATURATED),
            Err(CannotFit::TooFew(4))
        );
        assert_eq!(
            changed(|load| load.batching.wakes = 0.5),
            Err(CannotFit::Same("wake-up"))
        );
        assert_eq!(
            changed(|load| load.batching.polls = 0.02),
            Err(CannotFit::Same("poll"))
        );
        // Polls stand for wake-ups and the other way round, but at saturation there are few of both.
        let alike = |load: &mut Point| {
            load.batching.polls = 0.1 + load.batching.wakes;
            load.cost_ns = 100.0 + 3_000.0 * load.batching.polls;
        };
        assert!(matches!(changed(alike), Err(CannotFit::Unsure(part)) if part > 0.1));
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
        assert!(CannotFit::TooFew(4).to_string().contains("needs 5"));
    }

    #[test]
    fn an_error_is_a_part_of_what_was_measured() {
        let rate = Rate::from_fps;
        let error = prediction_error(rate(1.1e6), rate(1e6)).expect("measured");
        assert!((error - 0.1).abs() < 1e-9);
        assert_eq!(prediction_error(rate(1e6), rate(0.0)), None);
    }
}
