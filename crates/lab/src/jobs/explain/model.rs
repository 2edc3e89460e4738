//! The maximum forwarding rate that lower loads predict.

use super::split::Profiled;
use crate::search::saturation::block;
use mpps_method::cost_model::{Batching, CostModel, Point, prediction_error};
use mpps_method::distance::Distance;
use mpps_method::{LimitedBy, Rate, compare, statistics};
use mpps_record as record;

/// One trial: where the CPUs were, what it forwarded, and what a frame cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    distance: Distance,
    forwards: Rate,
    point: Point,
}

impl Tried {
    /// `None` where nothing tells the cost. `sends` is the most that the sender can.
    pub fn new(profiled: &Profiled, sends: Rate) -> Option<Self> {
        let trial = &profiled.judged.trial;
        let forwards = compare::rate(&block(trial.clone()));
        let forwards = forwards.or_else(|| Some(trial.forwarding_rate()?.fps()))?;
        Some(Self {
            distance: Distance::from_trial(trial),
            forwards: Rate::from_fps(forwards),
            point: Point {
                batching: Batching {
                    wakes: profiled.wakes_a_frame()?,
                    polls: profiled.polls_a_frame?,
                    waits: profiled.sender_waits(sends)?,
                },
                cost_ns: profiled.frame_ns()?,
            },
        })
    }

    fn is_near(&self, other: &Self) -> bool {
        match (self.distance, other.distance) {
            (Distance::Steady(one), Distance::Steady(other)) => one.is_same(&other),
            (Distance::Unknown, Distance::Unknown) => true,
            _ => false,
        }
    }
}

/// Fits the trials below saturation, and predicts what saturated ones forward. Else why not. Only trials at one distance
/// of the CPUs are compared: that at which most of the lower ones were, beside a saturated one.
pub(super) fn fit(
    saturated: &[Tried],
    lower: &[Tried],
    threads: u32,
    limited_by: LimitedBy,
) -> Result<record::CostModel, String> {
    if limited_by != LimitedBy::Dut {
        return Err(
            "the router's CPU was not the limit, so there is no rate of it to predict".to_owned(),
        );
    }
    let near = |one: &Tried, all: &[Tried]| -> Vec<Tried> {
        all.iter()
            .filter(|other| one.is_near(other))
            .copied()
            .collect()
    };
    let most = saturated.iter().max_by_key(|one| near(one, lower).len());
    let most = most.ok_or("nothing was measured at saturation")?;
    let (saturated, lower) = (near(most, saturated), near(most, lower));
    let over = |number: fn(&Tried) -> f64| {
        let numbers: Vec<f64> = saturated.iter().map(number).collect();
        statistics::median(&numbers)
            .ok_or("the state of the machine changed in each saturated trial")
    };
    let batching = Batching {
        wakes: over(|one| one.point.batching.wakes)?,
        polls: over(|one| one.point.batching.polls)?,
        waits: over(|one| one.point.batching.waits)?,
    };
    let measured = Rate::from_fps(over(|one| one.forwards.fps())?);
    let points: Vec<Point> = lower.iter().map(|one| one.point).collect();
    let round_trip_ns = match most.distance {
        Distance::Steady(at) => at.round_trip_ns,
        Distance::Unknown | Distance::Changed => f64::INFINITY,
    };
    let model = CostModel::fit(&points, batching, round_trip_ns).map_err(|why| why.to_string())?;
    let predicted = model.max_rate(batching, threads);
    let predicted = predicted.ok_or("a frame would cost nothing")?;
    Ok(record::CostModel {
        frame_ns: model.per_frame_ns,
        wake_up_ns: model.per_wake_ns,
        poll_ns: model.per_poll_ns,
        waiting_ns: model.waiting_ns,
        waiting_max_ns: round_trip_ns.is_finite().then_some(round_trip_ns),
        mixed: model.mixed.iter().map(|&name| name.to_owned()).collect(),
        off_ns: model.off_ns,
        loads: points.len() as u32,
        predicted_fps: predicted.fps(),
        measured_fps: measured.fps(),
        error_ratio: prediction_error(predicted, measured).ok_or("nothing was forwarded")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR_NS: f64 = 70.0;

    /// A trial whose frames cost 500 ns, and 2 us a wake-up; at a larger distance twice that.
    fn tried(fps: f64, wakes: f64, distance_ns: f64) -> Tried {
        let times = if distance_ns > NEAR_NS { 2.0 } else { 1.0 };
        Tried {
            distance: Distance::at(distance_ns),
            forwards: Rate::from_fps(fps),
            point: Point {
                batching: Batching {
                    wakes,
                    polls: 0.125,
                    waits: 0.0,
                },
                cost_ns: times * (500.0 + 2_000.0 * wakes),
            },
        }
    }

    fn lower(distance_ns: f64) -> Vec<Tried> {
        let wakes = [0.01, 0.1, 0.3, 0.5, 0.6];
        wakes.map(|wakes| tried(1e5, wakes, distance_ns)).to_vec()
    }

    #[test]
    fn lower_loads_predict_the_saturated_one() {
        let saturated = [tried(1.6e6, 0.0, NEAR_NS)];
        let model = fit(&saturated, &lower(NEAR_NS), 1, LimitedBy::Dut).expect("a model");
        assert_eq!(model.loads, 5);
        assert!((model.predicted_fps - 2e6).abs() < 1.0, "{model:?}");
        assert!((model.error_ratio - 0.25).abs() < 1e-6, "{model:?}");
        // Two threads have twice the time.
        let two = fit(&saturated, &lower(NEAR_NS), 2, LimitedBy::Dut).expect("a model");
        assert!((two.predicted_fps - 4e6).abs() < 1.0, "{two:?}");
    }

    #[test]
    fn distances_are_not_fitted_together() {
        let saturated = [tried(1.6e6, 0.0, 320.0), tried(1e6, 0.0, NEAR_NS)];
        let mut all = lower(NEAR_NS);
        all.extend(lower(320.0).into_iter().take(4));
        let model = fit(&saturated, &all, 1, LimitedBy::Dut).expect("a model");
        assert_eq!((model.loads, model.measured_fps), (5, 1e6));
        assert!((model.predicted_fps - 2e6).abs() < 1.0, "{model:?}");
    }

    #[test]
    fn a_model_that_cannot_be_says_why() {
        let saturated = [tried(1.6e6, 0.0, NEAR_NS)];
        let few = [tried(1e6, 0.1, NEAR_NS)];
        let why = |saturated: &[Tried], limit| fit(saturated, &few, 1, limit).expect_err("none");
        assert!(why(&saturated, LimitedBy::Dut).contains("needs 5"));
        assert!(why(&saturated, LimitedBy::Tester).contains("not the limit"));
        assert!(why(&[], LimitedBy::Dut).contains("nothing"));
    }
}
