//! Turns of a screen in one state of the machine: which state that is, what each turn cost there, and whole blocks.

use crate::compare::{is_overloaded, rate};
use crate::distance::{At, Distance, MachineState};
use crate::saturation::{Block, PAIR_WINDOWS_MIN};
use crate::statistics::median;

/// What the turns of a screen say of one state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InOneState {
    /// Cost of a frame in each turn that tells one, ns: by run, in the order of time.
    pub costs: Vec<Vec<f64>>,
    /// Turns with too few windows there.
    pub elsewhere: u32,
    /// Turns that forwarded there all that was sent: their runs, and how much, fps.
    pub short: Vec<(usize, f64)>,
    /// Where the CPUs were and how fast the DUT's was; `None` where nobody timed it.
    pub at: Option<At>,
}

/// The costs of all turns, by run, in the state in which most of them have windows enough. All turns are alike to that
/// choice, and what they forwarded is not asked. With `overloads` only turns count that were overloaded there.
#[must_use]
pub fn in_one_state(turns: &[Vec<Block>], overloads: bool) -> InOneState {
    let all: Vec<&Block> = turns.iter().flatten().collect();
    let state = State::from_turns(&all);
    let mut found = InOneState::default();
    let mut states = Vec::new();
    for (run, turns) in turns.iter().enumerate() {
        let mut costs = Vec::new();
        for turn in turns {
            let part = state.as_ref().and_then(|state| state.part_of(turn));
            let told = part.and_then(|part| Some((rate(&part)?, part.ns_per_frame?, part)));
            let Some((fps, ns, part)) = told else {
                found.elsewhere += 1;
                continue;
            };
            if overloads && !is_overloaded(&part, fps) {
                found.short.push((run, fps));
                continue;
            }
            costs.push(ns);
            states.extend(part.distance.steady());
        }
        found.costs.push(costs);
    }
    let over = |of: fn(&At) -> Option<f64>| {
        let known = states.iter().filter_map(of);
        median(&known.collect::<Vec<_>>())
    };
    found.at = over(|at| Some(at.round_trip_ns)).map(|round_trip_ns| At {
        round_trip_ns,
        work_ns: over(|at| at.work_ns),
    });
    found
}

/// The state of the machine in which all turns are compared.
enum State {
    /// The windows that were in this one.
    Windows(MachineState),
    /// Whole turns at this distance: nobody timed the windows, or the DUT's CPU was not busy in them.
    Whole(Distance),
}

impl State {
    /// `None`: no turn was in one state.
    fn from_turns(turns: &[&Block]) -> Option<Self> {
        let saturated = turns.iter().filter(|turn| turn.is_saturated());
        let windows: Vec<&[_]> = saturated.map(|turn| &turn.windows[..]).collect();
        let are_most = 2 * windows.len() >= turns.len();
        let state = are_most.then(|| MachineState::from_loads(&[windows], usize::MAX));
        (state.flatten().map(Self::Windows)).or_else(|| Self::from_whole_turns(turns))
    }

    /// The distance of most turns.
    fn from_whole_turns(turns: &[&Block]) -> Option<Self> {
        let distances = turns.iter().map(|turn| turn.distance);
        let steady = distances.filter(|one| *one != Distance::Changed);
        let there = |one: &Distance| {
            let alike = |turn: &&&Block| one.with(turn.distance) != Distance::Changed;
            turns.iter().filter(alike).count()
        };
        steady.max_by_key(there).map(Self::Whole)
    }

    /// What of a turn was in this state: its windows where the DUT's CPU was busy in all of them, else all or nothing.
    fn part_of(&self, turn: &Block) -> Option<Block> {
        let are_timed = turn.windows.iter().any(|window| window.work_ns.is_some());
        let is_there = match (self, turn.distance) {
            (Self::Windows(state), _) if turn.is_saturated() && are_timed => {
                let part = turn.at(state);
                return part.filter(|part| part.windows.len() >= PAIR_WINDOWS_MIN);
            }
            (Self::Windows(state), Distance::Steady(at)) => state.holds_all(&at),
            (Self::Windows(_), Distance::Unknown | Distance::Changed) => false,
            (Self::Whole(here), there) => here.with(there) != Distance::Changed,
        };
        is_there.then(|| turn.clone())
    }
}

