//! What the DUT forwards while a fifth of its CPU is left: the rate an operator can plan with. From trials run for
//! another purpose, so either one of them happened to be there, or it lies between two.

use crate::trial::Trial;
use crate::units::Rate;
use crate::verdict::Verdict;

/// Busy share of the DUT's busiest CPU at which headroom is told.
pub const BUSY: f64 = 0.8;
/// A trial this near to it is a measurement of it.
const NEAR: f64 = 0.02;

/// Between loads further apart than this factor nothing is interpolated: the cost of a frame falls with load.
const FACTOR_MAX: f64 = 1.5;

/// A forwarding rate and how busy the DUT's busiest CPU was at it (0 to about 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct At {
    /// The rate.
    pub rate: Rate,
    /// The share.
    pub busy: f64,
}

/// The forwarding rate at [`BUSY`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Headroom {
    /// The rate, over all directions.
    pub rate: Rate,
    /// What it rests on.
    pub basis: Basis,
}

/// What a headroom rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Basis {
    /// A trial at which the DUT was as busy, within 2 percentage points.
    Measured(At),
    /// The line between the nearest trials below and above. The cost of a frame falls as load rises, so the
    /// further apart they are, the less it says.
    Interpolated {
        /// The busiest below.
        below: At,
        /// The least busy above.
        above: At,
    },
}

impl Headroom {
    /// From the lossless trials of one kind of traffic; `None` when none was as busy, none less, or these two lie too far
    /// apart to say what is between them.
    #[must_use]
    pub fn from_trials<'a>(trials: impl IntoIterator<Item = &'a (Trial, Verdict)>) -> Option<Self> {
        let lossless = |(_, verdict): &&(Trial, Verdict)| *verdict == Verdict::Lossless;
        let points = trials
            .into_iter()
            .filter(lossless)
            .filter_map(|(trial, _)| {
                Some(At {
                    rate: trial.forwarding_rate()?,
                    busy: trial.busiest_share()?,
                })
            });
        Self::from_points(&points.collect::<Vec<_>>())
    }

    fn from_points(points: &[At]) -> Option<Self> {
        let off = |at: &&At| (at.busy - BUSY).abs();
        let nearest = points.iter().min_by(|a, b| off(a).total_cmp(&off(b)))?;
        if off(&nearest) <= NEAR {
            return Some(Self {
                rate: nearest.rate,
                basis: Basis::Measured(*nearest),
            });
        }
        let by_busy = |a: &&At, b: &&At| a.busy.total_cmp(&b.busy);
        let below = *points.iter().filter(|at| at.busy < BUSY).max_by(by_busy)?;
        let above = *points.iter().filter(|at| at.busy > BUSY).min_by(by_busy)?;
        // A busier trial with a lower load was in another state of the machine.
        let factor = above.rate.fps() / below.rate.fps();
        if !(1.0..=FACTOR_MAX).contains(&factor) {
            return None;
        }
        let part = (BUSY - below.busy) / (above.busy - below.busy);
        let rate = below.rate.fps() + part * (above.rate.fps() - below.rate.fps());
        Some(Self {
            rate: Rate::from_fps(rate),
            basis: Basis::Interpolated { below, above },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Properties, Simulated};
    use crate::units::Span;
    use crate::{Offer, Rules};

    fn trials(loads: &[f64]) -> Vec<(Trial, Verdict)> {
        let router = Properties::ideal(Rate::from_fps(1e6));
        let mut pair = Simulated::new(router);
        let run = |load: &f64| {
            let offer = Offer::new(Rate::from_fps(*load), Span::from_millis(1_000));
            let trial = pair.trial(&offer);
            let verdict = trial.judge(&Rules::default());
            (trial, verdict)
        };
        loads.iter().map(run).collect()
    }

    #[test]
    fn a_trial_as_busy_is_a_measurement() {
        let headroom = Headroom::from_trials(&trials(&[5e5, 7.9e5, 9.9e5])).expect("headroom");
        assert_eq!(headroom.rate, Rate::from_fps(7.9e5));
        assert!(matches!(headroom.basis, Basis::Measured(at) if (at.busy - 0.79).abs() < 1e-9));
    }

    #[test]
    fn else_the_nearest_on_both_sides_are_joined() {
        let headroom = Headroom::from_trials(&trials(&[1e5, 6e5, 9e5, 1.5e6])).expect("headroom");
        // Of a router whose frames all cost the same the line is the truth.
        assert!((headroom.rate.fps() - 8e5).abs() < 1.0, "{headroom:?}");
        let Basis::Interpolated { below, above } = headroom.basis else {
            panic!("{headroom:?}")
        };
        assert_eq!((below.rate.fps(), above.rate.fps()), (6e5, 9e5));
    }

    #[test]
    fn trials_that_lost_frames_say_nothing() {
        // 80 % of the CPU in the trial that lost frames, by whatever chance.
        let mut all = trials(&[6e5, 8e5]);
        all[1].1 = Verdict::Lossy { lost: 4_973 };
        assert_eq!(Headroom::from_trials(&all), None);
    }

    #[test]
    fn trials_far_apart_are_not_joined() {
        assert!(Headroom::from_trials(&trials(&[6.1e5, 9e5])).is_some());
        assert_eq!(Headroom::from_trials(&trials(&[5.9e5, 9e5])), None);
    }

    #[test]
    fn a_busier_trial_with_a_lower_load_is_not_joined() {
        let at = |fps, busy| At {
            rate: Rate::from_fps(fps),
            busy,
        };
        assert_eq!(Headroom::from_points(&[at(9e5, 0.7), at(8.9e5, 0.9)]), None);
        assert!(Headroom::from_points(&[at(9e5, 0.7), at(9.1e5, 0.9)]).is_some());
    }

    #[test]
    fn nothing_is_said_beyond_what_was_tried() {
        assert_eq!(Headroom::from_trials(&trials(&[1e5, 6e5])), None);
        assert_eq!(Headroom::from_trials(&trials(&[9e5])), None);
        assert_eq!(Headroom::from_trials(&[]), None);
        // A trial that says nothing of the DUT says nothing of its headroom.
        let mut void = trials(&[8e5]);
        void[0].1 = Verdict::Void(crate::Void::Steal {
            cpu: 0,
            share: 0.5,
            bound: 0.02,
        });
        assert_eq!(Headroom::from_trials(&void), None);
    }
}
