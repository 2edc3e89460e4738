//! How far apart the tester's CPU and the DUT's were and how fast the latter worked, and which trials and windows were in
//! one such state.

use crate::statistics::{median, quantile};
use crate::trial::{CpuExchange, Trial};
use crate::window::{WINDOWS_MIN, Window};

/// How far apart the tester's CPU and the DUT's were during a trial: the round trip of a cache line between them. A
/// hypervisor that moves CPUs about changes what a frame costs by a quarter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Distance {
    /// Nobody timed it.
    #[default]
    Unknown,
    /// The same all the time.
    Steady(At),
    /// It changed meanwhile.
    Changed,
}

/// Where the CPUs of a trial were, and how fast the DUT's was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct At {
    /// The round trip, ns.
    pub round_trip_ns: f64,
    /// The fixed piece of work, ns; `None` where nobody timed it.
    pub work_ns: Option<f64>,
}

impl At {
    /// The medians over a trial's windows; it may have been in this state for less than half of its time. Without timed
    /// windows its steady distance, if it had one.
    #[must_use]
    pub fn mostly(trial: &Trial) -> Option<Self> {
        let over = |of: fn(&Window) -> Option<u64>| median(&known(&trial.windows, of));
        let Some(round_trip_ns) = over(|one| one.round_trip_ns) else {
            return Distance::from_trial(trial).steady();
        };
        Some(Self {
            round_trip_ns,
            work_ns: over(|one| one.work_ns),
        })
    }

    fn work_or_never(&self) -> f64 {
        self.work_ns.unwrap_or(f64::INFINITY)
    }

    /// Whether both may be one state: what nobody timed may be any.
    #[must_use]
    pub fn may_be_same(one: Option<Self>, other: Option<Self>) -> bool {
        one.zip(other)
            .is_none_or(|(one, other)| one.is_same(&other))
    }

    /// Whether the machine was in the same state, as far as anybody knows.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let works = self.work_ns.zip(other.work_ns);
        is_same_distance(self.round_trip_ns, other.round_trip_ns)
            && works.is_none_or(|(one, other)| one.max(other) <= SAME_SPEED * one.min(other))
    }
}

impl Distance {
    /// This round trip all the time, at a speed that nobody knows.
    #[must_use]
    pub const fn at(round_trip_ns: f64) -> Self {
        Self::Steady(At {
            round_trip_ns,
            work_ns: None,
        })
    }

    /// That of a trial that had one all the time; `None` where it changed, or nobody timed it.
    #[must_use]
    pub const fn steady(self) -> Option<At> {
        match self {
            Self::Steady(at) => Some(at),
            Self::Unknown | Self::Changed => None,
        }
    }

    /// Of a trial: by its windows, else by what was timed before and after it.
    #[must_use]
    pub fn from_trial(trial: &Trial) -> Self {
        let known = |of: fn(&Window) -> Option<u64>| known(&trial.windows, of);
        let (round_trips, works) = (known(|one| one.round_trip_ns), known(|one| one.work_ns));
        if !round_trips.is_empty() {
            let round_trip_ns = steady(&round_trips, SAME_DISTANCE);
            let work_ns = steady(&works, SAME_SPEED);
            let at = |(round_trip_ns, work_ns)| At {
                round_trip_ns,
                work_ns: Some(work_ns),
            };
            return (round_trip_ns.zip(work_ns).map(at)).map_or(Self::Changed, Self::Steady);
        }
        let Some(CpuExchange { before, after }) = trial.exchange else {
            return Self::Unknown;
        };
        Self::from_round_trips(before.as_nanos() as f64, after.as_nanos() as f64)
    }

    /// Of a trial, by the round trips just before and after it, ns.
    #[must_use]
    pub fn from_round_trips(before: f64, after: f64) -> Self {
        if !is_same_distance(before, after) {
            return Self::Changed;
        }
        Self::at(before.midpoint(after))
    }

