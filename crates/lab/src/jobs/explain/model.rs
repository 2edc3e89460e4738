//! The maximum forwarding rate that lower loads predict.

use super::TRIALS_MIN;
use super::split::Profiled;
use crate::search::saturation::block;
use mpps_method::cost_model::{
    Batching, CannotFit, CostModel, POINTS_MIN, Point, prediction_error,
};
use mpps_method::distance::{Distance, Place};
use mpps_method::saturation::{Block, per_frame};
use mpps_method::{LimitedBy, Rate, compare, statistics};
use mpps_record as record;
use std::fmt;

/// One trial: its windows, what it forwarded, and what a frame cost.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    block: Block,
    forwards: Rate,
    point: Point,
}

impl Tried {
    /// `None` where nothing tells the cost. `sends` is the most that the sender can.
    pub fn new(profiled: &Profiled, sends: Rate) -> Option<Self> {
        let trial = &profiled.judged.trial;
        let block = block(trial.clone());
        let forwards = compare::rate(&block).or_else(|| Some(trial.forwarding_rate()?.fps()))?;
        Some(Self {
            block,
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

    /// What the router forwarded.
    pub const fn forwards(&self) -> Rate {
        self.forwards
    }

    fn is_near(&self, other: &Self) -> bool {
        match (self.block.distance, other.block.distance) {
            (Distance::Steady(one), Distance::Steady(other)) => one.is_same(&other),
            (Distance::Unknown, Distance::Unknown) => true,
            _ => false,
        }
    }

    /// The same of its windows in one state, where it has enough. Polls are counted for too short a time to tell states
    /// apart.
    fn at(&self, place: &Place) -> Option<Self> {
        let block = self.block.at(place)?;
        Some(Self {
            forwards: Rate::from_fps(compare::rate(&block)?),
            point: Point {
                batching: Batching {
                    wakes: per_frame(&block.windows)?.wakes,
                    ..self.point.batching
                },
                cost_ns: block.ns_per_frame?,
            },
            block,
        })
    }
}

/// Trials that can be compared.
struct Alike {
    saturated: Vec<Tried>,
    lower: Vec<Tried>,
    /// Saturated trials there that forwarded all that was sent.
    short: usize,
    /// Whether only windows of one state count, and not whole trials.
    by_windows: bool,
}

impl Alike {
    /// The windows in the state in which most trials were, at saturation and below. `None` where nobody knows the state of
    /// the windows, or what the router's threads had in them.
    fn by_windows(saturated: &[Tried], lower: &[Tried]) -> Option<Self> {
        let loads = [saturated, lower].map(|of| {
            let windows = of.iter().map(|one| &one.block.windows[..]);
            windows.collect::<Vec<_>>()
        });
        let place = Place::of_loads(&loads, POINTS_MIN)?;
        let at = |of: &[Tried]| -> Vec<Tried> {
            let there = of.iter().filter_map(|one| one.at(&place));
            there.collect()
        };
        let mut found = Self {
            saturated: at(saturated),
            lower: at(lower),
            short: 0,
            by_windows: true,
        };
        // A faster state may take all that was sent, because the load followed a slower one.
        let there = found.saturated.len();
        found
            .saturated
            .retain(|one| compare::is_overloaded(&one.block, one.forwards.fps()));
        found.short = there - found.saturated.len();
        (!found.lower.is_empty()).then_some(found)
    }

    /// The whole trials in the state in which most of the lower ones were, beside a saturated one.
    fn whole(saturated: &[Tried], lower: &[Tried]) -> Option<Self> {
        let near = |one: &Tried, all: &[Tried]| -> Vec<Tried> {
            let near = all.iter().filter(|other| one.is_near(other));
            near.cloned().collect()
        };
        let most = saturated.iter().max_by_key(|one| near(one, lower).len())?;
        Some(Self {
            saturated: near(most, saturated),
            lower: near(most, lower),
            short: 0,
            by_windows: false,
        })
    }

    /// How far apart the CPUs were; infinite where nobody knows.
    fn round_trip_ns(&self) -> f64 {
        let steady = |one: &Tried| match one.block.distance {
            Distance::Steady(at) => Some(at.round_trip_ns),
            Distance::Unknown | Distance::Changed => None,
        };
        let known: Vec<f64> = self.saturated.iter().filter_map(steady).collect();
        statistics::median(&known).unwrap_or(f64::INFINITY)
    }
}

/// Why there is no model.
#[derive(Clone, Debug)]
pub(super) enum NoModel {
    /// More trials may tell.
    Short(String),
    /// The router or the bed does not allow one.
    Never(String),
}

impl From<&str> for NoModel {
    fn from(why: &str) -> Self {
        Self::Never(why.to_owned())
    }
}

impl From<CannotFit> for NoModel {
    fn from(why: CannotFit) -> Self {
        match why {
            CannotFit::TooFew(_) | CannotFit::Unsure(_) => Self::Short(why.to_string()),
            CannotFit::NotANumber | CannotFit::Same(_) | CannotFit::Nothing => {
                Self::Never(why.to_string())
            }
        }
    }
}

impl fmt::Display for NoModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Short(why) | Self::Never(why)) = self;
        f.write_str(why)
    }
}

