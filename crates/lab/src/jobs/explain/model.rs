//! The maximum forwarding rate that lower loads predict.

use super::split::Profiled;
use super::turned::{self, Turned};
use super::{SHARES, TRIALS_MIN};
use crate::search::saturation::block;
use mpps_method::cost_model::{Batching, CannotFit, CostModel, Point, prediction_error};
use mpps_method::distance::Distance;
use mpps_method::{Rate, compare, statistics};
use mpps_record as record;
use std::fmt;

/// Trials do not agree on the error of a prediction whose interval is wider, in logarithms, half of it.
const HALF_WIDTH_MAX: f64 = 0.1;

/// One whole trial: what it forwarded, and what a frame cost.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    distance: Distance,
    forwards: Rate,
    /// CPUs that the router's threads used.
    cpus: f64,
    point: Point,
}

impl Tried {
    /// `None` where nothing tells the cost.
    pub fn new(profiled: &Profiled) -> Option<Self> {
        let trial = &profiled.judged.trial;
        let block = block(trial);
        let forwards = compare::rate(&block).or_else(|| Some(trial.forwarding_rate()?.fps()))?;
        Some(Self {
            distance: block.distance,
            forwards: Rate::from_fps(forwards),
            cpus: trial.cpus_used(),
            point: Point {
                batching: Batching {
                    wakes: profiled.wakes_a_frame()?,
                    polls: profiled.polls_a_frame?,
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
        match (self.distance, other.distance) {
            (Distance::Steady(one), Distance::Steady(other)) => one.is_same(&other),
            (Distance::Unknown, Distance::Unknown) => true,
            _ => false,
        }
    }
}

/// All that a model is fitted to.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// Whole trials at saturation, in whatever state of the machine.
    pub saturated: Vec<Tried>,
    /// Whole trials below it.
    pub lower: Vec<Tried>,
    /// Trials whose loads took turns, with polls of a frame at each of these loads, overload first.
    pub turned: Vec<Turned>,
    pub polls: Vec<f64>,
}

impl Measured {
    /// From trials at saturation, below it, each with its share of the maximum, and of loads in turns.
    pub fn new(saturated: &[Tried], lower: &[(f64, Profiled)], turned: &[Turned]) -> Self {
        let polls = |share: f64| {
            let of_share = lower.iter().filter(|(of, _)| *of == share);
            let polls = of_share.filter_map(|(_, one)| one.polls_a_frame);
            statistics::median(&polls.collect::<Vec<_>>())
        };
        let at_overload = saturated.iter().map(|one| one.point.batching.polls);
        let at_overload = statistics::median(&at_overload.collect::<Vec<_>>());
        let polls = [at_overload].into_iter().chain(SHARES.map(polls));
        Self {
            saturated: saturated.to_vec(),
            lower: lower
                .iter()
                .filter_map(|(_, one)| Tried::new(one))
                .collect(),
            turned: turned.to_vec(),
            // Where they are unknown at one load, they tell nothing at another.
            polls: polls.collect::<Option<Vec<f64>>>().unwrap_or_default(),
        }
    }
}

/// What can be compared.
#[derive(Clone)]
struct Alike {
    /// What was forwarded at saturation, how frames were batched there, and how many CPUs that took.
    saturated: Vec<(Rate, Batching, f64)>,
    lower: Vec<Point>,
    /// Windows below saturation and trials, where loads took turns.
    in_turns: Option<(usize, usize)>,
}

impl Alike {
    /// Loads that took turns, each trial brought to the state of all of them. `None` where there is no such trial.
    fn in_turns(trials: &[Turned], polls: &[f64]) -> Option<Self> {
        let polls = |load: usize| polls.get(load).copied().unwrap_or(0.0);
        let mut found = Self {
            saturated: Vec::new(),
            lower: Vec::new(),
            in_turns: None,
        };
        let mut windows = 0;
        for (trial, times) in trials.iter().zip(turned::times(trials)) {
            let over = &trial.overload;
            let rate = Rate::from_fps(over.forwards.fps() / times);
            let batching = over.point(polls(0), times).batching;
            found.saturated.push((rate, batching, over.busy_share));
            for (load, at) in (1..).zip(&trial.lower) {
                windows += at.map_or(0, |at| at.windows);
                let point = at.map(|at| at.point(polls(load), times));
                found.lower.extend(point);
            }
        }
        found.in_turns = Some((windows, trials.len()));
        (!trials.is_empty()).then_some(found)
    }

    /// The whole trials in the state in which most of the lower ones were, beside a saturated one.
    fn whole(measured: &Measured) -> Option<Self> {
        let Measured {
            saturated, lower, ..
        } = measured;
        let near = |one: &Tried, all: &[Tried]| -> Vec<Tried> {
            let near = all.iter().filter(|other| one.is_near(other));
            near.cloned().collect()
        };
        let most = saturated.iter().max_by_key(|one| near(one, lower).len())?;
        let near_most = near(most, saturated);
        let there = near_most
            .iter()
            .map(|one| (one.forwards, one.point.batching, one.cpus));
        Some(Self {
            saturated: there.collect(),
            lower: near(most, lower).iter().map(|one| one.point).collect(),
            in_turns: None,
        })
    }

    /// Fits the lower loads, and predicts what is forwarded at saturation. Costs are averaged, so rates by their inverse.
    fn predict(&self) -> Result<Predicted, NoModel> {
        let over = |number: fn(&(Rate, Batching, f64)) -> f64| {
            let numbers: Vec<f64> = self.saturated.iter().map(number).collect();
            let short = "the state of the machine changed in each saturated trial";
            statistics::mean(&numbers).ok_or_else(|| NoModel::Short(short.to_owned()))
        };
        let batching = Batching {
            wakes: over(|(_, batching, _)| batching.wakes)?,
            polls: over(|(_, batching, _)| batching.polls)?,
        };
        let model = CostModel::fit(&self.lower, batching)?;
        // Threads that share a CPU share its time, and a CPU that no flow reaches forwards nothing.
        let predicted = model.max_rate(batching, over(|(_, _, cpus)| *cpus)?);
        Ok(Predicted {
            model,
            rate: predicted.ok_or("a frame would cost nothing")?,
            measured: Rate::from_fps(over(|(rate, ..)| rate.fps().recip())?.recip()),
        })
    }

    /// The predictions without one whole trial at a time: a lower one, and a saturated one.
    fn without_one(&self) -> Option<Vec<Vec<Predicted>>> {
        let lower = (0..self.lower.len()).map(|out| {
            let mut rest = self.clone();
            rest.lower.remove(out);
            rest.predict().ok()
        });
        let saturated = (0..self.saturated.len()).map(|out| {
            let mut rest = self.clone();
            rest.saturated.remove(out);
            rest.predict().ok()
        });
        Some(vec![
            lower.collect::<Option<_>>()?,
            saturated.collect::<Option<_>>()?,
        ])
    }
}

/// A prediction beside what was measured.
struct Predicted {
    model: CostModel,
    rate: Rate,
    measured: Rate,
}

impl Predicted {
    /// ln(predicted / measured).
    fn log_error(&self) -> f64 {
        (self.rate.fps() / self.measured.fps()).ln()
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
            CannotFit::NotANumber | CannotFit::Same(_) => Self::Never(why.to_string()),
        }
    }
}

impl fmt::Display for NoModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Short(why) | Self::Never(why)) = self;
        f.write_str(why)
    }
}

