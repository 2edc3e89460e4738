//! Whether the CPUs of the bed were as fast in one trial as in another: by a fixed piece of work, timed before
//! and after each.

use std::fmt;

use crate::trial::{CpuSpeed, Trial};

/// Longer than at its best by more than this share, a CPU was slow: what a search resolves is far less.
pub const SLOWER: f64 = 0.10;

/// A CPU that was slower beside some trials than at its best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowed {
    /// The CPU.
    pub cpu: usize,
    /// By how much longer its work took beside the worst of these trials, on the faster of both sides: 0.4 is 40 %.
    pub longer: f64,
    /// Trials beside which it was slow, before *and* after.
    pub slow: u32,
    /// Of so many.
    pub trials: u32,
}

/// `CPU 1 took up to 45 % longer for fixed work, beside 3 of 20 trials`
impl fmt::Display for Slowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CPU {} took up to {:.0} % longer for fixed work, beside {} of {} trials",
            self.cpu,
            self.longer * 100.0,
            self.slow,
            self.trials
        )
    }
}

/// The CPU that slowed down most over these trials; `None` where each was as fast as ever, before or after each
/// trial at least. (A moment's slowness on one side says little of the second between.)
#[must_use]
pub fn slowed<'a>(trials: impl Iterator<Item = &'a Trial> + Clone) -> Option<Slowed> {
    let mut cpus: Vec<usize> = all_speeds(trials.clone()).map(|speed| speed.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let each = cpus
        .into_iter()
        .filter_map(|cpu| slowed_cpu(cpu, trials.clone()));
    each.max_by(|one, other| one.longer.total_cmp(&other.longer))
}

fn all_speeds<'a>(trials: impl Iterator<Item = &'a Trial>) -> impl Iterator<Item = &'a CpuSpeed> {
    trials.flat_map(|trial| &trial.speeds)
}

fn slowed_cpu<'a>(cpu: usize, trials: impl Iterator<Item = &'a Trial>) -> Option<Slowed> {
    let took: Vec<u64> = all_speeds(trials)
        .filter(|speed| speed.cpu == cpu)
        .map(|speed| speed.before_ns.min(speed.after_ns))
        .collect();
    let (best, worst) = (*took.iter().min()?, *took.iter().max()?);
    let longer = |took: u64| took as f64 / best.max(1) as f64 - 1.0;
    let slow = took.iter().filter(|&&took| longer(took) > SLOWER).count();
    (slow > 0).then(|| Slowed {
        cpu,
        longer: longer(worst),
        slow: u32::try_from(slow).unwrap_or(u32::MAX),
        trials: u32::try_from(took.len()).unwrap_or(u32::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Microseconds before and after, by CPU.
    fn trial(speeds: &[(usize, u64, u64)]) -> Trial {
        let speed = |&(cpu, before, after): &(usize, u64, u64)| CpuSpeed {
            cpu,
            before_ns: before * 1_000,
            after_ns: after * 1_000,
        };
        Trial {
            speeds: speeds.iter().map(speed).collect(),
            ..Trial::default()
        }
    }

    #[test]
    fn a_cpu_that_slows_down_is_named() {
        let trials = [
            trial(&[(0, 18, 18), (1, 18, 18)]),
            // Its clock is lowered for two trials.
            trial(&[(0, 18, 19), (1, 27, 27)]),
            trial(&[(0, 19, 18), (1, 26, 23)]),
            trial(&[(0, 18, 18), (1, 18, 18)]),
        ];
        let slowed = slowed(trials.iter()).expect("slower");
        assert_eq!((slowed.cpu, slowed.slow, slowed.trials), (1, 2, 4));
        assert!((slowed.longer - 0.5).abs() < 1e-9, "{slowed:?}");
    }

    #[test]
    fn a_slow_moment_on_one_side_is_not_slow() {
        let trials = [
            trial(&[(0, 100, 100)]),
            trial(&[(0, 170, 100)]),
            trial(&[(0, 100, 170)]),
            trial(&[(0, 109, 110)]),
        ];
        assert_eq!(slowed(trials.iter()), None);
        assert_eq!(slowed([Trial::default()].iter()), None, "nobody timed it");
        assert_eq!(slowed([].iter()), None);
    }
}
