//! What a frame cost at loads that took turns in one trial.

use super::SHARES;
use crate::trial::turn_at;
use mpps_method::cost_model::{Batching, Point};
use mpps_method::limit::BUSY;
use mpps_method::saturation::Window;
use mpps_method::{Rate, compare, statistics};

/// Windows that a load needs.
const WINDOWS_MIN: usize = 3;
/// A window counts where the fixed piece of work took at most this part more than in the trial's fastest windows. In the
/// others another guest had the core's other thread.
const AS_FAST: f64 = 1.15;
/// A router forwards more than this multiple of a load only while its ring drains.
const DRAINS: f64 = 1.02;
/// The fastest windows: this part of all.
const FASTEST: f64 = 0.1;

/// One load in its turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AtLoad {
    pub offered: Rate,
    pub forwards: Rate,
    pub wakes_a_frame: f64,
    pub frame_ns: f64,
    /// Of all threads together.
    pub busy_share: f64,
    pub windows: usize,
}

/// A trial of the overload and of each lower load, with `None` where it has too few windows of one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turned {
    pub overload: AtLoad,
    pub lower: [Option<AtLoad>; SHARES.len()],
}

/// Turns of a round: the lower loads, rising, then two of the overload. A full ring drains in the first window of the
/// lowest load, which does not count.
const ROUND: usize = SHARES.len() + 2;
/// Turns of the overload without the sampler, and with it. Neither always comes first.
const PLAIN: [usize; 2] = [ROUND - 2, 2 * ROUND - 1];
const SAMPLED: [usize; 2] = [ROUND - 1, 2 * ROUND - 2];

/// The loads of such a trial in the order of their turns, two rounds.
pub(super) fn loads(overload: Rate, maximum: f64) -> Vec<Rate> {
    let lower = SHARES.map(|share| Rate::from_fps(maximum * share));
    let round = lower.into_iter().rev().chain([overload; 2]);
    round.clone().chain(round).collect()
}

/// The turns of a lower load, by its place among the shares.
const fn turns_of(share: usize) -> [usize; 2] {
    let turn = SHARES.len() - 1 - share;
    [turn, ROUND + turn]
}

/// Whether the sampler is on at a moment, monotonic ns.
pub(super) fn is_sampled(ns: u64) -> bool {
    SAMPLED.contains(&turn_at(ns, 2 * ROUND))
}

/// The windows of a trial by load.
#[derive(Clone, Debug)]
pub(super) struct Windows<'a> {
    loads: &'a [Rate],
    windows: &'a [Vec<Window>],
    /// The slowest fixed piece of work of a window that counts, ns; `None` where nobody timed it.
    slowest_ns: Option<f64>,
}

impl<'a> Windows<'a> {
    pub fn new(loads: &'a [Rate], windows: &'a [Vec<Window>]) -> Self {
        let undisturbed = windows.iter().flatten().filter(|one| !one.disturbed);
        let works = undisturbed.filter_map(|one| one.work_ns);
        let works: Vec<f64> = works.map(|ns| ns as f64).collect();
        Self {
            loads,
            windows,
            slowest_ns: statistics::quantile(&works, FASTEST).map(|ns| ns * AS_FAST),
        }
    }

    /// The load of these turns, and those of their windows that count; `None` where they are too few.
    fn counted_in(&self, turns: &[usize]) -> Option<(Rate, Vec<&'a Window>)> {
        let load = *self.loads.get(*turns.first()?)?;
        let counts = |window: &&Window| {
            let is_fast = |slowest| window.work_ns.is_some_and(|ns| ns as f64 <= slowest);
            let offered = load.fps() * window.duration.as_secs_f64();
            // A ring that drains forwards more than is offered.
            let drains = window.forwarded as f64 > DRAINS * offered;
            !window.disturbed && !drains && self.slowest_ns.is_none_or(is_fast)
        };
        let windows = turns.iter().filter_map(|&turn| self.windows.get(turn));
        let windows: Vec<&Window> = windows.flatten().filter(counts).collect();
        (windows.len() >= WINDOWS_MIN).then_some((load, windows))
    }

    /// What the router forwarded, frames/s; `None` where it was offered no more than that.
    fn overloaded(&self, turns: &[usize]) -> Option<f64> {
        let (load, windows) = self.counted_in(turns)?;
        let fps = rate(&windows)?;
        compare::is_overload(load, fps).then_some(fps)
    }