    /// Of a pair of trials: that of both, where it is the same.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Steady(one), Self::Steady(other)) if one.is_same(&other) => {
                let works = one.work_ns.zip(other.work_ns);
                Self::Steady(At {
                    round_trip_ns: one.round_trip_ns.midpoint(other.round_trip_ns),
                    work_ns: works.map(|(one, other)| one.midpoint(other)),
                })
            }
            (Self::Steady(_), Self::Steady(_)) | (Self::Changed, _) | (_, Self::Changed) => {
                Self::Changed
            }
            _ => Self::Unknown,
        }
    }
}

/// Known values of windows, sorted; none where less than half are known.
fn known(windows: &[Window], of: fn(&Window) -> Option<u64>) -> Vec<f64> {
    let mut known: Vec<f64> = (windows.iter())
        .filter_map(|window| Some(of(window)? as f64))
        .collect();
    if 2 * known.len() < windows.len() {
        known.clear();
    }
    known.sort_by(f64::total_cmp);
    known
}

/// The median of the largest group of sorted values up to this factor apart, where nearly all are in it.
fn steady(sorted: &[f64], factor: f64) -> Option<f64> {
    let group = |(begin, &least): (usize, &f64)| {
        let end = sorted.partition_point(|&value| value <= factor * least);
        sorted.get(begin..end)
    };
    let groups = sorted.iter().enumerate().filter_map(group);
    let largest = groups.max_by_key(|group| group.len())?;
    median(largest).filter(|_| largest.len() as f64 >= STEADY * sorted.len() as f64)
}

/// A state of the machine: how far apart the CPUs are, and how fast the DUT's works. The core of a shared machine takes half
/// as long again while another guest works on its other thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineState {
    /// The least round trip; the most is [`SAME_DISTANCE`] times it.
    round_trip_ns: f64,
    /// The least time for a piece of work.
    work_ns: f64,
    /// The most, as a multiple of it.
    speeds: f64,
}

impl MachineState {
    /// Whether an undisturbed window was there.
    #[must_use]
    pub fn holds(&self, window: &Window) -> bool {
        let within = |value: Option<u64>, least: f64, factor: f64| {
            value.is_some_and(|ns| (least..=factor * least).contains(&(ns as f64)))
        };
        !window.disturbed
            && within(window.round_trip_ns, self.round_trip_ns, SAME_DISTANCE)
            && within(window.work_ns, self.work_ns, self.speeds)
    }

    /// The same, also for a CPU that works up to a fifth faster: without the router's wait for memory.
    #[must_use]
    pub(crate) fn or_faster(&self) -> Self {
        Self {
            work_ns: self.work_ns / SAME_SPEED,
            speeds: self.speeds * SAME_SPEED,
            ..*self
        }
    }

    /// Where most of the trials were, each of which has windows enough there; `wanted` trials of each load are enough. Of
    /// several such states that in which the DUT's CPU is fastest, then the one farther apart, then the one with the most
    /// windows. What was forwarded is not asked. `None` where nobody knows the states of half of the windows.
    #[must_use]
    pub(crate) fn from_loads(loads: &[Vec<&[Window]>], wanted: usize) -> Option<Self> {
        chosen(loads, wanted).map(|(held, _)| held.state)
    }

    /// That of each load: one state for both, where it holds as many trials of each as a state of its own and the DUT's CPU
    /// is as fast there. Else each has its own: a slow state of one load takes no fast one from the other.
    #[must_use]
    pub fn from_each_load(loads: &[Vec<&[Window]>; 2], wanted: usize) -> [Option<Self>; 2] {
        let own = loads
            .each_ref()
            .map(|load| chosen(std::slice::from_ref(load), wanted));
        let is_as_good = |(both, at): &(Held, At), (own, own_at): &(Held, At)| {
            both.trials >= own.trials.min(wanted)
                && at.work_or_never() <= ALIKE_SPEED * own_at.work_or_never()
        };
        let both = chosen(loads, wanted)
            .filter(|both| own.iter().flatten().all(|own| is_as_good(both, own)));
        match both {
            Some((both, _)) => [Some(both.state); 2],
            None => own.map(|one| one.map(|(held, _)| held.state)),
        }
    }