/// Fits the trials below saturation, and predicts what saturated ones forward. Else why not. Only windows in one state of
/// the machine are compared; where nobody knows that, whole trials in one.
pub(super) fn fit(
    saturated: &[Tried],
    lower: &[Tried],
    threads: u32,
    limited_by: LimitedBy,
) -> Result<record::CostModel, NoModel> {
    if limited_by != LimitedBy::Dut {
        return Err(NoModel::from(
            "the router's CPU was not the limit, so there is no rate of it to predict",
        ));
    }
    let alike = Alike::by_windows(saturated, lower).or_else(|| Alike::whole(saturated, lower));
    let alike = alike.ok_or("nothing was measured at saturation")?;
    let here = alike.saturated.len();
    // Without them the rate would be that of the slower ones.
    if 4 * alike.short > here + alike.short {
        return Err(NoModel::Short(format!(
            "{} of {} saturated trials in this state of the machine forwarded all that was sent",
            alike.short,
            here + alike.short
        )));
    }
    if alike.by_windows && here < TRIALS_MIN as usize {
        return Err(NoModel::Short(format!(
            "saturated trials in the state of the machine that counts: {here}, and {TRIALS_MIN} are needed; give more --trials"
        )));
    }
    let over = |number: fn(&Tried) -> f64| {
        let numbers: Vec<f64> = alike.saturated.iter().map(number).collect();
        let short = "the state of the machine changed in each saturated trial";
        statistics::median(&numbers).ok_or_else(|| NoModel::Short(short.to_owned()))
    };
    let batching = Batching {
        wakes: over(|one| one.point.batching.wakes)?,
        polls: over(|one| one.point.batching.polls)?,
        waits: over(|one| one.point.batching.waits)?,
    };
    let measured = Rate::from_fps(over(|one| one.forwards.fps())?);
    let points: Vec<Point> = alike.lower.iter().map(|one| one.point).collect();
    let round_trip_ns = alike.round_trip_ns();
    let model = CostModel::fit(&points, batching, round_trip_ns)?;
    let predicted = model.max_rate(batching, threads);
    let predicted = predicted.ok_or("a frame would cost nothing")?;
    let windows = alike.lower.iter().map(|one| one.block.windows.len() as u32);
    Ok(record::CostModel {
        frame_ns: model.per_frame_ns,
        wake_up_ns: model.per_wake_ns,
        poll_ns: model.per_poll_ns,
        waiting_ns: model.waiting_ns,
        waiting_max_ns: round_trip_ns.is_finite().then_some(round_trip_ns),
        mixed: model.mixed.iter().map(|&name| name.to_owned()).collect(),
        off_ns: model.off_ns,
        loads: points.len() as u32,
        windows: alike.by_windows.then(|| windows.sum()),
        predicted_fps: predicted.fps(),
        measured_fps: measured.fps(),
        error_ratio: prediction_error(predicted, measured).ok_or("nothing was forwarded")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::Span;
    use mpps_method::saturation::{Busy, Window};

    const NEAR_NS: f64 = 70.0;

    /// A trial whose frames cost 500 ns, and 2 us a wake-up; at a larger distance twice that.
    fn tried(fps: f64, wakes: f64, distance_ns: f64) -> Tried {
        let times = if distance_ns > NEAR_NS { 2.0 } else { 1.0 };
        Tried {
            block: Block {
                distance: Distance::at(distance_ns),
                ..Block::default()
            },
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

    /// The same with half of its windows at either distance.
    fn in_two_states(fps: f64, wakes: f64) -> Tried {
        let mut tried = tried(fps, wakes, NEAR_NS);
        let cost_ns = tried.point.cost_ns;
        let window = |times: u64, round_trip_ns: u64| Window {
            duration: Span::from_millis(8),
            forwarded: (fps / 125.0) as u64,
            round_trip_ns: Some(round_trip_ns),
            work_ns: Some(240),
            busy: Some(Busy {
                time: Span::from_nanos((fps / 125.0 * cost_ns) as u64 * times),
                wakes: (fps / 125.0 * wakes) as u64,
            }),
            ..Window::default()
        };
        tried.block = Block {
            sent: Rate::from_fps(2.0 * fps),
            ns_per_frame: Some(cost_ns * 19.0 / 14.0),
            windows: [vec![window(1, 70); 9], vec![window(2, 320); 5]].concat(),
            ..Block::default()
        };
        tried
    }

    #[test]
    fn windows_of_one_state_are_fitted_together() {
        let saturated = vec![in_two_states(1.6e6, 0.0); 3];
        let wakes = [0.01, 0.1, 0.3, 0.5, 0.6];
        let lower = wakes.map(|wakes| in_two_states(1e5, wakes));
        let model = fit(&saturated, &lower, 1, LimitedBy::Dut).expect("a model");
        // Both states have as many trials: the one farther apart counts.
        assert_eq!((model.loads, model.windows), (5, Some(25)));
        assert!((model.predicted_fps / 1e6 - 1.0).abs() < 0.01, "{model:?}");
        // Where nobody knows what the threads had, no trial is in one state.
        let unknown = lower.map(|mut one| {
            one.block.windows.iter_mut().for_each(|one| one.busy = None);
            one.block.distance = Distance::Changed;
            one
        });
        let why = fit(&saturated, &unknown, 1, LimitedBy::Dut).expect_err("none");
        assert!(matches!(why, NoModel::Short(_)), "{why}");
    }

    #[test]
    fn a_model_that_cannot_be_says_why() {
        let saturated = [tried(1.6e6, 0.0, NEAR_NS)];
        let few = [tried(1e6, 0.1, NEAR_NS)];
        let why = |saturated: &[Tried], limit| {
            let none = fit(saturated, &few, 1, limit).expect_err("none");
            none.to_string()
        };
        assert!(why(&saturated, LimitedBy::Dut).contains("needs 5"));
        assert!(why(&saturated, LimitedBy::Tester).contains("not the limit"));
        assert!(why(&[], LimitedBy::Dut).contains("nothing"));
    }
}
