//! What a router would forward at overload in one fixed state of the machine.
//!
//! A hypervisor moves CPUs about and gives other guests a core's second thread, so the trials of one run are in many
//! states, and two runs see different ones. What a trial forwarded goes with two readings on which frames have no
//! influence: the round trip of a cache line between the CPUs, and a fixed piece of work on the router's CPU.
//! docs/method.md has the measurements behind both powers.

use crate::interval::Interval;
use crate::saturation::{Block, Window};
use crate::statistics::{median, quantile, standard_deviation};
use crate::units::Rate;
use crate::window::WINDOWS_MIN;

/// The power of the round trip with which the cost of a frame goes.
const DISTANCE_POWER: f64 = 0.14;
/// That of the work.
const WORK_POWER: f64 = 1.75;
/// The round trip for which rates are told, ns.
pub const REFERENCE_ROUND_TRIP_NS: f64 = 100.0;
/// Full speed is this quantile of the work over all windows.
const FULL_SPEED_QUANTILE: f64 = 0.03;
/// Trials needed for an interval.
const TRIALS_MIN: usize = 6;
/// Rates of trials that lie closer together (standard deviation of their logarithms) need no correction.
const SPREAD_MIN: f64 = 0.05;
/// A correction that leaves more of the spread does not fit this machine.
const SPREAD_LEFT_MAX: f64 = 0.75;

/// A rate at full speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FullSpeed {
    /// What the router would forward, fps: over the trials' corrected rates.
    pub forwarding: Interval,
    /// The work at full speed, ns: the 3 % quantile over this run's windows.
    pub work_ns: f64,
    /// Trials that it comes from.
    pub trials: u32,
    /// The smallest and the largest round trip of these trials, ns: beyond them nothing was measured.
    pub round_trips_ns: (f64, f64),
}

/// What one trial forwarded, and the state of the machine meanwhile: logarithms of the medians over its windows.
struct Point {
    rate: f64,
    round_trip: f64,
    work: f64,
}

/// The fixed piece of work at full speed, ns. `None` where nobody timed it.
pub fn fastest_work_ns<'a>(windows: impl Iterator<Item = &'a Window>) -> Option<f64> {
    let works: Vec<f64> = windows
        .filter_map(|window| window.work_ns)
        .map(|ns| ns as f64)
        .collect();
    quantile(&works, FULL_SPEED_QUANTILE).filter(|ns| *ns > 0.0)
}

impl FullSpeed {
    /// Whether this run could have measured that rate: its trials were in such states, and the tester can offer as much.
    #[must_use]
    pub fn is_measurable(&self, ceiling: Rate) -> bool {
        let (least, most) = self.round_trips_ns;
        let seen = least..=most;
        seen.contains(&REFERENCE_ROUND_TRIP_NS) && self.forwarding.middle <= ceiling.fps()
    }

    /// From the trials at overload in which the router's CPU was busy all the time. `None` where they are too few, or alike
    /// without a correction, or not much more alike with it.
    #[must_use]
    pub fn from_blocks<'a>(blocks: impl Iterator<Item = &'a Block>) -> Option<Self> {
        let blocks = blocks.filter(|block| block.is_saturated() && block.is_overloaded());
        let timed: Vec<Vec<Window>> = blocks.map(timed).collect();
        let points: Vec<Point> = timed.iter().filter_map(|trial| Point::new(trial)).collect();
        let work_ns = fastest_work_ns(timed.iter().flatten())?;
        let corrected = |point: &Point| {
            point.rate
                + DISTANCE_POWER * (point.round_trip - REFERENCE_ROUND_TRIP_NS.ln())
                + WORK_POWER * (point.work - work_ns.ln())
        };
        let before: Vec<f64> = points.iter().map(|point| point.rate).collect();
        let after: Vec<f64> = points.iter().map(corrected).collect();
        let (before, left) = (standard_deviation(&before)?, standard_deviation(&after)?);
        let fits = before >= SPREAD_MIN && left <= SPREAD_LEFT_MAX * before;
        let rates: Vec<f64> = after.into_iter().map(f64::exp).collect();
        let forwarding = Interval::from_samples(&rates)?;
        let round_trips = || points.iter().map(|point| point.round_trip.exp());
        let round_trips_ns = (
            round_trips().fold(f64::INFINITY, f64::min),
            round_trips().fold(0.0, f64::max),
        );
        (fits && rates.len() >= TRIALS_MIN).then_some(Self {
            forwarding,
            work_ns,
            trials: rates.len() as u32,
            round_trips_ns,
        })
    }
}