    /// What the router forwarded in turns with the sampler, as a part of what it forwarded in the turns beside them.
    pub fn looking(&self) -> Option<f64> {
        let pairs = SAMPLED.into_iter().zip(PLAIN);
        let ratios = pairs.filter_map(|(sampled, plain)| {
            Some(self.overloaded(&[sampled])? / self.overloaded(&[plain])?)
        });
        statistics::mean(&ratios.collect::<Vec<_>>())
    }

    /// All of the overload that the router forwarded: it was none.
    pub fn forwarded_all(&self) -> Option<Rate> {
        let (load, windows) = self.counted_in(&PLAIN)?;
        let fps = rate(&windows)?;
        (!compare::is_overload(load, fps)).then(|| Rate::from_fps(fps))
    }
}

/// Frames/s over all of these windows.
fn rate(windows: &[&Window]) -> Option<f64> {
    let frames = sum(windows, |window| Some(window.forwarded))?;
    Some(frames * 1e9 / sum(windows, |window| Some(window.duration.as_nanos()))?)
}

/// Of all windows; `None` where one does not tell.
fn sum(windows: &[&Window], of: impl Fn(&Window) -> Option<u64>) -> Option<f64> {
    let each = windows.iter().map(|window| of(window));
    Some(each.sum::<Option<u64>>()? as f64)
}

impl Turned {
    /// `None` where nobody accounts for the threads by the window, or where the router was not overloaded.
    pub fn new(windows: &Windows<'_>) -> Option<Self> {
        let at = |turns: [usize; 2]| AtLoad::new(windows.counted_in(&turns)?);
        let overload = at(PLAIN)?;
        let is_over = |at: &AtLoad| compare::is_overload(at.offered, at.forwards.fps());
        // Windows are accounted for on one CPU alone, whatever the number of threads on it.
        let is_busy = overload.busy_share >= BUSY;
        // In a slow state of the machine the highest lower load may be an overload.
        let lower = |share| at(turns_of(share)).filter(|at| !is_over(at));
        (is_busy && is_over(&overload)).then(|| Self {
            overload,
            lower: std::array::from_fn(lower),
        })
    }
}

impl AtLoad {
    fn new((offered, windows): (Rate, Vec<&Window>)) -> Option<Self> {
        let frames =
            sum(&windows, |window| Some(window.forwarded)).filter(|frames| *frames > 0.0)?;
        let time_ns = sum(&windows, |window| Some(window.duration.as_nanos()))?;
        let busy_ns = sum(&windows, |window| Some(window.busy?.time.as_nanos()))?;
        Some(Self {
            offered,
            forwards: Rate::from_fps(rate(&windows)?),
            wakes_a_frame: sum(&windows, |window| Some(window.busy?.wakes))? / frames,
            frame_ns: busy_ns / frames,
            busy_share: busy_ns / time_ns,
            windows: windows.len(),
        })
    }

    /// The cost here in another trial's state of the machine, where all costs are `times` as high.
    pub fn point(&self, polls: f64, times: f64) -> Point {
        Point {
            batching: Batching {
                wakes: self.wakes_a_frame,
                polls,
            },
            cost_ns: self.frame_ns * times,
        }
    }
}