    /// Whether a trial was there long enough for that to be a state of it.
    #[must_use]
    pub fn is_state_of(&self, windows: &[Window]) -> bool {
        let there = windows.iter().filter(|window| self.holds(window)).count();
        let undisturbed = windows.iter().filter(|window| !window.disturbed).count();
        there >= WINDOWS_MIN.max(undisturbed / PART)
    }

    /// What was timed in the windows of these trials that were there: the medians.
    pub(crate) fn median<'a>(&self, trials: impl Iterator<Item = &'a [Window]>) -> Option<At> {
        let held: Vec<&Window> = (trials.flatten())
            .filter(|window| self.holds(window))
            .collect();
        let over = |of: fn(&Window) -> Option<u64>| {
            let known = held.iter().filter_map(|window| Some(of(window)? as f64));
            median(&known.collect::<Vec<_>>())
        };
        Some(At {
            round_trip_ns: over(|window| window.round_trip_ns)?,
            work_ns: Some(over(|window| window.work_ns)?),
        })
    }

    /// Whether a whole trial that was steady was there, as far as anybody knows.
    #[must_use]
    pub(crate) fn holds_all(&self, at: &At) -> bool {
        let within = |ns: f64, least: f64, factor: f64| (least..=factor * least).contains(&ns);
        let is_alike = |ns| within(ns, self.work_ns, self.speeds);
        within(at.round_trip_ns, self.round_trip_ns, SAME_DISTANCE)
            && at.work_ns.is_none_or(is_alike)
    }

    /// Where both trials of a pair have the most windows, and each at least so many.
    #[must_use]
    pub fn from_pair(one: &[Window], other: &[Window], wanted: usize) -> Option<Self> {
        let both = [vec![one], vec![other]];
        let tried = tried(&both).filter(|held| held.fewest >= wanted);
        let chosen = tried.max_by_key(|held| held.fewest);
        chosen.map(|held| held.state)
    }
}

/// The state that [`MachineState::from_loads`] tells of.
fn chosen(loads: &[Vec<&[Window]>], wanted: usize) -> Option<(Held, At)> {
    let mut tried: Vec<Held> = tried(loads).collect();
    let trials = |held: &Held| held.trials.min(wanted);
    let most = tried.iter().map(trials).max().filter(|most| *most > 0)?;
    tried.retain(|held| trials(held) == most);
    let mut timed: Vec<(Held, At)> = (tried.into_iter())
        .filter_map(|held| Some((held, held.state.median(loads.iter().flatten().copied())?)))
        .collect();
    let works = timed.iter().map(|(_, at)| at.work_or_never());
    let fastest = works.fold(f64::INFINITY, f64::min);
    timed.retain(|(_, at)| at.work_or_never() <= ALIKE_SPEED * fastest);
    let farthest = (timed.iter().map(|(_, at)| at.round_trip_ns)).fold(0.0, f64::max);
    timed.retain(|(_, at)| SAME_DISTANCE * at.round_trip_ns >= farthest);
    timed.into_iter().max_by_key(|(held, _)| held.windows)
}

/// What a state holds of some trials.
#[derive(Clone, Copy)]
struct Held {
    state: MachineState,
    /// Trials with windows enough there, in the load with the fewest of them.
    trials: usize,
    /// Windows of all, and of the trial with the fewest.
    windows: usize,
    fewest: usize,
}

impl Held {
    fn new(state: MachineState, loads: &[Vec<&[Window]>]) -> Option<Self> {
        let there =
            |windows: &&[Window]| windows.iter().filter(|window| state.holds(window)).count();
        let is_enough = |windows: &&&[Window]| state.is_state_of(windows);
        let measured = loads.iter().filter(|load| !load.is_empty());
        let trials = measured.map(|load| load.iter().filter(is_enough).count());
        Some(Self {
            state,
            trials: trials.min()?,
            windows: loads.iter().flatten().map(there).sum(),
            fewest: loads.iter().flatten().map(there).min()?,
        })
    }
}