/// The predictions without one trial at a time, all its loads left out together.
fn without_one_in_turns(Measured { turned, polls, .. }: &Measured) -> Option<Vec<Vec<Predicted>>> {
    let without = (0..turned.len()).map(|out| {
        let mut rest = turned.clone();
        rest.remove(out);
        Alike::in_turns(&rest, polls)?.predict().ok()
    });
    Some(vec![without.collect::<Option<_>>()?])
}

/// Half the width of Student's interval of a number of the prediction (delete-one jackknife). `None` where too few trials
/// remain.
fn half_width(without: &[Vec<Predicted>], number: impl Fn(&Predicted) -> f64) -> Option<f64> {
    let of = |trials: &Vec<Predicted>| {
        let numbers: Vec<f64> = trials.iter().map(&number).collect();
        statistics::jackknife_half_width(&numbers)
    };
    let all: Option<Vec<f64>> = without.iter().map(of).collect();
    Some(all?.into_iter().fold(0.0, f64::hypot))
}

/// Each term's interval, and what fits that explain the loads as well say of it. Without one trial the state of all may be
/// another one, which the measured rate tells too.
fn term_ranges(
    found: &Predicted,
    without: &[Vec<Predicted>],
) -> Option<Vec<record::Interval<f64>>> {
    let terms = found
        .model
        .terms_ns()
        .into_iter()
        .zip(found.model.range_of_fits_ns);
    let range = |(term, (ns, (low, high))): (usize, (f64, (f64, f64)))| {
        let here = |other: &Predicted| {
            let times = other.measured.fps() / found.measured.fps();
            other.model.terms_ns()[term] * times
        };
        let half = half_width(without, here)?;
        Some([low.min(ns - half).max(0.0), ns, high.max(ns + half)].into())
    };
    terms.enumerate().map(range).collect()
}