/// Whole blocks of what turns cost, by run: the first turn of each run, then the second of each, and so on.
#[must_use]
pub fn whole_blocks(costs: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let whole = costs.iter().map(Vec::len).min().unwrap_or(0);
    let block = |number: usize| (costs.iter().filter_map(|run| run.get(number).copied())).collect();
    (0..whole).map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::saturation::Window;
    use crate::units::{Rate, Span};

    /// So many windows at this time for the work, in which this many frames were forwarded each.
    fn windows(number: usize, work_ns: u64, forwarded: u64) -> Vec<Window> {
        let window = Window {
            duration: Span::from_millis(10),
            forwarded,
            round_trip_ns: Some(80),
            work_ns: Some(work_ns),
            ..Window::default()
        };
        vec![window; number]
    }

    /// A turn at overload that took all of the CPU.
    fn turn(windows: &[Vec<Window>]) -> Block {
        let windows = windows.concat();
        let frames: u64 = windows.iter().map(|window| window.forwarded).sum();
        Block {
            sent: Rate::from_fps(3e6),
            lost: 0.0,
            busiest: Some(1.0),
            threads: None,
            ns_per_frame: Some(1e7 * windows.len() as f64 / frames as f64),
            distance: Distance::Changed,
            windows,
        }
    }

    #[test]
    fn turns_are_compared_by_windows_of_one_state() {
        // No turn was in one state all the time. Three had windows enough of each: of the two states the faster counts.
        let [shared, whole] = [|n| windows(n, 400, 10_000), |n| windows(n, 240, 20_000)];
        let turns = [
            vec![
                turn(&[shared(10), whole(30)]),
                turn(&[shared(37), whole(3)]),
            ],
            vec![
                turn(&[shared(5), whole(35)]),
                turn(&[shared(12), whole(28)]),
            ],
        ];
        let found = in_one_state(&turns, true);
        let near = |costs: &Vec<f64>| costs.iter().all(|ns| (ns - 500.0).abs() < 1e-6);
        assert!(found.costs.iter().all(near), "{found:?}");
        assert_eq!(found.costs.concat().len(), 3, "3 windows are too few");
        assert_eq!(
            (found.elsewhere, found.at.and_then(|at| at.work_ns)),
            (1, Some(240.0))
        );
        assert_eq!(whole_blocks(&found.costs).len(), 1);
    }

    #[test]
    fn a_turn_has_to_be_overloaded_in_the_state() {
        let slow = turn(&[windows(20, 400, 10_000), windows(20, 240, 20_000)]);
        let short = Block {
            sent: Rate::from_fps(2e6),
            lost: 0.0,
            ..slow.clone()
        };
        let turns = [vec![slow.clone(), slow, short]];
        let found = in_one_state(&turns, true);
        assert_eq!(
            (found.costs[0].len(), &found.short[..]),
            (2, &[(0, 2e6)][..])
        );
        assert_eq!(in_one_state(&turns, false).costs[0].len(), 3);
    }

    #[test]
    fn a_cpu_with_time_left_tells_only_whole_turns() {
        let idle = |work_ns, distance| Block {
            busiest: Some(0.6),
            distance,
            ..turn(&[windows(40, work_ns, 10_000)])
        };
        let at = |work_ns: u64| {
            Distance::Steady(At {
                round_trip_ns: 80.0,
                work_ns: Some(work_ns as f64),
            })
        };
        let (fast, slow) = (idle(240, at(240)), idle(400, at(400)));
        let turns = [
            vec![fast.clone(), slow.clone()],
            vec![fast, idle(240, Distance::Changed)],
        ];
        let found = in_one_state(&turns, false);
        assert_eq!((found.costs, found.elsewhere), (vec![vec![1000.0]; 2], 2));
        // Beside turns that took all of the CPU, it has to be in their state.
        let busy = turn(&[windows(40, 400, 10_000)]);
        let turns = [
            vec![busy.clone(), busy.clone()],
            vec![slow, idle(240, at(240))],
        ];
        let found = in_one_state(&turns, false);
        assert_eq!((found.costs[1].len(), found.elsewhere), (1, 1));
    }

    #[test]
    fn without_times_whole_turns_of_one_distance_count() {
        let far = 310.0;
        let at = |ns_per_frame, distance_ns| Block {
            ns_per_frame: Some(ns_per_frame),
            distance: Distance::at(distance_ns),
            windows: vec![Window {
                duration: Span::from_millis(10),
                forwarded: 9_000,
                ..Window::default()
            }],
            ..turn(&[windows(1, 240, 9_000)])
        };
        let turns = [
            vec![at(500.0, 60.0), at(700.0, far)],
            vec![at(710.0, far)],
            vec![at(520.0, 60.0), at(720.0, far), at(999.0, far)],
        ];
        let found = in_one_state(&turns, true);
        assert_eq!(whole_blocks(&found.costs), [[700.0, 710.0, 720.0]]);
        assert_eq!(
            (found.elsewhere, found.at),
            (
                2,
                Some(At {
                    round_trip_ns: far,
                    work_ns: None
                })
            )
        );
        assert_eq!(
            in_one_state(&[vec![], vec![]], true).costs,
            [[], []] as [[f64; 0]; 2]
        );
    }
}