/// How many times as high the costs of each trial would be in the state of all of them together: what the lower loads say,
/// so that nothing of it comes from the overload that they predict.
pub(super) fn times(trials: &[Turned]) -> Vec<f64> {
    let cost = |trial: &Turned, load: usize| trial.lower.get(load)?.map(|at| at.frame_ns);
    let median = |load: usize| {
        let costs = trials.iter().filter_map(|trial| cost(trial, load));
        statistics::median(&costs.collect::<Vec<_>>())
    };
    let usual: Vec<Option<f64>> = (0..SHARES.len()).map(median).collect();
    let of_trial = |trial: &Turned| {
        let ratios = usual.iter().enumerate().filter_map(|(load, usual)| {
            let own = cost(trial, load)?;
            Some((*usual)? / own)
        });
        statistics::mean(&ratios.collect::<Vec<_>>()).unwrap_or(1.0)
    };
    trials.iter().map(of_trial).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::TURN_NS;
    use mpps_method::Span;
    use mpps_method::saturation::Busy;

    const OVERLOAD: Rate = Rate::from_fps(2e6);

    /// Windows of 10 ms in which a frame takes `ns`.
    fn windows(fps: f64, ns: f64, work_ns: u64) -> Vec<Window> {
        let forwarded = (fps / 100.0) as u64;
        let window = Window {
            duration: Span::from_millis(10),
            forwarded,
            work_ns: Some(work_ns),
            busy: Some(Busy {
                time: Span::from_nanos((forwarded as f64 * ns) as u64),
                wakes: forwarded / 10,
            }),
            ..Window::default()
        };
        vec![window; 4]
    }

    /// Both rounds of a trial; with the sampler the router forwards a tenth less.
    fn turned(times: f64) -> Vec<Vec<Window>> {
        let over = |fps: f64| windows(fps / times, 1_000.0 * times, 200);
        let lower = SHARES.map(|share| windows(1e6 * share, 1_500.0 * times, 200));
        let mut all = vec![Vec::new(); 2 * ROUND];
        for (share, of_share) in lower.iter().enumerate() {
            for turn in turns_of(share) {
                all[turn].clone_from(of_share);
            }
        }
        for turn in PLAIN {
            all[turn] = over(1e6);
        }
        for turn in SAMPLED {
            all[turn] = over(9e5);
        }
        all
    }

    fn found(windows: &[Vec<Window>]) -> Option<Turned> {
        Turned::new(&Windows::new(&loads(OVERLOAD, 1e6), windows))
    }

    #[test]
    fn slow_windows_and_draining_ones_do_not_count() {
        let mut all = turned(1.0);
        let [turn, _] = turns_of(0);
        all[turn].extend(windows(9e5, 3_000.0, 320));
        all[turn].extend(windows(1e6, 1_000.0, 200));
        let found = found(&all).expect("a trial");
        let first = found.lower[0].expect("a load");
        assert_eq!((first.windows, first.frame_ns), (8, 1_500.0));
        assert!((found.overload.forwards.fps() - 1e6).abs() < 1.0);
    }

    #[test]
    fn the_sampler_costs_what_its_turns_lack() {
        let all = turned(1.0);
        let loads = loads(OVERLOAD, 1e6);
        let windows = Windows::new(&loads, &all);
        let ratio = windows.looking().expect("both");
        assert!((ratio - 0.9).abs() < 1e-6, "{ratio}");
        assert_eq!(windows.forwarded_all(), None);
        let is_on = |turn: &u64| is_sampled(turn * TURN_NS + 5);
        let on: Vec<u64> = (0..2 * ROUND as u64).filter(is_on).collect();
        assert_eq!(on, SAMPLED.map(|turn| turn as u64));
        assert!(PLAIN.iter().all(|turn| loads[*turn] == OVERLOAD));
        let rises = |round: &[Rate]| round.windows(2).all(|two| two[0].fps() <= two[1].fps());
        assert!(loads.chunks(ROUND).all(rises), "{loads:?}");
    }

    #[test]
    fn an_overload_is_no_lower_load() {
        let mut all = turned(1.0);
        // Nine tenths of the maximum were offered, and half of it was forwarded.
        for turn in turns_of(0) {
            all[turn] = windows(5e5, 1_000.0, 200);
        }
        let trial = found(&all).expect("a trial");
        assert_eq!((trial.lower[0], trial.lower[1].is_some()), (None, true));
        // A router that forwards all is not at its maximum.
        for turn in PLAIN {
            all[turn] = windows(2e6, 400.0, 200);
        }
        assert_eq!(found(&all), None);
        let loads = loads(OVERLOAD, 1e6);
        let forwarded = Windows::new(&loads, &all).forwarded_all();
        assert!(forwarded.is_some_and(|rate| (rate.fps() - 2e6).abs() < 1.0));
        all = turned(1.0);
        all[PLAIN[0]][1].busy = None;
        assert_eq!(found(&all), None);
    }

    #[test]
    fn lower_loads_bring_trials_to_one_state() {
        let trials = [1.0, 1.3, 2.0].map(|times| {
            let mut all = turned(times);
            // What it took at overload says nothing.
            for turn in PLAIN {
                all[turn] = windows(1e5, 9_999.0, 200);
            }
            found(&all).expect("a trial")
        });
        let found = times(&trials);
        for (found, wanted) in found.iter().zip([1.3, 1.0, 0.65]) {
            assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
        }
    }
}