/// States that trials of these loads may have had.
fn tried<'a>(loads: &'a [Vec<&'a [Window]>]) -> impl Iterator<Item = Held> + 'a {
    let all: Vec<&Window> = loads.iter().flatten().copied().flatten().collect();
    let undisturbed = all.iter().filter(|window| !window.disturbed);
    let known = undisturbed
        .filter_map(|window| Some((window.round_trip_ns? as f64, window.work_ns? as f64)));
    let (round_trips, works): (Vec<f64>, Vec<f64>) = known.unzip();
    let timed = all.iter().filter(|window| window.work_ns.is_some()).count();
    let least = |values: &[f64]| -> Vec<f64> {
        let at = (0..GRID).map(|n| n as f64 / GRID as f64);
        let mut least: Vec<f64> = (at.filter_map(|share| quantile(values, share)))
            .filter(|_| 2 * timed >= all.len())
            .collect();
        least.dedup();
        least
    };
    let (round_trips, works) = (least(&round_trips), least(&works));
    let states = round_trips.into_iter().flat_map(move |round_trip_ns| {
        let state = move |work_ns| MachineState {
            round_trip_ns,
            work_ns,
            speeds: STATE_SPEED,
        };
        works.clone().into_iter().map(state)
    });
    states.filter_map(|state| Held::new(state, loads))
}

/// They are also one of so many of its undisturbed windows: what it had for a moment is no state of it.
const PART: usize = 5;
/// Quantiles of round trips and of work times that are tried as the least of a state.
const GRID: usize = 16;
/// Windows whose work takes up to this factor longer are in one state. On a core that another guest shares it takes 1.17
/// times as long or more, and the router then forwards a quarter less.
const STATE_SPEED: f64 = 1.1;
/// Trials whose work takes up to this factor longer were done at the same speed, as far as whole trials tell.
const SAME_SPEED: f64 = 1.2;
/// Two least times of work up to this factor apart are of one state.
const ALIKE_SPEED: f64 = 1.1;
/// Distances up to this factor apart are the same.
const SAME_DISTANCE: f64 = 2.0;
/// A trial is in one state if this part of its windows is.
const STEADY: f64 = 0.9;
/// Trials at a distance that an interval needs.
const TRIALS_MIN: usize = 3;

/// Whether two round trips of a cache line, ns, are of CPUs at the same distance.
#[must_use]
pub fn is_same_distance(one: f64, other: f64) -> bool {
    one.max(other) <= SAME_DISTANCE * one.min(other)
}

/// The trials of one distance between the CPUs, as numbers of their places: of the largest distance where it has trials
/// enough, for a NIC does not share a core with the CPU it feeds; else of that which most have. What the trials
/// forwarded is not asked.
#[must_use]
pub fn select_one_distance(distances: &[Distance]) -> Vec<usize> {
    let [here] = select_common_distance([distances]);
    here
}

/// The same of the trials of two loads, at one distance for both: it has to have trials enough of each.
#[must_use]
pub fn select_of_two_loads(loads: &[Vec<Distance>; 2]) -> [Vec<usize>; 2] {
    select_common_distance([&loads[0], &loads[1]])
}

fn select_common_distance<const N: usize>(loads: [&[Distance]; N]) -> [Vec<usize>; N] {
    let steady = |distance: &Distance| Some(distance.steady()?.round_trip_ns);
    let known = |load: &[Distance]| -> Vec<f64> { load.iter().filter_map(steady).collect() };
    let all = loads.map(known).concat();
    let (Some(least), Some(most)) = (quantile(&all, 0.0), quantile(&all, 1.0)) else {
        return loads.map(|load| (0..load.len()).collect());
    };
    let border = if is_same_distance(most, least) {
        0.0
    } else {
        (least * most).sqrt()
    };
    let places = |load: &[Distance], is_above: bool| -> Vec<usize> {
        let each = load.iter().enumerate();
        let here = each.filter(|(_, one)| steady(one).is_some_and(|ns| (ns > border) == is_above));
        here.map(|(place, _)| place).collect()
    };
    let fewest = |is_above: bool| {
        let measured = loads.iter().filter(|load| !load.is_empty());
        let counts = measured.map(|load| places(load, is_above).len());
        counts.min().unwrap_or(0)
    };
    let many = fewest(true);
    let is_above = many >= TRIALS_MIN || many >= fewest(false);
    loads.map(|load| places(load, is_above))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_one_distance_are_kept() {
        use Distance::{Changed, Unknown};
        let kept = |distances: &[Distance]| select_one_distance(distances);
        assert_eq!(kept(&[Unknown, Unknown]), [0, 1]);
        assert_eq!(
            kept(&[Distance::at(60.0), Distance::at(64.0), Changed]),
            [0, 1]
        );
        // Three far ones are enough, however many are near.
        let (near, far) = (Distance::at(58.0), Distance::at(310.0));
        assert_eq!(
            kept(&[near, far, far, near, near, near, far, near]),
            [1, 2, 6]
        );
        // Two are not, unless they are half of all.
        assert_eq!(kept(&[near, far, near, far, near]), [0, 2, 4]);
        assert_eq!(kept(&[near, far, near, far]), [1, 3]);
    }

    #[test]
    fn two_loads_stand_where_each_has_trials_enough() {
        let (near, far) = (Distance::at(58.0), Distance::at(310.0));
        let kept = |most: &[Distance], little: &[Distance]| {
            select_of_two_loads(&[most.to_vec(), little.to_vec()])
        };
        // Three far ones over both loads leave one of them with one.
        let few = kept(&[near, near, near, far], &[near, far, near, far, near]);
        assert_eq!(few, [vec![0, 1, 2], vec![0, 2, 4]]);
        let many = kept(&[far, far, far, near], &[far, far, far, near]);
        assert_eq!(many, [vec![0, 1, 2], vec![0, 1, 2]]);
        assert_eq!(kept(&[near, far], &[]), [vec![1], vec![]]);
        assert_eq!(kept(&[near, near, far], &[far, near]), [vec![2], vec![0]]);
    }

    fn window(round_trip_ns: u64) -> Window {
        Window {
            round_trip_ns: Some(round_trip_ns),
            work_ns: Some(240),
            ..Window::default()
        }
    }

    /// So many windows at a round trip and a time for the work.
    fn state(windows: usize, round_trip_ns: u64, work_ns: u64) -> Vec<Window> {
        let one = Window {
            work_ns: Some(work_ns),
            ..window(round_trip_ns)
        };
        vec![one; windows]
    }

    #[test]
    fn the_fastest_state_with_trials_enough_is_chosen() {
        let (shared, full) = (state(30, 80, 450), state(8, 90, 240));
        let both = [shared.clone(), full].concat();
        let of = |trials: &[&Vec<Window>]| {
            let trials = trials.iter().map(|windows| windows.as_slice()).collect();
            MachineState::from_loads(&[trials], 3).expect("a state")
        };
        let chosen = of(&[&both, &both, &both, &shared]);
        assert!(
            chosen.holds(&both[30]) && !chosen.holds(&both[0]),
            "{chosen:?}"
        );
        // Two trials are too few where three others are alike.
        let chosen = of(&[&both, &both, &shared]);
        assert!(
            chosen.holds(&both[0]) && !chosen.holds(&both[30]),
            "{chosen:?}"
        );
        // At one speed the state farther apart.
        let apart = [state(9, 80, 240), state(4, 400, 250)].concat();
        let chosen = of(&[&apart, &apart, &apart]);
        assert!(
            chosen.holds(&apart[9]) && !chosen.holds(&apart[0]),
            "{chosen:?}"
        );
        assert_eq!(
            MachineState::from_loads(&[vec![&[Window::default(); 9][..]]], 3),
            None
        );
    }

    #[test]
    fn a_slow_load_takes_no_fast_state_from_the_other() {
        let (fast, slow) = (state(30, 80, 240), state(30, 80, 330));
        let mixed = [fast.clone(), slow.clone()].concat();
        let of = |most: &[Window], little: &[Window]| {
            MachineState::from_each_load(&[vec![most; 3], vec![little; 3]], 3).map(Option::unwrap)
        };
        // Both were fast for a time: one state for both.
        let [most, little] = of(&mixed, &mixed);
        assert!(most == little && most.holds(&fast[0]), "{most:?}");
        // A core that another guest shares is in no state of a whole one.
        let shared = state(30, 80, 281);
        let [most, _] = of(&[fast.clone(), shared.clone()].concat(), &mixed);
        assert!(most.holds(&fast[0]) && !most.holds(&shared[0]), "{most:?}");
        // One of them never was.
        let [most, little] = of(&mixed, &slow);
        assert!(most.holds(&fast[0]) && !most.holds(&slow[0]), "{most:?}");
        assert!(little.holds(&slow[0]), "{little:?}");
        // At one speed the distance of both goes before the larger one of a load.
        let far = state(30, 400, 240);
        let [most, little] = of(&[far, fast.clone()].concat(), &fast);
        assert!(most == little && most.holds(&fast[0]), "{most:?}");
    }

    #[test]
    fn a_window_that_stands_out_is_no_state() {
        // All at one speed, within 10 %, but for one window.
        let mut quiet: Vec<Window> = (0..40).flat_map(|n| state(1, 80, 200 + n % 20)).collect();
        quiet[7].work_ns = Some(135);
        let chosen = MachineState::from_loads(&[vec![&quiet[..]; 3]], 3).expect("a state");
        assert!(quiet.iter().filter(|window| chosen.holds(window)).count() >= 39);
        // A neighbour that is gone for a tenth of the time leaves no state of its own.
        let seldom = [state(36, 80, 450), state(4, 80, 240)].concat();
        let chosen = MachineState::from_loads(&[vec![&seldom[..]; 3]], 3).expect("a state");
        assert!(
            chosen.holds(&seldom[0]) && !chosen.holds(&seldom[36]),
            "{chosen:?}"
        );
    }

    #[test]
    fn two_trials_meet_where_both_were() {
        let one = [state(20, 80, 450), state(6, 80, 240)].concat();
        let other = [state(20, 400, 450), state(5, 85, 455)].concat();
        let chosen = MachineState::from_pair(&one, &other, 5).expect("a state");
        assert!(
            chosen.holds(&one[0]) && chosen.holds(&other[20]),
            "{chosen:?}"
        );
        assert!(
            !chosen.holds(&one[20]) && !chosen.holds(&other[0]),
            "{chosen:?}"
        );
        assert_eq!(MachineState::from_pair(&one, &other, 6), None);
        assert_eq!(MachineState::from_pair(&one[20..], &other, 5), None);
    }

    #[test]
    fn a_trial_is_where_most_of_its_windows_are() {
        let trial = |windows: Vec<Window>| Trial {
            windows,
            ..Trial::default()
        };
        let mut windows: Vec<Window> = [70, 80, 75, 90, 72, 74, 76, 78, 71].map(window).to_vec();
        windows.push(window(400));
        assert_eq!(
            Distance::from_trial(&trial(windows.clone())),
            Distance::Steady(At {
                round_trip_ns: 75.0,
                work_ns: Some(240.0)
            })
        );
        windows.push(window(410));
        assert_eq!(
            Distance::from_trial(&trial(windows.clone())),
            Distance::Changed
        );
        // Timed in too few of them.
        windows.extend([Window::default(); 12]);
        assert_eq!(Distance::from_trial(&trial(windows)), Distance::Unknown);
    }
}