/// Fits what was measured below saturation, and predicts what the router forwards at it. Else why not. Where no loads took
/// turns, only whole trials in one state of the machine are compared.
pub(super) fn fit(measured: &Measured, is_cpu: bool) -> Result<record::CostModel, NoModel> {
    if !is_cpu {
        return Err(NoModel::from(
            "the router's CPU was not the limit, so there is no rate of it to predict",
        ));
    }
    let in_turns = Alike::in_turns(&measured.turned, &measured.polls);
    let is_enough = |alike: &Alike| alike.saturated.len() >= TRIALS_MIN as usize;
    let alike = in_turns
        .filter(is_enough)
        .or_else(|| Alike::whole(measured));
    let alike = alike.ok_or("nothing was measured at saturation")?;
    if alike.in_turns.is_some() && measured.polls.is_empty() {
        let none = "no trial that counts tells the polls of one of the lower loads";
        return Err(NoModel::Short(none.to_owned()));
    }
    let found = alike.predict()?;
    let without = match alike.in_turns {
        Some(_) => without_one_in_turns(measured),
        None => alike.without_one(),
    };
    let error = without.as_ref();
    let error = error.and_then(|without| half_width(without, Predicted::log_error));
    let off = prediction_error(found.rate, found.measured).ok_or("nothing was forwarded")?;
    let range = |half: f64| {
        let end = |log: f64| log.exp() - 1.0;
        let log = found.log_error();
        record::Interval::from([end(log - half), off, end(log + half)])
    };
    Ok(record::CostModel {
        frame_ns: found.model.per_frame_ns,
        wake_up_ns: found.model.per_wake_ns,
        poll_ns: found.model.per_poll_ns,
        mixed: Vec::new(),
        term_ranges_ns: without.and_then(|without| term_ranges(&found, &without)),
        off_ns: found.model.off_ns,
        loads: alike.lower.len() as u32,
        windows: alike.in_turns.map(|(windows, _)| windows as u32),
        trials_in_turns: alike.in_turns.map(|(_, trials)| trials as u32),
        predicted_fps: found.rate.fps(),
        measured_fps: found.measured.fps(),
        error_ratio: off,
        error_range: error.map(range),
        is_unsure: error.is_none_or(|half| half > HALF_WIDTH_MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::super::turned::AtLoad;
    use super::*;
    use crate::jobs::Judged;
    use mpps_method::{CpuBusy, Direction, Span, Trial, Verdict};

    const NEAR_NS: f64 = 70.0;

    /// A trial on one CPU whose frames cost 500 ns, and 2 us a wake-up; at a larger distance twice that.
    fn tried(fps: f64, wakes: f64, distance_ns: f64) -> Tried {
        let times = if distance_ns > NEAR_NS { 2.0 } else { 1.0 };
        Tried {
            distance: Distance::at(distance_ns),
            forwards: Rate::from_fps(fps),
            cpus: 1.0,
            point: Point {
                batching: Batching {
                    wakes,
                    polls: 0.125,
                },
                cost_ns: times * (500.0 + 2_000.0 * wakes),
            },
        }
    }

    fn lower(distance_ns: f64) -> Vec<Tried> {
        let wakes = [0.01, 0.1, 0.3, 0.5, 0.6];
        wakes.map(|wakes| tried(1e5, wakes, distance_ns)).to_vec()
    }

    fn whole(saturated: &[Tried], lower: Vec<Tried>) -> Measured {
        Measured {
            saturated: saturated.to_vec(),
            lower,
            ..Measured::default()
        }
    }

    #[test]
    fn lower_loads_predict_the_saturated_one() {
        let measured = whole(&[tried(1.6e6, 0.0, NEAR_NS)], lower(NEAR_NS));
        let model = fit(&measured, true).expect("a model");
        assert_eq!(model.loads, 5);
        assert!((model.predicted_fps - 2e6).abs() < 1.0, "{model:?}");
        assert!((model.error_ratio - 0.25).abs() < 1e-6, "{model:?}");
        // Two CPUs have twice the time.
        let mut two = tried(1.6e6, 0.0, NEAR_NS);
        two.cpus = 2.0;
        let two = fit(&whole(&[two], lower(NEAR_NS)), true).expect("a model");
        assert!((two.predicted_fps - 4e6).abs() < 1.0, "{two:?}");
    }

    #[test]
    fn threads_on_one_cpu_use_one_cpu() {
        // Two queues' threads on CPU 1; none of its flows reaches CPU 2.
        let busy = [(1, 980_000_000), (2, 0)].map(|(cpu, run_ns)| CpuBusy {
            cpu,
            run_ns,
            ..CpuBusy::default()
        });
        let mut direction = Direction::default();
        (direction.counts.received, direction.ledger.nic_accepted) = (1_000, 1_000);
        let trial = Trial {
            duration: Span::from_secs_f64(1.0),
            busy: busy.into(),
            directions: vec![direction],
            ..Trial::default()
        };
        let judged = Judged {
            number: 1,
            trial,
            verdict: Verdict::Lossless,
        };
        let profiled = Profiled {
            polls_a_frame: Some(0.125),
            ..Profiled::new(judged, 0, None, &[])
        };
        let tried = Tried::new(&profiled).expect("a cost");
        assert!((tried.cpus - 0.98).abs() < 1e-9, "{}", tried.cpus);
    }

    #[test]
    fn distances_are_not_fitted_together() {
        let mut all = lower(NEAR_NS);
        all.extend(lower(320.0).into_iter().take(4));
        let saturated = [tried(1.6e6, 0.0, 320.0), tried(1e6, 0.0, NEAR_NS)];
        let model = fit(&whole(&saturated, all), true).expect("a model");
        assert_eq!((model.loads, model.measured_fps), (5, 1e6));
        assert!((model.predicted_fps - 2e6).abs() < 1.0, "{model:?}");
    }

    /// A trial in turns in a state in which all takes `times` as long; the maximum is 2 million there where that is 1.
    fn turned(times: f64) -> Turned {
        let at = |fps: f64, wakes: f64| AtLoad {
            offered: Rate::from_fps(fps),
            forwards: Rate::from_fps(fps),
            wakes_a_frame: wakes,
            frame_ns: times * (500.0 + 2_000.0 * wakes),
            busy_share: 1.0,
            windows: 15,
        };
        Turned {
            overload: AtLoad {
                forwards: Rate::from_fps(2e6 / times),
                ..at(2.3e6, 0.0)
            },
            lower: [0.01, 0.1, 0.3, 0.5, 0.6].map(|wakes| Some(at(1e6 - 1e6 * wakes, wakes))),
        }
    }

    #[test]
    fn loads_in_turns_are_fitted_across_states() {
        let mut measured = Measured {
            turned: [1.0, 1.2, 1.7].map(turned).into(),
            polls: vec![0.125; SHARES.len() + 1],
            ..Measured::default()
        };
        let model = fit(&measured, true).expect("a model");
        let counted = (model.loads, model.windows, model.trials_in_turns);
        assert_eq!(counted, (15, Some(225), Some(3)));
        // In the state of the middle one, and all trials agree.
        let range = model.error_range.expect("an interval");
        assert!(
            range.high - range.low < 0.02 && !model.is_unsure,
            "{model:?}"
        );
        // A frame costs 600 ns there, and a wake-up 2 400.
        let ranges = model.term_ranges_ns.clone().expect("ranges");
        let is_within = |term: usize, low: f64, high: f64| {
            let range = ranges.get(term).expect("a term");
            (low..range.high).contains(&range.low) && range.high < high
        };
        assert!(
            is_within(0, 590.0, 610.0) && is_within(1, 2_350.0, 2_450.0),
            "{ranges:?}"
        );
        let each = [model.measured_fps, model.predicted_fps].map(|fps| fps * 1.2 / 2e6);
        assert!(
            each.iter().all(|part| (part - 1.0).abs() < 0.02),
            "{model:?}"
        );
        measured.polls.clear();
        let why = fit(&measured, true).expect_err("no polls");
        assert!(matches!(why, NoModel::Short(_)), "{why}");
        // Two trials are too few, and whole ones there are none.
        measured.turned.pop();
        let why = fit(&measured, true).expect_err("too few");
        assert!(why.to_string().contains("nothing"), "{why}");
    }

    #[test]
    fn trials_that_disagree_leave_a_wide_interval() {
        let mut trials = [1.0; 4].map(turned);
        // Overloads of one trial are 30 % slower than its lower loads say.
        trials[0].overload.forwards = Rate::from_fps(1.4e6);
        let mut measured = Measured {
            turned: trials.into(),
            polls: vec![0.125; SHARES.len() + 1],
            ..Measured::default()
        };
        let model = fit(&measured, true).expect("a model");
        let range = model.error_range.expect("an interval");
        assert!(
            model.is_unsure && range.low < 0.0 && range.high > 0.2,
            "{model:?}"
        );
        // More trials that agree narrow it.
        measured.turned.extend([1.0; 12].map(turned));
        let more = fit(&measured, true).expect("a model");
        assert!(!more.is_unsure && more.error_ratio < 0.05, "{more:?}");
        // Trials that agree on a large error.
        for trial in &mut measured.turned {
            trial.overload.forwards = Rate::from_fps(1.5e6);
        }
        let off = fit(&measured, true).expect("a model");
        assert!(!off.is_unsure && off.error_ratio > 0.1, "{off:?}");
        // One whole trial at saturation says nothing of the next.
        let measured = whole(&[tried(1.6e6, 0.0, NEAR_NS)], lower(NEAR_NS));
        let whole = fit(&measured, true).expect("a model");
        assert!(whole.is_unsure && whole.error_range.is_none());
        assert_eq!(whole.term_ranges_ns, None);
    }

    #[test]
    fn a_model_that_cannot_be_says_why() {
        let saturated = [tried(1.6e6, 0.0, NEAR_NS)];
        let few = [tried(1e6, 0.1, NEAR_NS)];
        let why = |saturated: &[Tried], is_cpu| {
            let none = fit(&whole(saturated, few.to_vec()), is_cpu).expect_err("none");
            none.to_string()
        };
        assert!(why(&saturated, true).contains("needs 5"));
        assert!(why(&saturated, false).contains("not the limit"));
        assert!(why(&[], true).contains("nothing"));
    }
}
