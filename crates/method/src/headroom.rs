//! What the DUT forwards while a fifth of its CPU is left: the rate an operator can plan with. From trials run for
//! another purpose, so either one of them happened to be there, or it lies between two.

use crate::trial::Trial;
use crate::verdict::Verdict;
use mpps_record::{Basis, BusyLoad, Headroom};

/// Busy share of the DUT's busiest CPU at which headroom is told.
pub const BUSY: f64 = 0.8;
/// A trial this near to it is a measurement of it.
const NEAR: f64 = 0.02;

/// Between loads further apart than this factor nothing is interpolated: the cost of a frame falls with load.
const FACTOR_MAX: f64 = 1.5;

/// The forwarding rate at [`BUSY`], from the lossless trials of one kind of traffic; `None` when none was as busy, none
/// less, or these two lie too far apart to say what is between them. The cost of a frame falls as load rises, so the further
/// apart they are, the less it says.
#[must_use]
pub fn headroom<'a>(trials: impl IntoIterator<Item = &'a (Trial, Verdict)>) -> Option<Headroom> {
    let lossless = |(_, verdict): &&(Trial, Verdict)| *verdict == Verdict::Lossless;
    let points = trials
        .into_iter()
        .filter(lossless)
        .filter_map(|(trial, _)| {
            Some(BusyLoad {
                rate_fps: trial.forwarding_rate()?.fps(),
                busy_share: trial.busiest_share()?,
            })
        });
    from_points(&points.collect::<Vec<_>>())
}

fn from_points(points: &[BusyLoad]) -> Option<Headroom> {
    let off = |at: &&BusyLoad| (at.busy_share - BUSY).abs();
    let nearest = *points.iter().min_by(|a, b| off(a).total_cmp(&off(b)))?;
    if off(&&nearest) <= NEAR {
        return Some(Headroom {
            rate_fps: nearest.rate_fps,
            basis: Basis::Measured,
            below: nearest,
            above: nearest,
        });
    }
    let by_busy = |a: &&BusyLoad, b: &&BusyLoad| a.busy_share.total_cmp(&b.busy_share);
    let less = points.iter().filter(|at| at.busy_share < BUSY);
    let more = points.iter().filter(|at| at.busy_share > BUSY);
    let (below, above) = (*less.max_by(by_busy)?, *more.min_by(by_busy)?);
    // A busier trial with a lower load was in another state of the machine.
    let factor = above.rate_fps / below.rate_fps;
    if !(1.0..=FACTOR_MAX).contains(&factor) {
        return None;
    }
    let part = (BUSY - below.busy_share) / (above.busy_share - below.busy_share);
    Some(Headroom {
        rate_fps: below.rate_fps + part * (above.rate_fps - below.rate_fps),
        basis: Basis::Interpolated,
        below,
        above,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Properties, Simulated};
    use crate::units::{Rate, Span};
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
        let found = headroom(&trials(&[5e5, 7.9e5, 9.9e5])).expect("headroom");
        assert_eq!((found.rate_fps, &found.basis), (7.9e5, &Basis::Measured));
        assert_eq!(found.below, found.above);
        assert!((found.below.busy_share - 0.79).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn else_the_nearest_on_both_sides_are_joined() {
        let found = headroom(&trials(&[1e5, 6e5, 9e5, 1.5e6])).expect("headroom");
        // Of a router whose frames all cost the same the line is the truth.
        assert!((found.rate_fps - 8e5).abs() < 1.0, "{found:?}");
        assert_eq!(found.basis, Basis::Interpolated);
        let ends = (found.below.rate_fps, found.above.rate_fps);
        assert_eq!(ends, (6e5, 9e5));
    }

    #[test]
    fn trials_that_lost_frames_say_nothing() {
        // 80 % of the CPU in the trial that lost frames, by whatever chance.
        let mut all = trials(&[6e5, 8e5]);
        all[1].1 = Verdict::Lossy { lost: 4_973 };
        assert_eq!(headroom(&all), None);
    }

    #[test]
    fn trials_far_apart_are_not_joined() {
        assert!(headroom(&trials(&[6.1e5, 9e5])).is_some());
        assert_eq!(headroom(&trials(&[5.9e5, 9e5])), None);
    }

    #[test]
    fn a_busier_trial_with_a_lower_load_is_not_joined() {
        let at = |rate_fps, busy_share| BusyLoad {
            rate_fps,
            busy_share,
        };
        assert_eq!(from_points(&[at(9e5, 0.7), at(8.9e5, 0.9)]), None);
        assert!(from_points(&[at(9e5, 0.7), at(9.1e5, 0.9)]).is_some());
    }

    #[test]
    fn nothing_is_said_beyond_what_was_tried() {
        assert_eq!(headroom(&trials(&[1e5, 6e5])), None);
        assert_eq!(headroom(&trials(&[9e5])), None);
        assert_eq!(headroom(&[]), None);
        // A trial that says nothing of the DUT says nothing of its headroom.
        let mut void = trials(&[8e5]);
        void[0].1 = Verdict::Void(crate::Void::Steal {
            cpu: 0,
            share: 0.5,
            bound: 0.02,
        });
        assert_eq!(headroom(&void), None);
    }
}