impl Point {
    fn new(windows: &[Window]) -> Option<Self> {
        let over = |of: fn(&Window) -> Option<f64>| {
            let values: Vec<f64> = windows.iter().filter_map(of).collect();
            let value = median(&values).filter(|value| *value > 0.0);
            value.filter(|_| values.len() >= WINDOWS_MIN).map(f64::ln)
        };
        Some(Self {
            rate: over(|one| Some(one.forwarded as f64 / one.duration.as_secs_f64()))?,
            round_trip: over(|one| one.round_trip_ns.map(|ns| ns as f64))?,
            work: over(|one| one.work_ns.map(|ns| ns as f64))?,
        })
    }
}

/// Its undisturbed windows in which both were timed.
fn timed(block: &Block) -> Vec<Window> {
    let is_timed = |one: &&Window| {
        let both = one.round_trip_ns.and(one.work_ns).is_some();
        both && !one.disturbed && one.duration > crate::units::Span::ZERO
    };
    block.windows.iter().filter(is_timed).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::units::{Rate, Span};

    /// A trial at overload in which each frame cost so much, ns, with these readings.
    fn trial(ns: f64, round_trip_ns: u64, work_ns: u64) -> Block {
        let window = |_| Window {
            duration: Span::from_millis(8),
            forwarded: (8e6 / ns) as u64,
            round_trip_ns: Some(round_trip_ns),
            work_ns: Some(work_ns),
            ..Window::default()
        };
        Block {
            sent: Rate::from_fps(3e6),
            lost: 0.0,
            busiest: Some(1.0),
            threads: None,
            windows: (0..40).map(window).collect(),
            ..Block::default()
        }
    }

    /// A router that costs 650 ns a frame at 100 ns and 200 ns, in these states.
    fn router(states: &[(u64, u64)]) -> Vec<Block> {
        let cost = |&(trip, work): &(u64, u64)| {
            let (trip_power, work_power) = (0.16, 1.9);
            let slower =
                (trip as f64 / 100.0).powf(trip_power) * (work as f64 / 200.0).powf(work_power);
            trial(650.0 * slower, trip, work)
        };
        states.iter().map(cost).collect()
    }

    fn rate(blocks: &[Block]) -> Option<f64> {
        FullSpeed::from_blocks(blocks.iter()).map(|found| found.forwarding.middle)
    }

    #[test]
    fn runs_in_different_states_tell_one_rate() {
        let near = router(&[
            (60, 200),
            (60, 240),
            (70, 240),
            (60, 245),
            (330, 200),
            (60, 240),
        ]);
        let far = router(&[
            (330, 240),
            (400, 240),
            (330, 200),
            (410, 235),
            (60, 205),
            (350, 240),
        ]);
        for blocks in [near, far] {
            let fps = rate(&blocks).expect("a rate");
            assert!((fps * 650.0 / 1e9 - 1.0).abs() < 0.06, "{fps}");
        }
    }

    #[test]
    fn what_the_readings_do_not_follow_is_not_corrected() {
        // All in one state.
        assert_eq!(rate(&router(&[(60, 200); 9])), None);
        // The rate moves against the work.
        let against: Vec<Block> = (0..9)
            .map(|at| trial(900.0 - 40.0 * at as f64, 60, 200 + 5 * at))
            .collect();
        assert_eq!(rate(&against), None);
    }

    #[test]
    fn too_little_is_no_rate() {
        let states = [
            (60, 200),
            (330, 240),
            (60, 240),
            (60, 205),
            (330, 200),
            (400, 240),
        ];
        let all = router(&states);
        assert!(rate(&all).is_some());
        assert_eq!(rate(&all[1..]), None);
        // The router's CPU had time left in one of them.
        let mut idle = all.clone();
        idle[0].busiest = Some(0.8);
        assert_eq!(rate(&idle), None);
        // Nobody timed the work.
        let mut untimed = all;
        for window in untimed.iter_mut().flat_map(|block| &mut block.windows) {
            window.work_ns = None;
        }
        assert_eq!(rate(&untimed), None);
        assert_eq!(rate(&[]), None);
    }

    #[test]
    fn a_rate_beyond_the_run_is_not_measurable() {
        let could = |round_trips_ns, ceiling| {
            let found = FullSpeed {
                forwarding: Interval::from_value(1.5e6),
                work_ns: 196.4,
                trials: 9,
                round_trips_ns,
            };
            found.is_measurable(Rate::from_fps(ceiling))
        };
        assert!(could((80.0, 210.0), 3e6));
        assert!(!could((80.0, 210.0), 1.4e6), "above the tester's ceiling");
        assert!(
            !could((150.0, 210.0), 3e6),
            "of a state that no trial was in"
        );
    }
}
